"""The engine under both environments: many episodes in one block of memory, stepped without the GIL.

A step has two halves. `advance` runs the physics and the events; it marks the environments whose doors changed, for
which the caller may have to look up other path distances. `finish` adds the shaping term and writes the observations.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.string import memcpy
    from cython.cimports.npp_env.observe.path_features import potential
    from cython.cimports.npp_env.observe.view import View, half
    from cython.cimports.npp_env.observe.writer import write_observation
    from cython.cimports.npp_env.reward import event_reward, shaping_reward
    from cython.cimports.npp_env.sim.kernel import LevelHandle, advance_block, bind, restart_block
    from cython.cimports.npp_env.sim.layout import Level, Mover, Ninja
else:
    from types import SimpleNamespace

    from npp_env.observe.path_features import potential
    from npp_env.observe.plain import half, plain_view
    from npp_env.observe.writer import write_observation
    from npp_env.reward import event_reward, shaping_reward
    from npp_env.sim.kernel import LevelHandle, advance_block, restart_block

from npp_env.errors import NppError, StateError
from npp_env.sim.uncompiled import address_of, unpack_world
from npp_env.sim.views import ninja_view

SLOT = np.dtype(
    [
        ("level", "u8"),
        ("paths", "u8"),
        ("background", "u8"),
        ("potential", "f8"),
        ("episode_return", "f8"),
        ("door_key", "u8"),
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

STATE_ROW = np.dtype(
    [
        ("version", "<u4"),
        ("level_index", "<i4"),
        ("limit_frames", "<i4"),
        ("episode_steps", "<i4"),
        ("level", "u1", 16),
    ]
)
"""Header of a row of the state layout; the bytes of the state follow it."""

STATE_ROW_VERSION = 1

DOOR_PRIME = cython.declare(cython.ulonglong, 72057594037927931)

INPUT_OF_ACTION = (0, 4, 2, 1, 5, 3)
"""Input bytes of idle, left, right, jump, jump+left, jump+right."""


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def input_of(action: cython.int) -> cython.int:
    """Input byte of an action, one digit each."""
    return (0x351240 >> (4 * action)) & 15


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def door_key_of(level: cython.pointer(Level), flags: cython.pointer(cython.uchar)) -> cython.ulonglong:
    """A digest of the doors, and of exits where there are several, that switches decide."""
    key: cython.ulonglong = 1
    d: cython.int
    for d in range(level.n_doors):
        if level.doors[d].switched:
            key = (key * 31 + flags[level.doors[d].flag] + 1) % DOOR_PRIME
    return key


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_state_header(
    row: cython.pointer(cython.uchar),
    digest: cython.pointer(cython.uchar),
    level_index: cython.int,
    limit_frames: cython.int,
    episode_steps: cython.int,
) -> cython.void:
    """The header of a row of the state layout."""
    if cython.compiled:
        words: cython.pointer(cython.int) = cython.cast(cython.pointer(cython.int), row)
        words[0] = 1
        words[1] = level_index
        words[2] = limit_frames
        words[3] = episode_steps
        memcpy(row + 16, digest, 16)
    else:
        row[:16].view("<i4")[:] = (STATE_ROW_VERSION, level_index, limit_frames, episode_steps)
        row[16:32] = digest


@cython.cclass
class Engine:
    """Episodes of many environments.

    Args:
        num_envs: Number of environments.
        stride: Bytes per state, at least the largest state of any level used, a multiple of 8.
        frame_skip: Physics ticks per step.
        weights: The seven weights of the reward, in the order of `RewardConfig`.
        capacity: max_entities, max_nodes, max_edges.

    Attributes:
        states: uint8 (num_envs, stride), the exact states; the engine's own memory.
        slots: `SLOT` (num_envs,), what environments have beside their state; the engine's own memory.
        rewards: float64 (num_envs,), of the last step.
        terminated: bool (num_envs,), of the last step.
        truncated: bool (num_envs,), of the last step.
    """

    def __init__(
        self,
        num_envs: cython.Py_ssize_t,
        stride: cython.Py_ssize_t,
        frame_skip: cython.int,
        weights: Any,
        capacity: Any,
    ) -> None:
        if num_envs < 1 or stride < 144 or stride % 8:
            raise NppError(f"num_envs {num_envs} must be at least 1, stride {stride} a multiple of 8, at least 144")
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
        self.k_entities, self.max_nodes, self.max_edges = capacity
        self.n_outputs = 0
        self.buffers = [None, None]
        if cython.compiled:
            self.state_base = cython.cast(
                cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(self.states))
            )
            self.slot_base = cython.cast(cython.pointer(Slot), cython.cast(cython.size_t, address_of(self.slots)))
            self.reward_base = cython.cast(cython.p_double, cython.cast(cython.size_t, address_of(self.rewards)))
            self.terminated_base = cython.cast(
                cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(self.terminated))
            )
            self.truncated_base = cython.cast(
                cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(self.truncated))
            )
            if cython.sizeof(Slot) != SLOT.itemsize:
                raise NppError(f"compiled struct of {cython.sizeof(Slot)} bytes for a dtype of {SLOT.itemsize}")
            (
                self.weights.switch_weight,
                self.weights.exit_weight,
                self.weights.death_weight,
                self.weights.time_weight,
                self.weights.gold_weight,
                self.weights.shaping_weight,
                self.weights.discount,
            ) = weights
        else:
            names = ("switch", "exit", "death", "time", "gold", "shaping")
            values = {f"{name}_weight": weight for name, weight in zip(names, weights[:6], strict=True)}
            self.weights = SimpleNamespace(**values, discount=weights[6])

    def set_outputs(self, buffer: cython.int, arrays: Any) -> None:
        """Say where observations are written.

        Args:
            buffer: 0 or 1, the number of the buffer.
            arrays: Pairs of a key's number (-1 for the state layout) and a uint8 array (num_envs, bytes of a row) whose
                rows are contiguous, in the same order of keys for both buffers; the engine keeps them alive. A third
                element, if not 0, is the number of uint8 values that are to be widened to float16 in the row.
        """
        if buffer not in (0, 1) or len(arrays) > 16:
            raise NppError(f"buffer {buffer} must be 0 or 1, and {len(arrays)} outputs at most 16")
        self.buffers[buffer] = list(arrays)
        self.n_outputs = len(arrays)
        k: cython.int
        if cython.compiled:
            for k in range(self.n_outputs):
                key, array, widened = arrays[k]
                if array.dtype != np.uint8 or array.ndim != 2 or len(array) != self.num_envs or array.strides[1] != 1:
                    raise NppError(f"an output must be uint8 with {self.num_envs} contiguous rows")
                if not array.flags.writeable:
                    raise NppError("an output must be writable")
                self.outputs[k].key = key
                self.outputs[k].widened = widened
                self.outputs[k].stride = array.strides[0]
                self.outputs[k].base[buffer] = cython.cast(
                    cython.pointer(cython.uchar),
                    cython.cast(cython.size_t, int(array.__array_interface__["data"][0])),
                )

    def grow(self, stride: cython.Py_ssize_t) -> None:
        """Make room for larger states; the environments keep theirs."""
        if stride < self.stride or stride % 8:
            raise NppError(f"stride {stride} must be a multiple of 8, at least {self.stride}")
        states = np.zeros((self.num_envs, stride), np.uint8)
        states[:, : self.stride] = self.states
        self.states = states
        self.stride = stride
        if cython.compiled:
            self.state_base = cython.cast(cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(states)))

    def assign(
        self,
        i: cython.Py_ssize_t,
        level: LevelHandle,
        paths: Any,
        background: Any,
        limit_frames: int,
        gold: int,
        index: int,
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

    def set_paths(self, i: cython.Py_ssize_t, paths: Any) -> None:
        """Give environment i the path distances of its present door configuration (a `PathHandle` or None)."""
        self.path_handles[i] = paths
        self.slots["paths"][i] = 0 if paths is None else paths.address
        self.slots["doors_changed"][i] = 0

    def restart(self, indices: cython.longlong[::1]) -> None:
        """Begin an episode in each of these environments, at the start of their level."""
        k: cython.Py_ssize_t
        for k in range(indices.shape[0]):
            self.require(indices[k])
        if cython.compiled:
            with cython.nogil:
                for k in range(indices.shape[0]):
                    self.restart_one(indices[k])
        else:
            for k in range(indices.shape[0]):
                self.restart_one(indices[k])

    def reread(self, i: cython.Py_ssize_t) -> None:
        """Bring door key and potential in line with a state that was written from outside."""
        self.require(i)
        if cython.compiled:
            candidates: cython.ushort[8192]
            view: View
            self.look(cython.address(view), candidates, i)
            self.slot_base[i].door_key = door_key_of(self.slot_base[i].level, view.world.flags)
            if self.slot_base[i].paths != cython.NULL:
                self.slot_base[i].potential = potential(cython.address(view))
        else:
            view = self.look(None, None, i)
            self.slots["door_key"][i] = door_key_of(view.world.level, view.world.flags)
            if view.paths is not None:
                self.slots["potential"][i] = potential(view)

    def advance(self, actions: cython.uchar[::1], first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> None:
        """First half of a step for environments first..last-1; those marked fresh only get a zero reward."""
        i: cython.Py_ssize_t
        if actions.shape[0] != self.num_envs or first < 0 or last > self.num_envs:
            raise NppError(f"{actions.shape[0]} actions for environments {first}..{last} of {self.num_envs}")
        for i in range(first, last):
            if self.has_no_level(i):
                self.require(i)
            if actions[i] > 5:
                raise NppError(f"action {actions[i]} of environment {i}; an action is one of 0..5")
        if cython.compiled:
            with cython.nogil:
                for i in range(first, last):
                    self.advance_one(i, actions[i])
        else:
            for i in range(first, last):
                self.advance_one(i, int(actions[i]))

    def finish(self, buffer: cython.int, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> None:
        """Second half of a step: shaping and observations."""
        i: cython.Py_ssize_t
        if first < 0 or last > self.num_envs or self.buffers[buffer] is None:
            raise NppError(f"environments {first}..{last} of {self.num_envs}, buffer {buffer}")
        if cython.compiled:
            with cython.nogil:
                for i in range(first, last):
                    self.finish_one(i, buffer)
        else:
            for i in range(first, last):
                self.finish_one(i, buffer)

    def observe(self, buffer: cython.int, indices: cython.longlong[::1]) -> None:
        """Write the observations of some environments as they are."""
        k: cython.Py_ssize_t
        for k in range(indices.shape[0]):
            self.require(indices[k])
        if self.buffers[buffer] is None:
            raise NppError(f"buffer {buffer} was not set")
        if cython.compiled:
            candidates: cython.ushort[8192]
            view: View
            with cython.nogil:
                for k in range(indices.shape[0]):
                    self.look(cython.address(view), candidates, indices[k])
                    self.write_one(cython.address(view), indices[k], buffer)
        else:
            for k in range(indices.shape[0]):
                self.write_one(self.look(None, None, indices[k]), indices[k], buffer)

    def write_key(self, i: cython.Py_ssize_t, key: cython.int, out: Any) -> None:
        """Write one observation of environment i into a uint8 array of its exact size."""
        self.require(i)
        if cython.compiled:
            candidates: cython.ushort[8192]
            view: View
            self.look(cython.address(view), candidates, i)
            write_observation(
                cython.address(view),
                key,
                cython.cast(cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(out))),
            )
        else:
            write_observation(self.look(None, None, i), key, out)

    def write_key_range(self, key: cython.int, out: Any) -> None:
        """Write one observation of every environment into rows (num_envs, bytes) of a uint8 array."""
        i: cython.Py_ssize_t
        for i in range(self.num_envs):
            if self.has_no_level(i):
                self.require(i)
        if cython.compiled:
            candidates: cython.ushort[8192]
            view: View
            base: cython.pointer(cython.uchar) = cython.cast(
                cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(out))
            )
            row_bytes: cython.Py_ssize_t = out.strides[0]
            with cython.nogil:
                for i in range(self.num_envs):
                    self.look(cython.address(view), candidates, i)
                    write_observation(cython.address(view), key, base + i * row_bytes)
        else:
            for i in range(self.num_envs):
                write_observation(self.look(None, None, i), key, out[i])

    @cython.cfunc
    def has_no_level(self, i: cython.Py_ssize_t) -> cython.bint:
        """Whether environment i waits for a level."""
        if cython.compiled:
            return self.slot_base[i].level == cython.NULL
        else:
            return self.level_handles[i] is None

    def require(self, i: cython.Py_ssize_t) -> None:
        """Make sure that environment i exists and has a level."""
        if i < 0 or i >= self.num_envs or self.level_handles[i] is None:
            raise IndexError(f"environment {i} of {self.num_envs} has no level")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look(
        self, view: cython.pointer(View), candidates: cython.pointer(cython.ushort), i: cython.Py_ssize_t
    ) -> cython.void:
        """Point a view at environment i."""
        if cython.compiled:
            bind(
                cython.address(view.world),
                self.slot_base[i].level,
                self.state_base + i * self.stride,
                candidates,
            )
            view.paths = self.slot_base[i].paths
            view.background = self.slot_base[i].background
            view.limit_frames = self.slot_base[i].limit_frames
            view.gold_total = self.slot_base[i].gold_total
            view.k_entities = self.k_entities
            view.max_nodes = self.max_nodes
            view.max_edges = self.max_edges
        else:
            slot = self.slots[i]
            paths = self.path_handles[i]
            return plain_view(
                unpack_world(self.level_handles[i].level, self.states[i]),
                state=self.states[i],
                paths=None if paths is None else paths.paths,
                background=self.backgrounds[i],
                limit_frames=int(slot["limit_frames"]),
                gold_total=int(slot["gold_total"]),
                k_entities=self.k_entities,
                max_nodes=self.max_nodes,
                max_edges=self.max_edges,
            )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def restart_one(self, i: cython.Py_ssize_t) -> cython.void:
        """Begin an episode."""
        if cython.compiled:
            candidates: cython.ushort[8192]
            view: View
            slot: cython.pointer(Slot) = cython.address(self.slot_base[i])
            restart_block(slot.level, self.state_base + i * self.stride, self.stride)
            self.look(cython.address(view), candidates, i)
            slot.potential = potential(cython.address(view)) if slot.paths != cython.NULL else 0.0
            slot.door_key = door_key_of(slot.level, view.world.flags)
            slot.episode_return = 0.0
            slot.episode_steps = 0
            slot.fresh = 1
            slot.doors_changed = 0
            slot.ended = 0
        else:
            restart_block(self.level_handles[i].level, self.states[i], self.stride)
            view = self.look(None, None, i)
            slot = self.slots[i]
            slot["potential"] = potential(view) if view.paths is not None else 0.0
            slot["door_key"] = door_key_of(view.world.level, view.world.flags)
            for name in ("episode_return", "episode_steps", "doors_changed", "ended"):
                slot[name] = 0
            slot["fresh"] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def advance_one(self, i: cython.Py_ssize_t, action: cython.int) -> cython.void:
        """Run the physics of one step and judge what happened."""
        gold: cython.int
        switches: cython.int
        ticks: cython.int
        key: cython.ulonglong
        if cython.compiled:
            slot: cython.pointer(Slot) = cython.address(self.slot_base[i])
            block: cython.pointer(cython.uchar) = self.state_base + i * self.stride
            ninja: cython.pointer(Ninja) = cython.cast(cython.pointer(Ninja), block)
            self.reward_base[i] = 0.0
            self.terminated_base[i] = 0
            self.truncated_base[i] = 0
            if slot.fresh:
                return
            gold = ninja.gold
            switches = ninja.switches
            ticks = advance_block(slot.level, block, input_of(action), self.frame_skip, 1)
            self.reward_base[i] = event_reward(cython.address(self.weights), ninja, ticks, gold, switches)
            self.terminated_base[i] = ninja.state == 6 or ninja.state == 8
            self.truncated_base[i] = (
                self.terminated_base[i] == 0 and slot.limit_frames > 0 and ninja.frame >= slot.limit_frames
            )
            slot.ended = self.terminated_base[i] or self.truncated_base[i]
            slot.episode_steps += 1
            if slot.paths != cython.NULL and slot.level.n_doors > 0:
                key = door_key_of(slot.level, block + cython.sizeof(Ninja) + slot.level.n_movers * cython.sizeof(Mover))
                if key != slot.door_key:
                    slot.door_key = key
                    slot.doors_changed = 1
        else:
            slot = self.slots[i]
            level = self.level_handles[i].level
            self.rewards[i], self.terminated[i], self.truncated[i] = 0.0, False, False
            if slot["fresh"]:
                return
            before = ninja_view(self.states[i])
            gold, switches = int(before["gold"]), int(before["switches"])
            ticks = advance_block(level, self.states[i], input_of(action), self.frame_skip, 1)
            view = self.look(None, None, i)
            n = view.world.ninja
            self.rewards[i] = event_reward(self.weights, n, ticks, gold, switches)
            self.terminated[i] = n.state in (6, 8)
            limit = int(slot["limit_frames"])
            self.truncated[i] = not self.terminated[i] and limit > 0 and n.frame >= limit
            slot["ended"] = self.terminated[i] or self.truncated[i]
            slot["episode_steps"] += 1
            key = door_key_of(level, view.world.flags)
            if view.paths is not None and key != int(slot["door_key"]):
                slot["door_key"] = key
                slot["doors_changed"] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def finish_one(self, i: cython.Py_ssize_t, buffer: cython.int) -> cython.void:
        """Add the shaping of one step and write the observations."""
        after: cython.double
        if cython.compiled:
            candidates: cython.ushort[8192]
            view: View
            slot: cython.pointer(Slot) = cython.address(self.slot_base[i])
            self.look(cython.address(view), candidates, i)
            if slot.fresh == 0:
                if self.weights.shaping_weight != 0 and slot.paths != cython.NULL:
                    after = potential(cython.address(view))
                    self.reward_base[i] += shaping_reward(
                        cython.address(self.weights), slot.potential, after, self.terminated_base[i]
                    )
                    slot.potential = after
                slot.episode_return += self.reward_base[i]
            slot.fresh = 0
            self.write_one(cython.address(view), i, buffer)
        else:
            view = self.look(None, None, i)
            slot = self.slots[i]
            if not slot["fresh"]:
                if self.weights.shaping_weight != 0 and view.paths is not None:
                    after = potential(view)
                    self.rewards[i] += shaping_reward(
                        self.weights, float(slot["potential"]), after, bool(self.terminated[i])
                    )
                    slot["potential"] = after
                slot["episode_return"] += self.rewards[i]
            slot["fresh"] = 0
            self.write_one(view, i, buffer)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_one(self, view: cython.pointer(View), i: cython.Py_ssize_t, buffer: cython.int) -> cython.void:
        """Write all selected observations of environment i."""
        k: cython.int
        j: cython.int
        if cython.compiled:
            wide: cython.pointer(cython.ushort)
            row: cython.pointer(cython.uchar)
            for k in range(self.n_outputs):
                row = self.outputs[k].base[buffer] + i * self.outputs[k].stride
                if self.outputs[k].key < 0:
                    write_state_header(
                        row,
                        self.slot_base[i].level.digest,
                        self.slot_base[i].level_index,
                        self.slot_base[i].limit_frames,
                        self.slot_base[i].episode_steps,
                    )
                    memcpy(row + 32, self.state_base + i * self.stride, self.stride)
                    continue
                if self.outputs[k].widened == 0:
                    write_observation(view, self.outputs[k].key, row)
                    continue
                # Bytes are written into the upper half of their row of float16 and widened from the front.
                write_observation(view, self.outputs[k].key, row + self.outputs[k].widened)
                wide = cython.cast(cython.pointer(cython.ushort), row)
                for j in range(self.outputs[k].widened):
                    wide[j] = half(row[self.outputs[k].widened + j])
        else:
            for key, array, widened in self.buffers[buffer]:
                if key < 0:
                    slot = self.slots[i]
                    context = (int(slot[name]) for name in ("level_index", "limit_frames", "episode_steps"))
                    write_state_header(array[i], self.level_handles[i].level.digest, *context)
                    array[i][32:] = self.states[i]
                elif widened:
                    row = np.zeros(widened, np.uint8)
                    write_observation(view, key, row)
                    array[i].view(np.uint16)[:] = [half(int(value)) for value in row]
                else:
                    write_observation(view, key, array[i])
