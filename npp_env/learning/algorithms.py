"""The table of algorithms, and what each of them must be."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from npp_env.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from npp_env.learning.settings import TrainSettings
    from npp_env.learning.shards import ShardPlayers
    from npp_env.learning.workbench import Workbench

ALGORITHMS = {
    "ppo": "npp_env.learning.ppo:PPO",
    "bc": "npp_env.learning.cloning:BehaviourCloning",
    "dagger": "npp_env.learning.dagger:Dagger",
    "bc+ppo": "npp_env.learning.cloned_ppo:ClonedPPO",
    "world-model": "npp_env.learning.world_model.algorithm:WorldModel",
}
"""Where the class of each algorithm stands; it is imported when it is asked for, and made with the `TrainSettings`."""

SHARDED = {"ppo": "npp_env.learning.sharded_ppo:ShardedPPO"}
"""The same for runs in shards; made with the `TrainSettings` and the `ShardPlayers`."""

OWN_POLICY = {"world-model": "world-model"}
"""Algorithms that come with a network of their own."""
STEPS_PER_SECOND = {"mlp": 20_000, "attention": 6_000, "graph": 2_000, "world-model": 1_000}
"""Of each policy: what a minute is taken for when schedules are made, fixed, so that the same command gives the same
curve anywhere."""
NUM_ENVS = {"world-model": 16}
"""Environments of algorithms that want another number of them than the usual one."""


class Algorithm(Protocol):
    """Learns in iterations, and can be put aside after any of them.

    Made anew with the same settings and given `header` and `arrays` of a moment, it goes on as if nothing had been: the
    same weights to the last bit. All chance therefore comes from `bench.random`. One whose checkpoints are large may
    have an attribute `checkpoint_seconds`, the time between two of them.

    Attributes:
        bench: Environments, network, statistics, clocks. The trainer writes models from `bench.network`, and progress
            from `bench.steps` and `bench.statistics`; memory phases are those of `bench.tracker`.
    """

    bench: Workbench

    def iterate(self) -> dict[str, float]:
        """Collect and learn for a while (some seconds at most); what the curves are to show."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays that the rest of the run depends on, by name; those of `bench.arrays()` among them."""

    def header(self) -> dict[str, Any]:
        """All else that it depends on, for JSON; that of `bench.header()` in it."""

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to the moment of `header` and `arrays`."""


def make_algorithm(settings: TrainSettings, players: ShardPlayers | None = None) -> Algorithm:
    """The algorithm that settings name, ready to begin.

    Args:
        settings: The run.
        players: Who plays the shards, if the run has any; this process by default.

    Raises:
        ConfigError: There is none of this name, or it does not take these options.
    """
    if settings.algo not in ALGORITHMS:
        raise ConfigError(f"there is no algorithm {settings.algo!r}; there are {', '.join(ALGORITHMS)}")
    if settings.shards and settings.algo not in SHARDED:
        raise ConfigError(f"{settings.algo} cannot be played in shards; {', '.join(SHARDED)} can")
    if players is not None and not settings.shards:
        raise ConfigError("a run without shards is played by one process; give it shards when it begins")
    module, _, attribute = (SHARDED if settings.shards else ALGORITHMS)[settings.algo].partition(":")
    made: Algorithm = getattr(importlib.import_module(module), attribute)(
        *((settings, players) if settings.shards else (settings,))
    )
    return made
