#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws what each labeler does to one small image, step by step, as docs/algorithms/NICK.svg:

    algorithms.py            draws them
    algorithms.py --check    fails where a picture is not what would be drawn

A picture is drawn for each marker in docs/algorithms.md that stands above an image, such as

    <!-- picture: two_scans | first scan | its classes -->
    ![sauf, step by step](algorithms/sauf.svg)

It names a method, which is a function here, and its arguments.

A number is the label of a pixel, and each number has one colour. Labels are 1 + raster index; the serial labelers have
provisional labels, counted from 1. Every picture ends with the root map, which is the same for all of them.
"""

import argparse
import re
from pathlib import Path

PICTURE = ("..##....##..##..",
           ".##..##..#...##.",
           ".#..##...##...#.",
           ".####..#....###.",
           ".......##..##...",
           ".##..#..#.##..#.",
           "..####..###...#.",
           "#...........###.")
WIDTH, HEIGHT = len(PICTURE[0]), len(PICTURE)
PIXELS = [y * WIDTH + x for y in range(HEIGHT) for x in range(WIDTH) if PICTURE[y][x] == "#"]
FOREGROUND = set(PIXELS)
CELL, GAP, TITLE = 15, 14, 20
TILE = 4


def at(pixel):
    return pixel % WIDTH, pixel // WIDTH


def neighbors(pixel, connectivity=8):
    x, y = at(pixel)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if (dx or dy) and 0 <= x + dx < WIDTH and (connectivity == 8 or not (dx and dy)):
                other = pixel + dy * WIDTH + dx
                if other in FOREGROUND:
                    yield other


def own_labels():
    return {pixel: pixel + 1 for pixel in PIXELS}


def components(is_linked=lambda a, b: True, connectivity=8):
    """The smallest label of each pixel's component, where only links that `is_linked` accepts count."""
    labels = own_labels()
    changes = True
    while changes:
        changes = False
        for pixel in PIXELS:
            least = min([labels[pixel]] + [labels[q] for q in neighbors(pixel, connectivity) if is_linked(pixel, q)])
            changes = changes or least != labels[pixel]
            labels[pixel] = least
    return labels


def tile_of(pixel, size=TILE):
    x, y = at(pixel)
    return x // size, y // size


def in_one_tile(size=TILE):
    return lambda a, b: tile_of(a, size) == tile_of(b, size)


def least_around(labels, connectivity=8):
    return {p: min([labels[p]] + [labels[q] for q in neighbors(p, connectivity)]) for p in PIXELS}


def follow(labels, label):
    while labels[label - 1] != label:
        label = labels[label - 1]
    return label


def analysed(labels):
    return {pixel: follow(labels, label) for pixel, label in labels.items()}


def final(title="the root map"):
    return title, components()


def iterations(step):
    """Labels before the first iteration and after each one that changes any."""
    states = [own_labels()]
    while (after := step(states[-1])) != states[-1]:
        states.append(after)
    return states


def neighbor_propagation():
    states = iterations(least_around)
    return [("every pixel its own label", states[0]), ("after one iteration", states[1]),
            ("after three", states[3]), (f"after {len(states) - 1}", states[-1])]


def scanned(labels):
    """Listing 3 of Kalentev et al.: the entry that a label refers to takes the smallest label around the pixel."""
    after = dict(labels)
    for pixel, least in least_around(labels).items():
        if least < labels[pixel]:
            root = labels[pixel] - 1
            after[root] = min(after[root], least)
    return after


def label_equivalence():
    states = iterations(lambda labels: analysed(scanned(labels)))
    return [("every pixel its own label", states[0]), ("first scanning", scanned(states[0])),
            ("first analysis", states[1]), (f"after {len(states) - 1} iterations", states[-1])]


