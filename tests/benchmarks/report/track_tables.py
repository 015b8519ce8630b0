# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of track-bench, how exactly objects are followed, and of `ccl-bench track`, how fast."""

from math import fsum

from markdown_table import caption, markdown
from results import size_name

NAMES = {"labels": "labels", "cudaccl": "**`cudaccl`**", "iou": "IoU tracker", "sort": "SORT"}


def methods_of(results):
    """(method, remark): the others have the remark `published` or `best`."""
    return list(dict.fromkeys((row.method, remark_of(row)) for row in results.rows))


def remark_of(row):
    return row.parameter.split(" ")[0]


def rows_of(results, method, scene=None):
    return [row for row in results.rows if (row.method, remark_of(row)) == method and scene in (None, row.scene)]


def name_of(method):
    nick, remark = method
    return ", ".join(filter(None, (NAMES[nick], {"best": "tuned"}.get(remark, remark))))


def track(results, document):
    """IDF1 and switches of each scene and method; below them the sums, first without and then with merges."""
    methods = [method for method in methods_of(results) if method[0] != "labels"]
    scenes = list(dict.fromkeys((row.scene, row.merges) for row in results.rows))
    header = ["IDF1 (switches, fragmentations)", *(name_of(method) for method in methods)]
    lines = []
    for merges, title in (("0", "**all without merges**"), ("1", "**all with merges**")):
        of_kind = [scene for scene, kind in scenes if kind == merges]
        lines += [[scene, *(cell(rows_of(results, method, scene)) for method in methods)] for scene in of_kind]
        if of_kind:
            lines.append([title, *(cell([row for row in rows_of(results, method) if row.merges == merges])
                                   for method in methods)])
    return markdown(header, lines) + caption(
        results, document, f"Planted video, {len(scenes)} scenes of 1,000 frames, the same boxes for all trackers; means of "
                           f"IDF1, sums of the counts. motmetrics {results.facts['motmetrics']}")


def cell(rows):
    idf1 = fsum(row.idf1 for row in rows) / len(rows)
    return f"{idf1:.3f} ({sum(int(row.switches) for row in rows)}, {sum(int(row.fragmentations) for row in rows)})"


def track_colors(results, document):
    """How often an object changes its colour."""
    methods = methods_of(results)
    scenes = list(dict.fromkeys(row.scene for row in results.rows))
    header = ["colour changes per object and minute", *(name_of(method) for method in methods)]
    lines = [[scene, *(f"{rows_of(results, method, scene)[0].color_changes:.1f}" for method in methods)]
             for scene in scenes]
    lines.append(["**mean**", *(f"**{mean_changes(results, method):.1f}**" for method in methods)])
    return markdown(header, lines) + caption(
        results, document, "The same scenes; labels are colours without tracking")


def mean_changes(results, method):
    rows = rows_of(results, method)
    return fsum(row.color_changes for row in rows) / len(rows)


UPPER_END = {"truth": "boxes of the truth, SORT", "truth, max_age 30": "the same, lost ones sought for a second"}


def track_pairs(results, document):
    """MOTA and IDF1 of people who walk together, by part and by the kind of mask, from sums of counts."""
    parts, halves = list(dict.fromkeys(row.part for row in results.rows)), ("development", "check")
    columns = {part: [row for row in results.rows if row.part == part] for part in halves}
    for masks in dict.fromkeys(row.masks for row in results.rows):
        columns[f"both, {masks}"] = [row for row in results.rows if row.masks == masks and row.part in halves]
    columns |= {"whole sequences": results.select(part="whole")} if "whole" in parts else {}
    methods = list(dict.fromkeys((row.boxes, row.tracker) for row in results.rows))

    def of_method(rows, method):
        return [row for row in rows if (row.boxes, row.tracker) == method]

    lines = [[UPPER_END.get(method[0]) or f"{method[0]}, {NAMES[method[1]]}",
              *(sums_cell(of_method(rows, method)) for rows in columns.values()),
              untracked_cell(of_method(columns["development"] + columns["check"], method))] for method in methods]
    one = of_method(results.select(masks=results.rows[0].masks), methods[0])
    counts = [f"{part}: {sum_of(of_part, 'scenes')} scenes, {sum_of(of_part, 'frames'):,} frames, "
              f"{sum_of(of_part, 'objects'):,} boxes" for part in (*halves, "whole")
              for of_part in [[row for row in one if row.part == part]] if of_part]
    return markdown(["MOTA, IDF1 (switches)", *columns, "without a track, of 100: all; a component fits; and is taken for a piece"], lines) + caption(
        results, document, f"{'; '.join(counts)}; each with three masks. Boxes that overlap by half; figures of all frames "
                           f"together. motmetrics {results.facts['motmetrics']}")


