# SPDX-License-Identifier: LGPL-2.1-or-later
"""Why a pixel is, or is not, foreground, and its component kept.

The answer comes from the element itself: the frame is labelled again without some of the settings, and what differs is
due to these. Nothing of the rules is written here a second time.
"""

from __future__ import annotations

from typing import Any

import numpy

from cudaccl._gst_pipeline import PipelineError
from cudaccl._keywords import GROUPS
from cudaccl._property_values import needs_earlier_frames
from cudaccl.publish.report import Report
from cudaccl.tune.aids import same_as, unfiltered
from cudaccl.tune.luma import as_frame, luma
from cudaccl.tune.side import label_once

_CLEAN_UP = frozenset(GROUPS["Clean-up and regions"])
_FILTERS = GROUPS["Filters"]

Values = dict[str, str]
Step = dict[str, Any]


def _step(is_passed: bool | None, text: str) -> Step:
    """is_passed: the pixel is still foreground after it; None: this cannot be known."""
    return {"passed": is_passed, "text": text}


def explain(x: int, y: int, shown: Any, everything: Any, frame: tuple[Any, Any], values: Values) -> dict[str, Any]:
    """For the page. shown: the cudaccl.gst.Frame on the screen; everything: with all components, or None; frame: buffer
    and caps of the input. Raises PipelineError.
    """
    is_moving = needs_earlier_frames(values)
    if everything is None and not is_moving:
        everything = _labelled(frame, unfiltered(values))
    grey = luma(*frame)
    found: dict[str, Any] = {"type": "pixel", "x": x, "y": y, "value": None if grey is None else int(grey[y, x])}
    if everything is None or everything.label_map is None:
        return found | {"steps": [_step(None, _UNKNOWN)], "component": None}
    label = int(everything.label_map[y, x])
    before = None if is_moving else _labelled(
        frame, {name: text for name, text in unfiltered(values).items() if name not in _CLEAN_UP})
    steps = [_rule(found["value"], shown, before, label, x, y, values)]
    steps += _cleaned(before, label, x, y, frame, values)
    component = None
    if label:
        mask = everything.label_map == label
        record = everything.records[everything.records["label"] == label][0]
        kept = same_as(record, shown.records)
        steps.append(_filters(mask, kept is not None, values))
        component = _component(shown, everything, label, kept)
        if grey is not None:
            component["histogram"] = numpy.bincount(grey[mask], minlength=256).tolist()
    return found | {"steps": steps, "component": component}


_UNKNOWN = ("The background is learned by a second element that began when the page was opened; it has no picture of this"
            " frame yet")


def _labelled(frame: tuple[Any, Any], values: Values) -> Any:
    """Raises PipelineError if it takes too long: the answer would be wrong."""
    found = label_once(*frame, values)
    if found is None:
        raise PipelineError("the frame could not be labelled again in time")
    return found


def _is_foreground(frame: Any, x: int, y: int) -> bool:
    return frame is not None and frame.label_map is not None and bool(frame.label_map[y, x])


def _rule(value: int | None, shown: Any, before: Any, label: int, x: int, y: int, values: Values) -> Step:
    rule = values.get("foreground", "binary")
    if rule == "motion":
        if shown.info.relearning:
            return _step(False, "foreground=motion: the background is being learned, so nothing is foreground")
        text = ("differs from the learned background" if label else
                "is like the learned background, or the clean-up removed the pixel")
        return _step(bool(label) or None, f"foreground=motion: the value {value} {text}")
    passed = _is_foreground(before, x, y)
    limit = {"binary": f"threshold={values.get('threshold', '0 (automatic)')}",
             "otsu": f"the threshold of this frame, {shown.info.level}",
             "local": "the threshold of this pixel", "values": "0"}[rule]
    invert = ", inverted" if values.get("invert") == "true" else ""
    return _step(passed, f"foreground={rule}{invert}: the value {value} {'passes' if passed else 'does not pass'} {limit}")


def _cleaned(before: Any, label: int, x: int, y: int, frame: tuple[Any, Any], values: Values) -> list[Step]:
    """What regions, opening, closing and filling did."""
    steps = []
    regions = values.get("regions", "")
    if regions:
        white = as_frame(numpy.full(_size(frame), 255, numpy.uint8))
        inside = _is_foreground(
            _labelled(white, {"threshold": "1", "regions": regions, "label-map": "labels", "track": "true"}), x, y)
        if '"include"' in regions or '"exclude"' in regions or not inside:
            steps.append(_step(inside, "regions: the pixel is " + ("looked at" if inside else "not looked at")))
        if not inside:
            return steps
    names = [f"{name}={values[name]}" for name in GROUPS["Clean-up and regions"] if name in values and name != "regions"]
    if not names or before is None:
        return steps + ([_step(None, f"{' '.join(names)}: whether the pixel was foreground before this clean-up cannot be"
                                     " known, since the background has learned from the frame")] if names else [])
    was = _is_foreground(before, x, y)
    text = "removed it" if was and not label else "made it foreground" if label and not was else "changed nothing here"
    return [*steps, _step(bool(label), f"{' '.join(names)} {text}")]


def _size(frame: tuple[Any, Any]) -> tuple[int, int]:
    structure = frame[1].get_structure(0)
    return structure.get_value("height"), structure.get_value("width")


def _filters(mask: numpy.ndarray, kept: bool, values: Values) -> Step:
    """Which of them remove a component with this shape: each is tried alone."""
    used = {name: values[name] for name in _FILTERS if name in values}
    if kept:
        return _step(True, "kept" if not used else f"passes {' '.join(f'{name}={text}' for name, text in used.items())}")
    removing = []
    for name, text in used.items():
        alone = _labelled(as_frame(mask.astype(numpy.uint8) * 255),
                          {"threshold": "1", "min-area": "0", "connectivity": values.get("connectivity", "8-way"),
                           "features": "moments+perimeter+euler", name: text})
        if len(alone.records) == 0:
            removing.append(f"{name}={text}")
    if not removing and "top-n" in used:
        removing = [f"top-n={used['top-n']}"]
    return _step(False, f"removed by {', '.join(removing)}" if removing else
                 "has no record: there are more components than max-components, or this frame was labelled before the"
                 " last change")


def _component(shown: Any, everything: Any, label: int, kept: int | None) -> dict[str, Any]:
    """Its record, track and events, in the form of docs/json.md. kept: its index among the shown ones."""
    all_of_them = Report.of_frame(everything, "", "", 0, False).as_dict()["components"]
    record = next(one for one in all_of_them if one["label"] == label)
    if kept is None:
        return {"kept": False, "record": record, "track": None}
    report = Report.of_frame(shown, "", "", 0, True).as_dict()
    record = {"grey": record["grey"]} | report["components"][kept]
    tracks = [one for one in report["tracks"] if record["id"] and one["id"] == record["id"]]
    return {"kept": True, "record": record, "track": tracks[0] if tracks else None}
