"""The `harmonia` command of a wheel: the same code as the binary, with the same exit statuses."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """What ``harmonia`` on the command line calls; the answer is its exit status.

    A flag that needs Python, such as one that names a file of policies, is read here, before the command runs.
    """
    # The command listens for Ctrl-C itself while it simulates, and dies of it otherwise. Python's own handler would
    # only note it and wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["harmonia", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
