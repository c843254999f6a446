"""Rollouts that only happen in the model, and the actor and critic that learn from them."""

from __future__ import annotations

from typing import Any, NamedTuple

from npp_env.errors import requires
from npp_env.learning.world_model.model_losses import expanded
from npp_env.learning.world_model.network import ModelState, WorldModelNetwork, one_hot_actions
from npp_env.learning.world_model.options import WorldModelOptions

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch

_RANGE_FADING, _SMALLEST_RANGE = 0.02, 0.05


class Imagined(NamedTuple):
    """A rollout in the model, without gradients.

    Attributes:
        features: (horizon + 1, n, size).
        actions: int64 (horizon, n).
        rewards: (horizon, n).
        goes_on: (horizon, n), chance that the episode goes on.
    """

    features: Any
    actions: Any
    rewards: Any
    goes_on: Any


def imagine(network: WorldModelNetwork, start: ModelState, horizon: int, generator: Any) -> Imagined:
    """Let the actor play in the model.

    Args:
        network: Model and actor.
        start: States (n, ...) to begin with.
        horizon: Steps.
        generator: Where chance comes from.
    """
    with torch.no_grad():
        return _imagine(network, ModelState(start.memory.detach(), start.latent.detach()), horizon, generator)


def _imagine(network: WorldModelNetwork, state: ModelState, horizon: int, generator: Any) -> Imagined:
    features, actions, rewards, goes_on = [state.features()], [], [], []
    for _ in range(horizon):
        logits = network.actor(features[-1])
        chosen = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(1)
        hot = one_hot_actions(chosen)
        acted = torch.cat([features[-1], hot], dim=-1)
        rewards.append(expanded(network.reward(acted).squeeze(-1)))
        goes_on.append(torch.sigmoid(network.goes_on(acted)).squeeze(-1))
        memory = network.advance(state, hot)
        state = ModelState(memory, network.draw(network.prior_logits(memory), generator))
        features.append(state.features())
        actions.append(chosen)
    return Imagined(torch.stack(features), torch.stack(actions), torch.stack(rewards), torch.stack(goes_on))


def returns_of(imagined: Imagined, values: Any, discount: float, return_lambda: float) -> Any:
    """Returns (horizon, n) that mix imagined rewards with the critic's values (horizon + 1, n)."""
    following = values[-1]
    returns = []
    for t in reversed(range(len(imagined.rewards))):
        mixed = (1 - return_lambda) * values[t + 1] + return_lambda * following
        following = imagined.rewards[t] + discount * imagined.goes_on[t] * mixed
        returns.append(following)
    return torch.stack(returns[::-1])


class ReturnRange:
    """How far imagined returns spread: advantages are counted in it, so that one entropy weight fits all rewards."""

    def __init__(self) -> None:
        self.value = 0.0

    def update(self, returns: Any) -> float:
        """Take in a batch of returns; the range by now, never very small."""
        low, high = torch.quantile(returns.flatten(), torch.tensor([0.05, 0.95])).tolist()
        self.value += _RANGE_FADING * (high - low - self.value) if self.value else high - low
        return max(self.value, _SMALLEST_RANGE)


def actor_critic_losses(
    network: WorldModelNetwork, imagined: Imagined, spread: ReturnRange, options: WorldModelOptions
) -> dict[str, Any]:
    """Losses of actor and critic, and numbers to look at."""
    with torch.no_grad():
        values = network.slow_critic(imagined.features).squeeze(-1)
        returns = returns_of(imagined, values, options.discount, options.return_lambda)
        # A step counts as much as it is likely to be reached at all.
        reached = torch.cat([torch.ones_like(imagined.goes_on[:1]), imagined.goes_on[:-1]]).cumprod(dim=0)
        scale = spread.update(returns)
        advantages = (returns - values[:-1]) / scale
    features = imagined.features[:-1]
    log_shares = torch.log_softmax(network.actor(features), dim=-1)
    taken = log_shares.gather(-1, imagined.actions.unsqueeze(-1)).squeeze(-1)
    entropy = -(log_shares.exp() * log_shares).sum(-1)
    critic = (network.critic(features).squeeze(-1) - returns).square() / scale**2
    return {
        "actor": -(reached * (advantages * taken + options.entropy * entropy)).mean(),
        "critic": 0.5 * (reached * critic).mean(),
        "entropy": (reached * entropy).mean().detach(),
        "imagined_return": returns[0].mean(),
    }
