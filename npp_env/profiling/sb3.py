"""Memory tracking as a callback of Stable-Baselines3. Importing this module imports Stable-Baselines3."""

from __future__ import annotations

from contextlib import AbstractContextManager

from npp_env.errors import requires
from npp_env.profiling.callbacks import LoopCallback
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.tracker import DEFAULT_INTERVAL_STEPS

with requires("Stable-Baselines3", __name__, "pip install 'npp_env[sb3]'"):
    from stable_baselines3.common.callbacks import BaseCallback


class MemoryCallback(BaseCallback):
    """Samples the memory of a training run and charges growth to its "collect" and "update" phases.

    Scalars go to the model's own logger, and so to TensorBoard where the model logs there.

    Args:
        interval: Environment steps between samples.
        guard: Ends the training in good order when memory is low.
        verbose: As for every callback of SB3.

    Example:
        callback = MemoryCallback()
        model.learn(100_000, callback=callback)
        callback.tracker.growth().to_text()
    """

    def __init__(
        self, interval: int = DEFAULT_INTERVAL_STEPS, guard: MemoryGuard | None = None, verbose: int = 0
    ) -> None:
        super().__init__(verbose)
        self._loop = LoopCallback(interval, write_scalar=self._record, guard=guard)
        self.tracker = self._loop.tracker
        self._open: AbstractContextManager[None] | None = None

    def _on_rollout_start(self) -> None:
        self._enter("collect")

    def _on_rollout_end(self) -> None:
        self._enter("update")

    def _on_training_end(self) -> None:
        self._leave()
        self.tracker.sample(self.num_timesteps)

    def _on_step(self) -> bool:
        return self._loop.on_step(self.num_timesteps)

    def _record(self, name: str, value: float, step: int) -> None:
        self.logger.record(name, value)

    def _enter(self, name: str) -> None:
        self._leave()
        self._open = self.tracker.phase(name)
        self._open.__enter__()

    def _leave(self) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None