def label_equivalence_2():
    def second(labels):
        """The other label image: a root takes the smallest label around any of its pixels."""
        lowest = dict(labels)
        for pixel, least in least_around(labels).items():
            lowest[labels[pixel] - 1] = min(lowest[labels[pixel] - 1], least)
        return lowest

    states = iterations(lambda labels: {p: follow(second(labels), label) for p, label in labels.items()})
    return [("L1: every pixel its own label", states[0]), ("L2: the smallest label around", least_around(states[0])),
            ("L1: the roots found in L2", states[1]), (f"after {len(states) - 1} iterations", states[-1])]


def row_col_unify():
    def spread(labels, steps):
        return {pixel: min(labels[q] for q in reach(pixel, steps)) for pixel in PIXELS}

    def reach(pixel, steps):
        """The pixels of an unbroken line through `pixel`."""
        found = {pixel}
        for dx, dy in steps:
            x, y = at(pixel)
            while 0 <= x + dx < WIDTH and (y + dy) * WIDTH + x + dx in FOREGROUND:
                x, y = x + dx, y + dy
                found.add(y * WIDTH + x)
        return found

    def rows(labels):
        return spread(labels, ((1, 0), (-1, 0)))

    def columns(labels):
        return spread(labels, ((0, 1), (0, -1)))

    def diagonals(labels):
        return spread(spread(labels, ((1, 1), (-1, -1))), ((1, -1), (-1, 1)))

    states = iterations(lambda labels: diagonals(columns(rows(labels))))
    first = rows(states[0])
    return [("every pixel its own label", states[0]), ("rows unified", first), ("columns unified", columns(first)),
            (f"and diagonals, {len(states) - 1} iterations", states[-1])]


def merged_roots(labels):
    """Roots become children of other roots across tiles; all other pixels keep their labels."""
    whole = components()
    return {pixel: whole[pixel] if labels[pixel] == pixel + 1 else labels[pixel] for pixel in PIXELS}


def union_find():
    local = components(in_one_tile())
    return [("every pixel its own label", own_labels()), ("local merge, in each tile", local),
            ("global merge of roots", merged_roots(local)), final("path compression")]


def dlp():
    def gathered(pixel):
        """The smallest label of the 2 × 2 windows of the tile that contain the pixel."""
        return min([pixel + 1] + [q + 1 for q in neighbors(pixel) if tile_of(q) == tile_of(pixel)])

    local = components(in_one_tile())
    return [("I: every pixel its own label", own_labels()), ("SR, in each tile", {p: gathered(p) for p in PIXELS}),
            ("R, RUF, R", local), final("RUF on borders, R")]


def tile_merge():
    small = components(in_one_tile())
    large = components(in_one_tile(2 * TILE))
    border = {pixel: large[pixel] if any(tile_of(q) != tile_of(pixel) for q in neighbors(pixel)) else small[pixel]
              for pixel in PIXELS}
    return [("tiles labelled", small), ("2 × 2 tiles merged, borders flattened", border), ("roots of the next level", large),
            final("all flattened")]


def block_equivalence():
    def block(pixel):
        return tile_of(pixel, 2)

    first = {}
    for pixel in PIXELS:
        first.setdefault(block(pixel), pixel + 1)
    nodes = {pixel: first[block(pixel)] for pixel in PIXELS}

    def linked(pixel):
        members = [p for p in PIXELS if block(p) == block(pixel)]
        return min([nodes[p] for p in members] + [nodes[q] for p in members for q in neighbors(p)])

    once = {pixel: linked(pixel) for pixel in PIXELS}
    return [("blocks of 2 × 2 are nodes", nodes), ("linked to the smallest neighbour", once),
            ("united in tiles", components(in_one_tile(2 * TILE))), final("united across tiles")]


def runs():
    starts = {}
    for pixel in PIXELS:
        x, _ = at(pixel)
        starts[pixel] = starts[pixel - 1] if x and pixel - 1 in FOREGROUND else pixel + 1

    def linked(labels):
        return {p: min(labels[q] for r in PIXELS if starts[r] == starts[p] for q in (r, *neighbors(r)) if q <= r)
                for p in PIXELS}

    return [("runs are nodes", starts), ("linked to runs above", linked(starts)),
            ("united in tiles", components(in_one_tile(2 * TILE))), final("united across tiles")]


