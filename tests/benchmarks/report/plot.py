#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws ccl-bench's CSV as SVG, with matplotlib:

    plot.py tests/benchmarks/results/h200 --out docs

writes labelers.svg (every image of every labeler at one size) and density.svg (noise of each granularity against its
density), from the files of these names in the folder.
"""

import argparse
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from results import Results, algorithm_name, by_algorithm, mean, size_name, worst  # noqa: E402
from save_figure import save  # noqa: E402

# Okabe and Ito's colours, which colour-blind readers can distinguish.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"
TEXT, FAINT, RULE = "#222222", "#8a8a8a", "#dddddd"
OURS = "runs"
COLORS = {OURS: BLUE, "block-equivalence": VERMILION, "union-find": GREEN, "dlp": PURPLE, "tile-merge": ORANGE,
          "row-col-unify": SKY}
NOISE = re.compile(r"g(\d+)_d(\d+)$")


def style():
    plt.rcParams.update({
        # Verdana has the widths of DejaVu Sans, so that text fits where a reader lacks the latter.
        "font.size": 10, "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Verdana"],
        "text.color": TEXT, "axes.labelcolor": TEXT,
        "axes.edgecolor": FAINT, "axes.spines.top": False, "axes.spines.right": False, "xtick.color": TEXT,
        "ytick.color": TEXT, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlesize": 12,
        "svg.hashsalt": "cudaccl", "svg.fonttype": "none", "figure.facecolor": "white"})


def with_unit(microseconds, _=None):
    return f"{microseconds / 1000:.3g} ms" if microseconds >= 999.5 else f"{microseconds:.3g} µs"


def log_time_axis(axis, steps=(1,)):
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(with_unit))
    axis.set_minor_formatter(NullFormatter())


def kind(image):
    """What sort of image it is, and its colour."""
    noise = NOISE.match(image)
    if noise:
        return ("noise of 1 and 2 px blocks", SKY) if int(noise[1]) <= 2 else ("noise of larger blocks", BLUE)
    return "shapes", ORANGE


def readable(image):
    noise = NOISE.match(image)
    return f"{noise[1]} px noise, {noise[2]} %" if noise else image


def caption(figure, results, text):
    figure.text(0.01, 0.01, f"{text} {results.machine()}; {results.origin()}", fontsize=7.5, color=FAINT)


def draw_labelers(results, size):
    """A line for each labeler, a dot for each image."""
    peers = by_algorithm(results.peers(size=size, connectivity=8))
    groups = by_algorithm(results.labelers(size=size)) | peers
    names = sorted(groups, key=lambda name: mean(groups[name]), reverse=True)
    figure, axes = plt.subplots(figsize=(9, 1.6 + 0.42 * len(names)))
    axes.set_xscale("log")
    for y, name in enumerate(names):
        rows = groups[name]
        axes.axhline(y, color=RULE, lw=0.6, zorder=0)
        dots = {}
        for i, row in enumerate(sorted(rows, key=lambda row: row.image)):
            # A little up and down, in a fixed pattern, so that equal times do not hide one another.
            dots.setdefault(kind(row.image)[1], []).append((row.median_us, y + ((i * 7) % 11 - 5) * 0.045))
        for color, points in dots.items():
            axes.plot(*zip(*points), "o", ms=3.2, mew=0, alpha=0.75, color=color)
        middle, slowest = mean(rows), worst(rows)
        axes.plot([middle, middle], [y - 0.36, y + 0.36], color=TEXT, lw=2.2, solid_capstyle="butt")
        axes.text(slowest.median_us * 1.07, y, readable(slowest.image), fontsize=7.5, color=FAINT, va="center")
    axes.set_yticks(range(len(names)), [f"{algorithm_name(name)} {with_unit(mean(groups[name]))}" for name in names])
    for tick, name in zip(axes.get_yticklabels(), names):
        tick.set_fontweight("bold" if name == OURS else "normal")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * 1.6)
    axes.set_ylim(-0.7, len(names) - 0.2)
    draw_floor(axes, results.floor(size), len(names))
    log_time_axis(axes.xaxis)
    figure.suptitle(f"From a binary {size_name(size)} frame to records and RGBA", x=0.01, ha="left",
                    fontweight="bold", fontsize=12)
    draw_kinds(axes)
    figure.tight_layout(rect=(0, 0.045, 1, 1))
    what = "; NPP, CuPy: labels only" if peers else ""
    caption(figure, results, f"A dot: an image; the bar: their geometric mean{what}.")
    return figure


def draw_floor(axes, floor, n_lines):
    if floor is None:
        return
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, floor * 0.8), high)
    axes.axvline(floor, color=TEXT, lw=1, ls=(0, (4, 3)))
    axes.text(floor * 1.04, n_lines - 0.42, "floor: read 1 B, write 4 B per pixel", fontsize=8, color=TEXT)


def draw_kinds(axes):
    """A legend that is one line of coloured words."""
    x = 0.0
    for name, color in dict([kind("g1_d0"), kind("g4_d0"), kind("spiral")]).items():
        axes.annotate("● " + name, (x, 1), xytext=(0, 10), xycoords="axes fraction", textcoords="offset points",
                      color=color, fontsize=9)
        x += 0.035 + 0.0135 * len(name)


def draw_density(results, size):
    """A panel for each of the four fastest labelers, a line for each granularity."""
    groups = by_algorithm(results.labelers(size=size))
    names = sorted(groups, key=lambda name: mean(groups[name]))[:4]
    rows = [row for row in results.labelers(size=size) if NOISE.match(row.image)]
    figure, panels = plt.subplots(1, len(names), figsize=(9.6, 4.1), sharey=True, squeeze=False)
    shades = matplotlib.colormaps["viridis"]
    for axes, name in zip(panels[0], names):
        lines = {}
        for row in rows:
            if row.algorithm == name:
                granularity, density = map(int, NOISE.match(row.image).groups())
                lines.setdefault(granularity, []).append((density, row.median_us))
        axes.set_yscale("log")
        for i, (granularity, points) in enumerate(sorted(lines.items())):
            color = shades(0.88 * i / max(1, len(lines) - 1))
            axes.plot(*zip(*sorted(points)), "o-", ms=2.8, lw=1.6, color=color)
            if axes is panels[0][0]:
                axes.text(0.03, 0.97 - 0.06 * i, f"{granularity} px", color=color, fontsize=9, fontweight="bold",
                          transform=axes.transAxes, va="top")
        if results.floor(size):
            axes.axhline(results.floor(size), color=TEXT, lw=1, ls=(0, (4, 3)))
        axes.grid(axis="y", color=RULE, lw=0.6)
        axes.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
        axes.set_title(name, fontsize=10, color=COLORS.get(name, TEXT))
    log_time_axis(panels[0][0].yaxis, steps=(1, 2, 5))
    figure.suptitle(f"Noise at {size_name(size)}: time against density, for blocks of 1 to 16 px", x=0.01, ha="left",
                    fontweight="bold", fontsize=12)
    figure.tight_layout(rect=(0, 0.035, 1, 1))
    caption(figure, results, "Dashed: the floor." if results.floor(size) else "")
    return figure


def draw_scores(names, labels, methods, value, look, rule, score, title, pitch=0.42):
    """A line for each name, from top to bottom, with a mark for the score of each method: full for this library's.

    labels: of the lines; value(name, method): 0 to 1; look(method): colour, marker, label, whether it is this library's;
    rule: between which lines from below another line is drawn.
    """
    figure, axes = plt.subplots(figsize=(9, 1.5 + pitch * len(names)))
    for y, name in enumerate(reversed(names)):
        axes.axhline(y, color=RULE, lw=0.8, zorder=0)
        for i, method in enumerate(methods):
            color, marker, _, is_ours = look(method)
            # A little up or down, so that equal figures do not hide one another.
            axes.plot(value(name, method), y + ((i * 2) % 5 - 2) * 0.07, marker, ms=7, mew=1.6, color=color, clip_on=False,
                      mfc=color if is_ours else "white", zorder=3 if is_ours else 2)
    axes.axhline(rule, color=FAINT, lw=0.8)
    axes.set_yticks(range(len(names)), reversed(labels))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel(score, color=TEXT)
    for method in methods:
        color, marker, label, is_ours = look(method)
        axes.plot([], [], marker, ms=7, mew=1.6, color=color, mfc=color if is_ours else "white", label=label)
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=len(methods), frameon=False, fontsize=9,
                handletextpad=0.1, columnspacing=1.2)
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
    return figure, axes


def arguments_of(text, source):
    """Of a program that draws: where its CSV is, and where pictures go."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help=source)
    parser.add_argument("--out", type=Path, default=Path("."), help="a folder")
    arguments = parser.parse_args()
    style()
    arguments.out.mkdir(parents=True, exist_ok=True)
    return arguments


def main():
    arguments = arguments_of(__doc__, "folder of labelers.csv and density.csv")
    for name, draw in (("labelers", draw_labelers), ("density", draw_density)):
        save(draw(Results(arguments.source / f"{name}.csv"), (1920, 1080)), arguments.out / f"{name}.svg")


if __name__ == "__main__":
    main()
