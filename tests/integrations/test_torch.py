"""The torch module over the decoder."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from play import held_actions  # noqa: E402

from npp_env import NppVectorEnv  # noqa: E402
from npp_env.errors import StateError  # noqa: E402
from npp_env.integrations.torch import Decode  # noqa: E402
from npp_env.observe.spec import OBSERVATION_KEYS  # noqa: E402
from npp_env.rollouts.decoder import ObservationDecoder  # noqa: E402

GRAPH = {"max_nodes": 1700, "max_edges": 13000}


@pytest.fixture(scope="module")
def played():
    """Rows of some play (40, bytes), and their observations."""
    keys = {"keys": OBSERVATION_KEYS}
    dense, compact = (
        NppVectorEnv(4, levels="shipped:first_steps", graph=GRAPH, observation={**keys, "layout": layout})
        for layout in ("dict", "state")
    )
    observations, states = [dense.reset(seed=3)[0]], [compact.reset(seed=3)[0]]
    for actions in held_actions(np.random.default_rng(0), 9, 4):
        observations.append(dense.step(actions)[0])
        states.append(compact.step(actions)[0])
    joined = {key: np.concatenate([part[key] for part in observations]) for key in OBSERVATION_KEYS}
    return ObservationDecoder(compact.config), np.concatenate(states), joined


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_tensors_hold_what_the_environment_returned(played, dtype):
    decoder, states, observations = played
    tensors = Decode(decoder)(torch.from_numpy(states).to(dtype))
    for key, expected in observations.items():
        assert np.array_equal(tensors[key].numpy(), expected.astype(tensors[key].numpy().dtype)), key
    assert tensors["game_state"].dtype == torch.float32
    assert tensors["graph_edge_index"].dtype == torch.int64
    assert tensors["player_frame"].dtype == torch.uint8


def test_half_precision_can_be_kept_and_leading_shapes_are(played):
    decoder, states, observations = played
    tensors = Decode(decoder, dtype=None)(torch.from_numpy(states[:12].reshape(3, 4, -1)))
    assert tensors["game_state"].dtype == torch.float16
    assert np.array_equal(tensors["game_state"].numpy().reshape(12, -1), observations["game_state"][:12])


def test_tensors_survive_the_next_call(played):
    decoder, states, observations = played
    decode = Decode(decoder, dtype=None)
    first = decode(torch.from_numpy(states[:8]))
    decode(torch.from_numpy(states[8:16]))
    for key in ("game_state", "player_frame", "graph_node_feats", "graph_edge_index"):
        assert np.array_equal(first[key].numpy(), observations[key][:8]), key


def test_large_node_numbers_stay_positive(played):
    decoder, _, _ = played
    values = np.array([[0, 1, 32767, 32768, 65535]], np.uint16)
    assert Decode(decoder)._tensor(values, (1,), torch.device("cpu")).tolist() == values.astype(int).tolist()


def test_vectors_that_were_normalised_are_refused(played):
    decoder, states, _ = played
    with pytest.raises(StateError, match="do not normalise"):
        Decode(decoder)(torch.from_numpy(states).float() / 255)


def test_gradients_flow_behind_it_and_it_can_be_copied(played):
    decoder, states, observations = played
    network = torch.nn.Linear(34, 1)
    decode = Decode(decoder)
    network(decode(torch.from_numpy(states))["game_state"]).sum().backward()
    expected = observations["game_state"].astype(np.float32).sum(0)
    assert np.allclose(network.weight.grad.numpy()[0], expected, atol=1e-3)
    for twin in (copy.deepcopy(decode), pickle.loads(pickle.dumps(decode))):
        assert not list(twin.parameters())
        again = twin(torch.from_numpy(states[:2]))
        assert np.array_equal(again["global_view"].numpy(), observations["global_view"][:2])
