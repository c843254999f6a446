"""The engine under both environments: many episodes in one block of memory, stepped without the GIL.

A step has two halves. `advance` runs the physics and the events; it marks the environments whose doors changed, for
which the caller may have to look up other path distances. `finish` adds the shaping term and writes the observations.
"""

from dataclasses import asdict

import numpy as np

from libc.string cimport memcpy
from npp_env.observe.path_features cimport potential
from npp_env.observe.state_row cimport STATE_ROW_VERSION, StateRow, state_of
from npp_env.observe.view cimport View, half
from npp_env.observe.writer cimport MAX_KEYS, write_observation
from npp_env.runtime.reward cimport event_reward, shaping_reward
from npp_env.sim.doors cimport door_digest
from npp_env.sim.kernel cimport LevelHandle, advance_block, bind, restart_block
from npp_env.sim.layout cimport MOST_CANDIDATES, Mover, Ninja, is_over

from npp_env.errors import NppError, StateError
from npp_env.observe import state_row
from npp_env.sim.structs import address_of

if sizeof(StateRow) != state_row.STATE_ROW.itemsize or STATE_ROW_VERSION != state_row.STATE_ROW_VERSION:
    raise NppError("the header of a state row is compiled otherwise than its dtype says")

SLOT = np.dtype(
    [
        ("level", "u8"),
        ("paths", "u8"),
        ("background", "u8"),
        ("potential", "f8"),
        ("episode_return", "f8"),
        ("doors", "u8"),  # digest of the door configuration
        ("limit_frames", "i4"),  # 0: never truncated
        ("gold_total", "i4"),
        ("episode_steps", "i4"),
        ("level_index", "i4"),
        ("fresh", "u1"),  # restarted in this step: no reward, no shaping
        ("doors_changed", "u1"),
        ("ended", "u1"),  # terminated or truncated, waits for a restart
        ("reserved", "u1", 5),
    ]
)
"""What an environment has beside its state."""

INPUT_OF_ACTION = (0, 4, 2, 1, 5, 3)
"""Input bytes of idle, left, right, jump, jump+left, jump+right."""

cdef inline int input_of(int action) noexcept nogil:
    """Input byte of an action, one digit each."""
    return (0x351240 >> (4 * action)) & 15