def sum_of(rows, column):
    return sum(int(getattr(row, column)) for row in rows)


def sums_cell(rows):
    switches, ids = sum_of(rows, "switches"), 2 * sum_of(rows, "idtp")
    mota = 1 - (switches + sum_of(rows, "misses") + sum_of(rows, "false_positives")) / sum_of(rows, "objects")
    return f"{mota:.2f}, {ids / (ids + sum_of(rows, 'idfp') + sum_of(rows, 'idfn')):.2f} ({switches})".replace("-", "−")


def untracked_cell(rows):
    return "; ".join(f"{100 * sum_of(rows, column) / sum_of(rows, 'objects'):.0f}"
                     for column in ("no_track", "no_track_on_component", "no_track_on_piece"))


def track_times(results, document):
    """The time of frames with tracks, and how many times that of frames without; of pairs, of frames that they do not cut."""
    rows = {(row.mode, row.image, row.output, row.size, row.algorithm): row.median_us for row in results.rows}
    sizes = sorted({row.size for row in results.rows}, key=lambda size: size[0] * size[1])
    cases = list(dict.fromkeys((row.mode, row.image, row.output) for row in results.rows))

    def cell(case, size):
        tracked, other = rows[*case, size, "tracked"], rows[*case, size, "unguided" if case[1] == "pairs" else "untracked"]
        return f"{tracked:.1f} ({tracked / other:.2f}×)"

    lines = [[f"{image}, `{output}`" + (", 8 cameras" if mode == "cameras" else ""),
              *(cell((mode, image, output), size) for size in sizes)] for mode, image, output in cases]
    with_pairs = "; `pairs`: 30 groups of two, and the same frame where tracks do not guide the cuts" * any(
        row.image == "pairs" for row in results.rows)
    what = ("Microseconds of device time for a frame, in CUDA graphs" if results.rows[0].backend == "cuda"
            else "Microseconds for a frame, one thread")
    return markdown(["frames", *map(size_name, sizes)], lines) + caption(
        results, document, what + ", a thousand kept components that move; medians, and how many times the same frame "
                                  "without tracks" + with_pairs)


def crossings(results, document):
    """Of each line: how many crossings there were, and how many events, before and with margins. Of a second size of the
    frame the sums."""
    columns = ("by_eye", "before", "before_right", "now", "now_right")
    sizes = list(dict.fromkeys(row.size for row in results.rows))
    rows = []
    for size in sizes:
        counts = [(row.line, *(int(getattr(row, column)) for column in columns)) for row in results.select(size=size)]
        rows += counts if size == sizes[0] else []
        rows.append((f"**all**, {size_name(size)}", *map(sum, list(zip(*counts))[1:])))
    lines = [[name, str(by_eye), f"{right} + {before - right}", str(by_eye - right),
              f"{now_right} + {now - now_right}", str(by_eye - now_right)]
             for name, by_eye, before, right, now, now_right in rows]
    header = ["line", "by eye", "each move: right + wrong", "missed", "what counts: right + wrong", "missed"]
    return markdown(header, lines) + caption(results, document, "Crossings by eye, and events that are and are not one of them")
