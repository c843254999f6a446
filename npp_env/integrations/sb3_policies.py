"""The networks of `npp_env.learning` as policies for MaskablePPO of sb3-contrib.

    env = NppVecEnv(64, levels="shipped:doors", observation=observation_of("attention"))
    MaskablePPO(NetworkPolicy, env, policy_kwargs={"network": "attention"})

The entropy that `evaluate_actions` gives has the network's own bonus in it, with its gradient: `ent_coef` weighs both,
and the training loop of the library stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError, requires
from npp_env.learning.networks import Output, network_class

with requires("sb3-contrib", __name__, "pip install 'npp_env[sb3]'"):
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import CombinedExtractor


def observation_of(network: str) -> dict[str, Any]:
    """What a network wants to see, as `observation=` of an environment."""
    return dict(network_class(network).environment["observation"])


class NetworkPolicy(MaskableActorCriticPolicy):
    """One of our networks, for dictionaries of observations.

    Args:
        observation_space: A dictionary with the keys of the network; see `observation_of`.
        action_space: The actions.
        lr_schedule: As in SB3.
        network: Its name in `npp_env.learning.networks.NETWORKS`.
        network_options: Its arguments that differ from their defaults.
        **kwargs: As in SB3, such as `optimizer_kwargs`.

    Raises:
        ConfigError: The observations are not those of the network.
    """

    def __init__(
        self,
        observation_space: gym.spaces.Space[Any],
        action_space: gym.spaces.Space[Any],
        lr_schedule: Any,
        network: str = "attention",
        network_options: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._network_name = network
        self._network_options = dict(network_options or {})
        config = _config_of(observation_space, network)
        made = network_class(network)(config, **self._network_options)
        self._waiting = [made]  # a module cannot be an attribute before its base class is there
        kwargs = {"features_extractor_class": CombinedExtractor, **kwargs, "net_arch": []}
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.network = self._waiting.pop()
        self.optimizer = self.optimizer_class(self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data: dict[str, Any] = super()._get_constructor_parameters()
        for name in ("net_arch", "activation_fn"):
            data.pop(name, None)
        return {**data, "network": self._network_name, "network_options": self._network_options}

    def _judge(self, obs: Any, action_masks: Any) -> tuple[Output, Any]:
        floats = {key: value if value.dtype == torch.uint8 else value.float() for key, value in obs.items()}
        output: Output = self.network(floats)
        distribution = self.action_dist.proba_distribution(action_logits=output.logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return output, distribution

    def forward(self, obs: Any, deterministic: bool = False, action_masks: Any = None) -> tuple[Any, Any, Any]:
        """Actions, values and logarithms of probabilities."""
        output, distribution = self._judge(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, output.values[:, None], distribution.log_prob(actions)

    def evaluate_actions(self, obs: Any, actions: Any, action_masks: Any = None) -> tuple[Any, Any, Any]:
        """Values, logarithms of probabilities, and entropy with the network's own bonus."""
        output, distribution = self._judge(obs, action_masks)
        entropy = distribution.entropy()
        if output.bonus is not None:
            entropy = entropy + output.bonus
        return output.values[:, None], distribution.log_prob(actions), entropy

    def get_distribution(self, obs: Any, action_masks: Any = None) -> Any:
        """Distribution over actions."""
        return self._judge(obs, action_masks)[1]

    def predict_values(self, obs: Any) -> Any:
        """Values."""
        return self._judge(obs, None)[0].values[:, None]


def _config_of(space: gym.spaces.Space[Any], network: str) -> EnvironmentConfig:
    wanted = network_class(network).environment["observation"]["keys"]
    if not isinstance(space, gym.spaces.Dict) or set(space.spaces) != set(wanted):
        found = ", ".join(space.spaces) if isinstance(space, gym.spaces.Dict) else str(space)
        raise ConfigError(
            f"the network {network!r} wants the observations {', '.join(wanted)}, got {found}; make the environment "
            f"with observation=observation_of({network!r})"
        )
    shapes = {key: part.shape or () for key, part in space.spaces.items()}
    values: dict[str, Any] = {"observation": {"keys": tuple(wanted), "max_entities": shapes["entity_states"][0]}}
    if "graph_node_feats" in shapes:
        values["graph"] = {"max_nodes": shapes["graph_node_feats"][0], "max_edges": shapes["graph_edge_feats"][0]}
    return EnvironmentConfig.from_dict(values)
