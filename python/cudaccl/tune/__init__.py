# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page on which settings are found by eye: `cudaccl tune`. docs/tune.md describes it.

`player` plays a source through the element and holds frames back; `session` has what all pages share; `server` answers
browsers. Frames for the page are made from copies of references, by threads that are less urgent, and are dropped first.
"""
