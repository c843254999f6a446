"""`npp-env cache info|warm|clear`: the compiled artifacts on disk."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_json, check_folder
from npp_env.cli.printing import complain, say, say_data
from npp_env.cli.progress import with_progress
from npp_env.errors import NppError

if TYPE_CHECKING:
    from npp_env.level.cache import LevelCache
    from npp_env.level.cache_store import ArtifactStore
    from npp_env.level.model import Level


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env cache`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    info = actions.add_parser("info", help="what is stored, by artifact")
    info.set_defaults(act=show_info)
    warm = actions.add_parser("warm", help="compile levels ahead of time")
    warm.add_argument(
        "levels", nargs="*", metavar="LEVELS", help="files, folders, globs, shipped:GROUP (default: all shipped)"
    )
    warm.add_argument(
        "--artifacts",
        default="geometry,graph,distances",
        metavar="NAMES",
        help=f"comma-separated, of {', '.join(_BUILDERS)} (default %(default)s)",
    )
    warm.set_defaults(act=warm_cache)
    clear = actions.add_parser("clear", help="remove everything that is stored")
    clear.set_defaults(act=clear_cache)
    for action in (info, warm, clear):
        action.add_argument(
            "--directory", type=Path, metavar="DIR", help="default: $NPP_ENV_CACHE or the platform's cache"
        )
        add_json(action, "text")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    return int(args.act(args))


def show_info(args: argparse.Namespace) -> int:
    """`cache info`."""
    from npp_env.level.cache import SET_PREFIX

    store = _store(_cache(args))
    table: dict[str, dict[str, int]] = {}
    total = {"files": 0, "bytes": 0}
    levels = 0
    for file in store.files():
        total["files"] += 1
        total["bytes"] += file.nbytes
        levels += any(not name.startswith(SET_PREFIX) for name, _ in file.artifacts)
        for name, nbytes in file.artifacts:
            row = table.setdefault(name, {"arrays": 0, "bytes": 0})
            row["arrays"] += 1
            row["bytes"] += nbytes
    if args.json:
        data = {"directory": str(store.directory), "levels": levels, "artifacts": table, "total": total}
        say_data(data)
        return 0
    say(f"{store.directory}:")
    say(f"{levels} levels in {total['files']:,} files of {total['bytes']:,} bytes")
    say(f"{'artifact':<16} {'arrays':>7} {'bytes':>14}")
    for name, row in sorted(table.items()):
        say(f"{name:<16} {row['arrays']:>7,} {row['bytes']:>14,}")
    return 0


def warm_cache(args: argparse.Namespace) -> int:
    """`cache warm`; 1 if a level could not be compiled."""
    from npp_env.level.level_set import LevelSet

    names = [name for name in args.artifacts.split(",") if name]
    unknown = [name for name in names if name not in _BUILDERS]
    if unknown or not names:
        raise NppError(f"--artifacts {args.artifacts}: use some of {', '.join(_BUILDERS)}")
    levels = LevelSet.parse(args.levels or None)
    if not levels.is_finite:
        raise NppError(f"{' '.join(args.levels)}: this set has no end; name single levels")
    cache = _cache(args)
    store = _store(cache)
    began = time.perf_counter()
    failed = len(levels.left_out)
    total = len(levels) + failed
    check_folder(store.directory)
    for index, label in enumerate(with_progress(levels.names(), "levels", len(levels))):
        try:
            level = levels[index]
            build = partial(_build, names, level)
            cache.prepare(level, build)
            build(cache)
        except NppError as error:
            complain(f"npp-env cache: {label}: {error}")
            failed += 1
    report = {
        name: {"built": use.builds, "found": use.loads}
        for name, use in cache.report().items()
        if use.builds or use.loads
    }
    seconds = time.perf_counter() - began
    if args.json:
        data = {"directory": str(store.directory), "levels": total, "failed": failed, "artifacts": report}
        say_data({**data, "seconds": round(seconds, 3)})
    else:
        say(f"{store.directory}: {total - failed} of {total} levels in {seconds:.1f} s")
        for name, row in report.items():
            say(f"{name:<16} {row['built']:>6,} built {row['found']:>6,} found")
    return 1 if failed else 0


def clear_cache(args: argparse.Namespace) -> int:
    """`cache clear`."""
    store = _store(_cache(args))
    count, nbytes = store.clear()
    if args.json:
        say_data({"directory": str(store.directory), "files": count, "bytes": nbytes})
    else:
        say(f"{store.directory}: {count:,} files removed, {nbytes:,} bytes")
    return 0


def _cache(args: argparse.Namespace) -> LevelCache:
    from npp_env.level.cache import LevelCache

    return LevelCache(directory=args.directory)


def _store(cache: LevelCache) -> ArtifactStore:
    if cache.store is None:
        from npp_env.level.cache_store import ENVIRONMENT_VARIABLE

        raise NppError(f"nothing is stored: ${ENVIRONMENT_VARIABLE} switches it off; name a --directory")
    return cache.store


def _build(names: list[str], level: Level, cache: LevelCache) -> None:
    for name in names:
        _BUILDERS[name](level, cache)


def _geometry(level: Level, cache: LevelCache) -> Any:
    from npp_env.sim.geometry import geometry_of

    return geometry_of(level, cache)


def _graph(level: Level, cache: LevelCache) -> Any:
    from npp_env.graph.navigation import graph_of

    return graph_of(level, cache)


def _distances(level: Level, cache: LevelCache) -> Any:
    from npp_env.graph.distances import fields_of

    return fields_of(level, 0, cache)


def _background(level: Level, cache: LevelCache) -> Any:
    from npp_env.render.background import FRAME_BACKGROUND

    return cache.get(level, FRAME_BACKGROUND)


_BUILDERS: dict[str, Callable[[Level, LevelCache], Any]] = {
    "geometry": _geometry,
    "background": _background,
    "graph": _graph,
    "distances": _distances,
}
