"""`npp-env levels convert LEVELS OUT`: between text, binary maps and packs, one level or many."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_force, add_json, check_output, parse_finite_levels
from npp_env.cli.printing import say, say_data
from npp_env.errors import NppError

if TYPE_CHECKING:
    from npp_env.level.model import Level

NAME = "convert"
HELP = "convert levels between text, binary maps and packs"
FORMATS = ("map", "text")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env levels convert`."""
    add = parser.add_argument
    add("levels", nargs="+", metavar="LEVELS", help="level files, folders, packs (pack:FILE, pack:FILE#12), level sets")
    add(
        "output",
        metavar="OUT",
        help="a .txt (text), a .nppmap (binary map), pack:FILE, or a folder for one file a level",
    )
    add("--to", choices=FORMATS, default="map", help="what to write into a folder (default %(default)s)")
    add("--game", action="store_true", help="the game's own header, counts and order of records; see docs/levels.md")
    add_json(parser, "lines")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from npp_env.level.files import BINARY_SUFFIX, TEXT_SUFFIX
    from npp_env.level.game_form import in_game_form
    from npp_env.level.pack_files import SCHEME as PACK

    suffixes = dict(zip(FORMATS, (BINARY_SUFFIX, TEXT_SUFFIX), strict=True))
    levels = parse_finite_levels(args.levels)
    sources = list(levels)
    written = [in_game_form(level) for level in sources] if args.game else sources
    if args.output.startswith(f"{PACK}:"):
        outputs = [_write_pack(written, Path(args.output.partition(":")[2]), args.force)]
    elif Path(args.output).suffix in suffixes.values() and not Path(args.output).is_dir():
        if len(sources) > 1:
            raise NppError(f"{args.output} holds one level, but {len(sources)} are given; name a folder or {PACK}:FILE")
        outputs = [Path(args.output)]
        _write_files(written, outputs, args.force)
    elif Path(args.output).suffix and not Path(args.output).is_dir():
        raise NppError(
            f"{args.output}: the suffix is {Path(args.output).suffix!r}; use {TEXT_SUFFIX} for text, {BINARY_SUFFIX} "
            f"for a binary map, {PACK}:FILE for a pack, or the name of a folder"
        )
    else:
        outputs = file_names(Path(args.output), written, suffixes[args.to])
        Path(args.output).mkdir(parents=True, exist_ok=True)
        _write_files(written, outputs, args.force)
    _report(args, sources, written, outputs)
    return 0


def file_names(folder: Path, levels: list[Level], suffix: str) -> list[Path]:
    """A file for each level, in an order that is theirs: number and title."""
    digits = len(str(len(levels) - 1))
    titles = [re.sub(r"[^A-Za-z0-9-]+", "_", level.name)[:60].strip("_") for level in levels]
    return [folder / f"{f'{k:0{digits}}_{title}'.rstrip('_')}{suffix}" for k, title in enumerate(titles)]


def _write_pack(levels: list[Level], path: Path, force: bool) -> Path:
    from npp_env.level.files import write_file
    from npp_env.level.pack import read_pack, write_pack

    check_output(path, force)
    data = write_pack(levels)
    _check_same(levels, read_pack(data), path)
    write_file(path, data, force, NppError)
    return path


def _write_files(levels: list[Level], paths: list[Path], force: bool) -> None:
    from npp_env.level.files import load_level, save_level

    for path in paths:
        check_output(path, force)
    for level, path in zip(levels, paths, strict=True):
        save_level(level, path, overwrite=force)
        _check_same([level], [load_level(path)], path)


def _check_same(levels: list[Level], back: list[Level], path: Path) -> None:
    """What was written must be the levels that were meant."""
    if back != levels:
        raise NppError(f"{path}: what was written is not what was read; please report this")


def _report(args: argparse.Namespace, sources: list[Level], written: list[Level], outputs: list[Path]) -> None:
    changed = sum(one != other for one, other in zip(sources, written, strict=True))
    size = sum(path.stat().st_size for path in outputs)
    data: dict[str, Any] = {"output": args.output, "bytes": size, "levels": len(written), "changed": changed}
    if len(written) == 1:
        data["hash"] = written[0].hash
    if args.json:
        say_data(data)
        return
    what = f"hash {data['hash']}" if "hash" in data else f"{len(written)} levels"
    say(f"written: {args.output}, {size} bytes, {what}")
    if changed:
        say(f"{changed} of {len(written)} have another order or count of records now: recordings of them do not fit")
