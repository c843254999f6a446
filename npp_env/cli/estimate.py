"""`npp-env estimate`: what storing observations will take, before anyone trains."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from npp_env.cli.measuring import add_configuration, configuration_overrides
from npp_env.cli.printing import say, say_data, say_table

if TYPE_CHECKING:
    from npp_env.config import EnvironmentConfig
    from npp_env.profiling.cgroups import Headroom
    from npp_env.rollouts.estimate import Demand, StorageChoice

ALGORITHMS = ("ppo", "a2c", "trpo", "maskable_ppo", "dqn", "qrdqn", "sac", "td3", "ddpg", "tqc")
"""Those that `npp_env.rollouts.estimate` knows."""
HEADER = ("storage", "bytes each", "buffer", "peak", "")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = parser.add_argument
    add("--algo", default="ppo", metavar="NAME", help=f"{', '.join(ALGORITHMS)} (default %(default)s)")
    add("--num-envs", type=int, default=1, metavar="N", help="environments (default %(default)s)")
    add("--n-steps", type=int, metavar="N", help="steps of a rollout (default: that of SB3)")
    add("--buffer-size", type=int, default=1_000_000, metavar="N", help="transitions of a replay (default %(default)s)")
    add_configuration(parser)
    add("--max-nodes", type=int, metavar="N", help="capacity of the graph observation")
    add("--max-edges", type=int, metavar="N", help="capacity of the graph observation")
    add("--json", action="store_true", help="print the numbers as JSON")


def configuration(args: argparse.Namespace) -> EnvironmentConfig:
    """The configuration that the options stand for."""
    from npp_env.config import resolve_config

    graph = {"max_nodes": args.max_nodes, "max_edges": args.max_edges}
    overrides = configuration_overrides(args)
    overrides["graph"] = {name: value for name, value in graph.items() if value is not None}
    return resolve_config(None, args.preset, overrides)


def format_bytes(count: float) -> str:
    """A number of bytes for people, in powers of ten: 142.1 GB."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 99.95 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def table_rows(demand: Demand, choices: list[StorageChoice], free: Headroom) -> list[tuple[str, ...]]:
    """One row of text per choice."""
    rows: list[tuple[str, ...]] = []
    for choice in choices:
        peak = demand.peak_bytes(choice)
        rows.append(
            (
                choice.name,
                f"{choice.observation_bytes:,.0f}",
                format_bytes(demand.total_bytes(choice)),
                format_bytes(peak),
                "fits" if peak <= free.free_bytes else "too large",
            )
        )
    return rows


def as_data(demand: Demand, choices: list[StorageChoice], free: Headroom) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "algorithm": demand.algorithm,
        "transitions": demand.transitions,
        "observations": demand.observations,
        "free_bytes": free.free_bytes,
        "limit_bytes": free.limit_bytes,
        "limit": free.source,
        "choices": [
            {
                "name": choice.name,
                "observation_bytes": choice.observation_bytes,
                "total_bytes": demand.total_bytes(choice),
                "peak_bytes": demand.peak_bytes(choice),
                "fits": demand.peak_bytes(choice) <= free.free_bytes,
                "how": choice.how,
            }
            for choice in choices
        ],
    }


def run(args: argparse.Namespace) -> int:
    """Print the estimate; 1 if not even the smallest choice fits into the free memory."""
    from npp_env.profiling.cgroups import read_headroom
    from npp_env.rollouts.estimate import Demand, storage_choices

    demand = Demand(args.algo.lower(), args.num_envs, args.n_steps, args.buffer_size)
    config = configuration(args)
    choices = storage_choices(config)
    free = read_headroom()
    smallest = min(demand.peak_bytes(choice) for choice in choices)
    if args.json:
        say_data(as_data(demand, choices, free))
    else:
        _print_table(demand, config, choices, free)
    return 0 if smallest <= free.free_bytes else 1


def _print_table(demand: Demand, config: EnvironmentConfig, choices: list[StorageChoice], free: Headroom) -> None:
    if demand.is_rollout:
        steps = demand.transitions // demand.num_envs
        what = f"a rollout of {demand.num_envs} environments x {steps} steps"
    else:
        what = f"a replay of {demand.transitions:,} transitions, next observations included"
    say(f"{demand.algorithm}: {what}")
    say_table([("observations:", ", ".join(config.observation.keys))])
    say(f"free memory: {format_bytes(free.free_bytes)} of {format_bytes(free.limit_bytes)} ({free.source})\n")
    say_table([HEADER, *table_rows(demand, choices, free)], right=(1, 2, 3))
    say()
    say_table([("storage", "how"), *((choice.name, choice.how) for choice in choices)])
    if demand.is_rollout:
        say("\npeak: SB3 copies the largest array of a rollout once more before training.")
    else:
        say("\nstored once: the next observation of a transition is that of the following one,")
        say("unless an episode ended.")
