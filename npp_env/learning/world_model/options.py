"""How a world model learns, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from npp_env.errors import ConfigError

BRANCHES = ("decoder", "reward", "kl", "continue")
"""Losses that can be left out, to see what each of them costs."""


@dataclass(frozen=True, slots=True)
class WorldModelOptions:
    """Options of the algorithm `world-model`.

    Attributes:
        warm_up: Environment steps that are only collected, before anything is learned.
        collect_steps: Steps of each environment in an iteration.
        updates: Gradient steps of an iteration.
        batch: Sequences of a gradient step.
        sequence_length: Steps of a sequence.
        replay_steps: Environment steps that are kept.
        replay_on_disk: Whether the kept states lie in a mapped file instead of memory.
        horizon: Steps of an imagined rollout.
        imagined: Rollouts that are imagined in a gradient step, from states of the sequences.
        learning_rate: Of the model.
        actor_rate: Of actor and critic.
        discount: Per step; the shaping of the reward gets the same.
        return_lambda: How far imagined returns look before they trust the critic.
        entropy: Weight of the actor's entropy.
        free_nats: Divergence between prior and posterior that costs nothing.
        without: A comma-separated list of `BRANCHES` that are left out.
        keep_graphs: Whether collection keeps the graphs of what it carries: the leak of the old kind, for study.
    """

    warm_up: int = 4096
    collect_steps: int = 16
    updates: int = 4
    batch: int = 16
    sequence_length: int = 32
    replay_steps: int = 200_000
    replay_on_disk: bool = False
    horizon: int = 15
    imagined: int = 192
    learning_rate: float = 1e-3
    actor_rate: float = 3e-4
    discount: float = 0.99
    return_lambda: float = 0.95
    entropy: float = 1e-3
    free_nats: float = 1.0
    without: str = ""
    keep_graphs: bool = False

    def __post_init__(self) -> None:
        for name in ("collect_steps", "updates", "batch", "replay_steps", "horizon", "imagined"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.sequence_length < 2:
            raise ConfigError(f"sequence_length is {self.sequence_length}; it must be at least 2")
        for name in ("discount", "return_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must lie between 0 and 1")
        for branch in self.branches_left_out:
            if branch not in BRANCHES:
                raise ConfigError(f"without is {self.without!r}; what can be left out is {', '.join(BRANCHES)}")

    @property
    def branches_left_out(self) -> tuple[str, ...]:
        """The losses that are left out."""
        return tuple(name for name in self.without.split(",") if name)
