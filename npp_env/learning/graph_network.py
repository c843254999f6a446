"""A graph encoder in plain torch: what lies ahead of the ninja's node, told along the edges of the navigation graph.

A graph changes with the level and with the doors, not with the ninja. `forward` finds the different graphs of a
minibatch, encodes each of them once, and gathers for every row what its node was told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npp_env.config import EnvironmentConfig
from npp_env.errors import requires
from npp_env.learning.networks import NUM_ACTIONS, VECTOR_KEYS, Output, layer
from npp_env.observe.spec import EDGE_FIELDS, GRAPH_KEYS, NODE_FIELDS, ROWS, Varies, observation_spec

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch
    from torch import nn

STEADY = ROWS["graph_node_feats"].columns(Varies.LEVEL, Varies.DOORS)
"""Fields of a node that do not change while the doors stay as they are."""
_HERE = NODE_FIELDS.index("here")
_TELLING = ROWS["graph_node_feats"].columns(Varies.DOORS)
_VECTORS = tuple(key for key in VECTOR_KEYS if key != "action_mask")


class GraphNetwork(nn.Module):
    """A plain network over all vectors and what the ninja's node was told.

    Args:
        config: The environment: sizes of the observations.
        width: Units of a hidden layer.
        node_width: Numbers of a node.
        rounds: How many edges far news travel.
    """

    environment: Mapping[str, Any] = {
        "observation": {"keys": (*VECTOR_KEYS, *GRAPH_KEYS), "max_entities": 6},
        "graph": {"max_nodes": 2500, "max_edges": 18500},
    }
    raw_keys = GRAPH_KEYS

    def __init__(self, config: EnvironmentConfig, width: int = 128, node_width: int = 16, rounds: int = 4) -> None:
        super().__init__()
        self.rounds = rounds
        self._kept = EncodedGraphs()
        self.node = layer(len(STEADY), node_width)
        self.message = layer(node_width + len(EDGE_FIELDS), node_width)
        self.update = layer(2 * node_width, node_width)
        inputs = sum(observation_spec(key, config.capacity).size for key in _VECTORS) + node_width
        self.body = nn.Sequential(layer(inputs, width), nn.ReLU(), layer(width, width), nn.ReLU())
        self.actor = layer(width, NUM_ACTIONS, 0.01)
        self.critic = layer(width, 1, 1.0)

    def forward(self, observations: Mapping[str, Any]) -> Output:
        """See `npp_env.learning.networks`; graph keys may have any type of number."""
        told = self.told(observations)
        features = self.body(torch.cat([*(observations[key].flatten(1) for key in _VECTORS), told], dim=1))
        return Output(self.actor(features), self.critic(features).squeeze(1))

    def told(self, observations: Mapping[str, Any]) -> Any:
        """What the ninja's node of each row was told, (n, node_width); zeros where the graph does not reach it."""
        nodes = observations["graph_node_feats"]
        names, chosen, which = different_graphs(nodes, observations["graph_node_mask"])

        def encode(rows: Any) -> Any:
            return self.encode(nodes[rows][..., STEADY], *(observations[key][rows] for key in GRAPH_KEYS[1:]))

        encoded = encode(chosen) if torch.is_grad_enabled() else self._kept.find(self, names, chosen, encode)
        here = nodes[..., _HERE]
        at = here.argmax(dim=1)
        return encoded[which, at] * (here.amax(dim=1) > 0).to(encoded.dtype)[:, None]

    def encode(self, nodes: Any, edge_index: Any, edges: Any, node_mask: Any, edge_mask: Any) -> Any:
        """Numbers of the nodes of some graphs, (graphs, max_nodes, node_width).

        Args:
            nodes: (graphs, max_nodes, fields that do not change).
            edge_index: (graphs, 2, max_edges), sources and targets.
            edges: (graphs, max_edges, fields).
            node_mask: (graphs, max_nodes).
            edge_mask: (graphs, max_edges).
        """
        graphs, most = nodes.shape[:2]
        graph, place = edge_mask.nonzero(as_tuple=True)
        ends = edge_index.transpose(1, 2)[graph, place].to(torch.int64) & 0xFFFF
        # News travel against the edges: a node learns of where its edges lead.
        source, target = (ends + graph[:, None] * most).unbind(1)
        features = edges[graph, place].to(self.node.weight.dtype)
        state = torch.relu(self.node(nodes.reshape(graphs * most, -1).to(self.node.weight.dtype)))
        degree = torch.zeros(graphs * most, dtype=state.dtype).index_add_(0, source, torch.ones_like(features[:, 0]))
        # What a message says of its node is computed once per node, what it says of its edge once for all rounds.
        of_node, of_edge = self.message.weight.split([state.shape[1], features.shape[1]], dim=1)
        about_edge = nn.functional.linear(features, of_edge, self.message.bias)
        for _ in range(self.rounds):
            messages = torch.relu(nn.functional.linear(state, of_node)[target] + about_edge)
            heard = torch.zeros_like(state).index_add_(0, source, messages) / degree.clamp_min(1)[:, None]
            state = state + torch.relu(self.update(torch.cat([state, heard], dim=1)))
        return (state * node_mask.reshape(-1, 1).to(state.dtype)).view(graphs, most, -1)


class EncodedGraphs:
    """Encodings of graphs for as long as the weights stay the same: a rollout meets the same few again and again.

    They are used without gradients only, where they are what would be computed anew.

    Args:
        most: Graphs that are kept.
    """

    def __init__(self, most: int = 128) -> None:
        self._most = most
        self._version = -1
        self._graphs: dict[float, Any] = {}

    def find(self, network: Any, names: Any, rows: Any, encode: Any) -> Any:
        """Encodings (graphs, max_nodes, node_width) of graphs by name; `encode` gets the rows of unknown ones."""
        # Every change of a parameter in place counts its version up.
        version = sum(parameter._version for parameter in network.parameters())
        if version != self._version or len(self._graphs) > self._most:
            self._version, self._graphs = version, {}
        wanted = names.tolist()
        unknown = [k for k, name in enumerate(wanted) if name not in self._graphs]
        if unknown:
            for k, graph in zip(unknown, encode(rows[unknown]), strict=True):
                self._graphs[wanted[k]] = graph
        return torch.stack([self._graphs[name] for name in wanted])

    def __getstate__(self) -> dict[str, Any]:
        return {"_most": self._most, "_version": -1, "_graphs": {}}


def different_graphs(nodes: Any, node_mask: Any) -> tuple[Any, Any, Any]:
    """The different graphs among rows: a number that names each, its first row, and for every row which is its own.

    Args:
        nodes: `graph_node_feats` (n, max_nodes, 8).
        node_mask: `graph_node_mask` (n, max_nodes).
    """
    with torch.no_grad():
        # A fixed mix of the numbers that differ between levels and doors, in which two graphs agree by a chance of
        # 2^-50 or so. Distances and reachability tell both apart.
        telling = nodes[..., _TELLING].flatten(1).to(torch.float64)
        weights = torch.sin(torch.arange(telling.shape[1], dtype=torch.float64) * 12.9898 + 1.0)
        mixed = telling @ weights + node_mask.sum(dim=1, dtype=torch.float64)
        names, which = torch.unique(mixed, return_inverse=True)
        first = torch.full((len(names),), len(which)).scatter_reduce_(0, which, torch.arange(len(which)), "amin")
        return names, first, which
