# SPDX-License-Identifier: LGPL-2.1-or-later
"""Videos with a name, the pipelines that label them, and threads that follow cameras: for the command and fleets."""
