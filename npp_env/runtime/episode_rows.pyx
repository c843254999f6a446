"""The memory of many episodes, and what a step does to one of them.

A step has two halves. `advance_one` runs the physics and the events; `finish_one` adds the shaping term, writes the
observations and reports. Between them stand the path distances of the present door configuration: where the doors of
an environment changed, it is left unfinished until the caller has looked up others.
"""

from dataclasses import asdict

import numpy as np

from libc.string cimport memcpy
from npp_env.graph.node_lookup cimport NO_NODE, half_cell_at
from npp_env.observe.graph_features cimport remember
from npp_env.observe.path_features cimport potential
from npp_env.observe.state_row cimport STATE_ROW_VERSION, StateRow, put_state
from npp_env.observe.view cimport Held, NodeWays, Paths, TO_END, TO_EXIT, View, half, look_anew
from npp_env.observe.writer cimport write_observation
from npp_env.runtime.native_threads cimport fetch_add
from npp_env.runtime.reward cimport event_reward, shaping_reward
from npp_env.sim.doors cimport door_digest
from npp_env.sim.kernel cimport advance_block, bind, restart_block
from npp_env.sim.layout cimport MOST_CANDIDATES, Level, Mover, Ninja, cell_of, is_over
from npp_env.sim.prefetch cimport prefetch, prefetch_bytes

from npp_env.errors import NppError
from npp_env.sim.outcome import NinjaState, Outcome, outcome_of
from npp_env.sim.structs import address_of

SLOT = np.dtype(
    [
        ("level", "u8"),
        ("paths", "u8"),
        ("background", "u8"),
        ("potential", "f8"),
        ("reward", "f8"),  # of the last step
        ("episode_return", "f8"),
        ("key", "u8"),  # what its levels are drawn from
        ("episode", "i8"),  # the number of the present one
        ("doors", "u8"),  # digest of the door configuration
        ("limit_frames", "i4"),  # 0: never truncated
        ("gold_total", "i4"),
        ("episode_steps", "i4"),
        ("level_index", "i4"),
        ("fresh", "u1"),  # restarted in this step: no reward, no shaping
        ("doors_changed", "u1"),  # in this step, which is unfinished until their distances are looked up
        ("node", "u2"),  # of the ninja when it was last looked up, 65535 if it was not
        ("begun", "u1"),  # an episode, since `take_begun` was called
        ("terminated", "u1"),  # by the last step
        ("truncated", "u1"),
        ("reserved", "u1"),
    ]
)
"""What an environment has beside its state."""

HELD = np.dtype(
    [("serial", "u8"), ("graph", "u8"), ("nodes", "i4"), ("edges", "i4"), ("here", "i4"), ("taken", "i4")]
)
"""What the graph arrays of an output row hold; zeros for nothing."""

cdef enum:
    MOST_READ_BYTES = 256  # of a state: the ninja, and a few movers

INPUT_OF_ACTION = (0, 4, 2, 1, 5, 3)
"""Input bytes of idle, left, right, jump, jump+left, jump+right."""

cdef long long[256] OUTCOME_OF_STATE
for number in range(256):
    OUTCOME_OF_STATE[number] = outcome_of(number) if number < len(NinjaState) else Outcome.RUNNING
cdef long long OUT_OF_TIME = Outcome.OUT_OF_TIME


cdef inline int input_of(int action) noexcept nogil:
    """Input byte of an action, one digit each."""
    return (0x351240 >> (4 * action)) & 15


