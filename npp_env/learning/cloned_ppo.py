"""Cloning followed by PPO: the pupil begins as a copy of the teacher, and goes on by what pays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.learning.cloning import Cloner, CloningOptions
from npp_env.learning.dagger import restore_teacher, teacher_arrays, teacher_of
from npp_env.learning.labels import LabelOptions
from npp_env.learning.model_file import part_of
from npp_env.learning.ppo import PPO, PPOOptions, optimizer_arrays, restore_optimizer
from npp_env.learning.settings import TrainSettings, options_of
from npp_env.learning.teacher import NO_ANSWER

_UPDATES_AT_ONCE = 200
"""Minibatches of cloning in an iteration."""


@dataclass(frozen=True, slots=True)
class ClonedPPOOptions(PPOOptions, LabelOptions):
    """How it learns; the options of PPO and of labels hold too.

    Attributes:
        clone_updates: Minibatches of cloning before the first step of PPO.
        clone_minibatch: States of such a minibatch.
        clone_rate: Learning rate of cloning.
        value_iterations: After cloning, iterations in which the value alone is learned.
        teacher_share: Share of the episodes that the teacher begins, at the start; it falls in a line to zero.
        teacher_until: Share of the schedule after which it begins none.
        led_share: It leads an episode for up to this share of its own way through the level.
        ticks_per_state: Its look-ahead.
        second_tries: As in PPO; the teacher leads to where it is needed.
        novelty: As in PPO; the teacher knows where to go.
    """

    clone_updates: int = 2000
    clone_minibatch: int = 512
    clone_rate: float = 1e-3
    value_iterations: int = 3
    teacher_share: float = 0.5
    teacher_until: float = 0.7
    led_share: float = 1.0
    ticks_per_state: int = 20_000
    second_tries: float = 0.0
    novelty: float = 0.0

    def __post_init__(self) -> None:
        # The class that `slots=True` makes is not the one that a bare `super()` would mean.
        PPOOptions.__post_init__(self)
        for name in ("clone_updates", "value_iterations"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must not be negative")
        shares = (self.teacher_share, self.teacher_until, self.led_share)
        if not all(0 <= share <= 1 for share in shares) or not self.teacher_until:
            raise ConfigError(
                f"teacher_share {shares[0]}, teacher_until {shares[1]}, led_share {shares[2]}: shares of 1"
            )

    def cloning(self) -> CloningOptions:
        """Those of the cloning."""
        labels = {entry.name: getattr(self, entry.name) for entry in fields(LabelOptions)}
        # Which checks them too.
        return CloningOptions(**labels, minibatch=self.clone_minibatch, learning_rate=self.clone_rate)


class ClonedPPO(PPO):
    """Clones, warms up the value, then learns as PPO does; see `Algorithm`.

    Steps that the teacher led are played, but PPO does not learn from them: they are not the policy's own.

    Args:
        settings: The run; `algo_options` are fields of `ClonedPPOOptions`.
    """

    options: ClonedPPOOptions

    def __init__(self, settings: TrainSettings) -> None:
        options = options_of(ClonedPPOOptions, settings.algo_options, "the options of bc+ppo")
        super().__init__(settings, options, options.clone_minibatch)
        self.cloner = Cloner(self.bench, options.cloning())
        self.teacher = teacher_of(self.bench, options.ticks_per_state, options.solve_ticks)
        # How many minibatches of cloning and iterations of PPO there were, and how many steps the teacher still leads.
        self._done = np.zeros(2, np.int64)
        self._lead = np.zeros(settings.num_envs, np.int64)
        self._own = np.ones(self.actions.shape, np.bool_)
        self._learned = {"cloning_loss": 0.0, "agreement": 0.0}

    def iterate(self) -> dict[str, float]:
        """Some cloning, as long as it is not done; a rollout, and what is learned from it."""
        options = self.options
        if self._done[0] < options.clone_updates:
            with self.bench.tracker.phase("label"):
                if not self.cloner.store.count:
                    self.cloner.fill()
            with self.bench.tracker.phase("clone"):
                updates = int(min(_UPDATES_AT_ONCE, options.clone_updates - self._done[0]))
                self._learned = self.cloner.improve(updates, self._done[0] / options.clone_updates)
                self._done[0] += updates
        else:
            self._done[1] += 1
        self.only_value = bool(self._done[1] <= options.value_iterations)
        return {**super().iterate(), **self._learned, "teacher_led": float(1 - self._own.mean())}

    def choose(self, t: int, log_probabilities: NDArray[np.float32]) -> NDArray[np.int64]:
        """The policy's own choice, or the teacher's where it leads."""
        actions = super().choose(t, log_probabilities)
        bench, lead = self.bench, self._lead
        begun = np.flatnonzero(self.ended[t - 1])
        share = 0.0 if self.only_value else self._share()
        lead[begun] = 0
        chances = bench.random.random((2, len(begun)))
        led, shares = begun[chances[0] < share], chances[1, chances[0] < share] * self.options.led_share
        lead[led] = (shares * self.teacher.way_steps(bench.rows[led])).astype(np.int64)
        led = np.flatnonzero(lead)
        self._own[t] = True
        if len(led):
            with bench.profile.measure("label"):
                answers = self.teacher.act_batch(bench.rows[led])
            known = answers != NO_ANSWER
            actions[led[known]] = answers[known]
            self._own[t, led[known]] = False
            lead[led] = np.where(known, lead[led] - 1, 0)
        return actions

    def _share(self) -> float:
        done = self.bench.steps / (self.bench.settings.total_steps * self.options.teacher_until)
        return self.options.teacher_share * max(0.0, 1 - done)

    def learnable(self) -> NDArray[np.int64]:
        """Places of the rollout where the policy chose itself."""
        return np.flatnonzero(self._own)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Algorithm`."""
        return {
            **super().arrays(),
            **{f"cloning/{name}": array for name, array in optimizer_arrays(self.cloner.optimizer).items()},
            **self.cloner.store.arrays(),
            **teacher_arrays(self.teacher),
            "cloned/done": self._done,
            "cloned/lead": self._lead,
            "cloned/ended": self.ended[-1],
        }

    def header(self) -> dict[str, Any]:
        """See `Algorithm`."""
        return {**super().header(), "learned": self._learned}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `Algorithm`."""
        super().restore(header, arrays)
        restore_optimizer(self.cloner.optimizer, part_of(arrays, "cloning/"))
        self.cloner.store.restore(arrays)
        restore_teacher(self.teacher, arrays)
        self._done[:], self._lead[:] = arrays["cloned/done"], arrays["cloned/lead"]
        self.ended[-1] = arrays["cloned/ended"]
        self._learned = dict(header["learned"])
