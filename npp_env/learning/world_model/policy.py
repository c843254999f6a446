"""`WorldModelPolicy`: the actor of a world model, with what it remembers of each episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.errors import requires
from npp_env.learning.world_model.network import ModelState, WorldModelNetwork, one_hot_actions

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch


class WorldModelPolicy:
    """See `npp_env.evaluation.policy.Policy`: the likeliest latents and the likeliest action, or some by their chance.

    Args:
        network: Model and actor.
        config: The environment that it was trained in, with observations as a dictionary.
        deterministic: Whether nothing is left to chance; in training, everything is.
    """

    def __init__(self, network: WorldModelNetwork, config: EnvironmentConfig, deterministic: bool = True) -> None:
        self.network, self.config = network, config
        self.deterministic = deterministic
        self.begin(1, 0)

    def begin(self, num_envs: int, seed: int) -> None:
        """See `Policy`."""
        self._state = self.network.initial(num_envs)
        self._before = torch.zeros(num_envs, 6)
        self._chance = torch.Generator().manual_seed(seed)

    def act(self, observations: Mapping[str, NDArray[Any]], masks: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Policy`."""
        tensors = {key: torch.from_numpy(np.asarray(observations[key])).float() for key in self.network.keys}
        chance = None if self.deterministic else self._chance
        with torch.inference_mode():
            encoded = self.network.encoder(self.network.flatten(tensors))
            self._state = self.network.observe(self._state, self._before, encoded, chance)
            # Of all actions, as it learned to choose: a masked one does the same as one that is not.
            logits = self.network.actor(self._state.features())
            if chance is None:
                chosen = logits.argmax(dim=1)
            else:
                chosen = torch.multinomial(logits.softmax(dim=1), 1, generator=chance).squeeze(1)
            self._before = one_hot_actions(chosen)
        actions: NDArray[np.int64] = chosen.numpy()
        return actions

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """See `Policy`."""
        stays = torch.from_numpy(~rows).float().unsqueeze(1)
        with torch.inference_mode():
            self._state = ModelState(self._state.memory * stays, self._state.latent * stays)
            self._before = self._before * stays
