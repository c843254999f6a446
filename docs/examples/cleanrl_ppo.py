"""PPO with action masks in one file, in the style of CleanRL, over the native vector environment.

    python docs/examples/cleanrl_ppo.py --num-envs 256 --total-steps 2000000
    python docs/examples/cleanrl_ppo.py --num-envs 8 --num-steps 16 --total-steps 512   # seconds

It needs PyTorch. Observations stay float16 and uint8 in the rollout storage and become float32 one minibatch at a time.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

KEYS = ["game_state", "reachability_features", "spatial_context"]


class Agent(nn.Module):
    """Actor and critic over the concatenated vector observations."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 6))
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def policy(self, observation: torch.Tensor, mask: torch.Tensor) -> Categorical:
        """Distribution over the actions that can make a difference."""
        return Categorical(logits=self.actor(observation).masked_fill(~mask, -1e8))

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        """Expected return."""
        return self.critic(observation).squeeze(-1)


def join(observation: dict[str, np.ndarray]) -> np.ndarray:
    """All vector observations of a step as one fresh float16 array."""
    return np.concatenate([observation[key] for key in KEYS], axis=-1)


def advantages_of(rewards, dones, values, last_value, gamma: float, gae_lambda: float) -> torch.Tensor:
    """Generalised advantage estimation; `dones[t]` says that step t ended an episode."""
    advantages = torch.zeros_like(rewards)
    running = torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        following = last_value if t == len(rewards) - 1 else values[t + 1]
        delta = rewards[t] + gamma * following * ~dones[t] - values[t]
        running = delta + gamma * gae_lambda * ~dones[t] * running
        advantages[t] = running
    return advantages


def train(args: argparse.Namespace) -> dict[str, float]:
    """Train and return the last statistics."""
    torch.manual_seed(args.seed)
    envs = gym.make_vec(
        "npp_env:Npp-v0",
        num_envs=args.num_envs,
        preset="parallel_training",
        config={"observation": {"keys": [*KEYS, "action_mask"]}, "reward": {"discount": args.gamma}},
        levels=args.levels,
        autoreset_mode="SAME_STEP",
    )
    observation, _ = envs.reset(seed=args.seed)
    size = join(observation).shape[1]
    agent = Agent(size)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    shape = (args.num_steps, args.num_envs)
    states = torch.zeros((*shape, size), dtype=torch.float16)
    masks = torch.zeros((*shape, 6), dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.int64)
    logprobs, rewards, values = (torch.zeros(shape) for _ in range(3))
    dones = torch.zeros(shape, dtype=torch.bool)
    episodes = wins = 0
    total_return, loss = 0.0, torch.tensor(0.0)

    for update in range(max(1, args.total_steps // (args.num_steps * args.num_envs))):
        for step in range(args.num_steps):
            states[step] = torch.from_numpy(join(observation))
            masks[step] = torch.from_numpy(observation["action_mask"]).bool()
            with torch.no_grad():
                policy = agent.policy(states[step].float(), masks[step])
                actions[step] = policy.sample()
                logprobs[step] = policy.log_prob(actions[step])
                values[step] = agent.value(states[step].float())
            observation, reward, terminated, truncated, info = envs.step(actions[step].numpy())
            rewards[step] = torch.from_numpy(reward)
            dones[step] = torch.from_numpy(terminated | truncated)
            if truncated.any():
                # Time is no end of the world: what would have come is what the value says.
                last = [join(final) for final in info["final_obs"][truncated]]
                with torch.no_grad():
                    value = agent.value(torch.from_numpy(np.stack(last)).float())
                rewards[step, torch.from_numpy(truncated)] += args.gamma * value
            if "final_info" in info:
                ended = info["_final_info"]
                episodes += int(ended.sum())
                wins += int((info["final_info"]["outcome"][ended] == 1).sum())
                total_return += float(info["final_info"]["episode_return"][ended].sum())

        with torch.no_grad():
            last_value = agent.value(torch.from_numpy(join(observation)).float())
        advantages = advantages_of(rewards, dones, values, last_value, args.gamma, args.gae_lambda)
        returns = advantages + values
        flat = [t.flatten(0, 1) for t in (states, masks, actions, logprobs, advantages, returns)]
        for batch in torch.randperm(actions.numel()).split(args.minibatch_size) * args.epochs:
            state, mask, action, logprob, advantage, target = (t[batch] for t in flat)
            policy = agent.policy(state.float(), mask)
            ratio = (policy.log_prob(action) - logprob).exp()
            if len(batch) > 1:
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            value_loss = 0.5 * (agent.value(state.float()) - target).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - args.entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
        steps = (update + 1) * args.num_steps * args.num_envs
        print(f"steps {steps:>9,}  episodes {episodes:>6,}  won {wins:>5,}  loss {loss.item():8.4f}")
    envs.close()
    mean_return = total_return / max(1, episodes)
    return {"steps": steps, "episodes": episodes, "wins": wins, "mean_return": mean_return, "loss": loss.item()}


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--levels", default="shipped:first_steps")
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--num-steps", type=int, default=64)
    parser.add_argument("--total-steps", type=int, default=1_000_000)
    parser.add_argument("--minibatch-size", type=int, default=2048)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(argv)


if __name__ == "__main__":
    train(parse_arguments())
