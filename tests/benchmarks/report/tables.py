#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes Markdown tables from ccl-bench's CSV between the marks that ask for them:

    <!-- table: labelers tests/benchmarks/results/h200/graph.csv -->
    <!-- end of table -->

Tables: `labelers` (each labeler at each size), `outputs` (what outputs and features cost), `label-stages` (the labelling
stage alone), `published-code` (the same, of others), `peers` (what a user could choose instead, on some images),
`at-a-glance` (a few of them beside this project, on a GPU and on a CPU), `npp-splits` (what NVIDIA NPP gets wrong), and
from pipeline-bench's CSV `pipelines` (frames a second beside appsink and OpenCV), `gpu-pipelines` (beside the bus, by
depth and memory), `streams` (live ones at the same time) and `decode`. From foreground-bench's CSV: `foreground` (F1 by
category beside OpenCV's background models) and `foreground-speed`; from video-bench's: `video` (F1 of real video); from
that of `ccl-bench segment`: `segment-times` (each rule for the foreground on a GPU); from track-bench's: `track` (IDF1
and switches beside other trackers) and `track-colors` (how often an object's colour changes); of `ccl-bench track`:
`track-times` (frames with tracks on a GPU); from real_bench.py's: `track-real` (MOTA and IDF1 of real video) and
`crossings-real`; from pairs_bench.py's: `track-pairs` (people who walk together); from counts by eye: `crossings` (of lines, beside events); from python-bench's: `python` (the Python
package beside other libraries).
From separate-bench's: `separate` (F1 of nuclei that touch), `separate-planted` and `separate-times`.
From `ccl-bench batch`'s: `batches` (frames that share a launch). From `soak`'s: `soak` (what grows in hours). From `energy-bench`'s: `energy` (joules and dollars). From tune-bench's: `tune` (pictures of the page of `cudaccl tune`, and what they take from the pipeline).
From the CSV of `ccl-bench paper`: `claims` (which of the paper's hold) and `figure:LABELER` (one line: the largest image
that the paper has a figure of, or else the largest). Paths start at the repository's root. Plots have a mark, too, and
have to name their CSV and its commit (plot.py, plot_papers.py, plot_foreground.py, plot_soak.py and plot_track.py draw
them):

    <!-- plot: tests/benchmarks/results/h200/graph.csv -->
    ![What it shows](docs/graph.svg)

    tables.py README.md            rewrites the tables
    tables.py --check README.md    fails where a table or plot is not what its CSV gives
"""

import argparse
import os
import re
import sys
from pathlib import Path

from batch_table import batches
from energy_table import energy
from foreground_tables import foreground, foreground_speed, segment_times, video
from markdown_table import caption, link_to, markdown
from papers import PaperResults, digits
from python_tables import python
from real_tables import crossings_real, track_real
from results import Results, algorithm_name, by_algorithm, mean, size_name, worst
from separate_tables import separate, separate_planted, separate_times
from soak import soak
from track_tables import crossings, track, track_colors, track_pairs, track_times
from tune_table import tune

ROOT = Path(__file__).resolve().parents[3]
MARKED = re.compile(r"(<!-- table: (\S+) (\S+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
PLOT_MARK = "<!-- plot: "
PLOT = re.compile(r"<!-- plot: (\S+) -->\n!\[[^\]]*\]\((\S+)\)")
RIVAL = "block-equivalence"


def microseconds(value):
    if value is None:
        return "–"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def mean_and_worst(rows):
    return f"{microseconds(mean(rows))} ({microseconds(worst(rows).median_us)})" if rows else "–"


def ratio(rows, base):
    if not rows or not base:
        return "–"
    value = mean(rows) / base
    return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"


def labelers(results, document):
    """A line for each labeler, fastest first, then peers, then the floor."""
    sizes = results.sizes()
    ours = {size: by_algorithm(results.labelers(size=size)) for size in sizes}
    peers = {size: by_algorithm(results.peers(size=size, connectivity=8)) for size in sizes}
    reference = (1920, 1080) if (1920, 1080) in sizes else sizes[0]
    floor = results.floor(reference)
    rival = mean(ours[reference][RIVAL]) if ours[reference].get(RIVAL) else None

    def line(name, groups):
        rows = groups[reference].get(name)
        cells = [mean_and_worst(groups[size].get(name)) for size in sizes]
        cells += [ratio(rows, floor)] if floor else []
        cells += [ratio(rows, rival)] if rival else []
        return [algorithm_name(name) if groups is peers else f"`{name}`", *cells]

    header = ["µs, geometric mean (worst)", *map(size_name, sizes)]
    header += [f"to the floor, {size_name(reference)}"] if floor else []
    header += [f"to `{RIVAL}`, {size_name(reference)}"] if rival else []
    by_time = sorted(ours[reference], key=lambda name: mean(ours[reference][name]))
    lines = [line(name, ours) for name in by_time] + [line(name, peers) for name in peers[reference]]
    if floor:
        floors = [microseconds(results.floor(size)) for size in sizes]
        lines.append(["floor: read 1 B, write 4 B per pixel", *floors] + [""] * (len(header) - 1 - len(sizes)))
    return markdown(header, lines) + caption(results, document, describe_labelers(results, ours, peers))


def describe_labelers(results, ours, peers):
    counts = [len(next(iter(groups.values()))) for groups in ours.values()]
    n_images = str(counts[0]) if len(set(counts)) == 1 else ", ".join(map(str, counts))
    how = "device time in a CUDA graph" if "gpu" in results.facts else "the engine's time on the CPU"
    return (f"{n_images} images, 8-connected; label, number, area, box and "
            f"centroid of each component, RGBA out; {how}{'; peers give labels only' if any(peers.values()) else ''}")


def outputs(results, document):
    """What `runs`, or the only labeler there is, takes for each output and set of features."""
    sizes = results.sizes()
    names = {row.algorithm for row in results.labelers()}
    algorithm = "runs" if "runs" in names else sorted(names)[0]
    wanted = dict.fromkeys((row.output, row.features) for row in results.rows if row.algorithm == algorithm)

    def rows_of(size, **columns):
        return by_algorithm(results.labelers(size=size, algorithm=algorithm, **columns)).get(algorithm)

    base = {size: mean(rows_of(size)) for size in sizes}
    lines = []
    for output, features in wanted:
        cells = []
        for size in sizes:
            rows = rows_of(size, output=output, features=features)
            cells += [mean_and_worst(rows), ratio(rows, base[size])]
        lines.append([output if output != "none" else "records only", features, *cells])
    header = ["output", "features"]
    for size in sizes:
        header += [f"{size_name(size)}, µs", "to the first"]
    return markdown(header, lines) + caption(results, document, f"`{algorithm}`, geometric mean (worst)")


def label_stages(results, document):
    """The labelling stage alone, which is what published code gives."""
    rows = results.select(mode="label", connectivity=8)
    sizes = sorted({row.size for row in rows}, key=lambda size: size[0] * size[1])
    groups = {size: by_algorithm([row for row in rows if row.size == size]) for size in sizes}
    by_time = sorted(groups[sizes[0]], key=lambda name: mean(groups[sizes[0]][name]))
    lines = [[f"`{name}`", *(mean_and_worst(groups[size][name]) for size in sizes)] for name in by_time]
    n_images = len(groups[sizes[0]][by_time[0]])
    return markdown(["µs, geometric mean (worst)", *map(size_name, sizes)], lines) + caption(
        results, document, f"The labelling stage alone in a CUDA graph, {n_images} images, 8-connected")


PUBLISHED = {"BKE": "block-equivalence (Allegretti, Bolelli, Grana)", "UF": "union-find (Oliveira, Lotufo)",
             "DLP": "distanceless label propagation (Cabaret, Lacassagne, Etiemble)",
             "OLE": "label equivalence (Kalentev, Rai, Kemnitz, Schneider)", "STAVA": "tile merging (Šťava, Beneš)"}


def published_code(results, document):
    groups = by_algorithm(results.rows)
    lines = [[PUBLISHED[name], rows[0].mode, mean_and_worst(rows)]
             for name, rows in sorted(groups.items(), key=lambda item: mean(item[1]))]
    n_images = len(next(iter(groups.values())))
    return markdown(["published code", "kernels in a", "1080p, µs, geometric mean (worst)"], lines) + (
        f"\n*Labels only, {n_images} images, 8-connected, labels compared with a reference. "
        f"{results.machine()}; {results.facts['date']}: {link_to(results, document)}.*\n")


# Of each image set, what most separates one method from another.
GLANCE_IMAGES = {"blobs": "blobs", "g16_d50": "coarse noise", "g1_d50": "pixel noise", "spiral": "spiral"}
FULL_HD = (1920, 1080)


def beside(results, folder, name):
    """Another CSV of the same set of results."""
    return Results(results.path.parent / folder / name)


def times_by_image(rows):
    return {row.image: row.median_us for row in rows}


def peer_times(results, peer):
    return {(row.image, row.size): row.median_us for row in results.rows if row.peer == peer}


def at_a_glance(results, document):
    """Six rows: this project and what a user could choose instead, on a GPU and on a CPU."""
    gpu, cpu = beside(results, ".", "labelers.csv"), beside(results, "../xeon", "labels.csv")

    def gpu_peer(start):
        peer = next(row.peer for row in results.rows if row.peer.startswith(start))
        return {image: time for (image, size), time in peer_times(results, peer).items() if size == FULL_HD}

    def cpu_rows(**columns):
        return cpu.select(size=FULL_HD, threads="1", **columns)

    opencv = [times_by_image(cpu_rows(method=f"opencv-{name}", kind="stats")) for name in ("sauf", "bbdt", "spaghetti")]
    best_opencv = {image: min(times[image] for times in opencv) for image in GLANCE_IMAGES}
    lines = [("GPU", "**cudaccl**", "labels, area, box, centroid, RGBA",
              times_by_image(gpu.labelers(size=FULL_HD, algorithm="runs"))),
             ("GPU", "CV-CUDA 0.19, 4-connected", "labels, area, box", gpu_peer("CV-CUDA 0.19 `label` with statistics")),
             ("GPU", "cuCIM 26.10", "labels, area, box, centroid", gpu_peer("cuCIM 26.10 `label` +")),
             ("GPU", "CuPy 14.2", "labels", times_by_image(gpu.peers(size=FULL_HD, algorithm="cupyx-label", connectivity=8))),
             ("CPU", "**cudaccl**", "labels, all records, RGBA", times_by_image(cpu_rows(method="cudaccl", kind="rgba"))),
             ("CPU", "OpenCV 4.6, its fastest algorithm", "labels, area, box, centroid", best_opencv)]
    header = ["", "", "result", *GLANCE_IMAGES.values()]
    return markdown(header, [[where, name, gives, *(microseconds(times[image]) for image in GLANCE_IMAGES)]
                             for where, name, gives, times in lines]).replace("| ---: | ---: |", "| --- | --- |", 1) + (
        f"\n*Microseconds for one 1080p frame, 8-connected unless the row says otherwise. Noise: half of all pixels, or half "
        f"of all blocks of 16×16 pixels (coarse), are foreground. GPU: {gpu.machine()}, frame already "
        f"on the GPU; `cudaccl` in a CUDA graph, cuCIM with one synchronisation per frame. CPU: one thread, "
        f"{cpu.comments[0].split(';')[0].split(',')[0]}. {link_to(gpu, document)}, {link_to(results, document)}, "
        f"{link_to(cpu, document)}.*\n")


def peers(results, document):
    timed = [row for row in results.rows if row.median_us is not None]
    columns = list(dict.fromkeys((row.image, row.size) for row in timed))
    ours = {size: times_by_image(beside(results, ".", "labelers.csv").labelers(size=size, algorithm="runs"))
            for _, size in columns}
    lines = [["`cudaccl`, `runs`", "8", "labels, area, box, centroid, RGBA", "CUDA graph",
              *(microseconds(ours[size].get(image)) for image, size in columns)]]
    for row in {row.peer: row for row in timed}.values():
        times = peer_times(results, row.peer)
        lines.append([row.peer, str(row.connectivity), row.gives, row.clock, *(f"{times[column]:.0f}" for column in columns)])
    header = ["µs", "connectivity", "result", "clock", *(f"{image}, {size_name(size)}" for image, size in columns)]
    return markdown(header, lines) + (
        f"\n*Arrays already on the GPU. {results.machine()}; {results.facts['date']}: {link_to(results, document)}.*\n")


def npp_splits(results, document):
    lines = [[row.image, row.components, row.found] for row in results.rows if row.found]
    return markdown(["image, 1080p", "components", "labels of NVIDIA NPP"], lines) + (
        f"\n*8-connected. {results.machine()}; {results.facts['date']}: {link_to(results, document)}.*\n")


def pipelines(results, document):
    """Frames a second of pipelines with the element, and of those without it, on the same frames."""
    best = {(row.contestant, row.image, row.size, row.output, row.threads): float(row.best_fps)
            for row in results.rows}
    lines = []
    for (contestant, *task), fps in best.items():
        theirs = best.get(("appsink-opencv", *task))
        if contestant == "cudaccl" and theirs:
            image, size, output, threads = task
            what = "records only" if output == "passthrough" else "RGBA and records"
            lines.append([image, size_name(size), what, threads, f"{fps:.0f}", f"{theirs:.0f}",
                          f"{fps / theirs:.1f}×"])
    header = ["frames", "size", "output", "threads", "`cudaccl`, fps", "`appsink` + OpenCV, fps", "ratio"]
    link = os.path.relpath(results.path, Path(document).resolve().parent)
    return (markdown(header, lines) +
            f"\n*All features; the better of both pipelines' rounds. {results.comments[0]}: [{results.path.name}]({link}).*\n")


WHERE = {"system": "system memory", "pinned": "page-locked memory", "cuda": "CUDA memory"}


def pipeline_caption(results, document, what):
    link = os.path.relpath(results.path, Path(document).resolve().parent)
    return f"\n*{what}. {results.comments[0]}: [{results.path.name}]({link}).*\n"


def gpu_pipelines(results, document):
    """Frames a second by what goes where and how many frames are in flight, and what the bus alone allows."""
    def task(row):
        return row.image, row.size, row.output, getattr(row, "from"), row.to

    bus = {task(row): float(row.best_fps) for row in results.rows if row.contestant == "bus"}
    theirs = {task(row): float(row.best_fps) for row in results.rows if row.contestant == "appsink-opencv"}
    ours = {(task(row), int(row.depth)): row for row in results.rows if row.contestant == "cudaccl"}
    lines = []
    for (key, depth), row in ours.items():
        image, size, output, source, to = key
        what = "records only" if output == "passthrough" else f"RGBA in {WHERE[to]}"
        fps = float(row.best_fps)
        lines.append([f"{image}, {size_name(size)}, {WHERE[source]}", what, str(depth), f"{fps:.0f}",
                      f"{fps / bus[key]:.0%}" if bus.get(key) else "–",
                      f"{fps / theirs[key]:.0f}×" if key in theirs else "–",
                      f"{float(row.p50_ms):.2f}", f"{float(row.p99_ms):.2f}", row.min_cpu_ms_per_frame])
    header = ["frames", "to", "`pipeline-depth`", "fps", "of what the bus alone allows", "to `appsink` + OpenCV",
              "latency, ms", "p99", "CPU, ms a frame"]
    return markdown(header, lines) + pipeline_caption(
        results, document, "`appsrc ! cudaccl ! fakesink` as fast as it goes, all features")


def streams(results, document):
    lines = [[row.pipelines, size_name(row.size), f"{float(row.paced_fps):g}", f"{float(row.best_fps):.0f}", row.late,
              f"{float(row.p50_ms):.2f}", f"{float(row.p99_ms):.2f}", row.min_cpu_ms_per_frame] for row in results.rows]
    header = ["cameras", "size", "fps of each", "fps of all", "late frames", "latency, ms", "p99", "CPU, ms a frame"]
    return markdown(header, lines) + pipeline_caption(
        results, document, "Live, records only, one GPU and one process; late is later than the next frame is due")


def decode(results, document):
    names = {"none": "nothing", "passthrough": "records only", "colorized": "RGBA and records"}
    lines = [[f"`{row.contestant.replace('+', ' ! ')}`", names[row.output], WHERE[row.to], f"{float(row.best_fps):.0f}"]
             for row in results.rows]
    return markdown(["elements", "what", "in", "fps"], lines) + pipeline_caption(
        results, document, "A 1080p H.264 file, from its opening to its end")


def claims(results, document):
    lines = [[row.text, row.quantity, row.evidence] for row in results.claims]
    return markdown(["claim", "here", "measured"], lines).replace("---:", "---") + caption(
        results, document, "Claims of the paper")


def with_unit(value, unit):
    return "–" if value is None else f"{digits(value)} {unit}".strip()


def labeler_figure(results, document, name):
    rows = [row for row in results.figures if row.algorithm == name and row.quantity in ("time", "throughput")]
    if not rows:
        return "*Not measured.*\n"
    row = max(rows, key=lambda row: (row.ratio is not None, row.width * row.height))
    return (f"*{row.image}, {row.width}×{row.height}: {with_unit(row.ours, row.unit)} for the labels alone, of the image "
            f"of {row.table} of the paper ({link_to(results, document)}).*\n")


def whole_figure(results, document, name):
    """The same of a labeler that no experiment has: from the frame to RGBA and records."""
    size = (1920, 1080)
    rows = by_algorithm(results.labelers(size=size))[name]
    link = os.path.relpath(results.path, Path(document).resolve().parent)
    return (f"*{size_name(size)}, from the frame to records and RGBA: {microseconds(mean(rows))} µs, the geometric mean "
            f"of {len(rows)} images; at worst {microseconds(worst(rows).median_us)} ([{results.path.name}]({link})).*\n")


RESULT_TABLES = {"foreground": foreground, "foreground-speed": foreground_speed, "segment-times": segment_times, "video": video,
                 "track": track, "track-colors": track_colors, "track-times": track_times, "crossings": crossings,
                 "track-pairs": track_pairs, "track-real": track_real, "crossings-real": crossings_real,
                 "python": python, "pipelines": pipelines, "gpu-pipelines": gpu_pipelines, "streams": streams,
                 "decode": decode, "labelers": labelers, "outputs": outputs, "label-stages": label_stages,
                 "published-code": published_code, "at-a-glance": at_a_glance, "peers": peers, "npp-splits": npp_splits,
                 "separate": separate, "separate-planted": separate_planted, "separate-times": separate_times, "tune": tune,
                 "batches": batches, "soak": soak, "energy": energy}


def table(name, path, document):
    kind, _, argument = name.partition(":")
    if not path.exists():
        return "*Not recorded yet.*\n"
    if kind == "claims":
        return claims(PaperResults(path), document)
    if kind == "figure":
        results = PaperResults(path)
        return labeler_figure(results, document, argument) if results.figures else whole_figure(
            Results(path), document, argument)
    return RESULT_TABLES[kind](Results(path), document)


def rewrite(document):
    """The document's text as it is, and as it should be."""
    text = Path(document).read_text(encoding="utf-8")

    def fill(match):
        begin, name, path, _, end = match.groups()
        return begin + table(name, ROOT / path, document) + end

    return text, MARKED.sub(fill, text)


def stale_plots(document):
    """The document's plots that were drawn from another state of their CSV."""
    document = Path(document)
    text = document.read_text(encoding="utf-8")
    marks = PLOT.findall(text)
    if len(marks) != text.count(PLOT_MARK):
        sys.exit(f"{document}: a plot's mark has no picture behind it")
    plots = [(Results(ROOT / data), document.parent / plot) for data, plot in marks]
    return [str(plot) for results, plot in plots if results.origin() not in plot.read_text(encoding="utf-8")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="+")
    parser.add_argument("--check", action="store_true", help="change nothing, fail where a table is stale")
    arguments = parser.parse_args()
    stale = []
    for document in arguments.documents:
        is_text, should_be = rewrite(document)
        if is_text != should_be and arguments.check:
            stale.append(document)
        elif is_text != should_be:
            Path(document).write_text(should_be, encoding="utf-8")
            print(f"{document}: tables written")
    if stale:
        sys.exit("not what the CSV gives, run tests/benchmarks/report/tables.py on: " + ", ".join(stale))
    plots = [plot for document in arguments.documents for plot in stale_plots(document)]
    if plots:
        sys.exit("not drawn from the CSV that is there, run tests/benchmarks/report/plot.py, plot_papers.py, plot_foreground.py or plot_track.py for: " + ", ".join(plots))


if __name__ == "__main__":
    main()
