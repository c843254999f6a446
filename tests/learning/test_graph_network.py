"""The graph encoder: against a plain loop over edges, once per graph, and in training."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.config import EnvironmentConfig  # noqa: E402
from npp_env.learning.graph_network import STEADY, GraphNetwork, different_graphs  # noqa: E402
from npp_env.learning.networks import tensors_of  # noqa: E402
from npp_env.learning.ppo import PPO  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.observe.spec import GRAPH_KEYS, NODE_FIELDS  # noqa: E402
from npp_env.vector import NppVectorEnv  # noqa: E402

GRAPH = {"max_nodes": 2500, "max_edges": 18500}
CONFIG = EnvironmentConfig(
    levels="shipped:doors", observation=dict(GraphNetwork.environment["observation"]), graph=GRAPH
)


@pytest.fixture(scope="module")
def seen():
    """Rows of play on the levels with doors, (48, ...), by key."""
    env = NppVectorEnv(48, CONFIG)
    observation, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(60):
        observation, *_ = env.step(rng.integers(0, 6, 48))
    return {key: np.array(array) for key, array in observation.items()}


@pytest.fixture
def network():
    torch.manual_seed(0)
    return GraphNetwork(CONFIG, width=16, node_width=4, rounds=2)


def by_hand(network, observations, row):
    """What the node of one row is told, one edge at a time."""
    weights = {name: value.detach().double().numpy() for name, value in network.named_parameters()}

    def apply(name, values):
        return np.maximum(weights[f"{name}.weight"] @ values + weights[f"{name}.bias"], 0)

    nodes = observations["graph_node_feats"][row].astype(float)
    count = int(observations["graph_node_mask"][row].sum())
    edges = np.flatnonzero(observations["graph_edge_mask"][row])
    sources, targets = observations["graph_edge_index"][row][:, edges].astype(int)
    features = observations["graph_edge_feats"][row][edges].astype(float)
    state = [apply("node", nodes[k, list(STEADY)]) for k in range(count)]
    leaving = [np.flatnonzero(sources == k) for k in range(count)]
    for _ in range(network.rounds):
        heard = [
            sum((apply("message", np.concatenate([state[targets[e]], features[e]])) for e in out), np.zeros(4))
            / max(len(out), 1)
            for out in leaving
        ]
        state = [state[k] + apply("update", np.concatenate([state[k], heard[k]])) for k in range(count)]
    return state[int(nodes[:, NODE_FIELDS.index("here")].argmax())]


def test_the_ninjas_node_is_told_what_a_plain_loop_says(network, seen):
    told = network.told(tensors_of(seen, network)).detach().numpy()
    for row in (0, 7):
        np.testing.assert_allclose(told[row], by_hand(network, seen, row), rtol=1e-4, atol=1e-5)


def test_each_graph_is_encoded_once(network, seen, monkeypatch):
    tensors = tensors_of(seen, network)
    _, chosen, which = different_graphs(tensors["graph_node_feats"], tensors["graph_node_mask"])
    steady = seen["graph_node_feats"][..., list(STEADY)]
    different = {array.tobytes() for array in steady}
    assert len(chosen) == len(different) < len(which)
    for row in range(len(which)):
        np.testing.assert_array_equal(steady[row], steady[int(chosen[which[row]])])
    encoded = []
    plain = GraphNetwork.encode
    monkeypatch.setattr(GraphNetwork, "encode", lambda *args: encoded.append(len(args[1])) or plain(*args))
    network(tensors)
    assert encoded == [len(different)]
    # Without gradients once for as long as the weights stay the same.
    with torch.no_grad():
        first, second = network(tensors), network(tensors)
        assert encoded == [len(different)] * 2
        torch.testing.assert_close(first, second, atol=0, rtol=0)
        network.update.weight.mul_(1.5)
        assert (network(tensors).logits != first.logits).any()
    assert encoded == [len(different)] * 3


def test_a_row_gives_the_same_alone(network, seen):
    tensors = tensors_of(seen, network)
    whole = network(tensors)
    alone = network({key: value[5:6] for key, value in tensors.items()})
    torch.testing.assert_close(alone.logits[0], whole.logits[5], atol=1e-6, rtol=1e-5)


def test_an_empty_graph_gives_numbers(network, seen):
    tensors = tensors_of({k: np.zeros_like(v) if k in GRAPH_KEYS else v for k, v in seen.items()}, network)
    output = network(tensors)
    assert torch.isfinite(output.logits).all()
    assert (network.told(tensors) == 0).all()


def test_it_trains():
    options = {"num_steps": 4, "minibatch": 64, "epochs": 1}
    algorithm = PPO(TrainSettings(task="shipped:doors", policy="graph", num_envs=16, algo_options=options))
    algorithm.collect()
    assert np.abs(algorithm.ratios() - 1).max() < 1e-5
    before = algorithm.bench.network.message.weight.detach().clone()
    assert all(np.isfinite(value) for value in algorithm.learn().values())
    assert (algorithm.bench.network.message.weight != before).any()
