"""Objective attention: what it must not depend on, its gradient, and that it trains at any size."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.config import EnvironmentConfig  # noqa: E402
from npp_env.errors import ConfigError  # noqa: E402
from npp_env.learning.attention import Attention, AttentionNetwork  # noqa: E402
from npp_env.learning.model_file import load_policy  # noqa: E402
from npp_env.learning.ppo import PPO  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from npp_env.vector import NppVectorEnv  # noqa: E402

CONFIG = EnvironmentConfig(levels="shipped:doors", observation=dict(AttentionNetwork.environment["observation"]))


@pytest.fixture(scope="module")
def seen():
    """Observations of some play on levels with doors and mines, (256, ...) by key."""
    env = NppVectorEnv(
        256, CONFIG.with_overrides({"levels": ["shipped:doors", "shipped:mines", "shipped:first_steps"]})
    )
    observation, _ = env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(30):
        observation, *_ = env.step(rng.integers(0, 6, 256))
    return {key: torch.from_numpy(array).float() for key, array in observation.items()}


@pytest.fixture
def network():
    torch.manual_seed(1)
    made = AttentionNetwork(CONFIG, layers=2)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return made


def equal(first, second, atol=1e-6):
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one, other, atol=atol, rtol=1e-5)


def test_the_order_of_entities_does_not_matter(network, seen):
    order = torch.from_numpy(np.random.default_rng(0).permutation(seen["entity_states"].shape[1]))
    equal(network(seen), network({**seen, "entity_states": seen["entity_states"][:, order]}))
    moved = seen["entity_states"].clone()
    moved[:, 0, 1] += 0.3
    assert (network(seen).logits - network({**seen, "entity_states": moved}).logits).abs().max() > 1e-4


def test_a_row_gives_the_same_in_any_batch(network, seen):
    whole = network(seen)
    for row in (0, 17, 255):
        equal(
            network({key: value[row : row + 1] for key, value in seen.items()}), [part[row : row + 1] for part in whole]
        )


def test_nothing_to_look_at_gives_numbers(network, seen):
    empty = {key: torch.zeros_like(value) for key, value in seen.items()}
    tokens, present = network.tokens(empty)
    assert tokens.shape[1] == present.shape[1]
    assert present.sum(1).eq(1).all()
    output = network(empty)
    assert all(torch.isfinite(part).all() for part in output)
    # With one token there is no choice.
    torch.testing.assert_close(output.bonus, torch.zeros_like(output.bonus))
    output.logits.sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in network.parameters())


def test_what_is_absent_has_no_influence(network, seen):
    absent = seen["entity_states"].clone()
    gone = absent[..., 0] == 0
    assert gone.any()
    absent[gone] = torch.randn(int(gone.sum()), absent.shape[2])
    absent[..., 0] = seen["entity_states"][..., 0]
    equal(network(seen), network({**seen, "entity_states": absent}))


def test_it_holds_nothing_but_parameters(network, seen):
    before = {name: set(vars(module)) for name, module in network.named_modules()}
    network(seen)
    assert before == {name: set(vars(module)) for name, module in network.named_modules()}
    assert {name.split(".")[0] for name, _ in network.named_buffers()} == {"sides"}
    assert not any(isinstance(module, torch.nn.Dropout) for module in network.modules())
    network.train()
    first = network(seen)
    network.eval()
    equal(first, network(seen), atol=0)


def test_the_gradient_of_the_entropy_agrees_with_differences(seen):
    torch.manual_seed(0)
    double = AttentionNetwork(CONFIG, token_width=8, heads=2, width=8).double()
    few = {key: value[:5].double() for key, value in seen.items()}

    def total():
        return double(few).bonus.sum()

    total().backward()
    checked = 0
    for name in ("looks.0.query.weight", "looks.0.key_value.weight", "entity.weight", "nothing"):
        parameter = double.get_parameter(name)
        flat, gradient = parameter.data.view(-1), parameter.grad.view(-1)
        for place in gradient.abs().topk(3).indices.tolist():
            values = []
            for step in (1e-6, -1e-6):
                flat[place] += step
                values.append(total().item())
                flat[place] -= step
            assert gradient[place].item() == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-4, abs=1e-8)
            checked += gradient[place].item() != 0
    assert checked >= 10


def test_attention_by_hand():
    look = Attention(2, 1)
    with torch.no_grad():
        for part in (look.query, look.out):
            part.weight.copy_(torch.eye(2))
        look.key_value.weight.copy_(torch.cat([torch.eye(2), torch.eye(2)]))
    tokens = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]])
    seen, entropy = look(torch.tensor([[1.0, 0.0]]), tokens, torch.tensor([[True, True, False]]))
    share = 1 / (1 + np.exp(-1 / np.sqrt(2)))
    np.testing.assert_allclose(seen.detach().numpy(), [[share, 1 - share]], rtol=1e-6)
    wanted = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert entropy.item() == pytest.approx(wanted, rel=1e-5)
    with pytest.raises(ConfigError, match="3 heads"):
        Attention(32, 3)


@pytest.mark.parametrize(("num_envs", "minibatch"), [(2, 256), (128, 256), (128, 512), (1024, 512)])
def test_it_trains_at_any_size(num_envs, minibatch):
    steps = max(2, 512 // num_envs)
    options = {"num_steps": steps, "minibatch": minibatch, "epochs": 1}
    settings = TrainSettings(task="shipped:doors", policy="attention", num_envs=num_envs, algo_options=options)
    algorithm = PPO(settings)
    losses = algorithm.iterate()
    assert all(np.isfinite(value) for value in losses.values())


def test_the_first_epoch_has_a_ratio_of_one():
    options = {"num_steps": 8, "minibatch": 1024, "epochs": 1}
    algorithm = PPO(TrainSettings(task="shipped:doors", policy="attention", num_envs=32, algo_options=options))
    algorithm.collect()
    assert np.abs(algorithm.ratios() - 1).max() < 1e-6


def test_save_and_load(tmp_path):
    options = {"num_steps": 8, "minibatch": 64, "epochs": 1}
    settings = TrainSettings(
        task="shipped:doors", policy="attention", num_envs=8, algo_options=options, policy_options={"layers": 2}
    )
    trainer = Trainer(tmp_path, settings)
    trainer.run(Limits(steps=128))
    policy = load_policy(tmp_path / "model.nppmodel")
    bench = trainer.algorithm.bench
    observations = bench.decoder.decode(bench.rows)
    logits = bench.judge(bench.rows)[0].logits
    expected = logits.masked_fill(torch.from_numpy(observations["action_mask"]) == 0, -1e8).argmax(1).numpy()
    np.testing.assert_array_equal(policy.act(observations, observations["action_mask"]), expected)
