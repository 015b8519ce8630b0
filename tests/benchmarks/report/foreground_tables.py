# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of foreground-bench, of video-bench, and of `ccl-bench segment`."""

from collections import Counter
from math import fsum

from foreground import Foreground, is_ours, name as method_name
from markdown_table import caption, markdown
from results import size_name


def foreground(results, document):
    """F1 by category; below it the means, and how long a change of light is visible."""
    figures = Foreground(results)
    methods = figures.methods

    def line(title, values, form="{:.2f}"):
        return [title, *(form.format(value) for value in values)]

    def settled(method):
        frames = figures.settled_after(method).values()
        return ", ".join(f"{value:.0f}" for value in frames) if frames else "–"

    lines = [line(category, [figures.of("f1", method, category) for method in methods])
             for category in figures.categories]
    lines += [line(title, [figures.mean(figure, method) for method in methods], "**{:.3f}**")
              for figure, title in (("f1", "**mean F1**"),)]
    lines += [line(f"mean {figure}", [figures.mean(figure, method) for method in methods])
              for figure in ("precision", "recall")]
    lines.append(["frames with false components after a light switch", *map(settled, methods)])
    header = ["F1", *(f"`{method_name(method)}`" if is_ours(method) else method_name(method) for method in methods)]
    sequences = len({(row.category, row.sequence) for row in results.rows})
    return markdown(header, lines) + caption(
        results, document, f"{sequences} sequences of {size_name(results.rows[0].size)}, {results.rows[0].frames} frames "
                           f"of each counted. MOG2, KNN and CNT are OpenCV {results.facts['opencv']}'s")


VIDEO_PEERS = {"mog2": "MOG2", "mog2-no-shadows": "MOG2 without shadows", "knn": "KNN", "knn-no-shadows": "KNN without shadows",
               "cnt": "CNT", "gsoc": "GSOC"}


def video(results, document):
    """F1 of each sequence of real video; below it the means, and processor time."""
    methods = list(dict.fromkeys((row.method, row.parameter) for row in results.rows))
    sequences = list(dict.fromkeys(row.sequence for row in results.rows))
    usual = Counter(row.size for row in results.rows).most_common(1)[0][0]

    def title(method, parameter):
        return VIDEO_PEERS.get(method) or ", ".join(f"`{text}`" for text in (method, parameter) if text)

    def mean(figure, method, **columns):
        values = [getattr(row, figure) for row in results.select(method=method, **columns)]
        return fsum(values) / len(values)

    def line(title, figure, form="{:.2f}", **columns):
        return [title, *(form.format(mean(figure, method, **columns)) for method, _ in methods)]

    lines = [line(sequence, "f1", sequence=sequence) for sequence in sequences]
    lines.append(line("**mean F1**", "f1", "**{:.3f}**"))
    lines += [line(f"mean {figure}", figure) for figure in ("precision", "recall")]
    lines.append(line(f"ms a frame of {size_name(usual)}", "cpu_ms", size=usual))
    return markdown(["F1", *(title(*method) for method in methods)], lines) + caption(
        results, document, f"{len(sequences)} sequences; processor time of one thread, the mean of those of "
                           f"{size_name(usual)}. OpenCV {results.facts.get('opencv', 'left out')}")


def foreground_speed(results, document):
    def contestant(row):
        peer, _, model = row.method.partition("-")
        return ", ".join(filter(None, ("OpenCV", model.upper()))) if peer == "opencv" else f"`{row.method}`"

    lines = [[row.task, contestant(row), str(row.components), f"{row.median_us / 1000:.2f}", ratio_to_peer(row)]
             for row in results.rows]
    header = ["foreground", "", "components", f"ms per frame of {size_name(results.rows[0].size)}", "to OpenCV"]
    return markdown(header, lines) + caption(
        results, document, f"Processor time of one thread, from a grey frame to the records of its components; medians. OpenCV "
                           f"{results.facts['opencv']}; motion is compared with MOG2")


def segment_times(results, document):
    """Device time of each rule, and how many times the plain threshold's it is."""
    sizes = sorted({row.size for row in results.rows}, key=lambda size: size[0] * size[1])
    images = list(dict.fromkeys(row.image for row in results.rows))
    columns = [(image, size) for image in images for size in sizes]

    def time(rule, image, size):
        return results.select(algorithm=rule, image=image, size=size)[0].median_us

    def cell(rule, image, size):
        value = time(rule, image, size)
        return f"{value:.1f}" if rule == "plain" else f"{value:.1f} ({value / time('plain', image, size):.2f}×)"

    rules = list(dict.fromkeys(row.algorithm for row in results.rows))
    lines = [[f"`{rule}`", *(cell(rule, *column) for column in columns)] for rule in rules]
    header = ["rule", *(f"{image}, {size_name(size)}" for image, size in columns)]
    return markdown(header, lines) + caption(
        results, document, "Microseconds of device time in a CUDA graph, from a grey frame on the GPU to all records and RGBA; "
                           "medians, and how many times the plain threshold's")


def ratio_to_peer(row):
    return "" if row.method.startswith("opencv") and row.ratio == 1 else f"{row.ratio:.1f}×"