cdef class EpisodeRows:
    """The episodes of many environments, a row of each array for an environment.

    Args:
        num_envs: Number of environments.
        stride: Bytes per state, at least the largest state of any level used, a multiple of 8.
        frame_skip: Physics ticks per step.
        reward: The `RewardConfig`.
        capacity: The `Capacity` of padded observations.

    Attributes:
        states: uint8 (num_envs, stride), the exact states; their own memory.
        slots: `SLOT` (num_envs,), what environments have beside their state; their own memory.
        n_unfinished: How many environments wait for the path distances of other doors.
        ended: bool (num_envs,), whether it waits for a restart. Not in the slots: all are looked at before every step,
            which takes long where other threads have written to their lines of the cache.
    """

    def __init__(self, Py_ssize_t num_envs, Py_ssize_t stride, int frame_skip, reward, capacity) -> None:
        if num_envs < 1 or stride < <Py_ssize_t>sizeof(Ninja) or stride % 8:
            raise NppError(
                f"num_envs {num_envs} must be at least 1, stride {stride} a multiple of 8, at least {sizeof(Ninja)}"
            )
        if sizeof(Slot) != SLOT.itemsize:
            raise NppError(f"compiled struct of {sizeof(Slot)} bytes for a dtype of {SLOT.itemsize}")
        self.num_envs = num_envs
        self.stride = stride
        self.frame_skip = frame_skip
        self.states = np.zeros((num_envs, stride), np.uint8)
        self.slots = np.zeros(num_envs, SLOT)
        self.ended = np.zeros(num_envs, np.bool_)
        self.weights = asdict(reward)
        self.capacity = asdict(capacity)
        self.n_outputs = 0
        self.buffer = 0
        self.n_unfinished = 0
        self.results.reward = NULL
        self.state_base = <unsigned char*><size_t>address_of(self.states)
        self.slot_base = <Slot*><size_t>address_of(self.slots)
        self.ended_base = <unsigned char*><size_t>address_of(self.ended)

    cdef void play_one(self, Py_ssize_t i, int action) noexcept nogil:
        """One step of environment i; only the first half of it where doors changed."""
        self.advance_one(i, action)
        if self.slot_base[i].doors_changed == 0:
            self.finish_one(i)

    cdef void expect(self, Py_ssize_t i, Py_ssize_t last) noexcept nogil:
        """Have the memory come that the environments after i need, while i is at work.

        Each of them is looked at as often as one address leads to the next. What a step changes is read only of those
        before `last`: beyond it another thread may be at work.
        """
        cdef Slot* slot
        cdef Ninja* n
        cdef NodeWays* here
        if i + 3 < self.num_envs:
            prefetch_bytes(&self.slot_base[i + 3], sizeof(Slot))
            prefetch_bytes(self.state_base + (i + 3) * self.stride, MOST_READ_BYTES)
        if i + 2 < self.num_envs:
            slot = &self.slot_base[i + 2]
            prefetch_bytes(slot.level, sizeof(Level))
            if slot.paths != NULL:
                prefetch_bytes(slot.paths, sizeof(Paths))
        if i + 1 < last:
            slot = &self.slot_base[i + 1]
            n = <Ninja*>(self.state_base + (i + 1) * self.stride)
            prefetch(&slot.level.near[cell_of(n.x, n.y)])
            prefetch(&slot.level.around[cell_of(n.x, n.y)])
            prefetch(&slot.level.wall_start[cell_of(n.x, n.y)])
            if slot.node != NO_NODE:
                prefetch(&slot.paths.table.nearest[half_cell_at(n.x, n.y)])
                prefetch(&slot.paths.ways[slot.node])
        slot = &self.slot_base[i]
        if slot.node != NO_NODE:
            here = &slot.paths.ways[slot.node]
            prefetch(&slot.paths.ways[here.following[TO_EXIT]])
            prefetch(&slot.paths.ways[here.following[TO_END]])

    cdef void look(self, View* view, unsigned short* candidates, Py_ssize_t i) noexcept nogil:
        """Point a view at environment i."""
        bind(&view.world, self.slot_base[i].level, self.state_base + i * self.stride, candidates)
        view.paths = self.slot_base[i].paths
        view.background = self.slot_base[i].background
        view.limit_frames = self.slot_base[i].limit_frames
        view.gold_total = self.slot_base[i].gold_total
        view.capacity = &self.capacity
        look_anew(view)

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
        self.ended_base[i] = 0
        slot.terminated = 0
        slot.truncated = 0

    cdef void advance_one(self, Py_ssize_t i, int action) noexcept nogil:
        """Run the physics of one step and judge what happened."""
        cdef int ticks
        cdef unsigned long long doors
        cdef Ninja before
        cdef Slot* slot = &self.slot_base[i]
        cdef unsigned char* block = self.state_base + i * self.stride
        cdef Ninja* ninja = <Ninja*>block
        slot.reward = 0.0
        slot.terminated = 0
        slot.truncated = 0
        if slot.fresh:
            return
        before = ninja[0]
        ticks = advance_block(slot.level, block, input_of(action), self.frame_skip, 1)
        slot.reward = event_reward(&self.weights, &before, ninja, ticks)
        slot.terminated = is_over(ninja)
        slot.truncated = slot.terminated == 0 and slot.limit_frames > 0 and ninja.frame >= slot.limit_frames
        self.ended_base[i] = slot.terminated or slot.truncated
        slot.episode_steps += 1
        if slot.paths != NULL and slot.level.n_doors > 0:
            doors = door_digest(slot.level, block + sizeof(Ninja) + slot.level.n_movers * sizeof(Mover))
            if doors != slot.doors:
                slot.doors = doors
                slot.doors_changed = 1
                fetch_add(&self.n_unfinished, 1)

    cdef void finish_one(self, Py_ssize_t i) noexcept nogil:
        """Add the shaping of one step, write the observations, and report."""
        cdef double after
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        cdef Slot* slot = &self.slot_base[i]
        self.look(&view, candidates, i)
        if slot.fresh == 0:
            if self.weights.shaping_weight != 0 and slot.paths != NULL:
                after = potential(&view)
                slot.reward += shaping_reward(&self.weights, slot.potential, after, slot.terminated)
                # A terminal state has none, so that steps beyond it pay nothing.
                slot.potential = 0.0 if slot.terminated else after
            slot.episode_return += slot.reward
        slot.fresh = 0
        self.write_one(&view, i)
        slot.node = <unsigned short>view.node
        self.report_one(i)

    cdef void report_one(self, Py_ssize_t i) noexcept nogil:
        """Say what there is to say of environment i beside its observation, if anyone wants to know."""
        if self.results.reward == NULL:
            return
        cdef Slot* slot = &self.slot_base[i]
        self.results.reward[i] = slot.reward
        self.results.terminated[i] = slot.terminated
        self.results.truncated[i] = slot.truncated
        self.report_episode(i)

    cdef void report_episode(self, Py_ssize_t i) noexcept nogil:
        """The part of the report that `info` shows."""
        cdef Slot* slot = &self.slot_base[i]
        cdef Ninja* ninja = <Ninja*>(self.state_base + i * self.stride)
        self.results.frame[i] = ninja.frame
        self.results.outcome[i] = (
            OUT_OF_TIME if slot.truncated else OUTCOME_OF_STATE[<unsigned char>ninja.state]
        )
        self.results.gold[i] = ninja.gold
        self.results.level[i] = slot.level_index
        self.results.phase[i] = ninja.switches > 0
        self.results.episode_return[i] = slot.episode_return
        self.results.episode_steps[i] = slot.episode_steps

    cdef void observe_one(self, Py_ssize_t i) noexcept nogil:
        """Write the observations of environment i as it is."""
        cdef unsigned short[MOST_CANDIDATES] candidates
        cdef View view
        self.look(&view, candidates, i)
        self.write_one(&view, i)

    cdef void write_one(self, View* view, Py_ssize_t i) noexcept nogil:
        """Write all selected observations of environment i."""
        cdef int k, j
        cdef unsigned short* wide
        cdef unsigned char* row
        cdef Held* held = self.held[self.buffer]
        held = NULL if held == NULL or view.paths == NULL else &held[i]
        for k in range(self.n_outputs):
            row = self.outputs[k].base[self.buffer] + i * self.outputs[k].stride
            # What is widened is scratch before.
            view.held = held if self.outputs[k].widened == 0 else NULL
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
        if held != NULL:
            view.held = held
            remember(view)

    cdef void write_state(self, StateRow* row, Py_ssize_t i) noexcept nogil:
        """Write the row of the state layout of environment i."""
        cdef Slot* slot = &self.slot_base[i]
        row.version = STATE_ROW_VERSION
        row.level_index = slot.level_index
        row.limit_frames = slot.limit_frames
        row.episode_steps = slot.episode_steps
        memcpy(row.level, slot.level.digest, sizeof(row.level))
        put_state(row, slot.level, self.state_base + i * self.stride, self.stride)
