"""The `harmonia` command of a wheel: the same code as the binary, with the same exit statuses."""

from __future__ import annotations

import contextlib
import signal
import sys

from . import _native
from ._policies import known, policy_files


def main() -> int:
    """What ``harmonia`` on the command line calls; the answer is its exit status.

    The policies of each ``--policy-file FILE`` are known to the command. An exception in one of them ends it with a traceback.
    """
    with contextlib.ExitStack() as policies:
        # What policies raise later is no bad input.
        try:
            classes, arguments = policy_files(sys.argv[1:])
            policies.enter_context(known(classes))
        except (OSError, SyntaxError, TypeError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        # The command listens for Ctrl-C itself while it simulates, and dies of it otherwise. Python's own handler would
        # only note it and wait for the command to end.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return _native.command(["harmonia", *arguments])


if __name__ == "__main__":
    sys.exit(main())
