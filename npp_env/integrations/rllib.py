"""RLlib over states: rollouts of arrays from the native vector environment, decoded where they are learned from.

`learn_from_states` sets up PPO or APPO (new API stack). RLlib's own way, with observations as it knows them, stands in
`docs/training.md`; it makes several Python objects of every step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError, requires
from npp_env.integrations.packed import unpack
from npp_env.integrations.ray_levels import pack_levels
from npp_env.integrations.rllib_runner import StateEnvRunner
from npp_env.learning.networks import MASKED, Output, make_network, network_class, tensors_of
from npp_env.learning.settings import TrainSettings, environment_config
from npp_env.rollouts.decoder import DecodedBatch, ObservationDecoder

with requires("RLlib", __name__, "pip install 'npp_env[rllib]'"):
    import ray
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.learner.utils import make_target_network
    from ray.rllib.core.rl_module.apis import TARGET_NETWORK_ACTION_DIST_INPUTS, TargetNetworkAPI, ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch import TorchRLModule

_ROWS_AT_ONCE = 4096
_LAYOUTS = ("state", "packed")


def learn_from_states(
    config: Any,
    levels: str | tuple[str, ...],
    *,
    policy: str = "mlp",
    policy_options: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
    layout: str = "state",
) -> Any:
    """Let an algorithm of RLlib sample with `StateEnvRunner` and learn with a network of `npp_env.learning.networks`.

    Set `gamma` of the configuration before: the shaping of the reward gets it.

    Args:
        config: A `PPOConfig` or `APPOConfig`; it is changed.
        levels: As the configuration of an environment takes them. If this process is connected to a cluster, they
            are brought to every node that a runner starts on.
        policy: Name of the network.
        policy_options: Its arguments.
        environment: Fields of `EnvironmentConfig` that differ from what the network asks for.
        layout: What travels: `state`, from which the learner decodes all observations, or `packed`, the bytes of the
            observations themselves, floats as float16.

    Returns:
        The configuration.

    Raises:
        ConfigError: Another layout, or no such network.
    """
    if layout not in _LAYOUTS:
        raise ConfigError(f"layout is {layout!r}; it must be one of {', '.join(_LAYOUTS)}")
    settings = TrainSettings(task=levels, environment=environment or {})
    played = environment_config(settings, network_class(policy), float(config.gamma))
    played = played.with_overrides({"observation": {"layout": layout}, "copy": True})
    shipment = pack_levels(played) if ray.is_initialized() else None
    model = {"policy": policy, "policy_options": dict(policy_options or {}), "environment": played.to_dict()}
    config.environment("npp_env:Npp-v0", env_config={"config": played.to_dict(), "shipment": shipment})
    config.env_runners(env_runner_cls=StateEnvRunner)
    config.rl_module(rl_module_spec=RLModuleSpec(module_class=StateModule, model_config=model))
    return config


class StateModule(TorchRLModule, ValueFunctionAPI, TargetNetworkAPI):
    """A network of `npp_env.learning.networks` that is given state rows or packed observations, for PPO and APPO.

    Rows are decoded here, batch by batch, so that they stay small on their way and in the learner's buffers. Actions
    that the mask forbids have no probability. `model_config` holds `policy`, `policy_options` and `environment`.
    """

    def setup(self) -> None:
        """See `TorchRLModule`."""
        self._config = EnvironmentConfig.from_dict(self.model_config["environment"])
        self.network = make_network(self.model_config["policy"], self._config, self.model_config["policy_options"])
        self._decoder = ObservationDecoder(self._config) if self._config.observation.layout == "state" else None
        self._memory: DecodedBatch | None = None

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._judge(self.network, batch)[0]}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, values = self._judge(self.network, batch)
        # What the loss hands back to `compute_values`, which then needs not decode again.
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Values (n,) of states."""
        return self._judge(self.network, batch)[1] if embeddings is None else embeddings

    def make_target_networks(self) -> None:
        """See `TargetNetworkAPI`."""
        self._old_network = make_target_network(self.network)

    def get_target_network_pairs(self) -> list[tuple[Any, Any]]:
        """See `TargetNetworkAPI`."""
        return [(self.network, self._old_network)]

    def forward_target(self, batch: dict[str, Any]) -> dict[str, Any]:
        """See `TargetNetworkAPI`."""
        return {TARGET_NETWORK_ACTION_DIST_INPUTS: self._judge(self._old_network, batch)[0]}

    def _judge(self, network: Any, batch: dict[str, Any]) -> tuple[Any, Any]:
        """Masked logits (n, 6) and values (n,); without gradients in pieces, so that little is decoded at once."""
        rows = batch[Columns.OBS]
        pieces = [rows] if torch.is_grad_enabled() else rows.split(_ROWS_AT_ONCE)
        found = [self._judge_piece(network, piece) for piece in pieces]
        logits, values = zip(*found, strict=True)
        return torch.cat(logits), torch.cat(values)

    def _judge_piece(self, network: Any, rows: Any) -> tuple[Any, Any]:
        arrays = rows.detach().cpu().contiguous().numpy()
        if self._decoder is None:
            decoded: Mapping[str, Any] = unpack(arrays, self._config)
        else:
            if self._memory is None or self._memory.count < len(arrays):
                self._memory = self._decoder.allocate(len(arrays))
            self._decoder.decode(arrays, out=self._memory)
            decoded = {key: array[: len(arrays)] for key, array in self._memory.arrays().items()}
        observations = {key: value.to(rows.device) for key, value in tensors_of(decoded, network).items()}
        output: Output = network(observations)
        return output.logits.masked_fill(observations["action_mask"] == 0, MASKED), output.values
