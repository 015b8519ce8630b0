# SPDX-License-Identifier: LGPL-2.1-or-later
"""The parts of test_live_use.py."""
