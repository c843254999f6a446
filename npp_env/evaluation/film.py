"""A recording played once more, as all that a picture of every tick needs: places, poses, and drawings of entities."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.model import Level
from npp_env.recording import Recording
from npp_env.render.drawing import UNITS_PER_PX, DrawingPen, Mark
from npp_env.render.entity_shapes import SHAPES
from npp_env.render.frames import aim_and_shot
from npp_env.render.ninja_pose import strokes
from npp_env.render.shown import Shown
from npp_env.sim.outcome import NinjaState, Outcome, outcome_of
from npp_env.sim.simulation import Simulation

PLACE_UNITS = 16
"""Places are kept in sixteenths of a pixel."""
MOST_FRAMES = 36_000
"""Ten minutes of play; longer ones would fill a page with tens of megabytes."""
_FARTHEST = 2047.0
# Their drawing changes with the time, or with where the ninja is, although their own state stays.
_PULSING = frozenset({EntityKind.ZAP_DRONE, EntityKind.DEATH_BALL, EntityKind.EVIL_NINJA, EntityKind.CHASER_DRONE})


@dataclass(frozen=True, eq=False)
class Film:
    """What happened in a run, tick by tick; row 0 is the start.

    Attributes:
        level: The level.
        outcome: `won`, `died` or `alive`.
        places: int16 (frames + 1, 2), where the ninja is, in sixteenths of a pixel.
        figures: int8 (frames + 1, points, 2), joints of the ninja around its place, in eighths of a pixel; the lines
            that they form are those of `FIGURE_LINES`.
        states: uint8 (frames + 1,), see `NinjaState`.
        gold: uint16 (frames + 1,), pieces collected.
        switches: uint8 (frames + 1,), exit switches taken.
        inputs: uint8 (frames,), the inputs of each tick.
        drawings: The different ways in which entities look, as marks around their place.
        events: int32 (n, 5): entity, tick, drawing, x and y in sixteenths; sorted, the first of every entity at 0.
        layers: How many entities stand behind, among and above, in this order.
    """

    level: Level
    outcome: str
    places: NDArray[np.int16]
    figures: NDArray[np.int8]
    states: NDArray[np.uint8]
    gold: NDArray[np.uint16]
    switches: NDArray[np.uint8]
    inputs: NDArray[np.uint8]
    drawings: tuple[tuple[Mark, ...], ...]
    events: NDArray[np.int32]
    layers: tuple[int, int, int]

    @property
    def frames(self) -> int:
        """Ticks played."""
        return len(self.inputs)

    def pack(self) -> bytes:
        """Everything in one zlib stream of little-endian numbers, as the script of a page unpacks it.

        int32: frames, entities, events, bytes of the drawings; events of each entity; drawing of each event. int16: for
        each event ticks since the one before, x and y since the one before; x, y of the ninja since the tick before;
        gold. 8 bits: states, switches, inputs, figures by joint; drawings as JSON.
        """
        text = json.dumps(self.drawings, separators=(",", ":")).encode()
        entity, tick, drawing, x, y = (self.events[:, k] for k in range(5))
        first = np.diff(entity, prepend=-1) != 0
        since = [np.where(first, column, np.diff(column, prepend=0)).astype("<i2") for column in (tick, x, y)]
        moves = [np.diff(self.places[:, k], prepend=np.int16(0)).astype("<i2") for k in (0, 1)]
        counts = np.bincount(entity, minlength=sum(self.layers)).astype("<i4")
        sizes = np.array([self.frames, sum(self.layers), len(self.events), len(text)], "<i4")
        figures = np.ascontiguousarray(self.figures.reshape(len(self.figures), -1).T)
        parts = [sizes, counts, drawing.astype("<i4"), *since, *moves, self.gold.astype("<u2")]
        parts += [self.states, self.switches, self.inputs, figures]
        return zlib.compress(b"".join(part.tobytes() for part in parts) + text, 9)


def figure_lines() -> list[tuple[int, float, bool]]:
    """The lines of a ninja's figure: number of joints, width in pixels, and whether it is the head band."""
    ninja = np.zeros((), Simulation(_any_level()).ninja.dtype)
    return [(len(stroke.points), stroke.width, stroke.is_band) for stroke in strokes(ninja)]


def _any_level() -> Level:
    from npp_env.level.shipped import load_shipped

    return load_shipped("first_steps/walk")


