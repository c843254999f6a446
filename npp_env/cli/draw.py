"""`npp-env draw`: many runs in one picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.cli.arguments import add_force, check_output, refuse_unwritable, write_png
from npp_env.cli.printing import say
from npp_env.cli.view import gather
from npp_env.errors import NppError, StateError
from npp_env.evaluation.options import COLOURINGS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from npp_env.evaluation.tracks import Track

STATES_SUFFIX = ".npy"
KINDS = ("tracks", "visits", "deaths")
_MOST_STATE_BYTES = 1 << 31


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env draw`."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="recordings, folders of them, names of shipped levels, what `npp-env evaluate --out` wrote, or rollouts "
        "of state rows (.npy, uint8 (steps, environments, bytes), with --levels)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="OUT.png", help="the picture; a folder for several levels"
    )
    parser.add_argument("--kind", choices=KINDS, default="tracks", help="what is drawn (default %(default)s)")
    parser.add_argument(
        "--colour", choices=COLOURINGS, default="time", help="what colours tracks (default %(default)s)"
    )
    parser.add_argument("--levels", nargs="+", metavar="LEVELS", help="the level set that state rows number")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    in_folder = args.output.suffix == "" or args.output.is_dir()
    if in_folder:
        check_folder(args.output)
    else:
        check_output(args.output, args.force, ".png")
    tracks = read_tracks(args.files, args.levels)
    by_level: dict[str, list[Track]] = {}
    for track in tracks:
        by_level.setdefault(track.level.hash, []).append(track)
    if not in_folder and len(by_level) > 1:
        raise NppError(f"the runs are on {len(by_level)} levels, each with a picture of its own; name a folder with -o")
    paths = [_path_of(args.output, own, in_folder) for own in by_level.values()]
    for path in paths:
        if in_folder and path.parent.is_dir():
            check_output(path, args.force)
    if in_folder:
        args.output.mkdir(exist_ok=True)
    draw = drawing_of(args.kind, args.colour)
    for path, own in zip(paths, by_level.values(), strict=True):
        write_png(draw(own), path)
        say(f"written: {path} ({len(own)} runs)")
    return 0


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be written to, before any work is done.

    Raises:
        NppError: It is a file, its parent does not exist, or it cannot be written to.
    """
    if path.exists() and not path.is_dir():
        raise NppError(f"{path} is a file; name a picture (.png) or a folder")
    present = path if path.is_dir() else path.parent
    if not present.is_dir():
        raise NppError(f"{path}: there is no folder {present}")
    refuse_unwritable(present, path)


def _path_of(output: Path, tracks: list[Track], in_folder: bool) -> Path:
    from npp_env.evaluation.record_episodes import file_stem

    level = tracks[0].level
    return output / f"{file_stem(level)}-{level.hash[:6]}.png" if in_folder else output


def drawing_of(kind: str, colour: str) -> Callable[[list[Track]], NDArray[np.uint8]]:
    """What draws pictures of a kind."""
    from npp_env.evaluation.pictures import draw_deaths, draw_tracks, draw_visits

    if kind == "visits":
        return draw_visits
    return draw_deaths if kind == "deaths" else lambda tracks: draw_tracks(tracks, colour)


def read_tracks(files: list[str], levels: list[str] | None) -> list[Track]:
    """The tracks that arguments name.

    Raises:
        NppError: Something cannot be read, or state rows come without their levels.
    """
    from npp_env.evaluation.tracks import track_of, tracks_of_states
    from npp_env.level.npy import load_npy

    states = [text for text in files if Path(text).suffix.lower() == STATES_SUFFIX]
    others = [text for text in files if text not in states]
    tracks = [track_of(run.recording) for run in gather(others).runs] if others else []
    for text in states:
        if levels is None:
            raise NppError(f"{text}: state rows name their levels by number; give the level set with --levels")
        try:
            tracks += tracks_of_states(load_npy(Path(text), _MOST_STATE_BYTES, StateError), levels)
        except StateError as error:
            raise StateError(f"{text}: {error}") from error
    return tracks
