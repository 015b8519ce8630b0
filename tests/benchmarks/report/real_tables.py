# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of real_bench.py: how exactly objects of real video are followed, and who crosses lines there."""

from markdown_table import caption, markdown

BOXES = {"cudaccl": "README's settings", "preset": "preset", "mog2": "MOG2"}
TRACKERS = {"cudaccl": "**`cudaccl`**", "sort": "SORT", "iou": "IoU tracker"}


def track_real(results, document):
    """MOTA and IDF1 of each method and clip."""
    clips = list(dict.fromkeys(row.clip for row in results.rows))
    methods = sorted({(row.boxes, row.tracker) for row in results.rows},
                     key=lambda method: (list(BOXES).index(method[0]), list(TRACKERS).index(method[1])))
    lines = [[f"{BOXES[boxes]}, {TRACKERS[tracker]}", *(cell(results.select(clip=clip, boxes=boxes, tracker=tracker))
                                                       for clip in clips)] for boxes, tracker in methods]
    counts = {row.clip: row.frames for row in results.rows}
    return markdown(["MOTA, IDF1 (switches)", *clips], lines) + caption(
        results, document, f"{', '.join(f'{clip}: {counts[clip]} frames' for clip in clips if ',' not in clip)}; boxes that "
                           f"overlap by half. SORT and the IoU tracker have their published parameters, MOG2 is OpenCV "
                           f"{results.facts['opencv']}'s. motmetrics {results.facts['motmetrics']}")


def cell(rows):
    """Of a clip without this method a dash."""
    return f"{rows[0].mota:.2f}, {rows[0].idf1:.2f} ({rows[0].switches})".replace("-", "−") if rows else "–"


def crossings_real(results, document):
    """Of each line and zone the events that are and are not one of those by eye; both directions together."""
    kinds = [("", BOXES[name], name) for name in ("cudaccl", "preset")]
    kinds += [(", even light", f"even light, {BOXES[name]}", name) for name in ("cudaccl", "preset")]
    places = list(dict.fromkeys((row.clip.split(",")[0], row.place) for row in results.rows))
    lines = []
    for clip, place in places:
        by_kind = [results.select(clip=clip + light, place=place, parameter=name) for light, _, name in kinds]
        lines.append([f"{clip}, {place}", str(total(by_kind[0], "by_eye")), *map(counted, by_kind)])
    return markdown(["line or zone", "by eye", *(title for _, title, _ in kinds)], lines) + caption(
        results, document, "Crossings, ways in and ways out: by eye, and events that are + are not one of them")


def total(rows, column):
    return sum(int(getattr(row, column)) for row in rows)


def counted(rows):
    right = total(rows, "right")
    return f"{right} + {total(rows, 'found') - right}" if rows else "–"
