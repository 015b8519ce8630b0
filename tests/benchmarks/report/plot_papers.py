#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the CSV of `ccl-bench paper` as SVG, with matplotlib:

    plot_papers.py tests/benchmarks/results/h200 --out docs

writes paper-kalentev.svg, paper-oliveira.svg, paper-dlp.svg and paper-stava.svg, of those that were recorded. Solid
lines and bars are ours; hollow ones are the paper's.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

from papers import PaperResults  # noqa: E402
from plot import BLUE, FAINT, GREEN, TEXT, ORANGE, PURPLE, RULE, VERMILION, arguments_of, caption  # noqa: E402
from save_figure import save  # noqa: E402

COLORS = {"label-equivalence": BLUE, "label-equivalence+sizes": ORANGE, "row-col-unify": VERMILION,
          "union-find": GREEN, "label-equivalence-2": VERMILION, "dlp": PURPLE, "hcs2-aremsp": ORANGE,
          "tile-merge": ORANGE, "sauf": FAINT, "stefano-bulgarelli": FAINT}
STEPS = {"step 1": GREEN, "step 2a": VERMILION, "step 2b": ORANGE, "step 3": BLUE}
KERNELS = (GREEN, VERMILION, ORANGE, BLUE)


def new_panels(count, title):
    figure, panels = plt.subplots(1, count, figsize=(9.6, 3.9))
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
    for axes in panels:
        axes.grid(axis="y", color=RULE, lw=0.6)
        axes.set_axisbelow(True)
    return figure, panels


def finish(figure, results, text):
    figure.tight_layout(rect=(0, 0.045, 1, 1))
    caption(figure, results, text)
    return figure


def draw_against_paper(axes, xs, rows, name):
    color = COLORS[name]
    axes.plot(xs, [row.ours for row in rows], "o-", color=color, ms=4, lw=1.8, label=name)
    axes.plot(xs, [row.paper for row in rows], "o--", color=color, ms=4, lw=1, mfc="white", label=f"{name}, paper")


def draw_kalentev(results):
    figure, (left, right) = new_panels(2, "Label equivalence against occupancy and size")
    for name in ("label-equivalence", "label-equivalence+sizes"):
        rows = results.select(table="Table 2", algorithm=name, quantity="time")
        draw_against_paper(left, [float(row.image.split()[-1]) for row in rows], rows, name)
        rows = results.select(table="Table 3", algorithm=name, quantity="time")
        draw_against_paper(right, [row.width * row.height / 1e6 for row in rows], rows, name)
    for row in results.select(table="Table 2", quantity="iterations"):
        left.annotate(f"{row.ours:.0f}", (float(row.image.split()[-1]), 1), xycoords=("data", "axes fraction"),
                      xytext=(0, -10), textcoords="offset points", ha="center", fontsize=8, color=TEXT)
    left.set_yscale("log")
    left.set_ylim(top=left.get_ylim()[1] * 2)
    left.set_title("noise of 2048²", fontsize=10)
    right.set_title("noise, occupancy 0.5", fontsize=10)
    left.set_xlabel("occupancy; the numbers above are iterations")
    left.set_ylabel("ms")
    left.legend(fontsize=7.5, frameon=False, ncols=2, loc="center", bbox_to_anchor=(0.5, 0.36))
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xlabel("megapixels")
    return finish(figure, results, "Tables 2 and 3; dashed: the paper's Tesla C1060.")


def draw_oliveira(results):
    rows = {name: results.select(table="Figure 7", algorithm=name)
            for name in ("stefano-bulgarelli", "union-find", "label-equivalence-2")}
    if not rows["union-find"]:
        return None
    figure, (left, right) = new_panels(2, "A hundred natural images of 16 megapixels")
    order = sorted(range(len(rows["union-find"])), key=lambda i: rows["union-find"][i].ours)
    for name in ("union-find", "label-equivalence-2"):
        left.plot(range(len(order)), [rows[name][i].ours for i in order], ".", ms=4, color=COLORS[name], label=name)
    left.set_xlabel("image, by union-find's speed-up")
    left.set_ylabel("times as fast as the serial labeler")
    left.set_ylim(bottom=0)
    left.legend(fontsize=8, frameon=False)
    for position, name in enumerate(("union-find", "label-equivalence-2")):
        times = [serial.ours / row.ours for serial, row in zip(rows["stefano-bulgarelli"], rows[name])]
        right.boxplot(times, positions=[position], widths=0.5, medianprops={"color": COLORS[name]})
    right.set_xticks([0, 1], ["union-find", "label-equivalence-2"])
    right.set_ylabel("ms")
    right.set_ylim(bottom=0)
    return finish(figure, results, "Left: figure 7. Right: the spread over images.")


