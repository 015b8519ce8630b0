# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the metadata of a frame is right: each verdict of meta_matrix.toml, for test_meta_matrix.py."""

import numpy

from meta_frames import CUT, HEIGHT, SCALED, TOUCHES_BORDER, WIDTH, measure

# Of a scaled frame: a scaler's filter moves edges, and boxes grow to whole pixels.
SCALED_PIXELS = 1.0  # edges of boxes, centroids, places
SCALED_MOMENTS = 0.1  # of the moment, plus a pixel
FLOAT = 1e-5  # relative: reals are 32-bit floats
ROUNDING = 1e-3  # pixels, of the map

NO_COMPONENT = 0xFFFFFFFF
WORST_LAST = ["exact", "scaled", "near", "partly", "dropped", "wrong"]


class Wrong(Exception):
    """What is wrong."""


def require(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(part) for part in what))


def worst(verdicts):
    return max(verdicts, key=WORST_LAST.index)


def box_of(record):
    x, y = int(record["x"]), int(record["y"])
    return x, y, x + int(record["width"]), y + int(record["height"])


def largest_difference(a, b):
    return max(abs(p - q) for p, q in zip(a, b))


def nearest(box, components):
    return min(components, key=lambda c: largest_difference(box, c.box))


def is_within(inner, outer):
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


class Map:
    """The affine map from the labelled frame to the new one, from the centroids of records that are not cut."""

    def __init__(self, before, after):
        old = {int(r["label"]): r for r in before.records}
        whole = [r for r in after.records if not r["flags"] & CUT]
        places = [(old[int(r["label"])]["cx"], old[int(r["label"])]["cy"], 1) for r in whole]
        rank = numpy.linalg.matrix_rank(numpy.array(places, float), tol=0.1)
        require(rank == 3, "too few whole components for a map")
        targets = [(r["cx"], r["cy"]) for r in whole]
        self.matrix = numpy.linalg.lstsq(numpy.array(places, float), numpy.array(targets, float), rcond=None)[0]
        if not any(r["flags"] & SCALED for r in whole):
            require(numpy.abs(self.matrix - self.matrix.round()).max() < ROUNDING, "the map moves no whole pixels")
            self.matrix = self.matrix.round()

    def place(self, x, y):
        return numpy.array([x, y, 1]) @ self.matrix

    def vector(self, x, y):
        return numpy.array([x, y]) @ self.matrix[:2]

    def box(self, box):
        """Edges are half a pixel from centres."""
        corners = [self.place(x - 0.5, y - 0.5) + 0.5 for x in box[::2] for y in box[1::2]]
        (left, top), (right, bottom) = numpy.min(corners, 0), numpy.max(corners, 0)
        return left, top, right, bottom


def check_reals(record, component, is_scaled):
    tolerance = SCALED_PIXELS if is_scaled else FLOAT * max(WIDTH, HEIGHT)
    require(
        largest_difference((record["cx"], record["cy"]), component.centroid) <= tolerance,
        "centroid", record["cx"], record["cy"], component.centroid,
    )
    for name, moment in zip(("mxx", "mxy", "myy"), component.moments):
        tolerance = SCALED_MOMENTS * abs(moment) + SCALED_PIXELS if is_scaled else FLOAT * max(1, component.area)
        require(abs(record[name] - moment) <= tolerance, name, record[name], moment)


def check_whole_record(record, component, picture):
    """A record of a component that is in the frame as a whole."""
    is_scaled = bool(record["flags"] & SCALED)
    difference = largest_difference(box_of(record), component.box)
    require(difference <= (SCALED_PIXELS if is_scaled else 0), "box", box_of(record), component.box)
    check_reals(record, component, is_scaled)
    if is_scaled:
        require(abs(int(record["area"]) - component.area) <= component.perimeter * SCALED_PIXELS / 2, "area")
        return
    require(record["area"] == component.area, "area", record["area"], component.area)
    require(record["perimeter"] == component.perimeter, "perimeter", record["perimeter"], component.perimeter)
    require(record["euler"] == component.euler, "euler", record["euler"], component.euler)
    touches = any(a == b for a, b in zip(component.box, picture))
    require(bool(record["flags"] & TOUCHES_BORDER) == touches, "TOUCHES_BORDER", component.box, picture)


def check_identity(before, after):
    """Labels stay, and so does what no place is in."""
    old = {int(r["label"]): r for r in before.records}
    labels = [int(r["label"]) for r in after.records]
    require(labels == sorted(set(labels)) and set(labels) <= set(old), "labels", labels)
    for record in after.records:
        for name in ("id", "value", "age"):
            require(record[name] == old[int(record["label"])][name], name)
    require(after.n_components == len(labels), "n-components", after.n_components)
    require(after.others == before.others, "fields", before.others, after.others)