class Serial:
    """A first scan with provisional labels, and their classes."""

    def __init__(self, order):
        self.labels, self.parent = {}, [0]
        for pixel in order:
            before = [self.labels[q] for q in neighbors(pixel) if q in self.labels]
            if before:
                self.labels[pixel] = before[0]
                for label in before[1:]:
                    self.unite(before[0], label)
            else:
                self.parent.append(len(self.parent))
                self.labels[pixel] = len(self.parent) - 1

    def root(self, label):
        while self.parent[label] != label:
            label = self.parent[label]
        return label

    def unite(self, a, b):
        a, b = self.root(a), self.root(b)
        self.parent[max(a, b)] = min(a, b)

    def classes(self):
        return {pixel: self.root(label) for pixel, label in self.labels.items()}


def two_scans(first, second, order=PIXELS):
    scan = Serial(order)
    return [(first, scan.labels), (second, scan.classes()), final("second scan")]


def two_scans_of_row_pairs(first, second):
    return two_scans(first, second, sorted(PIXELS, key=lambda pixel: (at(pixel)[1] // 2, at(pixel)[0], at(pixel)[1])))


def color(label):
    """Hues by the golden ratio; pale, under black numbers."""
    return f"hsl({label * 137.508 % 360:.0f} 70% 80%)"


def draw(panels):
    width = len(panels) * (WIDTH * CELL + GAP) - GAP
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TITLE + HEIGHT * CELL}" '
           f'width="{width}" font-family="DejaVu Sans, sans-serif" font-size="7" text-anchor="middle" '
           f'stroke-width="{CELL - 1}">']
    for i, (title, labels) in enumerate(panels):
        left = i * (WIDTH * CELL + GAP)
        out.append(f'<text x="{left}" y="12" font-size="11" text-anchor="start" fill="#808080">{title}</text>')
        out.append(f'<rect x="{left}" y="{TITLE}" width="{WIDTH * CELL}" height="{HEIGHT * CELL}" fill="#f4f4f4"/>')
        cells, numbers = {}, []
        for pixel, label in sorted(labels.items()):
            x, y = left + at(pixel)[0] * CELL, TITLE + at(pixel)[1] * CELL
            cells.setdefault(label, []).append(f"M{x} {y + 7}h{CELL - 1}")
            numbers.append(f'<text x="{x + 7}" y="{y + 10}">{label}</text>')
        out.append("".join(f'<path d="{"".join(path)}" stroke="{color(label)}"/>' for label, path in cells.items()))
        out.append("".join(numbers))
    return "\n".join(out) + "\n</svg>\n"


METHODS = {method.__name__: method for method in (
    runs, dlp, union_find, label_equivalence, label_equivalence_2, row_col_unify, neighbor_propagation, tile_merge,
    block_equivalence, two_scans, two_scans_of_row_pairs)}


def draw_all(document):
    """{file name: picture} of the markers."""
    pictures = {}
    for marker, name in re.findall(r"^<!-- picture: (.*) -->\n!\[.*\]\(algorithms/(.*\.svg)\)$", document, re.MULTILINE):
        method, *titles = marker.split(" | ")
        if method not in METHODS:
            raise SystemExit(f"{name}: no method '{method}', only " + ", ".join(METHODS))
        panels = METHODS[method](*titles)
        if panels[-1][1] != components():
            raise SystemExit(f"{name}: {method} does not end with the root map")
        pictures[name] = draw(panels)
    return pictures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    folder = Path(__file__).parent / "algorithms"
    folder.mkdir(exist_ok=True)
    pictures = draw_all(folder.with_suffix(".md").read_text(encoding="utf-8"))
    if not check:
        for name, picture in pictures.items():
            (folder / name).write_text(picture, encoding="utf-8")
    elif pictures != (found := {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}):
        stale = [name for name in sorted(pictures | found) if pictures.get(name) != found.get(name)]
        raise SystemExit("not what docs/algorithms.py draws: " + ", ".join(stale))


if __name__ == "__main__":
    main()
