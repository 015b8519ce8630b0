# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labels archives and live sources on many machines, by Ray. docs/fleet.md explains it.

The extra cudaccl[fleet] is needed. Ray is imported when a fleet runs, not before.
"""

from cudaccl.fleet.config import Config, ConfigError, load

__all__ = ["Config", "ConfigError", "load"]
