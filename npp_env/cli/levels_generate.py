"""`npp-env levels generate KIND`: write generated levels, on request with proof that they can be won."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_force, add_json, check_output, whole_number
from npp_env.cli.printing import say, say_data
from npp_env.cli.work import add_work_arguments, is_divided, work_on, workers
from npp_env.errors import ConfigError, LevelError

if TYPE_CHECKING:
    from npp_env.integrations.work import Pool
    from npp_env.level.model import Level
    from npp_env.recording import Recording

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
    add_work_arguments(parser)
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if fewer levels could be certified than asked for."""
    from npp_env.level.files import write_file
    from npp_env.level.pack import write_pack
    from npp_env.level.pack_files import SCHEME as PACK

    if args.count < 1:
        raise ConfigError(f"--count is {args.count}; at least 1")
    if is_divided(args) and not args.certify:
        raise ConfigError("--ray, --jobs and --results divide the work of --certify; generating takes milliseconds")
    is_pack = args.output.startswith(f"{PACK}:")
    target = Path(args.output.removeprefix(f"{PACK}:") if is_pack else args.output)
    folder = target.parent if is_pack else target
    folder.mkdir(parents=True, exist_ok=True)
    if is_pack:
        check_output(target, args.force)
    maker = _Maker(args, folder, is_pack)
    rows, levels = maker.make()
    if is_pack and levels:
        write_file(target, write_pack(levels), args.force, LevelError)
    if args.json:
        say_data(rows)
    return 0 if len(levels) == args.count else INCOMPLETE


class _Maker:
    """Makes levels and, on request, proofs, and writes them as they come."""

    def __init__(self, args: argparse.Namespace, folder: Path, is_pack: bool) -> None:
        self._args, self._folder, self._is_pack = args, folder, is_pack
        self._levels: list[Level] = []
        self._rows: list[dict[str, Any]] = []

    def make(self) -> tuple[list[dict[str, Any]], list[Level]]:
        """What is to be told of every seed, and the levels that were kept."""
        args = self._args
        if not args.certify:
            for seed in range(args.seed, args.seed + args.count):
                self._keep(seed, self._level(seed), {"status": "not certified"}, None)
            return self._rows, self._levels
        first, last = args.seed, args.seed + args.count * TRIES_PER_LEVEL
        # A round tries as many seeds as are surely needed, so that nothing is solved in vain.
        with workers(args) as pool:
            while len(self._levels) < args.count and first < last:
                seeds = range(first, min(last, first + args.count - len(self._levels)))
                self._certify(seeds, pool)
                first = seeds.stop
        return self._rows, self._levels

    def _certify(self, seeds: range, pool: Pool) -> None:
        from npp_env.integrations.work import Job, key_of
        from npp_env.planning.solve_work import SolveWork, decoded
        from npp_env.recording import RECORDING_SUFFIX

        work = SolveWork()
        for seed in seeds:
            check_output(self._path(seed).with_suffix(RECORDING_SUFFIX), self._args.force)
        made = {}

        def jobs() -> Iterator[Job]:
            for seed in seeds:
                level = made[seed] = self._level(seed)
                yield Job(key_of("solve", *work.content(level)), level)

        results = work_on(work, jobs(), pool, self._args, "seeds", len(seeds))
        for seed, done in zip(seeds, results, strict=True):
            level = made.pop(seed)
            if done.result is None:
                self._keep(seed, level, {"status": f"failed: {done.error}", "path": None}, None)
                continue
            result = decoded(done.result, level)
            if result.recording is None:
                self._keep(seed, level, {"status": result.status, "path": None}, None)
            else:
                told = {"status": result.status, "frames": result.recording.frames}
                self._keep(seed, level, told, result.recording)

    def _level(self, seed: int) -> Level:
        from npp_env.level.game_form import in_game_form
        from npp_env.level.generate import generate

        if not self._is_pack:
            check_output(self._path(seed), self._args.force)
        level = generate(self._args.kind, self._args.difficulty, seed)
        return in_game_form(level) if self._is_pack else level

    def _path(self, seed: int) -> Path:
        return self._folder / f"{self._args.kind}_{seed}.txt"

    def _keep(self, seed: int, level: Level, told: dict[str, Any], proof: Recording | None) -> None:
        from npp_env.level.files import save_level
        from npp_env.recording import RECORDING_SUFFIX, save_recording

        args, path = self._args, self._path(seed)
        place = f"{args.output}#{len(self._levels)}" if self._is_pack else str(path)
        row = {"seed": seed, "hash": level.hash, "path": place, **told}
        if proof is not None:
            save_recording(proof, path.with_suffix(RECORDING_SUFFIX), overwrite=args.force)
        if row["path"] is not None:
            self._levels.append(level)
            if not self._is_pack:
                save_level(level, path, overwrite=args.force)
        self._rows.append(row)
        if not args.json:
            frames = f" in {row['frames']} frames" if "frames" in row else ""
            say(f"{row['path'] or f'seed {seed} left out'}: {row['status']}{frames}")
