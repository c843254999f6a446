"""Films: what they hold is what the simulation does, and what is packed can be read by the documentation alone."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

from npp_env.errors import RecordingError
from npp_env.evaluation.film import Film, figure_lines, film
from npp_env.level.entity_kinds import EntityKind
from npp_env.recording import Recording, load_shipped_recording
from npp_env.recording.replay import replay
from npp_env.render.drawing import DISC, LINES, LOOP, POLYGON, RING, TEXT, DrawingPen
from npp_env.render.entity_shapes import SHAPES
from npp_env.render.pen import Pen
from npp_env.render.picture import draw_rgb
from npp_env.sim import Simulation

NAMES = ["mixed/factory", "mixed/laser_room", "doors/two_keys", "thwumps/shove", "mines/toggle_steps"]


def unpacked(packed: bytes) -> dict:
    """A film by the words of `Film.pack`, without its code."""
    data, at = zlib.decompress(packed), 0

    def take(dtype: str, count: int) -> np.ndarray:
        nonlocal at
        part = np.frombuffer(data, dtype, count, at)
        at += part.nbytes
        return part

    frames, entities, events, text = take("<i4", 4).tolist()
    counts, drawing = take("<i4", entities), take("<i4", events)
    ticks, x, y = take("<u2", events), take("<i2", events), take("<i2", events)
    moves = take("<i2", frames + 1), take("<i2", frames + 1)
    found = {"gold": take("<u2", frames + 1)}
    for name, count in (("states", frames + 1), ("switches", frames + 1), ("inputs", frames)):
        found[name] = take("u1", count)
    joints = sum(count for count, _, _ in figure_lines())
    found["figures"] = take("i1", 2 * joints * (frames + 1)).reshape(joints, 2, frames + 1).transpose(2, 0, 1)
    found["places"] = np.cumsum(moves, axis=1, dtype=np.int16).T
    found["drawings"] = json.loads(data[at : at + text])
    assert at + text == len(data)
    rows, first = [], 0
    for entity, count in enumerate(counts.tolist()):
        part = slice(first, first + count)
        columns = [np.cumsum(column[part].astype(np.int64)) for column in (ticks, x, y)]
        rows += [(entity, t, d, a, b) for t, d, a, b in zip(columns[0], drawing[part], *columns[1:], strict=True)]
        first += count
    found["events"] = np.array(rows).reshape(-1, 5)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_film_tells_what_happened(name):
    recording = load_shipped_recording(name)
    result = replay(recording, trace=True)
    made = film(recording)
    assert (made.frames, made.outcome, int(made.gold[-1])) == (result.frames, result.outcome, result.gold)
    assert np.abs(made.places[1:] / 16 - result.trace.ninja[:, :2]).max() <= 1 / 32
    assert (made.states[1:] == result.trace.state).all()
    assert (made.inputs == recording.inputs[: result.frames] & 7).all()
    found = unpacked(made.pack())
    for key in ("places", "figures", "states", "gold", "switches", "inputs", "events"):
        assert (found[key] == getattr(made, key)).all(), key
    assert found["drawings"] == json.loads(json.dumps(made.drawings))


@pytest.mark.parametrize("name", NAMES)
def test_every_entity_is_where_it_was(name):
    recording = load_shipped_recording(name)
    made = film(recording)
    simulation = Simulation(recording.level)
    kinds = [EntityKind(int(kind)) for kind in simulation.geometry["entities"]["kind"]]
    order = sorted(range(len(kinds)), key=lambda number: (SHAPES[kinds[number]][0], number))
    assert made.layers == tuple(sum(SHAPES[kind][0] == layer for kind in kinds) for layer in range(3))
    for tick in range(made.frames + 1):
        if tick:
            simulation.advance(int(recording.inputs[tick - 1]))
        if tick % 23:
            continue
        for position, number in enumerate(order):
            row, kind = simulation.geometry["entities"][number], kinds[number]
            place = simulation.movers[row["slot"]] if kind.row.moves else row
            own = made.events[(made.events[:, 0] == position) & (made.events[:, 1] <= tick)][-1]
            assert abs(own[3] / 16 - place["x"]) <= 1 / 32
            assert abs(own[4] / 16 - place["y"]) <= 1 / 32


def redrawn(made: Film, tick: int, background: np.ndarray) -> np.ndarray:
    """The entities of a tick on a picture, from the marks."""
    picture = background.copy()
    pen = Pen(picture)
    for position in range(sum(made.layers)):
        own = made.events[(made.events[:, 0] == position) & (made.events[:, 1] <= tick)][-1]
        x, y = own[3] / 16, own[4] / 16
        for mark in made.drawings[own[2]]:
            kind, number, rest = mark[0], mark[1], [value / 8 for value in mark[2:] if not isinstance(value, str)]
            colour = (number >> 16, number >> 8 & 255, number & 255)
            first = 1 if kind in (LINES, LOOP) else 0
            points = [(x + a, y + b) for a, b in zip(rest[first::2], rest[first + 1 :: 2], strict=False)]
            if kind == DISC:
                pen.disc(*points[0], rest[2], colour)
            elif kind == RING:
                pen.ring(*points[0], rest[2], colour, rest[3])
            elif kind == POLYGON:
                pen.polygon(points, colour)
            elif kind in (LINES, LOOP):
                pen.outline(points, colour, max(round(rest[0]), 1), closed=kind == LOOP)
    return picture


@pytest.mark.parametrize("name", NAMES)
def test_marks_show_what_the_picture_shows(name):
    recording = load_shipped_recording(name)
    made, simulation = film(recording), Simulation(recording.level)
    tick = made.frames // 2
    for byte in recording.inputs[:tick].tolist():
        simulation.advance(byte)
    shown = draw_rgb(recording.level, simulation.geometry, simulation.state, hud=False).astype(int)
    from npp_env.render.picture import build_rgb_background

    again = redrawn(made, tick, build_rgb_background(recording.level)).astype(int)
    x, y = made.places[tick] // 16
    away = np.ones(shown.shape[:2], bool)
    away[max(y - 22, 0) : y + 22, max(x - 22, 0) : x + 22] = False  # the ninja is no entity
    differs = np.abs(shown - again).max(axis=2) > 60
    assert differs[away].mean() < 2e-4
    plain = build_rgb_background(recording.level).astype(int)
    assert (np.abs(shown - plain).max(axis=2) > 60)[away].sum() > 200


def test_a_pen_keeps_marks_relative_to_a_place():
    pen = DrawingPen((100.0, 50.0))
    pen.disc(101, 50, 2.5, (255, 0, 16))
    pen.line((100, 50), (104, 52), (0, 0, 1), 2)
    pen.box(100, 50, 1, 1, (0, 0, 2))
    pen.brush((100, 50), [([(0.0, 0.0), (1.0, 1.0)], 1.5)], (0, 0, 3))
    pen.text(100, 40, "x", (0, 0, 4), right=True)
    assert pen.marks == (
        (DISC, 0xFF0010, 8, 0, 20),
        (LINES, 1, 16, 0, 0, 32, 16),
        (POLYGON, 2, -8, -8, 8, -8, 8, 8, -8, 8),
        (LINES, 3, 12, 0, 0, 8, 8),
        (TEXT, 4, 0, -80, "x", 1),
    )


def test_what_cannot_be_filmed_is_refused(monkeypatch):
    recording = load_shipped_recording("first_steps/walk")
    with pytest.raises(RecordingError, match="not in the recording"):
        film(Recording(None, recording.level_hash, recording.inputs))
    monkeypatch.setattr("npp_env.evaluation.film.MOST_FRAMES", 10)
    with pytest.raises(RecordingError, match="at most 10"):
        film(recording)


def test_a_film_without_a_frame():
    level = load_shipped_recording("first_steps/walk").level
    made = film(Recording.of_level(level, np.zeros(0, np.uint8)))
    assert (made.frames, made.outcome, len(made.places)) == (0, "alive", 1)
    assert unpacked(made.pack())["inputs"].size == 0
