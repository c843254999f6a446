"""What commands that measure take: an environment, and limits of memory."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import number
from npp_env.errors import ConfigError

if TYPE_CHECKING:
    from npp_env.profiling.guard import MemoryGuard

LEAK = 3
"""Exit code of commands that find growing memory."""
GROUPS = ("vectors", "frames", "graph", "all")
"""Those of `npp_env.observe.spec`."""


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """The options that say which environment is meant; `configuration_overrides` reads them."""
    names = ", ".join(GROUPS)
    parser.add_argument("--preset", help="configuration preset")
    parser.add_argument("--level", help="levels, as in the configuration: shipped:GROUP/NAME, a file, a folder")
    parser.add_argument("--observations", metavar="NAMES", help=f"observations, separated by commas; also {names}")


def configuration_overrides(args: argparse.Namespace) -> dict[str, Any]:
    """What `--level` and `--observations` change in a configuration."""
    overrides: dict[str, Any] = {}
    if args.level:
        overrides["levels"] = args.level
    if args.observations:
        overrides["observation"] = {"keys": observation_keys(args.observations)}
    return overrides


def observation_keys(names: str) -> tuple[str, ...]:
    """The keys that a comma-separated list names, groups included, each once.

    Raises:
        ConfigError: There is no such key or group.
    """
    from npp_env.observe.spec import OBSERVATION_GROUPS, OBSERVATION_KEYS

    keys: list[str] = []
    for name in names.split(","):
        for key in OBSERVATION_GROUPS.get(name.strip(), (name.strip(),)):
            if key not in OBSERVATION_KEYS:
                known = ", ".join((*OBSERVATION_GROUPS, *OBSERVATION_KEYS))
                raise ConfigError(f"--observations names {key!r}; it must be out of {known}")
            if key not in keys:
                keys.append(key)
    return tuple(keys)


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """The growth from which a command speaks of a leak."""
    parser.add_argument(
        "--threshold-kb",
        type=number(0, 1e12),
        default=10.0,
        metavar="KB",
        help="growth per 1,000 steps that counts as a leak (default %(default)g)",
    )


def add_min_free(parser: argparse.ArgumentParser) -> None:
    """The share of memory below which a long run stops; `guard_of` reads it."""
    parser.add_argument(
        "--min-free", type=number(0, 1), metavar="FRACTION", help="stop when a smaller share of memory is free"
    )


def guard_of(args: argparse.Namespace) -> MemoryGuard | None:
    """The guard that `--min-free` asks for."""
    from npp_env.profiling.guard import MemoryGuard

    return MemoryGuard(args.min_free, on_low="stop") if args.min_free is not None else None
