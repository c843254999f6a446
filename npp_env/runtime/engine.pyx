"""The engine under both environments: many episodes in one block of memory, stepped without the GIL.

Whatever changes an episode does so in one compiled call, after all that can fail: an exception or an interrupt leaves
each environment as it was before the call or as it is after it.
"""

import numpy as np

from cpython.buffer cimport PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport memchr, memcpy, memset
from npp_env.graph.node_lookup cimport NO_NODE
from npp_env.observe.path_features cimport PathHandle, potential
from npp_env.observe.view cimport Held, View
from npp_env.observe.writer cimport MAX_KEYS, write_observation
from npp_env.runtime.actions cimport copy_actions
from npp_env.runtime.assignment cimport Assignment
from npp_env.runtime.draw cimport level_drawn
from npp_env.runtime.step_results cimport StepResults
from npp_env.runtime.thread_pool cimport ThreadPool, Work
from npp_env.runtime.episode_rows cimport Slot
from npp_env.sim.doors cimport door_digest
from npp_env.sim.layout cimport MOST_CANDIDATES, Ninja, is_over

from npp_env.errors import NppError
from npp_env.runtime.episode_rows import HELD
from npp_env.sim.structs import address_of


cdef class Engine(EpisodeRows):
    """Episodes of many environments; see `EpisodeRows` for the arguments.

    Attributes:
        actions: uint8 (num_envs,), of the last step.
        n_begun: How many environments have begun an episode since `take_begun` was called.
        in_use: The `LevelResources` of each environment, None before its first episode.
    """

    def __init__(self, Py_ssize_t num_envs, Py_ssize_t stride, int frame_skip, reward, capacity) -> None:
        super().__init__(num_envs, stride, frame_skip, reward, capacity)
        self.actions = np.zeros(num_envs, np.uint8)
        self.in_use = [None] * num_envs
        self.path_handles = [None] * num_envs
        self.buffers = [None, None]
        self.n_without_level = num_envs
        self.n_begun = 0
        self.action_base = <unsigned char*><size_t>address_of(self.actions)

    def set_outputs(self, int buffer, arrays, held=None) -> None:
        """Say where observations are written.

        Args:
            buffer: 0 or 1, the number of the buffer.
            arrays: Pairs of a key's number (-1 for the state layout) and a uint8 array (num_envs, bytes of a row) whose
                rows are contiguous, in the same order of keys for both buffers; the engine keeps them alive. A third
                element, if not 0, is the number of uint8 values that are to be widened to float16 in the row.
            held: `HELD` (num_envs,) if nobody else writes to the arrays: what of graphs they hold already is then left
                as it is. The engine keeps it up to date.
        """
        if buffer not in (0, 1) or len(arrays) > MAX_KEYS:
            raise NppError(f"buffer {buffer} must be 0 or 1, and {len(arrays)} outputs at most {MAX_KEYS}")
        if held is not None and (held.dtype != HELD or len(held) != self.num_envs or sizeof(Held) != HELD.itemsize):
            raise NppError(f"held must be HELD ({self.num_envs},)")
        # The owner of an array rather than a view of it, of which a process with many environments has as many.
        self.buffers[buffer] = [array if array.base is None else array.base for _, array, _ in arrays]
        if held is not None:
            self.buffers[buffer].append(held)
        self.held[buffer] = NULL if held is None else <Held*><size_t>address_of(held)
        self.n_outputs = len(arrays)
        cdef int k
        for k in range(self.n_outputs):
            key, array, widened = arrays[k]
            if array.dtype != np.uint8 or array.ndim != 2 or len(array) != self.num_envs or array.strides[1] != 1:
                raise NppError(f"an output must be uint8 with {self.num_envs} contiguous rows")
            if not array.flags.writeable:
                raise NppError("an output must be writable")
            self.outputs[k].key = key
            self.outputs[k].widened = widened
            self.outputs[k].stride = array.strides[0]
            self.outputs[k].base[buffer] = <unsigned char*><size_t>int(array.__array_interface__["data"][0])

    def take_actions(self, actions) -> None:
        """Keep the actions of the next step: integers (num_envs,), each one of 0..5.

        Raises:
            NppError: They are not; those that were kept before stay.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise NppError(
                f"actions are {given.dtype} {given.shape}; they must be integers of shape ({self.num_envs},)"
            )
        if not given.dtype.isnative:
            given = given.astype(np.int64)
        cdef Py_buffer buffer
        cdef Py_ssize_t wrong
        PyObject_GetBuffer(given, &buffer, PyBUF_STRIDES)
        wrong = copy_actions(&buffer, self.num_envs, self.action_base)
        PyBuffer_Release(&buffer)
        if wrong < self.num_envs:
            raise NppError(f"action {given[wrong]} of environment {wrong}; an action is one of 0..5")

    def play(self, ThreadPool pool not None, int buffer, StepResults results not None) -> int:
        """One step of every environment under the actions that were taken.

        Args:
            pool: The threads that share the work.
            buffer: Where observations are written.
            results: Where all else is reported.

        Returns:
            How many environments are unfinished, because their doors changed; see `finish`.
        """
        self.require_all()
        self.use_buffer(buffer)
        self.reported = results
        self.results = results.rows
        pool.run(<Work>play_some, <void*>self, self.num_envs)
        return self.n_unfinished

    def play_first(self, int action, int buffer) -> int:
        """As `play`, for the first environment alone, whose reward and flags `result` has."""
        self.require_all()
        self.use_buffer(buffer)
        with nogil:
            self.play_one(0, action)
        return self.n_unfinished

    def unfinished(self) -> list:
        """The environments whose doors changed in their last step, and which wait for other path distances."""
        return [i for i in range(self.num_envs) if self.slot_base[i].doors_changed] if self.n_unfinished else []

    def finish(self, Py_ssize_t i, PathHandle paths) -> None:
        """Complete the step of an environment whose doors changed, with the path distances that hold now."""
        self.require(i)
        if self.slot_base[i].doors_changed:
            self.give_paths(i, paths)
            self.finish_one(i)

    def to_restart(self):
        """The environments that wait for a restart, as a fresh int64 array; None if there are none."""
        if memchr(self.ended_base, 1, self.num_envs) == NULL:
            return None
        return self.ended.nonzero()[0]

    def begin(self, const long long[::1] indices, list items, keys, episodes, bint fresh) -> None:
        """Begin an episode in each of these environments, at the start of a level.

        Args:
            indices: The environments.
            items: For each of them the `LevelResources`, prepared.
            keys: uint64 likewise: what their levels are drawn from.
            episodes: int64 likewise: the number of the episode.
            fresh: Whether their next step is their beginning, and plays nothing.
        """
        cdef const unsigned long long[::1] their_keys = keys
        cdef const long long[::1] their_episodes = episodes
        cdef Py_ssize_t k
        if not len(items) == their_keys.shape[0] == their_episodes.shape[0] == indices.shape[0]:
            raise NppError(f"{len(items)} levels for {indices.shape[0]} environments")
        for k in range(indices.shape[0]):
            if indices[k] < 0 or indices[k] >= self.num_envs:
                raise IndexError(f"environment {indices[k]} of {self.num_envs}")
        self.make_room(items)
        for k in range(indices.shape[0]):
            self.begin_one(indices[k], items[k], their_keys[k], their_episodes[k], fresh)

    def begin_drawn(self, const long long[::1] indices, loaded, long long count, bint fresh) -> bool:
        """Begin the next episode of these environments, each on one of `count` levels, all equally likely.

        Args:
            indices: The environments.
            loaded: An `OrderedDict` of the `LevelResources` by number; those that are drawn move to its end.
            count: Number of levels.
            fresh: Whether their next step is their beginning, and plays nothing.

        Returns:
            False if one of the levels is not there, or not prepared; nothing was begun then.
        """
        cdef list items = []
        cdef Py_ssize_t k
        for k in range(indices.shape[0]):
            number = level_drawn(self.slot_base[indices[k]].key, self.slot_base[indices[k]].episode + 1, count)
            item = loaded.get(number)
            if item is None or item.assignment is None:
                return False
            loaded.move_to_end(number)
            items.append(item)
        self.make_room(items)
        for k in range(indices.shape[0]):
            i = indices[k]
            self.begin_one(i, items[k], self.slot_base[i].key, self.slot_base[i].episode + 1, fresh)
        return True

    def take_begun(self) -> list:
        """The environments that have begun an episode since this was called last, in their order; a fresh list."""
        cdef Py_ssize_t i
        cdef list found = []
        for i in range(self.num_envs):
            if self.slot_base[i].begun:
                self.slot_base[i].begun = 0
                found.append(i)
        self.n_begun = 0
        return found

    def draw(self, list indices not None, long long later, long long count) -> list:
        """The levels of episodes to come, each one of `count`, all equally likely; a fresh list.

        Args:
            indices: The environments.
            later: 1 for the next episode, 2 for the one after it.
            count: Number of levels.
        """
        cdef Py_ssize_t i
        for i in indices:
            if not 0 <= i < self.num_envs:
                raise IndexError(f"environment {i} of {self.num_envs}")
        return [level_drawn(self.slot_base[i].key, self.slot_base[i].episode + later, count) for i in indices]

    cdef int make_room(self, list items) except -1:
        """Have enough bytes per state for some levels; the environments keep their states."""
        cdef Assignment assignment
        cdef Py_ssize_t stride = self.stride
        for item in items:
            assignment = item.assignment
            stride = max(stride, assignment.level.state_bytes)
        if stride == self.stride:
            return 0
        states = np.zeros((self.num_envs, stride), np.uint8)
        states[:, : self.stride] = self.states
        cdef size_t base = address_of(states)
        self.states = states
        self.stride = stride
        self.state_base = <unsigned char*>base
        return 0

    cdef int begin_one(self, Py_ssize_t i, item, unsigned long long key, long long episode, bint fresh) except -1:
        """Begin an episode of environment i."""
        self.place(i, item)
        self.slot_base[i].key = key
        self.slot_base[i].episode = episode
        self.n_begun += 1 - self.slot_base[i].begun
        self.slot_base[i].begun = 1
        self.restart_one(i, fresh)
        return 0

    cdef int place(self, Py_ssize_t i, item) except -1:
        """Put environment i onto a level, whose initial doors it gets; its state is still another's."""
        cdef Assignment assignment = item.assignment
        cdef Slot* slot = &self.slot_base[i]
        if slot.level == NULL:
            self.n_without_level -= 1
        slot.level = &assignment.level.level
        slot.background = assignment.background_base
        slot.limit_frames = assignment.limit_frames
        slot.gold_total = assignment.gold
        slot.level_index = assignment.index
        self.give_paths(i, assignment.paths)
        self.in_use[i] = item
        return 0

    cdef int give_paths(self, Py_ssize_t i, PathHandle paths) except -1:
        """Give environment i the path distances of its present door configuration, or none."""
        cdef Slot* slot = &self.slot_base[i]
        slot.paths = NULL if paths is None else &paths.paths
        slot.node = NO_NODE
        if slot.doors_changed:
            slot.doors_changed = 0
            self.n_unfinished -= 1
        self.path_handles[i] = paths
        return 0

    def restore(self, list restorations) -> None:
        """Put environments into states and episodes: all of them, or none.

        Args:
            restorations: Each a `Restoration`, checked, with a level that is prepared.
        """
        cdef Assignment assignment
        for restoration in restorations:
            assignment = restoration.item.assignment
            if not 0 <= restoration.i < self.num_envs or restoration.state.size != assignment.level.state_bytes:
                raise NppError(f"{restoration.state.size} bytes of state for environment {restoration.i}")
        self.make_room([restoration.item for restoration in restorations])
        for restoration in restorations:
            self.restore_one(restoration)

    cdef int restore_one(self, restoration) except -1:
        """Put one environment into a state and an episode."""
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        cdef Py_ssize_t i = restoration.i
        cdef const unsigned char[::1] state = restoration.state
        cdef unsigned char* block = self.state_base + i * self.stride
        cdef Slot* slot = &self.slot_base[i]
        saved = restoration.saved
        self.place(i, restoration.item)
        self.give_paths(i, restoration.paths)
        memcpy(block, &state[0], state.shape[0])
        memset(block + state.shape[0], 0, self.stride - state.shape[0])
        self.look(&view, candidates, i)
        slot.doors = door_digest(slot.level, view.world.flags)
        slot.potential = 0.0 if slot.paths == NULL or is_over(view.world.ninja) else potential(&view)
        slot.limit_frames = saved.limit_frames
        slot.episode_steps = saved.episode_steps
        slot.episode_return = saved.episode_return
        self.ended_base[i] = saved.ended
        slot.fresh = False
        # What was saved without a key goes on with that of the environment.
        if saved.episode >= 0:
            self.slot_base[i].key = saved.key
            self.slot_base[i].episode = saved.episode
        return 0

    def observe(self, ThreadPool pool not None, int buffer, const long long[::1] indices) -> None:
        """Write the observations of some environments as they are."""
        cdef Py_ssize_t k
        for k in range(indices.shape[0]):
            self.require(indices[k])
        self.use_buffer(buffer)
        if indices.shape[0]:
            self.chosen = &indices[0]
            pool.run(<Work>observe_some, <void*>self, indices.shape[0])

    def report(self, StepResults results not None) -> None:
        """Write what `info` says of all environments as they are."""
        cdef Py_ssize_t i
        self.require_all()
        self.reported = results
        self.results = results.rows
        for i in range(self.num_envs):
            self.report_episode(i)

    def write_key(self, int key, out) -> None:
        """Write one observation of every environment into rows (num_envs, bytes) of a uint8 array."""
        cdef Py_ssize_t i
        self.require_all()
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        cdef unsigned char* base = <unsigned char*><size_t>address_of(out)
        cdef Py_ssize_t row_bytes = out.strides[0]
        with nogil:
            for i in range(self.num_envs):
                self.look(&view, candidates, i)
                write_observation(&view, key, base + i * row_bytes)

    def status(self, Py_ssize_t i) -> tuple:
        """Frame, state of the ninja, gold, switches taken, level number, return and steps of environment i."""
        self.require(i)
        cdef Ninja* ninja = <Ninja*>(self.state_base + i * self.stride)
        cdef Slot* slot = &self.slot_base[i]
        return (
            ninja.frame, ninja.state, ninja.gold, ninja.switches,
            slot.level_index, slot.episode_return, slot.episode_steps,
        )

    def result(self, Py_ssize_t i) -> tuple:
        """Reward, terminated and truncated of the last step of environment i."""
        self.require(i)
        cdef Slot* slot = &self.slot_base[i]
        return slot.reward, <bint>slot.terminated, <bint>slot.truncated

    cdef int use_buffer(self, int buffer) except -1:
        """Write observations there from now on."""
        if buffer not in (0, 1) or self.buffers[buffer] is None:
            raise NppError(f"there is no buffer {buffer}")
        self.buffer = buffer
        return 0

    cdef int require(self, Py_ssize_t i) except -1:
        """Make sure that environment i exists and has a level."""
        if i < 0 or i >= self.num_envs or self.slot_base[i].level == NULL:
            raise IndexError(f"environment {i} of {self.num_envs} has no level")
        return 0

    cdef int require_all(self) except -1:
        """Make sure that every environment has a level."""
        if self.n_without_level:
            raise NppError(f"{self.n_without_level} of {self.num_envs} environments have no level; reset them first")
        return 0


cdef void play_some(Engine engine, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Step some environments."""
    cdef Py_ssize_t i
    for i in range(first, last):
        engine.expect(i, last)
        engine.play_one(i, engine.action_base[i])


cdef void observe_some(Engine engine, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Observe some of the chosen environments."""
    cdef Py_ssize_t k
    for k in range(first, last):
        engine.observe_one(engine.chosen[k])
