"""How good a world model is: its predictions against simple guesses, returns to compare with, and its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import requires
from npp_env.learning.world_model.imagination import imagine, returns_of
from npp_env.learning.world_model.model_losses import DISPLACEMENT_PX, model_losses, places_and_velocities, targets_of
from npp_env.learning.world_model.network import ModelState, WorldModelNetwork, one_hot_actions
from npp_env.learning.world_model.options import WorldModelOptions
from npp_env.learning.world_model.replay import Sequences

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch

_IMAGINED_ROLLOUTS = 8
_VELOCITY, _VELOCITY_UNIT = slice(4, 6), 12.0
"""Where `game_state`, the first of what is decoded, has the velocity, and in which unit (px per tick)."""


@dataclass(frozen=True, slots=True)
class PredictionErrors:
    """Root mean square errors so many steps ahead, with nothing seen in between.

    Attributes:
        steps: How far ahead.
        samples: Predictions that were compared.
        position_px: Of the model, of "keep the last" and of "constant velocity".
        velocity: The same in px per tick; for both guesses the velocity stays.
    """

    steps: int
    samples: int
    position_px: tuple[float, float, float]
    velocity: tuple[float, float]


def prediction_errors(
    network: WorldModelNetwork, sequences: Sequences, vectors: Any, steps: int, frame_skip: int, seed: int = 0
) -> PredictionErrors:
    """Compare open-loop predictions with what happened.

    The model sees the first half of each sequence, then predicts from the actions alone: the mean of several imagined
    futures. Sequences in which an episode ends within the predicted steps are left out.

    Args:
        network: The model.
        sequences: As drawn, at least `steps + 2` long.
        vectors: (steps * n, size), their observations.
        steps: How far ahead.
        frame_skip: Ticks of a step.
        seed: Where chance comes from.
    """
    length, count = sequences.actions.shape
    seen = min(length // 2, length - steps)
    values = places_and_velocities(sequences.rows, length)
    with torch.no_grad():
        moved = _open_loop(
            network, sequences, vectors.view(length, count, -1)[:seen], steps, values[seen - 1, :, 2:], seed
        )
    whole = ~sequences.first[seen : seen + steps].any(axis=0)
    last, later = values[seen - 1][whole], values[seen - 1 + steps][whole]
    predicted = moved[whole] * np.array([DISPLACEMENT_PX, DISPLACEMENT_PX, 1, 1])
    happened = later - last
    constant = last[:, 2:] * (steps * frame_skip)
    return PredictionErrors(
        steps,
        int(whole.sum()),
        (
            _rms(predicted[:, :2] - happened[:, :2]),
            _rms(happened[:, :2]),
            _rms(constant - happened[:, :2]),
        ),
        (_rms(predicted[:, 2:] - happened[:, 2:]), _rms(happened[:, 2:])),
    )


def _open_loop(
    network: WorldModelNetwork,
    sequences: Sequences,
    seen: Any,
    steps: int,
    velocities: NDArray[np.float64],
    seed: int,
) -> NDArray[np.float64]:
    """The motion (n, 4) that the model foresees for so many steps after the observations that it saw.

    Changes of velocity add up for one step only: beyond that their errors would, and the velocity that is decoded where
    the model believes to be, minus the last one, is nearer.
    """
    generator = torch.Generator().manual_seed(seed)
    actions = one_hot_actions(torch.from_numpy(sequences.actions))
    found = np.zeros((actions.shape[1], 4))
    for _ in range(_IMAGINED_ROLLOUTS):
        state = _state_after(network, sequences, seen, generator)
        moved = torch.zeros(actions.shape[1], 4)
        for t in range(len(seen) - 1, len(seen) - 1 + steps):
            moved += network.motion(torch.cat([state.features(), actions[t]], dim=-1))
            memory = network.advance(state, actions[t])
            state = ModelState(memory, network.draw(network.prior_logits(memory), generator))
        future = moved.numpy().astype(np.float64)
        if steps > 1:
            decoded = network.decoder(state.features())[:, _VELOCITY].numpy()
            future[:, 2:] = decoded * _VELOCITY_UNIT - velocities
        found += future / _IMAGINED_ROLLOUTS
    return found


def _state_after(network: WorldModelNetwork, sequences: Sequences, seen: Any, generator: Any) -> ModelState:
    """The model's states (n, ...) once it has seen the first observations (steps, n, size) of sequences."""
    actions = one_hot_actions(torch.from_numpy(sequences.actions[: len(seen)]))
    first = torch.from_numpy(sequences.first[: len(seen)])
    belief = network.follow(network.encoder(seen), actions, first, generator)
    return ModelState(belief.states.memory[-1], belief.states.latent[-1])


def return_correlation(
    network: WorldModelNetwork, sequences: Sequences, vectors: Any, horizon: int, discount: float, seed: int = 0
) -> tuple[float, int]:
    """How well imagined returns agree with real ones, for states of sequences that the same actor played.

    The model sees the first steps of each sequence. From there the actor plays so many steps in the model, several
    times, and the mean of its discounted rewards is compared with those that it got in the game. Sequences in which the
    time ran out within these steps are left out.

    Args:
        network: Model and actor.
        sequences: As drawn, longer than `horizon`.
        vectors: (steps * n, size), their observations.
        horizon: Steps.
        discount: Per step.
        seed: Where chance comes from.

    Returns:
        The coefficient of correlation, and how many states were compared.
    """
    length, count = sequences.actions.shape
    seen = length - horizon
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        state = _state_after(network, sequences, vectors.view(length, count, -1)[: seen + 1], generator)
        total = torch.zeros(count)
        for _ in range(_IMAGINED_ROLLOUTS):
            imagined = imagine(network, state, horizon, generator)
            total += returns_of(imagined, torch.zeros(horizon + 1, count), discount, 1.0)[0]
    real, whole = real_returns(sequences, seen, discount)
    pairs: NDArray[np.float64] = np.corrcoef(total.numpy()[whole], real[whole])
    return float(pairs[0, 1]), int(whole.sum())


def real_returns(sequences: Sequences, begin: int, discount: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Discounted rewards (n,) from a step to the end of a sequence or, if sooner, of the episode; fresh arrays.

    The second array says in which of them the time did not run out.
    """
    count = sequences.actions.shape[1]
    returns, goes_on, whole = np.zeros(count), np.ones(count, np.bool_), np.ones(count, np.bool_)
    for t in range(begin, len(sequences.rewards)):
        if t > begin:
            whole &= ~(goes_on & sequences.first[t])
        returns += np.where(goes_on, discount ** (t - begin) * sequences.rewards[t], 0)
        goes_on &= ~sequences.terminated[t]
    return returns, whole


def _rms(errors: NDArray[np.float64]) -> float:
    """Root of the mean squared length of error vectors (n, 2)."""
    return float(np.sqrt(np.square(errors).sum(axis=1).mean())) if len(errors) else float("nan")


def activation_bytes(network: WorldModelNetwork, sequences: Sequences, vectors: Any, options: WorldModelOptions) -> int:
    """Bytes that the graph of one gradient step of the model keeps for its way back, parameters not counted."""
    own = {parameter.untyped_storage().data_ptr() for parameter in network.parameters()}
    kept: dict[int, int] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    targets = targets_of(sequences, vectors)
    actions = one_hot_actions(torch.from_numpy(sequences.actions))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        encoded = network.encoder(targets.observations)
        generator = torch.Generator().manual_seed(0)
        belief = network.follow(encoded, actions, torch.from_numpy(sequences.first), generator)
        losses = model_losses(network, belief, actions, targets, options)
        total = sum(losses.values())
    del total
    return sum(kept.values())
