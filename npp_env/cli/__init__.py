"""The `npp-env` command: one small module per sub-command.

A command stands in `COMMANDS`; the module of its name defines `add_arguments(parser)` and `run(args) -> int`. It is
imported only when its command is asked for, and imports what does the work inside its functions, so that every `--help`
answers without numpy.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from npp_env import __version__, register_environments
from npp_env.cli.printing import complain
from npp_env.errors import LevelWarning, NppError

COMMANDS: dict[str, str] = {
    "analyze": "read a series of memory snapshots: growth, slope, correlation, top contexts",
    "bench": "measure speed and memory (needs a source checkout)",
    "cache": "show, fill or empty the cache of compiled levels",
    "curves": "success of training runs against steps and minutes, as a table and a picture",
    "demo": "step many environments over the shipped levels and print speed and memory",
    "demos": "make, show and verify datasets of demonstrations",
    "draw": "draw many runs over their level: tracks, or heat maps of visits or deaths",
    "estimate": "what storing observations will take in rollouts or replays, before anyone trains",
    "evaluate": "play a policy on every level and print success, frames, gold and return",
    "levels": "list, show, validate, convert, generate and draw levels",
    "plan": "the fewest frames to win over all inputs of a grid of decisions; exit code 1 if none win",
    "play": "play a level with the keyboard",
    "profile": "profile memory and time of the environment; exit code 3 on a leak",
    "replay": "play a recording and report outcome, frame, gold and score",
    "soak": "run millions of steps and prove that memory stays flat; exit code 3 if it grows",
    "solve": "search for inputs that win a level; exit code 1 if none were found",
    "train": "learn to play levels, in a folder that can be gone on with (needs torch)",
    "view": "show recordings or an evaluation in the browser: one page, with ghosts, panes and a heat map",
}

USER_ERROR = 2
BROKEN_PIPE = 141


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser of all commands; only the arguments of `command` are filled in."""
    parser = argparse.ArgumentParser(prog="npp-env", description="Tools of npp_env, a Gymnasium environment for N++.")
    parser.add_argument("--version", action="version", version=f"npp_env {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, help_text in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=help_text, description=help_text)
        if name == command:
            module = importlib.import_module(f"npp_env.cli.{name}")
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (0 done, 1 a negative result, 2 a user's mistake, 3 a leak)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in arguments if not word.startswith("-")), None)
    name = "npp-env" if command is None else f"npp-env {command}"
    if sys.stdout is None:
        # What is printed would be lost without a word.
        print("npp-env: stdout is closed, there is nowhere to print to", file=sys.stderr)
        return USER_ERROR
    try:
        code = _run(arguments, command)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Who reads the output (head, less) has seen enough.
        _discard_unwritten()
        return BROKEN_PIPE
    except MemoryError as error:
        complain(f"{name}: not enough memory: {error}")
        return USER_ERROR
    except (NppError, OSError) as error:
        complain(f"{name}: {error}")
        _discard_unwritten()
        return USER_ERROR
    except KeyboardInterrupt:
        complain(f"{name}: interrupted")
        return 130


def _discard_unwritten() -> None:
    """What stdout did not take is given up: the flush at exit must not complain of it once more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str], command: str | None) -> int:
    refuse_nul(arguments)
    try:
        args = build_parser(command).parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    register_environments()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        return int(args.run(args))


def refuse_nul(arguments: Sequence[str]) -> None:
    """Refuse what the system cannot take as the name of a file; a shell cannot pass it, a caller of `main` can.

    Raises:
        NppError: An argument holds a NUL.
    """
    for argument in arguments:
        if "\0" in argument:
            raise NppError(f"the argument {argument!r} holds a NUL, which no file name can")


_show_elsewhere = warnings.showwarning


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **where: Any) -> None:
    """What is told of levels is for the user and needs no place in the code."""
    if issubclass(category, LevelWarning):
        complain(f"npp-env: warning: {message}")
    else:
        _show_elsewhere(message, category, *place, **where)
