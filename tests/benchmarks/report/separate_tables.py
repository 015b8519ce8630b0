# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of separate-bench: how well objects that touch are separated, and how long it takes."""

from markdown_table import caption, markdown
from results import size_name

NAMES = {"labels": "labels alone", "separate": "**`separate`**", "scikit-image": "scikit-image", "opencv": "OpenCV"}
MIN_AREA = "25"  # of the tables; the CSV has 0, too
FIGURES = "f1_50", "f1_70", "mean_f1_50", "mean_f1_70"


def name_of(row):
    parameter = row.parameter.replace("sigma ", "σ ")
    return f"{NAMES[row.method]} {f'({parameter})' if row.method in ('scikit-image', 'opencv') else parameter}".strip()


def group(row):
    """Of a peer's settings with the same one, the tables have the best: for scikit-image, those with the same σ."""
    return row.parameter.split(",")[0] if row.method == "scikit-image" else row.method


def chosen(rows):
    """All rows of labels and of this project; of peers, the best ones at an IoU of 0.5."""
    best = {}
    for row in rows:
        if row.method in ("labels", "separate"):
            best[row.method, row.parameter] = row
        elif float(row.f1_50) > float(getattr(best.get((row.method, group(row))), "f1_50", -1)):
            best[row.method, group(row)] = row
    return list(best.values())


def versions(results):
    return f"scikit-image {results.facts['scikit-image']}, OpenCV {results.facts['opencv']}"


def separate(results, document):
    """The nuclei: F1, and merged and split objects."""
    rows = results.select(data="nuclei", min_area=MIN_AREA)
    lines = []
    for row in chosen(rows):
        raw = results.select(data="nuclei", min_area="0", method=row.method, parameter=row.parameter)[0]
        lines.append([name_of(row), *(f"{float(getattr(row, figure)):.3f}" for figure in FIGURES), row.merged, row.split,
                      f"{float(raw.f1_50):.3f}", f"{float(raw.f1_70):.3f}"])
    header = [f"F1, `min-area={MIN_AREA}`", "IoU 0.5", "IoU 0.7", "mean of pictures, 0.5", "0.7", "merged of 100", "split of 100",
              "without `min-area`, 0.5", "0.7"]
    return markdown(header, lines) + caption(
        results, document, f"{rows[0].pictures} pictures, {int(rows[0].objects):,} nuclei, with Otsu's threshold. "
                           f"scikit-image: of each σ the best h of three; OpenCV: the best share of four. {versions(results)}")


def separate_planted(results, document):
    """F1 of planted scenes, with the settings of peers that are best for the nuclei, and scikit-image's without smoothing."""
    nuclei = chosen(results.select(data="nuclei", min_area=MIN_AREA))
    scikit = [row for row in nuclei if row.method == "scikit-image"]
    best = max(scikit, key=lambda row: float(row.f1_50))
    methods = [*(row for row in nuclei if row.method == "separate"), scikit[0], best,
               *(row for row in nuclei if row.method == "opencv")]
    lines = []
    for data in dict.fromkeys(row.data for row in results.rows if row.data != "nuclei"):
        cells = [results.select(data=data, min_area=MIN_AREA, method=row.method, parameter=row.parameter)[0] for row in methods]
        lines.append([data, cells[0].objects, *(f"{float(row.f1_50):.2f}" for row in cells)])
    return markdown(["F1 at IoU 0.5", "objects", *map(name_of, methods)], lines) + caption(
        results, document, f"Planted scenes, `min-area={MIN_AREA}` for all methods. {versions(results)}")


def separate_times(results, document):
    lines = []
    for image in dict.fromkeys(row.image for row in results.rows):
        rows = results.select(image=image)
        base = next(row.median_us for row in rows if row.method == "separate")
        lines += [[image, name_of(row), str(row.parts), f"{row.median_us / 1000:.1f}", f"{row.median_us / base:.1f}×"]
                  for row in rows]
    header = ["image", "", "parts", f"ms a frame of {size_name(results.rows[0].size)}", "to `separate`"]
    return markdown(header, lines) + caption(
        results, document, f"Processor time of one thread, medians. `cudaccl` has labels and records in it, the others have "
                           f"not. {versions(results)}")
