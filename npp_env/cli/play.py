"""`npp-env play`: play levels with the keyboard or a gamepad."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.cli.arguments import LEVEL_HELP, parse_finite_levels
from npp_env.cli.printing import say
from npp_env.errors import NppError

if TYPE_CHECKING:
    from npp_env.level.model import Level

_HARDEST = 99


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env play`."""
    parser.add_argument(
        "level",
        nargs="?",
        metavar="LEVEL",
        help=f"{LEVEL_HELP}, or several, such as pack:FILE (default: all shipped, the easiest first)",
    )
    parser.add_argument(
        "--save-to", type=Path, default=Path(), metavar="DIR", help="folder for saved recordings (default: here)"
    )
    parser.add_argument(
        "--best",
        type=Path,
        metavar="DIR",
        help="folder of your best runs (default: $NPP_ENV_BEST_RUNS, or one in your home)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command until the window is closed."""
    from npp_env.cli.play_scores import BestRuns, default_folder
    from npp_env.cli.play_session import PlaySession
    from npp_env.render.window import FRAMES_PER_SECOND, Window

    if not args.save_to.is_dir():
        raise NppError(f"--save-to {args.save_to}: there is no such folder")
    window = Window("N++", resizable=True)
    try:
        session = PlaySession(playlist(args.level), args.save_to, BestRuns(args.best or default_folder()))
        window.open_gamepads()
        while session.running and not window.closed:
            for event in window.events():
                session.handle_event(event)
            session.tick()
            window.set_full_screen(session.full_screen)
            window.frames_per_second = FRAMES_PER_SECOND * session.speed
            window.show(session.draw())
    finally:
        window.close()
    for path in session.saved:
        say(f"saved: {path}")
    return 0


def playlist(text: str | None) -> list[tuple[str, Level]]:
    """The level that was asked for, then the shipped ones that follow it by difficulty; or the levels asked for.

    Raises:
        LevelError: There is no such level.
    """
    from npp_env.level.shipped import load_shipped, shipped_level_names

    asked = None if text is None else parse_finite_levels([text])
    if asked is not None and len(asked) > 1:
        return [(asked.name_of(number), level) for number, level in enumerate(asked)]
    shipped = sorted(((name, load_shipped(name)) for name in shipped_level_names()), key=_by_difficulty)
    if asked is None:
        return shipped
    first = asked.name_of(0)
    start = next((number for number, (name, _) in enumerate(shipped) if name == first), None)
    return [(first, asked[0]), *shipped] if start is None else shipped[start:] + shipped[:start]


def _by_difficulty(entry: tuple[str, Level]) -> tuple[int, bool, str]:
    name, level = entry
    difficulty = level.metadata.get("difficulty", "")
    hardness = int(difficulty) if difficulty.isascii() and difficulty.isdigit() else _HARDEST
    return hardness, not name.startswith("first_steps/"), name
