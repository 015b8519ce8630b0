# SPDX-License-Identifier: LGPL-2.1-or-later
"""`python -m cudaccl`: the command."""

import sys

from cudaccl._command import main

sys.exit(main())
