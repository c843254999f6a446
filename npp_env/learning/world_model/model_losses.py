"""What a world model learns from: losses along sequences, each of which can be left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import requires
from npp_env.learning.world_model.network import Belief, WorldModelNetwork
from npp_env.learning.world_model.options import WorldModelOptions
from npp_env.learning.world_model.replay import Sequences
from npp_env.observe.state_row import STATE_ROW
from npp_env.sim.views import ninja_view

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch
    from torch.nn import functional

REWARD_UNIT = 0.1
DISPLACEMENT_PX = 24.0
_REPRESENTATION, _DYNAMICS = 0.1, 0.5
_MOTION_WEIGHT = 10.0
_REWARD_WEIGHT, _CONTINUE_WEIGHT = 10.0, 5.0
"""A step forward is worth a hundredth: with smaller weights the actor learns from errors of the model."""


class Targets(NamedTuple):
    """What is to be predicted along sequences, as tensors.

    Attributes:
        observations: (steps, n, size).
        motion: (steps, n, 4), up to the next step.
        goes_along: (steps, n), 1 where the next step is of the same episode and in the sequence, else 0.
        rewards: (steps, n), as `compressed`.
        goes_on: (steps, n), 0 where the episode was won or lost.
    """

    observations: Any
    motion: Any
    goes_along: Any
    rewards: Any
    goes_on: Any


def motion_of(rows: NDArray[np.uint8], length: int) -> NDArray[np.float32]:
    """Displacement / 24 px and change of velocity in px per tick to the next step; zeros in the last.

    Args:
        rows: uint8 (length * n, row_bytes), state rows, step by step.
        length: Steps.

    Returns:
        Fresh float32 (length, n, 4).
    """
    values = places_and_velocities(rows, length)
    motion = np.zeros(values.shape, np.float32)
    motion[:-1] = np.diff(values, axis=0)
    motion[..., :2] /= DISPLACEMENT_PX
    return motion


def places_and_velocities(rows: NDArray[np.uint8], length: int) -> NDArray[np.float64]:
    """x, y, vx and vy of state rows (length * n, row_bytes), step by step; fresh (length, n, 4)."""
    ninja = ninja_view(rows[:, STATE_ROW.itemsize :])
    return np.stack([ninja[name] for name in ("x", "y", "vx", "vy")], axis=-1).reshape(length, -1, 4)


def compressed(rewards: Any) -> Any:
    """Rewards as the reward head gives them: a step's worth keeps its size, and a win does not drown it."""
    return torch.sign(rewards) * torch.log1p(rewards.abs() / REWARD_UNIT)


def expanded(values: Any) -> Any:
    """What the reward head gives, as rewards."""
    return torch.sign(values) * torch.expm1(values.abs()) * REWARD_UNIT


def targets_of(sequences: Sequences, observations: Any) -> Targets:
    """What sequences show.

    Args:
        sequences: As drawn.
        observations: (steps * n, size), decoded from their rows.
    """
    length, count = sequences.actions.shape
    goes_along = np.zeros((length, count), np.float32)
    goes_along[:-1] = ~sequences.first[1:]
    motion = motion_of(sequences.rows, length) * goes_along[..., None]
    return Targets(
        observations.view(length, count, -1),
        torch.from_numpy(motion),
        torch.from_numpy(goes_along),
        compressed(torch.from_numpy(sequences.rewards)),
        1 - torch.from_numpy(sequences.terminated).float(),
    )


def model_losses(
    network: WorldModelNetwork, belief: Belief, actions: Any, targets: Targets, options: WorldModelOptions
) -> dict[str, Any]:
    """The losses by branch; those left out are not computed at all.

    Args:
        network: The model.
        belief: States along the sequences.
        actions: Those taken, one-hot (steps, n, 6).
        targets: What was to be predicted.
        options: What is left out, and the free nats.
    """
    left_out = options.branches_left_out
    features = belief.states.features()
    acted = torch.cat([features, actions], dim=-1)
    losses: dict[str, Any] = {}
    if "decoder" not in left_out:
        missed = (network.decoder(features) - targets.observations).square()
        losses["decoder"] = (missed * network.importance).sum(-1).mean()
        missed = (network.motion(acted) - targets.motion).square().sum(-1) * targets.goes_along
        losses["motion"] = _MOTION_WEIGHT * missed.mean()
    if "reward" not in left_out:
        missed = (network.reward(acted).squeeze(-1) - targets.rewards).square()
        losses["reward"] = _REWARD_WEIGHT * missed.mean()
    if "continue" not in left_out:
        losses["continue"] = _CONTINUE_WEIGHT * functional.binary_cross_entropy_with_logits(
            network.goes_on(acted).squeeze(-1), targets.goes_on
        )
    if "kl" not in left_out:
        dynamics = divergence(belief.posterior.detach(), belief.prior)
        representation = divergence(belief.posterior, belief.prior.detach())
        free = options.free_nats
        losses["kl"] = (
            _DYNAMICS * dynamics.clamp(min=free).mean() + _REPRESENTATION * representation.clamp(min=free).mean()
        )
    return losses


def divergence(first: Any, second: Any) -> Any:
    """Kullback-Leibler divergence (...), summed over groups, of logarithms of shares (..., groups, classes)."""
    return (first.exp() * (first - second)).sum(dim=(-1, -2))
