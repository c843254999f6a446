"""`WorldModelNetwork`: encoder, recurrent state-space model with discrete latents, heads, actor and critic.

A state of the model is a memory, which changes by a rule, and a latent, which is drawn: some groups, each one of some
classes. The prior guesses the latent from the memory alone, the posterior also sees the observation. All chance comes
from a generator that is passed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from npp_env.config import EnvironmentConfig
from npp_env.errors import requires
from npp_env.learning.networks import NUM_ACTIONS, VECTOR_KEYS
from npp_env.observe.spec import observation_spec

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch
    from torch import nn
    from torch.nn import functional

_UNIFORM_SHARE = 0.01
"""Every class keeps this share of its chance, so that no divergence becomes infinite."""
MOTION = 4
"""What the motion head predicts: displacement / 24 px, and change of velocity in px per tick, each in x and y."""

_IMPORTANCE = {
    "game_state": {0: 50.0, 1: 20.0, 4: 10.0, 5: 10.0},
    "reachability_features": {0: 500.0, 3: 500.0, 6: 500.0},
}
"""Of what is decoded, by key and column, where it is not 1: place, velocity and lengths of ways, on which rewards
depend, are small numbers; left to itself the model knows its place to within some 60 px."""


class ModelState(NamedTuple):
    """Where the model believes to be.

    Attributes:
        memory: (..., width).
        latent: (..., groups * classes), one 1 in each group.
    """

    memory: Any
    latent: Any

    def features(self) -> Any:
        """What the heads see (..., width + groups * classes)."""
        return torch.cat([self.memory, self.latent], dim=-1)


class Belief(NamedTuple):
    """States along observed sequences, and the logits that they were drawn by.

    Attributes:
        states: (steps, n, ...).
        prior: (steps, n, groups, classes), without the observation.
        posterior: Likewise, with it.
    """

    states: ModelState
    prior: Any
    posterior: Any


class WorldModelNetwork(nn.Module):
    """All networks of a world model.

    Args:
        config: The environment: sizes of the observations.
        width: Units of all layers; 64 makes 0.17 M parameters, 160 makes 0.8 M.
        groups: Groups of the latent.
        classes: Classes of each group.
    """

    environment: Mapping[str, Any] = {"observation": {"keys": VECTOR_KEYS, "max_entities": 4}}
    raw_keys: tuple[str, ...] = ()
    policy_class = "npp_env.learning.world_model.policy:WorldModelPolicy"

    def __init__(self, config: EnvironmentConfig, width: int = 64, groups: int = 12, classes: int = 8) -> None:
        super().__init__()
        self.keys = tuple(key for key in config.observation.keys if key != "action_mask")
        self.width, self.groups, self.classes = width, groups, classes
        size = sum(observation_spec(key, config.capacity).size for key in self.keys)
        latent = groups * classes
        self.register_buffer("importance", self._importance(config), persistent=False)
        self.encoder = nn.Sequential(*_hidden(size, width), *_hidden(width, width))
        self.entrance = nn.Sequential(*_hidden(latent + NUM_ACTIONS, width))
        self.memory = nn.GRUCell(width, width)
        self.prior = _head(width, width, latent)
        self.posterior = _head(2 * width, width, latent)
        self.decoder = _head(width + latent, width, size)
        self.motion = _head(width + latent + NUM_ACTIONS, width, MOTION)
        self.reward = _head(width + latent + NUM_ACTIONS, width, 1)
        self.goes_on = _head(width + latent + NUM_ACTIONS, width, 1)
        self.actor = _head(width + latent, width, NUM_ACTIONS, 0.01)
        self.critic = _head(width + latent, width, 1, 0.01)
        self.slow_critic = _head(width + latent, width, 1, 0.01).requires_grad_(False)
        self.slow_critic.load_state_dict(self.critic.state_dict())

    def _importance(self, config: EnvironmentConfig) -> Any:
        """How much an error in each number of the observations (size,) counts."""
        parts = []
        for key in self.keys:
            part = torch.ones(observation_spec(key, config.capacity).size)
            for column, weight in _IMPORTANCE.get(key, {}).items():
                part[column] = weight
            parts.append(part)
        return torch.cat(parts)

    def model_parameters(self) -> list[Any]:
        """Those that the losses of the model change; actor and critic have their own."""
        own = ("actor.", "critic.", "slow_critic.")
        return [value for name, value in self.named_parameters() if not name.startswith(own)]

    def flatten(self, observations: Mapping[str, Any]) -> Any:
        """Observations by key (n, ...) as one vector (n, size)."""
        return torch.cat([observations[key].flatten(1) for key in self.keys], dim=1)

    def initial(self, count: int) -> ModelState:
        """The state before the first observation of an episode."""
        return ModelState(torch.zeros(count, self.width), torch.zeros(count, self.groups * self.classes))

    def advance(self, state: ModelState, actions: Any) -> Any:
        """The memory (n, width) after actions, one-hot (n, 6)."""
        return self.memory(self.entrance(torch.cat([state.latent, actions], dim=-1)), state.memory)

    def prior_logits(self, memory: Any) -> Any:
        """Logits (..., groups, classes) of the latent by the memory alone."""
        return self._mixed(self.prior(memory))

    def posterior_logits(self, memory: Any, encoded: Any) -> Any:
        """Logits (..., groups, classes) of the latent by memory and encoded observation."""
        return self._mixed(self.posterior(torch.cat([memory, encoded], dim=-1)))

    def _mixed(self, values: Any) -> Any:
        shares = values.unflatten(-1, (self.groups, self.classes)).softmax(dim=-1)
        return ((1 - _UNIFORM_SHARE) * shares + _UNIFORM_SHARE / self.classes).log()

    def draw(self, logits: Any, generator: Any) -> Any:
        """A latent (..., groups * classes) by its logits; the likeliest if there is no generator.

        Gradients pass through as if the shares themselves had been taken.
        """
        scores = logits
        if generator is not None:
            noise = torch.rand(logits.shape, generator=generator)
            scores = logits - (-(noise + 1e-20).log() + 1e-20).log()
        chosen = functional.one_hot(scores.argmax(dim=-1), self.classes).float()
        if logits.requires_grad:
            shares = logits.exp()
            chosen = chosen + shares - shares.detach()
        return chosen.flatten(-2)

    def observe(self, state: ModelState, actions: Any, encoded: Any, generator: Any) -> ModelState:
        """One step on: the state after actions, one-hot (n, 6), and the encoded observation (n, width)."""
        memory = self.advance(state, actions)
        return ModelState(memory, self.draw(self.posterior_logits(memory, encoded), generator))

    def follow(self, encoded: Any, actions: Any, first: Any, generator: Any) -> Belief:
        """The states along sequences.

        Args:
            encoded: Encoded observations (steps, n, width).
            actions: Those taken in each step, one-hot (steps, n, 6).
            first: bool (steps, n), where an episode begins; the first step counts as one.
            generator: Where chance comes from.
        """
        state, before = self.initial(encoded.shape[1]), torch.zeros_like(actions[0])
        memories: list[Any] = []
        latents: list[Any] = []
        posteriors: list[Any] = []
        for t in range(len(encoded)):
            stays = (~first[t]).float().unsqueeze(1)
            state = ModelState(state.memory * stays, state.latent * stays)
            memory = self.advance(state, before * stays)
            logits = self.posterior_logits(memory, encoded[t])
            state = ModelState(memory, self.draw(logits, generator))
            before = actions[t]
            for kept, value in zip((memories, latents, posteriors), (*state, logits), strict=True):
                kept.append(value)
        states = ModelState(torch.stack(memories), torch.stack(latents))
        return Belief(states, self.prior_logits(states.memory), torch.stack(posteriors))


def one_hot_actions(actions: Any) -> Any:
    """Actions (...) as rows of zeros with a 1 (..., 6)."""
    return functional.one_hot(actions.long(), NUM_ACTIONS).float()


def _hidden(inputs: int, outputs: int) -> list[Any]:
    return [nn.Linear(inputs, outputs), nn.LayerNorm(outputs), nn.SiLU()]


def _head(inputs: int, width: int, outputs: int, gain: float | None = None) -> Any:
    hidden, last = _hidden(inputs, width), nn.Linear(width, outputs)
    if gain is not None:
        nn.init.orthogonal_(last.weight, gain)
        nn.init.zeros_(last.bias)
    return nn.Sequential(*hidden, last)
