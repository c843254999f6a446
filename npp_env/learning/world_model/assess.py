"""How good a world model is: its predictions against simple guesses, returns to compare with, and its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import requires
from npp_env.learning.world_model.model_losses import DISPLACEMENT_PX, model_losses, places_and_velocities, targets_of
from npp_env.learning.world_model.network import ModelState, WorldModelNetwork, one_hot_actions
from npp_env.learning.world_model.options import WorldModelOptions
from npp_env.learning.world_model.replay import Sequences

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch


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

    The model sees the first half of each sequence, then predicts from the actions alone. Sequences in which an episode
    ends within the predicted steps are left out.

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
    with torch.no_grad():
        moved = _open_loop(network, sequences, vectors.view(length, count, -1)[:seen], steps, seed)
    values = places_and_velocities(sequences.rows, length)
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
    network: WorldModelNetwork, sequences: Sequences, seen: Any, steps: int, seed: int
) -> NDArray[np.float32]:
    """The motion (n, 4) that the model foresees for so many steps after the observations that it saw."""
    generator = torch.Generator().manual_seed(seed)
    actions = one_hot_actions(torch.from_numpy(sequences.actions))
    first = torch.from_numpy(sequences.first[: len(seen)])
    belief = network.follow(network.encoder(seen), actions[: len(seen)], first, generator)
    state = ModelState(belief.states.memory[-1], belief.states.latent[-1])
    moved = torch.zeros(actions.shape[1], 4)
    for t in range(len(seen) - 1, len(seen) - 1 + steps):
        moved += network.motion(torch.cat([state.features(), actions[t]], dim=-1))
        memory = network.advance(state, actions[t])
        state = ModelState(memory, network.draw(network.prior_logits(memory), generator))
    found: NDArray[np.float32] = moved.numpy()
    return found


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