cdef class Engine:
    """Episodes of many environments.

    Args:
        num_envs: Number of environments.
        stride: Bytes per state, at least the largest state of any level used, a multiple of 8.
        frame_skip: Physics ticks per step.
        reward: The `RewardConfig`.
        capacity: The `Capacity` of padded observations.

    Attributes:
        states: uint8 (num_envs, stride), the exact states; the engine's own memory.
        slots: `SLOT` (num_envs,), what environments have beside their state; the engine's own memory.
        rewards: float64 (num_envs,), of the last step.
        terminated: bool (num_envs,), of the last step.
        truncated: bool (num_envs,), of the last step.
    """

    def __init__(self, Py_ssize_t num_envs, Py_ssize_t stride, int frame_skip, reward, capacity) -> None:
        if num_envs < 1 or stride < <Py_ssize_t>sizeof(Ninja) or stride % 8:
            raise NppError(
                f"num_envs {num_envs} must be at least 1, stride {stride} a multiple of 8, at least {sizeof(Ninja)}"
            )
        self.num_envs = num_envs
        self.stride = stride
        self.frame_skip = frame_skip
        self.states = np.zeros((num_envs, stride), np.uint8)
        self.slots = np.zeros(num_envs, SLOT)
        self.rewards = np.zeros(num_envs, np.float64)
        self.terminated = np.zeros(num_envs, np.bool_)
        self.truncated = np.zeros(num_envs, np.bool_)
        self.level_handles = [None] * num_envs
        self.path_handles = [None] * num_envs
        self.backgrounds = [None] * num_envs
        self.weights = asdict(reward)
        self.capacity = asdict(capacity)
        self.n_outputs = 0
        self.buffers = [None, None]
        self.state_base = <unsigned char*><size_t>address_of(self.states)
        self.slot_base = <Slot*><size_t>address_of(self.slots)
        self.reward_base = <double*><size_t>address_of(self.rewards)
        self.terminated_base = <unsigned char*><size_t>address_of(self.terminated)
        self.truncated_base = <unsigned char*><size_t>address_of(self.truncated)
        if sizeof(Slot) != SLOT.itemsize:
            raise NppError(f"compiled struct of {sizeof(Slot)} bytes for a dtype of {SLOT.itemsize}")

    def set_outputs(self, int buffer, arrays) -> None:
        """Say where observations are written.

        Args:
            buffer: 0 or 1, the number of the buffer.
            arrays: Pairs of a key's number (-1 for the state layout) and a uint8 array (num_envs, bytes of a row) whose
                rows are contiguous, in the same order of keys for both buffers; the engine keeps them alive. A third
                element, if not 0, is the number of uint8 values that are to be widened to float16 in the row.
        """
        if buffer not in (0, 1) or len(arrays) > MAX_KEYS:
            raise NppError(f"buffer {buffer} must be 0 or 1, and {len(arrays)} outputs at most {MAX_KEYS}")
        self.buffers[buffer] = list(arrays)
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

    def grow(self, Py_ssize_t stride) -> None:
        """Make room for larger states; the environments keep theirs."""
        if stride < self.stride or stride % 8:
            raise NppError(f"stride {stride} must be a multiple of 8, at least {self.stride}")
        states = np.zeros((self.num_envs, stride), np.uint8)
        states[:, : self.stride] = self.states
        self.states = states
        self.stride = stride
        self.state_base = <unsigned char*><size_t>address_of(states)

    def assign(
        self, Py_ssize_t i, LevelHandle level not None, paths, background, limit_frames: int, gold: int, index: int
    ) -> None:
        """Give environment i a level for its next episode; `restart` then begins it.

        Args:
            i: The environment.
            level: The compiled level.
            paths: A `PathHandle` for the initial door configuration, or None if nothing needs it.
            background: The uint8 background block of its frames, or None if nothing needs it.
            limit_frames: Ticks after which an episode is truncated, 0 for never.
            gold: Pieces of gold in the level.
            index: Number of the level in its set.
        """
        if i < 0 or i >= self.num_envs:
            raise IndexError(f"environment {i} of {self.num_envs}")
        if level.state_bytes > self.stride:
            raise StateError(f"a state of this level takes {level.state_bytes} bytes, the engine has {self.stride}")
        self.level_handles[i] = level
        self.backgrounds[i] = background
        self.slots["level"][i] = level.address
        self.slots["background"][i] = 0 if background is None else address_of(background)
        self.slots["limit_frames"][i] = limit_frames
        self.slots["gold_total"][i] = gold
        self.slots["level_index"][i] = index
        self.set_paths(i, paths)

    def set_paths(self, Py_ssize_t i, paths) -> None:
        """Give environment i the path distances of its present door configuration (a `PathHandle` or None)."""
        self.path_handles[i] = paths
        self.slots["paths"][i] = 0 if paths is None else paths.address
        self.slots["doors_changed"][i] = 0

    def restart(self, long long[::1] indices, bint fresh) -> None:
        """Begin an episode in each of these environments, at the start of their level.

        Args:
            indices: The environments.
            fresh: Whether their next step is their beginning, and plays nothing.
        """
        cdef Py_ssize_t k
        for k in range(indices.shape[0]):
            self.require(indices[k])
        with nogil:
            for k in range(indices.shape[0]):
                self.restart_one(indices[k], fresh)

    def reread(self, Py_ssize_t i) -> None:
        """Bring doors and potential in line with a state that was written from outside."""
        self.require(i)
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        self.look(&view, candidates, i)
        self.slot_base[i].doors = door_digest(self.slot_base[i].level, view.world.flags)
        if self.slot_base[i].paths != NULL:
            self.slot_base[i].potential = 0.0 if is_over(view.world.ninja) else potential(&view)

    def advance(self, unsigned char[::1] actions, Py_ssize_t first, Py_ssize_t last) -> None:
        """First half of a step for environments first..last-1; those marked fresh only get a zero reward."""
        cdef Py_ssize_t i
        if actions.shape[0] != self.num_envs or first < 0 or last > self.num_envs:
            raise NppError(f"{actions.shape[0]} actions for environments {first}..{last} of {self.num_envs}")
        for i in range(first, last):
            if self.has_no_level(i):
                self.require(i)
            if actions[i] > 5:
                raise NppError(f"action {actions[i]} of environment {i}; an action is one of 0..5")
        with nogil:
            for i in range(first, last):
                self.advance_one(i, actions[i])

    def finish(self, int buffer, Py_ssize_t first, Py_ssize_t last) -> None:
        """Second half of a step: shaping and observations."""
        cdef Py_ssize_t i
        if first < 0 or last > self.num_envs or self.buffers[buffer] is None:
            raise NppError(f"environments {first}..{last} of {self.num_envs}, buffer {buffer}")
        with nogil:
            for i in range(first, last):
                self.finish_one(i, buffer)

    def observe(self, int buffer, long long[::1] indices) -> None:
        """Write the observations of some environments as they are."""
        cdef Py_ssize_t k
        for k in range(indices.shape[0]):
            self.require(indices[k])
        if self.buffers[buffer] is None:
            raise NppError(f"buffer {buffer} was not set")
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        with nogil:
            for k in range(indices.shape[0]):
                self.look(&view, candidates, indices[k])
                self.write_one(&view, indices[k], buffer)

    def write_key(self, int key, out) -> None:
        """Write one observation of every environment into rows (num_envs, bytes) of a uint8 array."""
        cdef Py_ssize_t i
        for i in range(self.num_envs):
            if self.has_no_level(i):
                self.require(i)
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
        if i < 0 or i >= self.num_envs:
            raise IndexError(f"environment {i} of {self.num_envs}")
        cdef Ninja* ninja = <Ninja*>(self.state_base + i * self.stride)
        cdef Slot* slot = &self.slot_base[i]
        return (
            ninja.frame, ninja.state, ninja.gold, ninja.switches,
            slot.level_index, slot.episode_return, slot.episode_steps,
        )

    cdef bint has_no_level(self, Py_ssize_t i):
        """Whether environment i waits for a level."""
        return self.slot_base[i].level == NULL

    def require(self, Py_ssize_t i) -> None:
        """Make sure that environment i exists and has a level."""
        if i < 0 or i >= self.num_envs or self.level_handles[i] is None:
            raise IndexError(f"environment {i} of {self.num_envs} has no level")

    cdef void look(self, View* view, unsigned short* candidates, Py_ssize_t i) noexcept nogil:
        """Point a view at environment i."""
        bind(&view.world, self.slot_base[i].level, self.state_base + i * self.stride, candidates)
        view.paths = self.slot_base[i].paths
        view.background = self.slot_base[i].background
        view.limit_frames = self.slot_base[i].limit_frames
        view.gold_total = self.slot_base[i].gold_total
        view.capacity = &self.capacity

    cdef void restart_one(self, Py_ssize_t i, bint fresh) noexcept nogil:
        """Begin an episode."""
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        cdef Slot* slot = &self.slot_base[i]
        restart_block(slot.level, self.state_base + i * self.stride, self.stride)
        self.look(&view, candidates, i)
        slot.potential = potential(&view) if slot.paths != NULL else 0.0
        slot.doors = door_digest(slot.level, view.world.flags)
        slot.episode_return = 0.0
        slot.episode_steps = 0
        slot.fresh = fresh
        slot.doors_changed = 0
        slot.ended = 0
        self.terminated_base[i] = 0
        self.truncated_base[i] = 0

    cdef void advance_one(self, Py_ssize_t i, int action) noexcept nogil:
        """Run the physics of one step and judge what happened."""
        cdef int ticks
        cdef unsigned long long doors
        cdef Ninja before
        cdef Slot* slot = &self.slot_base[i]
        cdef unsigned char* block = self.state_base + i * self.stride
        cdef Ninja* ninja = <Ninja*>block
        self.reward_base[i] = 0.0
        self.terminated_base[i] = 0
        self.truncated_base[i] = 0
        if slot.fresh:
            return
        before = ninja[0]
        ticks = advance_block(slot.level, block, input_of(action), self.frame_skip, 1)
        self.reward_base[i] = event_reward(&self.weights, &before, ninja, ticks)
        self.terminated_base[i] = is_over(ninja)
        self.truncated_base[i] = (
            self.terminated_base[i] == 0 and slot.limit_frames > 0 and ninja.frame >= slot.limit_frames
        )
        slot.ended = self.terminated_base[i] or self.truncated_base[i]
        slot.episode_steps += 1
        if slot.paths != NULL and slot.level.n_doors > 0:
            doors = door_digest(slot.level, block + sizeof(Ninja) + slot.level.n_movers * sizeof(Mover))
            if doors != slot.doors:
                slot.doors = doors
                slot.doors_changed = 1

    cdef void finish_one(self, Py_ssize_t i, int buffer) noexcept nogil:
        """Add the shaping of one step and write the observations."""
        cdef double after
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        cdef Slot* slot = &self.slot_base[i]
        self.look(&view, candidates, i)
        if slot.fresh == 0:
            if self.weights.shaping_weight != 0 and slot.paths != NULL:
                after = potential(&view)
                self.reward_base[i] += shaping_reward(&self.weights, slot.potential, after, self.terminated_base[i])
                # A terminal state has none, so that steps beyond it pay nothing.
                slot.potential = 0.0 if self.terminated_base[i] else after
            slot.episode_return += self.reward_base[i]
        slot.fresh = 0
        self.write_one(&view, i, buffer)

    cdef void write_one(self, View* view, Py_ssize_t i, int buffer) noexcept nogil:
        """Write all selected observations of environment i."""
        cdef int k, j
        cdef unsigned short* wide
        cdef unsigned char* row
        for k in range(self.n_outputs):
            row = self.outputs[k].base[buffer] + i * self.outputs[k].stride
            if self.outputs[k].key < 0:
                self.write_state(<StateRow*>row, i)
                continue
            if self.outputs[k].widened == 0:
                write_observation(view, self.outputs[k].key, row)
                continue
            # Bytes are written into the upper half of their row of float16 and widened from the front.
            write_observation(view, self.outputs[k].key, row + self.outputs[k].widened)
            wide = <unsigned short*>row
            for j in range(self.outputs[k].widened):
                wide[j] = half(row[self.outputs[k].widened + j])

    cdef void write_state(self, StateRow* row, Py_ssize_t i) noexcept nogil:
        """Write the row of the state layout of environment i."""
        cdef Slot* slot = &self.slot_base[i]
        row.version = STATE_ROW_VERSION
        row.level_index = slot.level_index
        row.limit_frames = slot.limit_frames
        row.episode_steps = slot.episode_steps
        memcpy(row.level, slot.level.digest, sizeof(row.level))
        memcpy(state_of(row), self.state_base + i * self.stride, self.stride)
