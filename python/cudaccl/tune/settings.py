# SPDX-License-Identifier: LGPL-2.1-or-later
"""The settings that all pages share: what is changed, checked before it is used, and how it was before."""

from __future__ import annotations

from collections.abc import Mapping

from cudaccl import _regions
from cudaccl._property_values import is_tracked
from cudaccl.tune import description
from cudaccl.video import presets, sources

_MOST_STEPS = 1000  # that can be undone

Values = dict[str, str]


class Refused(ValueError):
    """A change that cannot be used. `names`: the settings beside which the page shows the text."""

    def __init__(self, names: list[str], text: str) -> None:
        super().__init__(text)
        self.names = names


class Settings:
    """Only what differs from the element's defaults is kept. For one thread."""

    def __init__(self, values: Mapping[str, str]) -> None:
        """values: were checked by sources.parse_properties()."""
        self._before: list[Values] = []
        self._after: list[Values] = []
        self._drag: str | None = None
        self.values = _canonical(values)

    @property
    def can_undo(self) -> bool:
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        return bool(self._after)

    def change(self, changes: Mapping[str, str | None], drag: str | None = None) -> None:
        """None: the default. drag: names a movement of a control; all of its changes are undone as one. Raises
        Refused, and then nothing has changed."""
        wanted = {**self.values, **changes}
        self._use(list(changes), {name: text for name, text in wanted.items() if text is not None}, drag)

    def replace(self, values: Mapping[str, str]) -> None:
        """In place of all others. Raises Refused."""
        self._use([], dict(values), None)

    def undo(self) -> None:
        """Nothing happens if there is nothing to undo."""
        if self._before:
            self._after.append(self.values)
            self.values = self._before.pop()
            self._drag = None

    def redo(self) -> None:
        """As undo()."""
        if self._after:
            self._before.append(self.values)
            self.values = self._after.pop()
            self._drag = None

    def _use(self, names: list[str], wanted: Values, drag: str | None) -> None:
        found = checked(names, wanted)
        if found == self.values:
            return
        if drag is None or drag != self._drag:
            self._before = [*self._before, self.values][-_MOST_STEPS:]
        self._drag = drag
        self._after = []
        self.values = found


def checked(names: list[str], wanted: Mapping[str, str]) -> Values:
    """As the element shows them. Raises Refused with these names."""
    values = dict(wanted)
    for name in [*names, *values]:
        if name not in description.settings():
            raise Refused([name], f"the element cudaccl has no setting {name}")
    try:
        sources.check_properties(values)
    except ValueError as error:
        raise Refused(names, str(error)) from None
    return _canonical(values)


def _canonical(values: Mapping[str, str]) -> Values:
    """Regions are text, and no file: the page shows them, and what is given out needs no other file."""
    found = dict(values)
    if found.get("regions"):
        found["regions"] = _regions.compact(found["regions"])
    return description.canonical(found)


def of_preset(name: str) -> Values:
    """Raises Refused, which lists those that there are."""
    try:
        return dict(presets.find(name).properties)
    except ValueError as error:
        raise Refused([], str(error)) from None


def with_tracks(values: Mapping[str, str], regions: str) -> dict[str, str | None]:
    """The changes that use these regions: zones and lines count tracks, so they come with `track=true`."""
    changes: dict[str, str | None] = {"regions": regions or None}
    if ('"zones"' in regions or '"lines"' in regions) and not is_tracked(values):
        changes["track"] = "true"
    return changes
