"""A Stable-Baselines3 features extractor that decodes state rows, so that buffers store states only.

    env = NppVecEnv(128, observation={"keys": keys, "layout": "state"})
    PPO("MlpPolicy", env, policy_kwargs={
        "features_extractor_class": StateFeatures,
        "features_extractor_kwargs": {"config": env.native.config},
    })

The same works for MaskablePPO and, with replay buffers of states, for off-policy algorithms such as DQN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from npp_env.errors import ConfigError, requires

with requires("Stable-Baselines3", __name__, "pip install 'npp_env[sb3]'"):
    import torch
    from stable_baselines3.common.preprocessing import is_image_space, preprocess_obs
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, CombinedExtractor
    from stable_baselines3.common.vec_env import VecTransposeImage

from npp_env.config import EnvironmentConfig
from npp_env.integrations.torch import Decode
from npp_env.level.level_set import LevelSource
from npp_env.rollouts.decoder import ObservationDecoder


class StateFeatures(BaseFeaturesExtractor):
    """Decodes state rows and gives the result to another features extractor.

    That one sees exactly what it would see with `layout="dict"`: the same keys in the same order, images channels
    first, preprocessed by SB3. So the same seed gives the same network and the same losses.

    Args:
        observation_space: The space of the states, `Box(0, 255, (stack * row_bytes,), uint8)`.
        config: The environment's configuration: keys and capacities.
        levels: The environment's levels; those of the configuration by default.
        keys: Which observations, instead of those of the configuration.
        stack: How many states are stacked (`VecFrameStack(env, stack)`); keys are stacked along their last axis.
        inner: Features extractor over the dictionary of observations.
        inner_kwargs: Its arguments.
        normalize_images: As for SB3's policies.
        num_threads: Threads that decode.
    """

    def __init__(
        self,
        observation_space: gym.spaces.Box,
        config: EnvironmentConfig | Mapping[str, Any] | None = None,
        levels: LevelSource = None,
        keys: tuple[str, ...] | None = None,
        stack: int = 1,
        inner: type[BaseFeaturesExtractor] = CombinedExtractor,
        inner_kwargs: dict[str, Any] | None = None,
        normalize_images: bool = True,
        num_threads: int = 1,
    ) -> None:
        decoder = ObservationDecoder(config, levels, keys=keys, num_threads=num_threads, blank_rows=stack > 1)
        if observation_space.shape != (stack * decoder.row_bytes,):
            raise ConfigError(
                f"the observation space has shape {observation_space.shape}; {stack} states of this level set have "
                f"{stack * decoder.row_bytes} bytes (layout='state', the same levels, stack= the number of frames)"
            )
        space = _seen_space(decoder.space(), stack)
        built = inner(space, **(inner_kwargs or {}))
        super().__init__(observation_space, built.features_dim)
        self.decode = Decode(decoder, dtype=None)
        self.inner = built
        self.stack = stack
        self._seen_space = space
        self._normalize_images = normalize_images
        self._images = [key for key, part in decoder.space().spaces.items() if is_image_space(part)]

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features of states (batch, stack * row_bytes)."""
        features: torch.Tensor = self.inner(self.observations(observations))
        return features

    def observations(self, states: torch.Tensor) -> dict[str, torch.Tensor]:
        """What the inner extractor sees."""
        decoded = self.decode(states.reshape(len(states), self.stack, -1))
        for key, values in decoded.items():
            stacked = torch.cat([values[:, k] for k in range(self.stack)], dim=-1)
            decoded[key] = self._channels_first(stacked) if key in self._images else stacked
        ordered = {key: decoded[key] for key in self._seen_space.spaces}
        processed = preprocess_obs(ordered, self._seen_space, normalize_images=self._normalize_images)
        assert isinstance(processed, dict)
        return processed

    def _channels_first(self, images: torch.Tensor) -> torch.Tensor:
        """Transposed like SB3 does it: a view while it collects, contiguous for a rollout or a last observation.

        Convolutions choose their algorithm by the strides, and the algorithms differ in the last bit.
        """
        transposed = images.permute(0, 3, 1, 2)
        if torch.is_grad_enabled() or len(images) == 1:
            return transposed.clone(memory_format=torch.contiguous_format)
        return transposed


def _seen_space(space: gym.spaces.Dict, stack: int) -> gym.spaces.Dict:
    """The space after stacking, and with channels first, as SB3 wraps environments with images."""
    seen = {}
    for key, box in space.spaces.items():
        assert isinstance(box, gym.spaces.Box)
        if stack > 1:
            low, high = (np.repeat(bound, stack, axis=-1) for bound in (box.low, box.high))
            box = gym.spaces.Box(low, high, dtype=box.dtype.type)
        seen[key] = VecTransposeImage.transpose_space(box, key) if is_image_space(box) else box
    return gym.spaces.Dict(seen)
