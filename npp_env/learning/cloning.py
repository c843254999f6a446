"""Behaviour cloning: the network learns to do what the teacher does, from batches that are allocated once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError, requires
from npp_env.learning.demonstrations import DemonstrationError
from npp_env.learning.labels import LabelOptions, LabelStore, demonstrated
from npp_env.learning.networks import masked_log_probabilities
from npp_env.learning.ppo import optimizer_arrays, restore_optimizer
from npp_env.learning.settings import TrainSettings, options_of
from npp_env.learning.workbench import Workbench

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch

_FIRST_JUMP = 3
"""Actions from here on jump; each stands as far behind the one that does the same without."""


@dataclass(frozen=True, slots=True)
class CloningOptions(LabelOptions):
    """How cloning learns; the options of labels hold too.

    Attributes:
        minibatch: States of a minibatch.
        updates: Minibatches of an iteration.
        num_steps: Steps that each environment plays in an iteration, to see how well the pupil does.
        learning_rate: At the start; it falls in a line to a tenth.
        most_gradient: Largest norm of a gradient.
        discount: Of the reward's shaping.
    """

    minibatch: int = 512
    updates: int = 100
    num_steps: int = 16
    learning_rate: float = 1e-3
    most_gradient: float = 1.0
    discount: float = 0.99

    def __post_init__(self) -> None:
        for name in ("demo_levels", "solve_ticks", "capacity", "minibatch", "updates", "num_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1")


class Cloner:
    """Improves a network by labelled states.

    Args:
        bench: With the network.
        options: How to learn.

    Attributes:
        store: The labelled states.
        optimizer: Of all parameters.
    """

    def __init__(self, bench: Workbench, options: Any) -> None:
        self.bench, self.options = bench, options
        self.store = LabelStore(options.capacity, bench.decoder.row_bytes, options.minibatch)
        self.optimizer = torch.optim.Adam(bench.network.parameters(), lr=options.learning_rate, eps=1e-5, fused=True)
        self._labels = torch.from_numpy(self.store.labels)

    def fill(self) -> None:
        """Get the first labels, from a dataset or the teacher."""
        bench = self.bench
        for rows, actions in demonstrated(bench.config, self.options, bench.settings.seed):
            self.store.add(rows, actions)
        if not self.store.count:
            raise DemonstrationError(f"the teacher found no way through any level of {bench.config.levels}")

    def improve(self, updates: int, done: float) -> dict[str, float]:
        """Learn from so many minibatches; how well the network agrees with the teacher.

        Args:
            updates: Minibatches.
            done: Share of the schedule that is over.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate * (1 - 0.9 * done)
        loss_sum = agreement = 0.0
        for _ in range(updates):
            loss, same = self._improve_once()
            loss_sum += loss
            agreement += same
        return {"cloning_loss": loss_sum / updates, "agreement": agreement / updates}

    def _improve_once(self) -> tuple[float, float]:
        bench = self.bench
        with bench.profile.measure("decode"):
            self.store.draw(bench.random)
        observations = bench.observe(self.store.rows)
        with bench.profile.measure("forward"):
            logits = bench.network(observations).logits
            masks = observations["action_mask"]
            labels = allowed_labels(self._labels, masks)
            log_probabilities = masked_log_probabilities(logits, masks)
            loss = -log_probabilities.gather(1, labels[:, None]).mean()
        with bench.profile.measure("backward"):
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(bench.network.parameters(), self.options.most_gradient)
            self.optimizer.step()
        with torch.no_grad():
            same = (log_probabilities.argmax(dim=1) == labels).float().mean()
            return float(loss), float(same)


def allowed_labels(labels: Any, masks: Any) -> Any:
    """Labels (n,) that the masks (n, 6) allow: a jump that is masked changes nothing, and its twin does the same."""
    masked = masks.gather(1, labels[:, None]).squeeze(1) == 0
    return labels - _FIRST_JUMP * (masked & (labels >= _FIRST_JUMP)).long()


class BehaviourCloning:
    """Learns from demonstrations and then looks how it plays, in every iteration; see `Algorithm`.

    Args:
        settings: The run; `algo_options` are fields of `CloningOptions`.
    """

    def __init__(self, settings: TrainSettings) -> None:
        self.options = options = options_of(CloningOptions, settings.algo_options, "the options of bc")
        self.bench = Workbench(settings, options.discount, options.minibatch)
        self.cloner = Cloner(self.bench, options)

    def iterate(self) -> dict[str, float]:
        """Some minibatches, and some steps of play."""
        bench = self.bench
        bench.tracker.iteration()
        bench.statistics.begin_iteration()
        with bench.tracker.phase("label"):
            if not self.cloner.store.count:
                self.cloner.fill()
        with bench.tracker.phase("learn"):
            done = min(bench.steps / bench.settings.total_steps, 1.0)
            learned = self.cloner.improve(self.options.updates, done)
        with bench.tracker.phase("collect"):
            for _ in range(self.options.num_steps):
                bench.step(likeliest_actions(bench))
        return learned

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Algorithm`."""
        return {**self.bench.arrays(), **optimizer_arrays(self.cloner.optimizer), **self.cloner.store.arrays()}

    def header(self) -> dict[str, Any]:
        """See `Algorithm`."""
        return self.bench.header()

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `Algorithm`."""
        self.bench.restore(header, arrays)
        restore_optimizer(self.cloner.optimizer, arrays)
        self.cloner.store.restore(arrays)


def likeliest_actions(bench: Workbench) -> NDArray[np.int64]:
    """What the network would do now, (num_envs,)."""
    output, masks = bench.judge(bench.rows)
    actions: NDArray[np.int64] = masked_log_probabilities(output.logits, masks).numpy().argmax(axis=1)
    return actions