def check_records(after, components, picture):
    """Each record is right, and each component that an outsider finds has one."""
    left = list(components)
    cut_boxes = [box_of(r) for r in after.records if r["flags"] & CUT]
    for record in after.records:
        if not record["flags"] & CUT:
            require(left, "too many records")
            component = nearest(box_of(record), left)
            check_whole_record(record, component, picture)
            left.remove(component)
        else:
            require(any(a == b for a, b in zip(box_of(record), picture)), "cut, but not at the edge", box_of(record))
    for component in left:
        require(any(is_within(component.box, box) for box in cut_boxes), "no record of", component.box)


def visible(box, picture):
    """The part of a box in the picture, or None."""
    part = (*(max(a, b) for a, b in zip(box[:2], picture)), *(min(a, b) for a, b in zip(box[2:], picture[2:])))
    return part if part[2] - part[0] > ROUNDING and part[3] - part[1] > ROUNDING else None


def check_track(old, track, mapping, picture, tolerance):
    place = mapping.place(old["cx"], old["cy"])
    require(largest_difference((track["cx"], track["cy"]), place) <= max(tolerance, ROUNDING), "place", track, place)
    velocity = mapping.vector(old["vx"], old["vy"])
    limit = 1e-3 * (1 + abs(velocity).max())
    require(largest_difference((track["vx"], track["vy"]), velocity) <= limit, "velocity", track, velocity)
    box = visible(mapping.box(box_of(old)), picture)
    require(largest_difference(box_of(track), box) <= tolerance, "box of track", box_of(track), box)
    for name in ("age", "first_time", "last_time", "parent", "zones"):
        require(track[name] == old[name], name)


def check_tracks(before, after, mapping, picture, tolerance):
    new = {int(t["id"]): t for t in after.tracks}
    require(len(new) == len(after.tracks), "tracks twice")
    for old in before.tracks:
        track = new.pop(int(old["id"]), None)
        if visible(mapping.box(box_of(old)), picture) is None:
            require(track is None, "a track outside", track)
            continue
        require(track is not None, "no track", old["id"])
        check_track(old, track, mapping, picture, tolerance)
        if track["component"] != NO_COMPONENT:
            label = before.records[old["component"]]["label"]
            require(after.records[track["component"]]["label"] == label, "component of track", track["component"])
        elif old["component"] != NO_COMPONENT:
            require(before.records[old["component"]]["label"] not in after.records["label"], "component of track lost")
    require(not new, "tracks of nothing", list(new))


def check_events(before, after, mapping, tolerance):
    require(len(before.events) == len(after.events), "events", len(before.events), len(after.events))
    for old, event in zip(before.events, after.events):
        for name in ("type", "id", "other", "where", "time"):
            require(event[name] == old[name], name)
        place = mapping.place(old["x"], old["y"]) if old["id"] else (0, 0)
        difference = largest_difference((event["x"], event["y"]), place)
        require(difference <= max(tolerance, ROUNDING), "place of event", event)


def verdict_of_records(before, frame):
    """Raises Wrong where the records are."""
    after = frame.meta
    if after is None:
        return "dropped"
    components = measure(frame.pixels)
    height, width = frame.pixels.shape
    require((after.width, after.height) == (width, height), "size", after.width, after.height, width, height)
    check_identity(before, after)
    mapping = Map(before, after)
    is_scaled = any(r["flags"] & SCALED for r in after.records)
    picture = visible(mapping.box((0, 0, before.width, before.height)), (0, 0, width, height))
    check_records(after, components, picture)
    tolerance = SCALED_PIXELS if is_scaled else 0
    check_tracks(before, after, mapping, picture, tolerance)
    check_events(before, after, mapping, tolerance)
    return "scaled" if is_scaled else "exact"


def verdict_of_boxes(boxes, frame):
    """Of regions of interest or detection objects, of which there was one for each component. What they have outside
    of the frame does not count."""
    if boxes is None:
        return ""
    components = measure(frame.pixels)
    height, width = frame.pixels.shape
    boxes = [part for box in boxes if (part := visible(box, (0, 0, width, height)))]
    if not boxes:
        return "dropped"
    differences = [largest_difference(box, nearest(box, components).box) for box in boxes]
    if max(differences) > 1:
        return "wrong"
    if len(boxes) < len(components):
        return "partly"
    return "exact" if max(differences) == 0 else "near"
