"""Networks of policies: a table of them, and the plain one (`mlp`).

A network is a torch module without memory: `forward` takes the observations of a minibatch by key, floats as float32,
and gives an `Output`. Nothing is written to the module, nothing is drawn at random. Its value head is `critic`. Its
class says what it wants: in `environment`, sections of `EnvironmentConfig`, and in `raw_keys` what it takes as it is.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError, requires
from npp_env.learning.sides import Sides
from npp_env.observe.spec import observation_spec

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch
    from torch import nn

NUM_ACTIONS = 6
MASKED = -1e8
VECTOR_KEYS = (
    "game_state",
    "reachability_features",
    "switch_states",
    "spatial_context",
    "entity_states",
    "action_mask",
)

NETWORKS = {
    "mlp": "npp_env.learning.networks:MlpNetwork",
    "attention": "npp_env.learning.attention:AttentionNetwork",
    "graph": "npp_env.learning.graph_network:GraphNetwork",
    "world-model": "npp_env.learning.world_model.network:WorldModelNetwork",
}
"""Where the class of each network stands; it is imported when it is asked for."""


class Output(NamedTuple):
    """What a network says of a minibatch.

    Attributes:
        logits: (n, 6), before masks.
        values: (n,), in the units of the value scale.
        bonus: (n,), what the entropy bonus adds beside that of the actions, such as the entropy of attention; or None.
    """

    logits: Any
    values: Any
    bonus: Any = None


class MlpNetwork(nn.Module):
    """Two hidden layers over all vectors, shared by policy and value.

    Args:
        config: The environment: sizes of the observations.
        width: Units of a hidden layer.
        mirror: Whether it sees every situation with the next hop to the right; see `npp_env.learning.sides`.
    """

    environment: Mapping[str, Any] = {"observation": {"keys": VECTOR_KEYS, "max_entities": 6}}
    raw_keys: tuple[str, ...] = ()

    def __init__(self, config: EnvironmentConfig, width: int = 128, mirror: bool = True) -> None:
        super().__init__()
        self.keys = tuple(key for key in config.observation.keys if key != "action_mask")
        self.sides = Sides(self.keys) if mirror else None
        size = sum(observation_spec(key, config.capacity).size for key in self.keys)
        self.body = nn.Sequential(layer(size, width), nn.ReLU(), layer(width, width), nn.ReLU())
        self.actor = layer(width, NUM_ACTIONS, 0.01)
        self.critic = layer(width, 1, 1.0)

    def forward(self, observations: Mapping[str, Any]) -> Output:
        """See the module."""
        return self.judge(observations) if self.sides is None else self.sides.judged(observations, self.judge)

    def judge(self, observations: Mapping[str, Any]) -> Output:
        """What it says of observations as they are."""
        features = self.body(torch.cat([observations[key].flatten(1) for key in self.keys], dim=1))
        return Output(self.actor(features), self.critic(features).squeeze(1))


def layer(inputs: int, outputs: int, gain: float = math.sqrt(2)) -> Any:
    """A linear layer with orthogonal weights and no bias to begin with."""
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def network_class(name: str) -> Any:
    """The class of a network of the table.

    Raises:
        ConfigError: There is none of this name.
    """
    if name not in NETWORKS:
        raise ConfigError(f"there is no policy {name!r}; there are {', '.join(NETWORKS)}")
    return named_object(NETWORKS[name])


def named_object(path: str) -> Any:
    """What `module:name` names; the module is imported."""
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def make_network(name: str, config: EnvironmentConfig, options: Mapping[str, Any]) -> Any:
    """A network of the table.

    Raises:
        ConfigError: There is none of this name, or it does not take these options.
    """
    kind = network_class(name)
    try:
        return kind(config, **options)
    except (TypeError, RuntimeError) as error:
        raise ConfigError(f"the options {dict(options)} do not fit the policy {name!r}: {error}") from error


def tensors_of(arrays: Mapping[str, Any], network: Any) -> dict[str, Any]:
    """Observations as a network takes them: floats as float32, bytes and what it wants raw as they are.

    Args:
        arrays: Arrays or tensors by key.
        network: The network or its class.
    """
    found = {}
    for key, array in arrays.items():
        # Few operations know unsigned 16-bit numbers: they are read as signed, and the network undoes the sign.
        values = array if isinstance(array, torch.Tensor) else torch.from_numpy(_signed(array))
        found[key] = values if values.dtype == torch.uint8 or key in network.raw_keys else values.float()
    return found


def _signed(array: Any) -> Any:
    return array.view("int16") if array.dtype == "uint16" else array


def masked_log_probabilities(logits: Any, masks: Any) -> Any:
    """Logarithms of the probabilities (n, 6) of actions that the masks (n, 6) allow."""
    return torch.log_softmax(logits.masked_fill(masks == 0, MASKED), dim=1)


def entropy_of(log_probabilities: Any) -> Any:
    """Entropy (n,) of the distributions over actions; masked ones count nothing."""
    return -(log_probabilities.exp() * log_probabilities).sum(dim=1)
