# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the command ends."""

OK = 0
SOURCE_FAILED = 1  #: an image or a video that cannot be read
USAGE = 2  #: an argument that is wrong, or an optional package that is missing
OUTPUT_FAILED = 3  #: a file that cannot be written, a broker that refuses, frames that are lost or wait for a broker
INTERRUPTED = 130  #: by Ctrl-C or SIGTERM

HELP = """\
exit status:
  0    all is done, or publish or camera was stopped
  1    an image or a video cannot be read to its end, or has no frame
  2    an argument is wrong, or an optional package is missing
  3    an output cannot be written, a broker refuses, or frames are lost or wait for a broker
  130  interrupted by Ctrl-C or SIGTERM, publish and camera by a second one; what was done until then is kept"""


def status_of(error: object) -> int:
    """With which the command ends."""
    from cudaccl.publish.address import AddressError
    from cudaccl.publish.errors import SinkError

    if isinstance(error, (UsageError, AddressError, ImportError)):
        return USAGE
    is_disk = isinstance(error, OSError) and not isinstance(error, FileNotFoundError)
    return OUTPUT_FAILED if is_disk or isinstance(error, SinkError) else SOURCE_FAILED


class UsageError(ValueError):
    """An argument that is wrong. The text says which one and why."""