def draw_dlp(results):
    figure, panels = new_panels(3, "DLP-GPU on noise: its steps at 2048², and throughput against size")
    for axes, granularity in zip(panels, (1, 16)):
        rows = {step: [row for row in results.select(table="Figure 12", algorithm="dlp", quantity=step)
                       if row.image.startswith(f"g{granularity}_")] for step in STEPS}
        densities = [int(row.image.split("_d")[1]) for row in next(iter(rows.values()))]
        if densities:
            axes.stackplot(densities, [[row.ours * 1000 for row in rows[step]] for step in STEPS],
                           labels=STEPS, colors=STEPS.values())
        axes.set_title(f"{granularity} px blocks", fontsize=10)
        axes.set_xlabel("density, %")
    panels[0].set_ylabel("µs")
    panels[1].sharey(panels[0])
    panels[0].legend(fontsize=8, frameon=False, loc="upper left")
    for name in ("dlp", "hcs2-aremsp"):
        for granularity, line in ((1, ":"), (4, "--"), (16, "-")):
            rows = results.select(table="Figure 13", algorithm=name, quantity="throughput", image=f"g{granularity}")
            panels[2].plot([row.width for row in rows], [row.ours for row in rows], line, color=COLORS[name], lw=1.6,
                           label=f"{name}, {granularity} px")
    panels[2].set_xscale("log", base=2)
    panels[2].set_yscale("log")
    panels[2].set_xlabel("side length, px")
    panels[2].set_ylabel("Gpx/s")
    panels[2].legend(fontsize=7, frameon=False)
    return finish(figure, results, f"Figures 12 and 13. CPU: {results.facts.get('cpu', '?')}, four used.")


def draw_stava(results):
    figure, (left, right) = new_panels(2, "Tile merging on the examples of the chapter")
    rows = results.select(table="Figure 35.11")
    cases = list(dict.fromkeys((row.image, row.width) for row in rows))
    names = [name for name in ("sauf", "label-equivalence-2", "tile-merge") if any(r.algorithm == name for r in rows)]
    for i, name in enumerate(names):
        of_case = {(row.image, row.width): row for row in rows if row.algorithm == name}
        at = [x + (i - 1) * 0.27 for x in range(len(cases))]
        left.bar(at, [of_case[case].ours for case in cases], 0.25, color=COLORS[name], label=name)
        left.plot(at, [of_case[case].paper for case in cases], "_", color=TEXT, ms=6)
    left.set_yscale("log")
    left.set_ylabel("megapixels a second")
    labels = [f"{image.split()[0]} {width}²" for image, width in cases]
    left.set_xticks(range(len(cases)), labels, rotation=60, fontsize=8)
    left.legend(fontsize=8, frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    cases = list(dict.fromkeys((row.image, row.width) for row in results.select(table="Figure 35.12")))
    for x, (image, width) in enumerate(cases):
        bottom = [0, 0]
        for kernel, color in enumerate(KERNELS, 1):
            row = results.select(table="Figure 35.12", image=image, width=width, quantity=f"kernel {kernel}")[0]
            right.bar(x - 0.2, row.ours, 0.36, bottom=bottom[0], color=color,
                      label=f"kernel {kernel}" if x == 0 else None)
            right.bar(x + 0.2, row.paper, 0.36, bottom=bottom[1], fill=False, edgecolor=color)
            bottom = [bottom[0] + row.ours, bottom[1] + row.paper]
    right.set_ylabel("% of the time")
    right.set_xticks(range(len(cases)), [f"{image.split()[0]} {width}²" for image, width in cases], rotation=60,
                     fontsize=8)
    if cases:
        right.legend(fontsize=8, frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    return finish(figure, results, "Figures 35.11 and 35.12; bars across and hollow: the chapter's GTX 480.")


FIGURES = {"kalentev": draw_kalentev, "oliveira": draw_oliveira, "dlp": draw_dlp, "stava": draw_stava}


def main():
    arguments = arguments_of(__doc__, "folder of paper-*.csv")
    for name, draw in FIGURES.items():
        csv = arguments.source / f"paper-{name}.csv"
        figure = draw(PaperResults(csv)) if csv.exists() else None
        if figure is None:
            print(f"{name}: not recorded")
            continue
        save(figure, arguments.out / f"paper-{name}.svg")


if __name__ == "__main__":
    main()
