"""`npp-env levels generate KIND`: write generated levels, on request with proof that they can be won."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_force, add_json, check_output, whole_number
from npp_env.cli.printing import say, say_data
from npp_env.cli.progress import with_progress
from npp_env.errors import ConfigError, LevelError

if TYPE_CHECKING:
    from npp_env.level.model import Level

NAME = "generate"
HELP = "generate levels by family, difficulty and seed"
INCOMPLETE = 1
KINDS = ("corridors", "caverns", "platforms", "towers", "mazes", "minefields", "hazards", "ambushes", "shadows", "any")
"""Those that `npp_env.level.generate` knows."""
TRIES_PER_LEVEL = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env levels generate`."""
    add = parser.add_argument
    add("kind", metavar="KIND", help=f"one of {', '.join(KINDS)}")
    add("--difficulty", type=float, default=0.3, help="from 0 to 1 (default %(default)s)")
    add("--seed", type=whole_number(0), default=0, help="seed of the first level (default %(default)s)")
    add("--count", type=int, default=1, metavar="N", help="number of levels (default %(default)s)")
    add(
        "-o",
        "--output",
        default=".",
        metavar="DIR",
        help="folder to write to (default: here); or pack:FILE, for levels in the form of the game",
    )
    add(
        "--certify",
        action="store_true",
        help="solve each level, leave out those without a solution, and write the recordings too",
    )
    add_json(parser, "lines")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if fewer levels could be certified than asked for."""
    from npp_env.level.files import save_level, write_file
    from npp_env.level.game_form import in_game_form
    from npp_env.level.generate import generate
    from npp_env.level.pack import write_pack
    from npp_env.level.pack_files import SCHEME as PACK

    if args.count < 1:
        raise ConfigError(f"--count is {args.count}; at least 1")
    is_pack = args.output.startswith(f"{PACK}:")
    target = Path(args.output.removeprefix(f"{PACK}:") if is_pack else args.output)
    folder = target.parent if is_pack else target
    folder.mkdir(parents=True, exist_ok=True)
    if is_pack:
        check_output(target, args.force)
    rows: list[dict[str, Any]] = []
    levels: list[Level] = []
    seeds = range(args.seed, args.seed + args.count * (TRIES_PER_LEVEL if args.certify else 1))
    for seed in with_progress(seeds, "seeds", args.count, wanted=args.certify):
        level = generate(args.kind, args.difficulty, seed)
        if is_pack:
            level = in_game_form(level)
        path = folder / f"{args.kind}_{seed}.txt"
        place = f"{args.output}#{len(levels)}" if is_pack else str(path)
        row: dict[str, Any] = {"seed": seed, "hash": level.hash, "path": place, "status": "not certified"}
        if not is_pack:
            check_output(path, args.force)
        if args.certify:
            row.update(certify(level, path, args.force))
        if row["path"] is not None:
            levels.append(level)
            if not is_pack:
                save_level(level, path, overwrite=args.force)
        rows.append(row)
        if not args.json:
            frames = f" in {row['frames']} frames" if "frames" in row else ""
            say(f"{row['path'] or f'seed {seed} left out'}: {row['status']}{frames}")
        if len(levels) == args.count:
            break
    if is_pack and levels:
        write_file(target, write_pack(levels), args.force, LevelError)
    if args.json:
        say_data(rows)
    return 0 if len(levels) == args.count else INCOMPLETE


def certify(level: Level, path: Path, force: bool) -> dict[str, Any]:
    """Solve a level and write the recording beside its place; what is to be told of it then."""
    from npp_env.planning import solve
    from npp_env.recording import RECORDING_SUFFIX, save_recording

    proof = path.with_suffix(RECORDING_SUFFIX)
    check_output(proof, force)
    result = solve(level)
    if result.recording is None:
        return {"status": result.status, "path": None}
    save_recording(result.recording, proof, overwrite=force)
    return {"status": result.status, "frames": result.recording.frames}