def film(recording: Recording) -> Film:
    """Play a recording and keep what a page shows of it.

    Raises:
        RecordingError: It holds no level, or is too long.
    """
    if recording.level is None:
        raise RecordingError(f"level {recording.level_hash} is not in the recording; it cannot be shown")
    if len(recording.inputs) > MOST_FRAMES:
        raise RecordingError(f"the recording has {len(recording.inputs)} frames; a page shows at most {MOST_FRAMES}")
    camera = _Camera(recording.level)
    played = 0
    for byte in recording.inputs.tolist():
        camera.simulation.advance(byte & 7)
        camera.take()
        played += 1
        if outcome_of(int(camera.simulation.ninja["state"])) is not Outcome.RUNNING:
            break
    return camera.finish(recording.inputs[:played] & np.uint8(7))


class _Camera:
    """Takes the picture of each tick as data."""

    def __init__(self, level: Level) -> None:
        self.simulation = Simulation(level)
        entities = self.simulation.geometry["entities"]
        kinds = [EntityKind(int(kind)) for kind in entities["kind"]]
        layer_of = [SHAPES[kind][0] for kind in kinds]
        self._order = sorted(range(len(kinds)), key=lambda number: (layer_of[number], number))
        self._kinds, self._rows = kinds, entities
        self._layers = (layer_of.count(0), layer_of.count(1), layer_of.count(2))
        self._numbers: dict[tuple[Mark, ...], int] = {}
        self._last: list[tuple[int, int, int] | None] = [None] * len(kinds)
        self._seen: list[bytes] = [b""] * len(kinds)
        self._events: list[tuple[int, int, int, int, int]] = []
        self._places: list[tuple[int, int]] = []
        self._figures: list[list[int]] = []
        self._facts: list[tuple[int, int, int]] = []
        self.take()

    def take(self) -> None:
        """The picture of the present state."""
        ninja = self.simulation.ninja
        tick = len(self._places)
        self._places.append((_place(float(ninja["x"])), _place(float(ninja["y"]))))
        joints = [value for stroke in strokes(ninja) for point in stroke.points for value in point]
        self._figures.append([min(max(round(UNITS_PER_PX * value), -127), 127) for value in joints])
        self._facts.append((int(ninja["state"]), int(ninja["gold"]), int(ninja["switches"])))
        movers, flags = self.simulation.movers, self.simulation.flags
        for position, number in enumerate(self._order):
            row, kind = self._rows[number], self._kinds[number]
            slot, link = int(row["slot"]), int(row["link"])
            flag = int(flags[slot]) if kind.row.flag is not None else 0
            mover = movers[slot] if kind.row.moves else None
            emerged = movers[link] if kind.row.emerged is not None and movers[link]["cell"] >= 0 else None
            seen = bytes((flag,)) + (b"" if mover is None else mover.tobytes())
            restless = kind in _PULSING or kind.row.aims or emerged is not None
            if seen == self._seen[number] and not restless:
                continue
            self._seen[number] = b"" if emerged is not None else seen
            aim, shot = (None, None)
            if kind.row.aims:
                aim, shot = aim_and_shot(self.simulation.handle, self.simulation.state, number)
            shown = Shown(row, flag, mover, int(ninja["frame"]), emerged, aim, shot)
            self._note(position, tick, number, shown, kind)

    def _note(self, position: int, tick: int, number: int, shown: Shown, kind: EntityKind) -> None:
        x, y = (_place(value) for value in shown.place)
        pen = DrawingPen((x / PLACE_UNITS, y / PLACE_UNITS))
        SHAPES[kind][1](pen, shown)
        drawing = self._numbers.setdefault(pen.marks, len(self._numbers))
        if self._last[number] != (drawing, x, y):
            self._last[number] = (drawing, x, y)
            self._events.append((position, tick, drawing, x, y))

    def finish(self, inputs: NDArray[np.uint8]) -> Film:
        """All that was taken."""
        facts = np.array(self._facts)
        state = NinjaState(int(facts[-1, 0]))
        events = np.array(sorted(self._events), np.int32).reshape(-1, 5)
        return Film(
            self.simulation.level,
            outcome_of(state).label,
            np.array(self._places, np.int16),
            np.array(self._figures, np.int8).reshape(len(facts), -1, 2),
            facts[:, 0].astype(np.uint8),
            facts[:, 1].astype(np.uint16),
            facts[:, 2].astype(np.uint8),
            inputs.copy(),
            tuple(self._numbers),
            events,
            self._layers,
        )


def _place(value: float) -> int:
    return round(PLACE_UNITS * min(max(value, -_FARTHEST), _FARTHEST)) if value == value else 0
