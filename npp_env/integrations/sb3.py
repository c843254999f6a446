"""Stable-Baselines3 directly over the native vector environment: no process and no Python object per environment."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from npp_env.errors import NppError, requires

with requires("Stable-Baselines3", __name__, "pip install 'npp_env[sb3]'"):
    from stable_baselines3.common.vec_env import VecEnv

from npp_env.config import EnvironmentConfig
from npp_env.sim.outcome import Outcome
from npp_env.vector import NppVectorEnv


class NppVecEnv(VecEnv):
    """SB3's `VecEnv` over `NppVectorEnv`.

    Observations are views of the native double buffer (SB3 copies them once, into its rollout or replay buffer). Ended
    episodes restart in the same step, with `terminal_observation`, `TimeLimit.truncated` and `episode` in their info.
    `action_masks()` and `env_method("action_masks")` serve MaskablePPO from one array.

    Args:
        num_envs: Number of environments.
        config: An `EnvironmentConfig`, or a (nested) dictionary of its fields.
        preset: Name of a preset.
        **arguments: As for `NppVectorEnv`.

    Example:
        >>> from stable_baselines3 import PPO  # doctest: +SKIP
        >>> model = PPO("MultiInputPolicy", NppVecEnv(64, preset="parallel_training"))  # doctest: +SKIP
    """

    def __init__(
        self,
        num_envs: int,
        config: EnvironmentConfig | Mapping[str, Any] | None = None,
        preset: str | None = None,
        **arguments: Any,
    ) -> None:
        if config is None or not isinstance(config, EnvironmentConfig):
            arguments.setdefault("copy", False)
        self.native = NppVectorEnv(num_envs, config, preset, autoreset_mode=AutoresetMode.SAME_STEP, **arguments)
        self.render_mode = self.native.render_mode
        self._pending: NDArray[Any] | None = None
        self._started = time.time()
        super().__init__(num_envs, self.native.single_observation_space, self.native.single_action_space)

    def reset(self) -> Any:
        """Begin an episode everywhere; seeds and options set before are used once."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        options = next((option for option in self._options if option), None)
        observation, info = self.native.reset(seed=seeds, options=options)
        self.reset_infos = [
            {key: value.item(i) for key, value in info.items() if not key.startswith("_")} for i in range(self.num_envs)
        ]
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._pending = actions

    def step_wait(self) -> Any:
        """Step with the actions of `step_async`."""
        if self._pending is None:
            raise NppError("step_wait() without step_async()")
        observation, rewards, terminated, truncated, info = self.native.step(self._pending)
        self._pending = None
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        dones = terminated | truncated
        for i in np.flatnonzero(dones).tolist():
            final = info["final_info"]
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i]),
                "outcome": int(final["outcome"][i]),
                "level": int(final["level"][i]),
                "is_success": bool(final["outcome"][i] == Outcome.WON),
                "episode": {
                    "r": float(final["episode_return"][i]),
                    "l": int(final["episode_steps"][i]),
                    "t": round(time.time() - self._started, 6),
                },
            }
        return observation, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Close the native environment."""
        self.native.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Masks as bool (num_envs, 6); the native environment's own array."""
        return self.native.action_masks()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the native environment, once per index."""
        if attr_name == "action_masks":
            return [self.native.action_masks for _ in self._indices(indices)]
        return [getattr(self.native, attr_name) for _ in self._indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the native environment, which all environments share.

        Raises:
            NppError: Only some of the environments were named.
        """
        if len(self._indices(indices)) != self.num_envs:
            raise NppError(f"set_attr({attr_name!r}): all environments are one object; leave indices out")
        setattr(self.native, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method for some environments: `action_masks`, `get_state`, `render`.

        Raises:
            NppError: The method does not exist per environment.
        """
        chosen = self._indices(indices)
        if method_name == "action_masks":
            masks = self.native.action_masks()
            return [masks[i] for i in chosen]
        if method_name in ("get_state", "render"):
            return list(getattr(self.native, method_name)(chosen))
        raise NppError(f"env_method({method_name!r}): it must be action_masks, get_state or render")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Never: there are no wrapped environments."""
        return [False for _ in self._indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Pictures of all environments, for `render_mode="rgb_array"`."""
        return self.native.render() or [None] * self.num_envs

    def _indices(self, indices: int | Iterable[int] | None) -> list[int]:
        return list(self._get_indices(indices))
