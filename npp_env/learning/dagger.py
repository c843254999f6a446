"""DAgger: the pupil plays, the teacher says what it would have done in the states that were met, the pupil learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.learning.cloning import BehaviourCloning, Cloner, CloningOptions, likeliest_actions
from npp_env.learning.model_file import part_of
from npp_env.learning.settings import TrainSettings, options_of
from npp_env.learning.teacher import NO_ANSWER, Teacher, TeacherConfig
from npp_env.learning.workbench import Workbench

_TEACHER = "teacher/"


@dataclass(frozen=True, slots=True)
class DaggerOptions(CloningOptions):
    """How DAgger learns; the options of cloning hold too.

    Attributes:
        teacher_share: Share of the environments that the teacher leads at the start.
        mixing: Share of the schedule after which it leads none.
        labels: States of an iteration that it is asked about; 256 take two or three seconds while they are new.
        ticks_per_state: Its look-ahead.
    """

    teacher_share: float = 0.5
    mixing: float = 0.3
    labels: int = 256
    ticks_per_state: int = 40_000

    def __post_init__(self) -> None:
        # The class that `slots=True` makes is not the one that a bare `super()` would mean.
        CloningOptions.__post_init__(self)
        if not 0 <= self.teacher_share <= 1 or not 0 < self.mixing <= 1 or self.labels < 1:
            raise ConfigError(
                f"teacher_share {self.teacher_share}, mixing {self.mixing}, labels {self.labels}: shares lie between 0 "
                "and 1, and there must be labels"
            )


class Dagger(BehaviourCloning):
    """Plays, asks, learns, in every iteration; see `Algorithm`.

    Args:
        settings: The run; `algo_options` are fields of `DaggerOptions`.
    """

    def __init__(self, settings: TrainSettings) -> None:
        self.options: DaggerOptions = options_of(DaggerOptions, settings.algo_options, "the options of dagger")
        options = self.options
        self.bench = Workbench(settings, options.discount, max(options.minibatch, options.labels))
        self.cloner = Cloner(self.bench, options)
        self.teacher = teacher_of(self.bench, options.ticks_per_state, options.solve_ticks)
        # What is met in an iteration: a part of the states of every step.
        self._per_step = max(1, min(settings.num_envs, options.labels // options.num_steps))
        self._met = np.zeros((options.num_steps * self._per_step, self.bench.decoder.row_bytes), np.uint8)
        self._answers = np.zeros(len(self._met), np.int64)
        self._led = np.zeros(settings.num_envs, np.int64)

    def iterate(self) -> dict[str, float]:
        """Some steps of play, the teacher's answers, and some minibatches."""
        bench = self.bench
        bench.tracker.iteration()
        bench.statistics.begin_iteration()
        done = min(bench.steps / bench.settings.total_steps, 1.0)
        share = self.options.teacher_share * max(0.0, 1 - done / self.options.mixing)
        with bench.tracker.phase("label"):
            if not self.cloner.store.count:
                self.cloner.fill()
        with bench.tracker.phase("collect"):
            self._collect(round(share * bench.envs.num_envs))
        with bench.tracker.phase("label"), bench.profile.measure("label"):
            self.teacher.act_batch(self._met, self._answers)
            known = self._answers != NO_ANSWER
            self.cloner.store.add(self._met[known], self._answers[known])
        with bench.tracker.phase("learn"):
            learned = self.cloner.improve(self.options.updates, done)
        return {**learned, "teacher_share": share, "answered": float(known.mean())}

    def _collect(self, led: int) -> None:
        """Play; the first environments are led by the teacher. States are noted down, some of every step."""
        bench, per_step = self.bench, self._per_step
        for step in range(self.options.num_steps):
            actions = likeliest_actions(bench)
            if led:
                with bench.profile.measure("label"):
                    self._led[:led] = self.teacher.act_batch(bench.rows[:led])
                    np.copyto(actions[:led], self._led[:led], where=self._led[:led] != NO_ANSWER)
            chosen = bench.random.permutation(bench.envs.num_envs)[:per_step]
            np.take(bench.rows, chosen, axis=0, out=self._met[step * per_step : (step + 1) * per_step], mode="clip")
            bench.step(actions)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Algorithm`."""
        return {**super().arrays(), **teacher_arrays(self.teacher)}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `Algorithm`."""
        super().restore(header, arrays)
        restore_teacher(self.teacher, arrays)


def teacher_of(bench: Workbench, ticks_per_state: int, solve_ticks: int) -> Teacher:
    """The teacher of a run, for its levels."""
    config = TeacherConfig(
        frame_skip=bench.config.frame_skip,
        ticks_per_state=ticks_per_state,
        solve_ticks=solve_ticks,
        cached_states=1 << 17,
        threads=bench.settings.threads,
    )
    return Teacher(bench.config.levels, config)


def teacher_arrays(teacher: Teacher) -> dict[str, NDArray[Any]]:
    """What a teacher knows, among the arrays of a checkpoint."""
    return {f"{_TEACHER}{name}": array for name, array in teacher.arrays().items()}


def restore_teacher(teacher: Teacher, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give a teacher what `teacher_arrays` found."""
    teacher.restore(part_of(arrays, _TEACHER))
