"""`Workbench`: what every algorithm works with: environments, decoder, network, chance, statistics, clocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import requires
from npp_env.learning.episode_statistics import EpisodeStatistics
from npp_env.learning.model_file import ModelError, part_of
from npp_env.learning.networks import Output, make_network, network_class, tensors_of
from npp_env.learning.settings import TrainSettings, environment_config
from npp_env.learning.time_profile import TimeProfile
from npp_env.profiling.tracker import MemoryTracker
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.runtime.success_sampling import SuccessSampling
from npp_env.sim.outcome import Outcome
from npp_env.vector import NppVectorEnv

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch

_STEPS_BETWEEN_SAMPLES, _SAMPLES = 50_000, 100
"""Of memory: so far apart at most, and so many in a short run."""


class Step(NamedTuple):
    """What one step of all environments gave.

    Attributes:
        rewards: float64 (num_envs,).
        terminated: bool (num_envs,).
        truncated: bool (num_envs,).
        died: bool (num_envs,), of which episodes the ninja's death was the end.
        last_rows: uint8 (k, row_bytes), the last states of the k truncated episodes, in order.
    """

    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    died: NDArray[np.bool_]
    last_rows: NDArray[np.uint8] | None


class Workbench:
    """Environments that give states, and a network that sees the observations decoded from them.

    The environments restart within the step that ends an episode. All chance beside the choice of levels comes from
    `random`, so that `arrays` and `header` hold everything that the rest of a run depends on.

    Args:
        settings: The run.
        discount: That of the learner.
        most_rows: The largest batch that will be decoded.
        num_envs: Environments; those of the run by default.

    Attributes:
        config: Of the environments.
        envs: The environments.
        network: The policy.
        random: Where all chance comes from.
        rows: uint8 (num_envs, row_bytes), the present states; valid through the next step.
        repeated: bool (num_envs,), whose episodes went back to an earlier moment.
        steps: Environment steps so far, all environments together.
        on_episodes: Gets the episodes that end, as `EpisodeStatistics.add` takes them, those that went back left out.
    """

    def __init__(self, settings: TrainSettings, discount: float, most_rows: int, num_envs: int | None = None) -> None:
        torch.set_num_threads(settings.threads)
        kind = network_class(settings.policy)
        self.settings = settings
        self.config = environment_config(settings, kind, discount)
        num_envs = settings.num_envs if num_envs is None else num_envs
        self.envs = NppVectorEnv(
            num_envs,
            self.config,
            autoreset_mode="SAME_STEP",
            num_threads=settings.threads,
            sampling=settings.sampling,
        )
        self.decoder = ObservationDecoder(self.config, num_threads=settings.threads)
        self._memory = self.decoder.allocate(max(most_rows, num_envs))
        self._arrays = self._memory.arrays()
        seeds = np.random.SeedSequence(settings.seed).generate_state(3)
        torch.manual_seed(int(seeds[0]))
        self.network = make_network(settings.policy, self.config, settings.policy_options)
        self.random = np.random.default_rng(int(seeds[1]))
        self.rows: NDArray[np.uint8] = self.envs.reset(seed=int(seeds[2] % 2**31))[0]
        self.repeated = np.zeros(num_envs, np.bool_)
        self.statistics = EpisodeStatistics(self.envs.num_levels)
        self.on_episodes = self.statistics.add
        self.profile = TimeProfile()
        self.tracker = MemoryTracker(interval=max(1, min(_STEPS_BETWEEN_SAMPLES, settings.total_steps // _SAMPLES)))
        self.steps = 0

    def observe(self, rows: NDArray[np.uint8]) -> dict[str, Any]:
        """Observations of states as tensors, floats as float32; masks are the decoder's memory until the next call."""
        with self.profile.measure("decode"):
            self.decoder.decode(rows, out=self._memory)
            return tensors_of({key: array[: len(rows)] for key, array in self._arrays.items()}, self.network)

    def judge(self, rows: NDArray[np.uint8]) -> tuple[Output, Any]:
        """What the network says of states, without gradients, and their masks."""
        observations = self.observe(rows)
        with self.profile.measure("forward"), torch.inference_mode():
            return self.network(observations), observations["action_mask"]

    def step(self, actions: NDArray[np.int64]) -> Step:
        """One step of all environments."""
        with self.profile.measure("collect"):
            self.rows, rewards, terminated, truncated, info = self.envs.step(actions)
            self.steps += len(actions)
            last_rows = None
            died = np.zeros(len(actions), np.bool_)
            if "final_info" in info:
                final, ended = info["final_info"], info["_final_info"]
                self.on_episodes(final, ended & ~self.repeated)
                self.repeated[ended] = False
                died[ended] = final["outcome"][ended] == Outcome.DIED
                if truncated.any():
                    last_rows = np.stack(info["final_obs"][truncated].tolist())
            return Step(rewards, terminated, truncated, died, last_rows)

    def go_back(self, envs: NDArray[np.int64], rows: NDArray[np.uint8]) -> None:
        """Let environments go on from earlier states; how these episodes end is not counted.

        Args:
            envs: Their numbers.
            rows: uint8 (k, row_bytes), a state for each of them.
        """
        with self.profile.measure("collect"):
            self.envs.set_state(list(rows), envs.tolist())
            self.rows[envs] = rows
            self.repeated[envs] = True

    def draw(self, log_probabilities: NDArray[np.float32]) -> NDArray[np.int64]:
        """Actions at random, by the logarithms of their probabilities (n, 6)."""
        shares = self.random.random(log_probabilities.shape, np.float32)
        chosen: NDArray[np.int64] = (log_probabilities - np.log(-np.log(shares + 1e-30) + 1e-30)).argmax(axis=1)
        return chosen

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything but the header that the rest of the run depends on."""
        return {
            **{f"network/{name}": value.numpy() for name, value in self.network.state_dict().items()},
            **{f"envs/{name}": array for name, array in self.env_states().items()},
            "envs/rows": np.array(self.rows),
            "statistics/counts": self.statistics.counts,
            "statistics/sums": self.statistics.sums,
            "statistics/episodes": self.statistics.episodes,
        }

    def env_states(self) -> dict[str, NDArray[Any]]:
        """The states of all environments one behind the other, how long each is, and which went back; fresh arrays."""
        states = [np.frombuffer(state, np.uint8) for state in self.envs.get_state()]
        lengths = np.array([state.size for state in states])
        return {"states": np.concatenate(states), "lengths": lengths, "repeated": self.repeated.copy()}

    def set_env_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put the environments where `env_states` found them; `rows` is left to the caller."""
        ends = np.cumsum(arrays["lengths"])
        self.envs.set_state([part.tobytes() for part in np.split(arrays["states"], ends[:-1])])
        self.repeated[...] = arrays["repeated"]

    def header(self) -> dict[str, Any]:
        """The rest of it, for JSON."""
        sampling = self.envs.sampling.get_state() if isinstance(self.envs.sampling, SuccessSampling) else None
        return {"steps": self.steps, "random": self.random.bit_generator.state, "sampling": sampling}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to a moment that `arrays` and `header` hold.

        Raises:
            ModelError: They belong to another run.
        """
        try:
            self.network.load_state_dict(network_weights(arrays))
            self.set_env_states(part_of(arrays, "envs/"))
            self.rows = arrays["envs/rows"]
            for name in ("counts", "sums", "episodes"):
                getattr(self.statistics, name)[...] = arrays[f"statistics/{name}"]
            self.random.bit_generator.state = header["random"]
            if isinstance(self.envs.sampling, SuccessSampling):
                self.envs.sampling.set_state(header["sampling"])
            self.steps = int(header["steps"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise ModelError(f"the checkpoint does not belong to this run: {error}") from error

    def close(self) -> None:
        """Give threads and environments back."""
        self.envs.close()
        self.decoder.close()


def network_weights(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The tensors of a network in the arrays of a file; float16 ones become float32."""
    return {
        name: torch.from_numpy(array.astype(np.float32) if array.dtype == np.float16 else array)
        for name, array in part_of(arrays, "network/").items()
    }
