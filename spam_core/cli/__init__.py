"""The command line: ``python -m spam_core`` (or ``spam-core``) with its commands.

A mistake of the user is one plain line on standard error and exit status 2, never a
traceback. What a command computes goes to standard output, progress to standard error.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from spam_core.cli import benchmark, compare, explain, fit, search, simulate
from spam_core.cli.messages import USER_ERRORS, complain

__all__ = ["main"]

USER_ERROR = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        Exit status: 0, 2 after a mistake of the user, 130 after Ctrl-C, 143 after a
        job was asked to stop.

    Examples
    --------
    >>> main(["datasets"])  # doctest: +ELLIPSIS
    name ...
    """
    arguments = _parser().parse_args(argv)
    # reports say which command makes them again
    arguments.words = list(sys.argv[1:] if argv is None else argv)
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:
        # the reader (`| head`) has seen enough; closing stdout must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except USER_ERRORS as error:
        complain(error)
        return USER_ERROR
    except KeyboardInterrupt:
        sys.stderr.write("spam-core: interrupted\n")
        return 128 + signal.SIGINT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spam-core",
        description="Glass-box models whose terms add up to the prediction.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (fit, search, explain, compare, simulate, benchmark):
        module.add_commands(commands)
    return parser
