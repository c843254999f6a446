"""Objective attention: the ninja looks at switches, doors, exits, ways and the nearest entities, each a token.

The ninja asks once per layer, so that the cost grows with the number of tokens, not with its square. A learned null
token is never masked: where there is nothing to look at, attention rests on it, and no row is without a key. The mask
is made from the observations of the very minibatch; the module holds parameters only and draws nothing at random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError, requires
from npp_env.learning.networks import NUM_ACTIONS, VECTOR_KEYS, Output, layer
from npp_env.learning.sides import Sides
from npp_env.observe.spec import ENTITY_FIELDS, observation_spec

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch
    from torch import nn

_GROUPS = 5
"""Switches with their doors or exits in `switch_states`: place of the switch, place of the door, whether it is open."""
_NINJA = ("game_state", "reachability_features")
_WAYS = ((0, 1, 2, 8), (3, 4, 5, 9))
"""Of `reachability_features`: length, direction and existence of the ways to the switch and to the exit."""


class Attention(nn.Module):
    """Some heads of attention with one query a row.

    Args:
        width: Numbers of the query and of a token.
        heads: Heads, which share them.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise ConfigError(f"{heads} heads of attention cannot share a width of {width}; it must be a multiple")
        self.heads = heads
        self.query = layer(width, width, 1.0)
        self.key_value = layer(width, 2 * width, 1.0)
        self.out = layer(width, width, 1.0)

    def forward(self, asking: Any, tokens: Any, present: Any) -> tuple[Any, Any]:
        """What is seen, and how spread out the view is.

        Args:
            asking: (n, width).
            tokens: (n, t, width).
            present: bool (n, t), which tokens there are; at least one in each row.

        Returns:
            (n, width), and the entropy of the attention (n,), the mean over heads.
        """
        n, t, width = tokens.shape
        query = self.query(asking).view(n, self.heads, 1, -1)
        key, value = self.key_value(tokens).view(n, t, 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (query * key).sum(-1) / math.sqrt(width // self.heads)
        shares = torch.softmax(scores.masked_fill(~present[:, None, :], -math.inf), dim=-1)
        seen = (shares[..., None] * value).sum(2).reshape(n, width)
        # A share of 0 counts 0, with a gradient of 0.
        entropy = -torch.special.xlogy(shares, shares.clamp_min(1e-30)).sum(-1).mean(1)
        return self.out(seen), entropy


class AttentionNetwork(nn.Module):
    """Attention over what there is, beside a plain network over what is near.

    Args:
        config: The environment: sizes of the observations.
        width: Units of a hidden layer.
        token_width: Numbers of a token.
        heads: Heads of attention.
        layers: How often the ninja looks, each time knowing what it saw before.
        attention_bonus: Weight of the entropy of attention beside that of actions in the bonus.
        mirror: Whether it sees every situation with the next hop to the right; see `npp_env.learning.sides`.
    """

    environment: Mapping[str, Any] = {"observation": {"keys": VECTOR_KEYS, "max_entities": 10}}
    raw_keys: tuple[str, ...] = ()

    def __init__(
        self,
        config: EnvironmentConfig,
        width: int = 128,
        token_width: int = 32,
        heads: int = 4,
        layers: int = 1,
        attention_bonus: float = 0.1,
        mirror: bool = True,
    ) -> None:
        super().__init__()
        self.sides = Sides(tuple(key for key in VECTOR_KEYS if key != "action_mask")) if mirror else None
        self.attention_bonus = attention_bonus
        sizes = {key: observation_spec(key, config.capacity).size for key in (*_NINJA, "spatial_context")}
        self.ninja = layer(sum(sizes[key] for key in _NINJA), token_width)
        self.entity = layer(len(ENTITY_FIELDS), token_width)
        self.switch, self.door = (layer(3 + _GROUPS, token_width) for _ in range(2))
        self.way = layer(len(_WAYS[0]) + len(_WAYS), token_width)
        self.nothing = nn.Parameter(torch.zeros(token_width))
        self.looks = nn.ModuleList([Attention(token_width, heads) for _ in range(layers)])
        inputs = sum(sizes.values()) + token_width
        self.body = nn.Sequential(layer(inputs, width), nn.ReLU(), layer(width, width), nn.ReLU())
        self.actor = layer(width, NUM_ACTIONS, 0.01)
        self.critic = layer(width, 1, 1.0)

    def forward(self, observations: Mapping[str, Any]) -> Output:
        """See `npp_env.learning.networks`; the bonus is the weighted entropy of attention."""
        return self.judge(observations) if self.sides is None else self.sides.judged(observations, self.judge)

    def judge(self, observations: Mapping[str, Any]) -> Output:
        """What it says of observations as they are."""
        tokens, present = self.tokens(observations)
        ninja = torch.cat([observations[key] for key in _NINJA], dim=1)
        seen = torch.relu(self.ninja(ninja))
        entropy = torch.zeros_like(seen[:, 0])
        for look in self.looks:
            found, spread = look(seen, tokens, present)
            seen, entropy = seen + found, entropy + spread
        features = self.body(torch.cat([ninja, observations["spatial_context"], seen], dim=1))
        bonus = self.attention_bonus * entropy / len(self.looks)
        return Output(self.actor(features), self.critic(features).squeeze(1), bonus)

    def tokens(self, observations: Mapping[str, Any]) -> tuple[Any, Any]:
        """Tokens (n, t, token_width) of a minibatch, and which of them there are, bool (n, t)."""
        entities, ways = observations["entity_states"], observations["reachability_features"]
        groups = observations["switch_states"].view(-1, _GROUPS, 5)
        n = len(groups)
        place = torch.eye(_GROUPS, dtype=groups.dtype).expand(n, -1, -1)
        which = torch.eye(len(_WAYS), dtype=ways.dtype).expand(n, -1, -1)
        way = torch.stack([ways[:, columns] for columns in _WAYS], dim=1)
        parts = [
            self.nothing.expand(n, 1, -1),
            torch.relu(self.switch(torch.cat([groups[..., [0, 1, 4]], place], dim=2))),
            torch.relu(self.door(torch.cat([groups[..., 2:], place], dim=2))),
            torch.relu(self.way(torch.cat([way, which], dim=2))),
            torch.relu(self.entity(entities)),
        ]
        there = (groups != 0).any(dim=2)
        always = torch.ones((n, 1), dtype=torch.bool)
        # A way that does not exist is known as such by its last number.
        present = torch.cat([always, there, there, way[..., 3] != 0, entities[..., 0] != 0], dim=1)
        return torch.cat(parts, dim=1), present
