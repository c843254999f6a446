"""Models of Stable-Baselines3 as policies: a zip that holds the configuration of its environment, or is told it."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError, requires

with requires("Stable-Baselines3", __name__, "pip install 'npp_env[sb3]'"):
    import gymnasium as gym
    import stable_baselines3
    import torch

from npp_env.config import EnvironmentConfig
from npp_env.evaluation.policy import PolicyError, checked_actions
from npp_env.integrations.torch import Decode
from npp_env.level.level_set import LevelSet
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.rollouts.decoder import ObservationDecoder

CONFIG_NAME = "npp_env.json"
"""The file within a zip that holds the configuration; SB3 looks past it."""


def save_sb3_model(model: Any, path: str | os.PathLike[str], config: EnvironmentConfig | None = None) -> None:
    """Save a model of SB3 with the configuration of its environment, so that `npp-env evaluate` needs nothing else.

    Args:
        model: The model.
        path: Where to; the suffix is `.zip`.
        config: The configuration; by default that of the model's own `NppVecEnv`.

    Raises:
        PolicyError: The suffix is another one, or the model has no environment of this package.
    """
    target = Path(path)
    if target.suffix != ".zip":
        raise PolicyError(f"{target}: the suffix is {target.suffix!r}; use .zip, as SB3 does")
    if config is None:
        native = next(iter(model.env.get_attr("config")), None) if model.env is not None else None
        if not isinstance(native, EnvironmentConfig):
            raise PolicyError("the model has no environment of npp_env; give its configuration")
        config = native
    model.save(target)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr(CONFIG_NAME, json.dumps(config.to_dict(), indent=1))


def load_sb3_policy(
    path: str | os.PathLike[str], config: EnvironmentConfig | None = None, *, deterministic: bool = True
) -> Sb3Policy:
    """Load a zip of SB3 or sb3-contrib; such files can run any code when they are loaded, so trust where they are from.

    Args:
        path: The zip.
        config: The configuration that it was trained with; by default what `save_sb3_model` put into it, or what its
            observation space tells, with the default frame_skip.
        deterministic: Take the likeliest action instead of drawing one.

    Raises:
        PolicyError: It is no such file, or of an algorithm or observation that is not known.
    """
    data = _read_data(Path(path))
    try:
        model = _algorithm_of(data).load(os.fspath(path), device="cpu")
    except NppError:
        raise
    except Exception as error:  # whatever a pickle raises
        raise PolicyError(f"{path}: SB3 cannot load it: {type(error).__name__}: {error}") from error
    found = config or _config_in(Path(path)) or _config_of(model.observation_space, path)
    return Sb3Policy(model, found, deterministic)


class Sb3Policy:
    """A model of SB3 as a `Policy`.

    Args:
        model: The model, of any algorithm with discrete actions.
        config: What its environment was made with.
        deterministic: Take the likeliest action instead of drawing one.
    """

    def __init__(self, model: Any, config: EnvironmentConfig, deterministic: bool = True) -> None:
        self.config = config
        self.deterministic = deterministic
        self.model = model
        self._takes_masks = "Maskable" in type(model).__name__
        self._remembers = "Recurrent" in type(model).__name__
        self._memory: Any = None
        self._starts = np.ones(1, np.bool_)

    def use_levels(self, levels: LevelSet, space: Any) -> None:
        """See `npp_env.evaluation.policy.Policy`: rows of states are of these levels now, and as long as they need."""
        if self.config.observation.layout != "state":
            return
        self.model.policy.observation_space = space
        for module in self.model.policy.modules():
            if isinstance(module, Decode):
                module.decoder = ObservationDecoder(module.decoder.config, levels=levels)
                module._batch = None

    def begin(self, num_envs: int, seed: int) -> None:
        """See `Policy`."""
        torch.manual_seed(seed % 2**63)
        self._memory, self._starts = None, np.ones(num_envs, np.bool_)

    def act(self, observations: Any, masks: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Policy`."""
        extra: dict[str, Any] = {"action_masks": masks.astype(np.bool_)} if self._takes_masks else {}
        if self._remembers:
            extra |= {"state": self._memory, "episode_start": self._starts}
        actions, self._memory = self.model.predict(observations, deterministic=self.deterministic, **extra)
        self._starts = np.zeros(len(masks), np.bool_)
        return checked_actions(actions, len(masks))

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """See `Policy`."""
        self._starts |= rows


def _read_data(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
    except FileNotFoundError as error:
        raise PolicyError(f"{path}: there is no such file") from error
    except (OSError, KeyError, ValueError, RecursionError, zipfile.BadZipFile) as error:
        raise PolicyError(f"{path}: this is no model of Stable-Baselines3: {error}") from error
    if not isinstance(data, dict):
        raise PolicyError(f"{path}: this is no model of Stable-Baselines3")
    return data


def _algorithm_of(data: dict[str, Any]) -> Any:
    """The class of an algorithm, by the policy that it was saved with and by parameters that no other has."""
    home = str(data.get("policy_class", {}).get("__module__", ""))
    contrib = {"maskable": "MaskablePPO", "recurrent": "RecurrentPPO", "qrdqn": "QRDQN"}
    name = next((name for word, name in contrib.items() if word in home), None)
    if name is None and "cg_max_steps" in data:
        name = "TRPO"
    if name is not None:
        with requires("sb3-contrib", f"a model of {name}", "pip install 'npp_env[sb3]'"):
            import sb3_contrib
        return getattr(sb3_contrib, name)
    if "exploration_fraction" in data:
        return stable_baselines3.DQN
    if "clip_range" in data:
        return stable_baselines3.PPO
    if "n_steps" in data and "gae_lambda" in data:
        return stable_baselines3.A2C
    raise PolicyError("of Stable-Baselines3, models of PPO, A2C, DQN, MaskablePPO, RecurrentPPO, QRDQN and TRPO play")


def _config_in(path: Path) -> EnvironmentConfig | None:
    with zipfile.ZipFile(path) as archive:
        if CONFIG_NAME not in archive.namelist():
            return None
        return EnvironmentConfig.from_dict(json.loads(archive.read(CONFIG_NAME)))


def _config_of(space: Any, path: str | os.PathLike[str]) -> EnvironmentConfig:
    """What a dictionary of observations tells of the configuration; nothing is known of the frame_skip and reward."""
    if isinstance(space, gym.spaces.Dict) and set(space.keys()) <= set(OBSERVATION_KEYS):
        keys = [key for key in OBSERVATION_KEYS if key in space.keys()]  # noqa: SIM118
        observation: dict[str, Any] = {"keys": keys}
        if "entity_states" in keys:
            observation["max_entities"] = int((space["entity_states"].shape or (1,))[0])
        return EnvironmentConfig(observation=observation)  # type: ignore[arg-type]
    raise PolicyError(
        f"{os.fspath(path)} does not say what its environment was: save it with "
        f"npp_env.integrations.sb3_policy.save_sb3_model, or give the configuration with --config FILE.json"
    )
