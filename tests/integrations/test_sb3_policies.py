"""Our networks inside MaskablePPO."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402

from npp_env.errors import ConfigError  # noqa: E402
from npp_env.integrations.sb3 import NppVecEnv  # noqa: E402
from npp_env.integrations.sb3_policies import NetworkPolicy, observation_of  # noqa: E402


def made(network, **options):
    env = NppVecEnv(8, preset="parallel_training", levels="shipped:doors", observation=observation_of(network))
    arguments = {"n_steps": 8, "batch_size": 32, "n_epochs": 2, "seed": 1, "ent_coef": 0.01}
    policy = {"network": network, "network_options": options}
    return MaskablePPO(NetworkPolicy, env, policy_kwargs=policy, **arguments), env


@pytest.mark.parametrize("network", ["mlp", "attention"])
def test_it_learns_saves_and_loads(network, tmp_path):
    model, env = made(network, width=16)
    before = [parameter.detach().clone() for parameter in model.policy.network.parameters()]
    model.learn(128)
    after = list(model.policy.network.parameters())
    assert any((one != other).any() for one, other in zip(before, after, strict=True))
    # Nothing but the network is trained.
    assert {id(p) for group in model.policy.optimizer.param_groups for p in group["params"]} == {id(p) for p in after}
    observation, masks = env.reset(), env.action_masks()
    expected, _ = model.predict(observation, action_masks=masks, deterministic=True)
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(again.predict(observation, action_masks=masks, deterministic=True)[0], expected)


def test_the_entropy_of_attention_has_a_gradient():
    model, env = made("attention", attention_bonus=1.0)
    observation = {key: torch.from_numpy(np.array(value)) for key, value in env.reset().items()}
    actions = torch.zeros(8, dtype=torch.int64)
    masks = np.ones((8, 6), bool)
    _, _, entropy = model.policy.evaluate_actions(observation, actions, masks)
    only_actions = model.policy.get_distribution(observation, masks).entropy()
    assert (entropy > only_actions + 0.1).all()
    (entropy - only_actions).sum().backward()
    assert model.policy.network.looks[0].query.weight.grad.abs().max() > 0


def test_other_observations_are_refused():
    env = NppVecEnv(2, levels="shipped:doors")
    with pytest.raises(ConfigError, match="observation_of"):
        MaskablePPO(NetworkPolicy, env, policy_kwargs={"network": "attention"})
