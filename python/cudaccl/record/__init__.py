# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips around events: frames as they came from the camera, in files."""
