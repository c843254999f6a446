"""`npp-env levels generate KIND`: write generated levels, on request with proof that they can be won."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from npp_env.cli.arguments import add_force, check_output
from npp_env.errors import ConfigError

NAME = "generate"
HELP = "generate levels by family, difficulty and seed"
INCOMPLETE = 1
TRIES_PER_LEVEL = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env levels generate`."""
    from npp_env.level.generate import ANY, DEFAULT_DIFFICULTY, FAMILIES

    add = parser.add_argument
    add("kind", metavar="KIND", help=f"one of {', '.join([*FAMILIES, ANY])}")
    add("--difficulty", type=float, default=DEFAULT_DIFFICULTY, help="from 0 to 1 (default %(default)s)")
    add("--seed", type=int, default=0, help="seed of the first level (default %(default)s)")
    add("--count", type=int, default=1, metavar="N", help="number of levels (default %(default)s)")
    add("-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder to write to (default: here)")
    add(
        "--certify",
        action="store_true",
        help="solve each level, leave out those without a solution, and write the recordings too",
    )
    add("--json", action="store_true", help="print data instead of lines")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if fewer levels could be certified than asked for."""
    from npp_env.level.files import save_level
    from npp_env.level.generate import generate
    from npp_env.planning import solve
    from npp_env.recording import RECORDING_SUFFIX, save_recording

    if args.count < 1:
        raise ConfigError(f"--count is {args.count}; at least 1")
    args.output.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    written = 0
    seeds = range(args.seed, args.seed + args.count * (TRIES_PER_LEVEL if args.certify else 1))
    for seed in seeds:
        level = generate(args.kind, args.difficulty, seed)
        path = args.output / f"{args.kind}_{seed}.txt"
        row: dict[str, Any] = {"seed": seed, "hash": level.hash, "path": str(path), "status": "not certified"}
        check_output(path, args.force)
        if args.certify:
            result = solve(level)
            row["status"] = result.status
            if result.recording is None:
                row["path"] = None
            else:
                proof = path.with_suffix(RECORDING_SUFFIX)
                check_output(proof, args.force)
                save_recording(result.recording, proof, overwrite=args.force)
                row["frames"] = result.recording.frames
        if row["path"] is not None:
            save_level(level, path, overwrite=args.force)
            written += 1
        rows.append(row)
        if not args.json:
            frames = f" in {row['frames']} frames" if "frames" in row else ""
            print(f"{row['path'] or f'seed {seed} left out'}: {row['status']}{frames}")
        if written == args.count:
            break
    if args.json:
        print(json.dumps(rows, indent=1))
    return 0 if written == args.count else INCOMPLETE
