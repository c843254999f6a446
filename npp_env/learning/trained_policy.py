"""`TrainedPolicy`: a network that plays, and how it is put into a model file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError, requires
from npp_env.evaluation.policy import Policy
from npp_env.learning.model_file import ModelError, write_arrays
from npp_env.learning.networks import make_network, masked_log_probabilities, named_object, tensors_of
from npp_env.learning.workbench import Workbench, network_weights

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch


class TrainedPolicy:
    """A network as a `npp_env.evaluation.policy.Policy`: the likeliest action, or one by its probability.

    Args:
        network: One of `npp_env.learning.networks.NETWORKS`.
        config: The environment that it was trained in, with observations as a dictionary.
        deterministic: Whether it takes the likeliest action.
    """

    def __init__(self, network: Any, config: EnvironmentConfig, deterministic: bool = True) -> None:
        self.network = network
        self.config = config
        self.deterministic = deterministic
        self._random = np.random.default_rng(0)

    @classmethod
    def from_model(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], name: str) -> Policy:
        """The policy in a model file; a network with a `policy_class` is played by that.

        Raises:
            ModelError: The header or the weights do not fit.
        """
        try:
            config = EnvironmentConfig.from_dict(header["environment"])
            network = make_network(header["policy"], config, header["policy_options"])
            network.load_state_dict(network_weights(arrays))
        except (KeyError, TypeError, ConfigError, RuntimeError) as error:
            raise ModelError(f"{name} is no model that this npp_env can play: {error}") from error
        player = getattr(network, "policy_class", None)
        made: Policy = cls(network, config) if player is None else named_object(player)(network, config)
        return made

    def begin(self, num_envs: int, seed: int) -> None:
        """See `Policy`."""
        self._random = np.random.default_rng(seed)

    def act(self, observations: Mapping[str, NDArray[Any]], masks: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Policy`."""
        wanted = {key: np.asarray(observations[key]) for key in self.config.observation.keys}
        tensors = tensors_of(wanted, self.network)
        with torch.inference_mode():
            logits = self.network(tensors).logits
            scores = masked_log_probabilities(logits, torch.from_numpy(np.asarray(masks))).numpy()
        if not self.deterministic:
            shares = self._random.random(scores.shape, np.float32)
            scores = scores - np.log(-np.log(shares + 1e-30) + 1e-30)
        chosen: NDArray[np.int64] = scores.argmax(axis=1)
        return chosen

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """Nothing is remembered."""


def write_model(path: str | os.PathLike[str], bench: Workbench, facts: Mapping[str, Any]) -> None:
    """Write the network of a workbench to a model file.

    Args:
        path: The file.
        bench: With network and configuration.
        facts: What else to tell of it, for JSON, such as the steps of training.
    """
    config = bench.config.with_overrides({"copy": True, "cache_directory": None, "observation": {"layout": "dict"}})
    header = {
        "policy": bench.settings.policy,
        "policy_options": dict(bench.settings.policy_options),
        "environment": config.to_dict(),
        "training": dict(facts),
    }
    arrays = {f"network/{name}": value.numpy() for name, value in bench.network.state_dict().items()}
    write_arrays(path, header, arrays)
