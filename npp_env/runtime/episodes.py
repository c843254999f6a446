"""Episodes of one or many environments: which level comes next, what it needs, and the engine that runs it."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError, LevelError, LevelWarning
from npp_env.level.cache import LevelCache, cache_in
from npp_env.level.doubts import DOUBTFUL, describe_doubts
from npp_env.level.level_set import SHIPPED, LevelSet
from npp_env.level.model import Level
from npp_env.level.validation import shorten
from npp_env.observe.buffers import DoubleBuffer, Observation, ObservationLayout
from npp_env.runtime.arguments import levels_by_environment
from npp_env.runtime.engine import Engine
from npp_env.runtime.episode_rows import HELD
from npp_env.runtime.level_resources import (
    FOREIGN_LEVEL,
    LevelResources,
    cache_of_one,
    largest_state_bytes,
    load_resources,
)
from npp_env.runtime.levels_ahead import LevelsAhead
from npp_env.runtime.sampling import UniformSampling, parse_sampling
from npp_env.sim.doors import door_configuration
from npp_env.sim.outcome import NinjaState
from npp_env.sim.views import ninja_view

MAX_LIMIT_FRAMES = 2**31 - 1
"""Ticks that an episode may have at most; the engine counts them in 32 bits."""

_SPARE_LEVELS = 256
_SPARE_UNREPEATED = 16
"""Levels of a set that never repeats that are kept for states of them that may be restored, at 0.2 MB each."""
_FORESEEN_TOGETHER = (16, 4)
"""The next levels of a 16th of the environments are asked for at once, of a 4th where those of two episodes are known:
code that runs rarely runs slowly.
"""

_shared_sets: weakref.WeakValueDictionary[str | tuple[str, ...], LevelSet] = weakref.WeakValueDictionary()


def level_set_of(levels: str | tuple[str, ...]) -> LevelSet:
    """The levels that a configuration names; environments share a set of shipped levels, whose files do not change."""
    names = (levels,) if isinstance(levels, str) else levels
    if not all(name == SHIPPED or name.startswith(f"{SHIPPED}:") for name in names):
        return LevelSet.parse(levels)
    found = _shared_sets.get(levels)
    return _shared_sets.setdefault(levels, LevelSet.parse(levels)) if found is None else found


def split_levels(overrides: dict[str, Any]) -> tuple[LevelSet | None, dict[str, Any]]:
    """Take levels that are objects, which no configuration can hold, out of the keyword arguments."""
    levels = overrides.get("levels")
    if levels is None or isinstance(levels, str):
        return None, overrides
    if isinstance(levels, (list, tuple)) and all(isinstance(item, str) for item in levels):
        return None, overrides
    return LevelSet.parse(levels), {key: value for key, value in overrides.items() if key != "levels"}


class Episodes:
    """Runs the episodes of `num_envs` environments; the single and the vector environment stand on it.

    Args:
        config: The configuration.
        num_envs: Number of environments.
        levels: Replaces the levels that the configuration names.
        sampling: How the level of an episode is chosen, as `parse_sampling` takes it; uniformly by default.
        max_frames: Truncates episodes in addition to the limit of the configuration.
        cache: Where compiled levels are kept; the process's own by default.
    """

    def __init__(
        self,
        config: EnvironmentConfig,
        num_envs: int,
        levels: LevelSet | None = None,
        sampling: Any = None,
        *,
        max_frames: int | None = None,
        cache: LevelCache | None = None,
    ) -> None:
        self.config = config
        self.cache = cache_in(config.cache_directory) if cache is None else cache
        self.levels = level_set_of(config.levels) if levels is None else levels
        self._doubts_told = 0
        if self.levels.is_finite and not self.levels.is_made:
            self._tell_doubts(self.levels.types())
        self.sampling = parse_sampling(sampling)
        if hasattr(self.sampling, "prepare"):
            self.sampling.prepare(num_envs, self.num_levels)
        self._record = getattr(self.sampling, "record", None)
        # Whether the present episode is recorded already, because beginning the next was cut off.
        self._recorded = None if self._record is None else np.zeros(num_envs, np.bool_)
        self._compile = partial(load_resources, config, max_frames)
        self._resources: OrderedDict[int, LevelResources] = OrderedDict()
        # What is used once has no files, unless a folder is named for them.
        self._used_once = self.levels.never_repeats and cache is None and config.cache_directory is None
        # For how many episodes levels are made ahead: two, so that a short one does not come too soon for the worker.
        self._depth = 2 if 2 * num_envs <= config.levels_ahead else 1
        in_use = (1 + self._depth) * num_envs
        self._capacity = in_use + _SPARE_UNREPEATED if self._used_once else max(2 * num_envs, _SPARE_LEVELS)
        self.ahead: LevelsAhead | None = None
        if self._used_once and config.levels_ahead and getattr(self.sampling, "foreseeable", False):
            slots = in_use + self._capacity
            self.ahead = LevelsAhead(self.levels, config, max_frames, slots, spare=_SPARE_UNREPEATED)
        self.layout = ObservationLayout(
            config.observation.keys,
            config.observation.layout,
            config.capacity,
            largest_state_bytes(self.levels) if config.observation.layout == "state" else 0,
        )
        stride = self.layout.state_bytes or self.resources(0).handle.state_bytes
        self.engine = Engine(num_envs, stride, config.frame_skip, config.reward, config.capacity)

    def buffers(self, given: Observation | None, *, single: bool = False) -> DoubleBuffer:
        """Make the arrays that the engine writes observations to; see `DoubleBuffer`."""
        buffers = DoubleBuffer(self.layout, self.engine.num_envs, self.config.copy, given, single)
        held = [np.zeros(self.engine.num_envs, HELD) if buffers.keeps_graphs else None for _ in buffers.arrays]
        if buffers.arrays[0] is buffers.arrays[1]:
            held[1] = held[0]
        for number, arrays in enumerate(buffers.arrays):
            self.engine.set_outputs(number, self.layout.outputs(arrays), held[number])
        return buffers

    @property
    def num_levels(self) -> int:
        """Number of levels to choose from; an endless set offers as many as an int32 can number."""
        return len(self.levels) if self.levels.is_finite else 2**31 - 1

    def resources(self, index: int) -> LevelResources:
        """What level number `index` of the set needs; loaded on first use, and dropped when long unused."""
        found = self._resources.get(index) or (None if self.ahead is None else self.ahead.left.get(index))
        if found is None:
            found = self._made(index) if self._used_once else self._load(self.levels[index], index)
            self._keep(found)
        elif index in self._resources:
            self._resources.move_to_end(index)
        return found

    def _keep(self, found: LevelResources) -> None:
        self._resources[found.index] = found
        while len(self._resources) > self._capacity:
            self._resources.popitem(last=False)

    def _made(self, index: int) -> LevelResources:
        """A level that is used once, which nobody else need keep: from the worker, or made here."""
        ready = None
        if self.ahead is not None:
            for found in self.ahead.arrivals():
                # What there is something to say about is said when it is played.
                if not (found.types & DOUBTFUL & ~self._doubts_told or self._is_too_large(found)):
                    self._keep(found)
            ready = self._resources.get(index) or self.ahead.take(index)
        return self._load(self.levels[index], index, cache_of_one()) if ready is None else self._admitted(ready)

    def _tell_doubts(self, types: Sequence[int]) -> None:
        """Warn of what levels hold that is not simulated or unverified, unless this was told before."""
        found = 0
        for bits in types:
            found |= bits & DOUBTFUL
        if found & ~self._doubts_told:
            self._doubts_told |= found
            advice = "warnings.filterwarnings('ignore', category=npp_env.LevelWarning) silences this"
            message = f"{describe_doubts(types)}; docs/fidelity.md says what each rests on, {advice}"
            warnings.warn(message, LevelWarning, stacklevel=4)

    def _load(self, level: Level, index: int, cache: LevelCache | None = None) -> LevelResources:
        return self._admitted(self._compile(level, index, self.cache if cache is None else cache))

    def _admitted(self, found: LevelResources) -> LevelResources:
        """The same, which is going to be played."""
        # What a set of levels that are made, or a level from outside the set, holds comes to light here.
        self._tell_doubts((found.types,))
        if self._is_too_large(found):
            raise LevelError(
                f"a state of level {found.level.name!r} takes {found.handle.state_bytes} bytes; rows of "
                f"observation.layout 'state' hold {self.layout.state_bytes}, the most of any level in the set: put the "
                f"level into the set"
            )
        return found

    def _is_too_large(self, found: LevelResources) -> bool:
        return self.layout.layout == "state" and found.handle.state_bytes > self.layout.state_bytes

    def foreign(self, level: Level | str) -> LevelResources:
        """What a level needs that is given as an object or as a specification of exactly one level.

        It has its number if it is in the set.
        """
        found = LevelSet.parse(level)
        if not found.is_finite or len(found) != 1:
            raise LevelError(f"{level!r} names {len(found) if found.is_finite else 'endless'} levels; give one")
        number = self.levels.find(found)
        return self._load(found[0], FOREIGN_LEVEL) if number is None else self.resources(number)

    def level_name(self, i: int) -> str:
        """What the level of environment i is called in the set; a level from outside by its own name."""
        item = self.resources_of(i)
        return item.level.name if item.index == FOREIGN_LEVEL else self.levels.name_of(item.index)

    def kept(self) -> list[LevelResources]:
        """Everything loaded: for the levels in use, and for some that were."""
        left = () if self.ahead is None else self.ahead.left.values()
        loaded = (*self._resources.values(), *left, *self.engine.in_use)
        found = {id(item): item for item in loaded if item is not None}
        return list(found.values())

    def present(self, i: int) -> LevelResources | None:
        """What the level of environment i needs, or None before its first episode."""
        return self.engine.in_use[i]

    def resources_of(self, i: int) -> LevelResources:
        """What the level of environment i needs."""
        found = self.engine.in_use[i]
        assert found is not None, f"environment {i} was not reset"
        return found

    def reset(
        self,
        indices: NDArray[np.int64],
        randoms: Iterable[np.random.Generator | None],
        level: Any = None,
        seeded: Sequence[int] = (),
    ) -> None:
        """Begin episodes at the wish of the caller.

        Args:
            indices: The environments.
            randoms: For each of them what its next levels are drawn from, or None to go on as before.
            level: Chooses the level: its number in the level set, a specification of one level, or a `Level`; or a list
                of these, or None, one for each environment.
            seeded: Those that the caller gave a seed: a sampling that learns begins anew for them.
        """
        each = levels_by_environment(level, self.engine.num_envs)
        wanted = [level] * len(indices) if each is None else [each[i] for i in indices.tolist()]
        chosen = [self._level_option(one) for one in wanted]
        if seeded:
            self._forget_outcomes(list(seeded))
        self._record_outcomes(indices)
        keys, episodes = self._to_come(indices, 1)
        for k, random in enumerate(randoms):
            if random is not None:
                keys[k], episodes[k] = random.integers(2**63), 0
        self._begin(indices, keys, episodes, chosen, fresh=False)

    def _level_option(self, level: Any) -> LevelResources | None:
        if level is None:
            return None
        if isinstance(level, (int, np.integer)) and not isinstance(level, (bool, np.bool_)):
            if not 0 <= level < self.num_levels:
                raise ConfigError(
                    f"options['level'] is {shorten(level)}; the level set has numbers 0 to {self.num_levels - 1}"
                )
            return self.resources(int(level))
        if isinstance(level, (str, Level)):
            return self.foreign(level)
        raise ConfigError(
            f"options['level'] is {shorten(level)}; it must be a number, a level specification or a Level"
        )

    def begin(self, indices: NDArray[np.int64], *, fresh: bool = True) -> None:
        """Begin the next episode of some environments, each on the level that its key gives.

        Args:
            indices: The environments.
            fresh: Whether their next step is their beginning, and plays nothing.
        """
        uniform = type(self.sampling) is UniformSampling
        self._record_outcomes(indices)
        if not (uniform and self.engine.begin_drawn(indices, self._resources, self.num_levels, fresh)):
            self._begin(indices, *self._to_come(indices, 1), [None] * len(indices), fresh=fresh)
        elif self.ahead is not None:
            self._foresee(self.ahead)

    def _to_come(
        self, indices: NDArray[np.int64] | list[int], later: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """What the levels of environments are drawn from, and the numbers of episodes to come; fresh arrays."""
        slots = self.engine.slots
        return slots["key"][indices], slots["episode"][indices] + later

    def _begin(
        self,
        indices: NDArray[np.int64],
        keys: NDArray[np.uint64],
        episodes: NDArray[np.int64],
        wanted: Sequence[LevelResources | None],
        *,
        fresh: bool,
    ) -> None:
        """Choose and load first, which may fail; then begin everything at once, which cannot."""
        chosen: list[Any] = []
        for i, key, episode, item in zip(indices.tolist(), keys.tolist(), episodes.tolist(), wanted, strict=True):
            chosen.append(self.sampling.choose(i, key, episode, self.num_levels) if item is None else item)
        # Backwards, because a worker makes the first ones first: what it has not made yet, it need not make any more.
        for k, item in reversed(list(enumerate(chosen))):
            chosen[k] = (item if isinstance(item, LevelResources) else self.resources(item)).prepared()
        self.engine.begin(indices, chosen, keys, episodes, fresh)
        if self._recorded is not None:
            self._recorded[indices] = False
        if self.ahead is not None:
            self._foresee(self.ahead)

    def _foresee(self, ahead: LevelsAhead) -> None:
        """Say which levels come next in the environments that have begun an episode, so that they can be made."""
        if _FORESEEN_TOGETHER[self._depth - 1] * self.engine.n_begun < self.engine.num_envs:
            return
        begun, count = self.engine.take_begun(), self.num_levels
        ahead.leave({i: self.resources_of(i).index for i in begun}, self._resources)
        rounds = []
        for later in range(1, 1 + self._depth):
            if type(self.sampling) is UniformSampling:
                rounds.append(self.engine.draw(begun, later, count))
            else:
                keys, episodes = self._to_come(begun, later)
                each = zip(begun, keys.tolist(), episodes.tolist(), strict=True)
                rounds.append([self.sampling.choose(*one, count) for one in each])
        ahead.expect(begun, *rounds)

    def _record_outcomes(self, indices: NDArray[np.int64]) -> None:
        """Tell the sampling how the episodes went that are about to be left, if it wants to know."""
        if self._record is None or self._recorded is None:
            return
        slots, states = self.engine.slots, self.ninjas["state"]
        for i in indices.tolist():
            level = int(slots[i]["level_index"])
            played = self.engine.in_use[i] is not None and slots[i]["episode_steps"] > 0
            if played and level != FOREIGN_LEVEL and not self._recorded[i]:
                self._record(i, level, bool(states[i] == NinjaState.CELEBRATING))
                self._recorded[i] = True

    def _forget_outcomes(self, indices: list[int]) -> None:
        """Let the sampling begin anew; what all environments share is forgotten only when all of them do."""
        if hasattr(self.sampling, "forget") and (
            len(indices) == self.engine.num_envs or not getattr(self.sampling, "shared", True)
        ):
            self.sampling.forget(indices)
            if self._recorded is not None:
                self._recorded[indices] = True

    def close(self) -> None:
        """Give the worker back that makes levels ahead."""
        if self.ahead is not None:
            self.ahead.close()

    def finish(self) -> None:
        """Complete the step of the environments whose doors changed, with the distances of their new configuration.

        If that is cut off, the next call does it.
        """
        for i in self.engine.unfinished():
            self.engine.finish(i, self.resources_of(i).paths_of(self.doors_taken(i)))

    def doors_taken(self, i: int) -> int:
        """The door configuration of environment i."""
        return door_configuration(self.engine.states[i], self.resources_of(i).handle.geometry)

    @property
    def ninjas(self) -> NDArray[Any]:
        """The ninjas (num_envs,) as a structured view of the states."""
        return ninja_view(self.engine.states)
