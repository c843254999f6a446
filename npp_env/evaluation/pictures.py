"""Pictures of many episodes over their level: tracks, and heat maps of visits and deaths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.evaluation.options import COLOURINGS
from npp_env.evaluation.tracks import Track
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.model import Level
from npp_env.render import palette
from npp_env.render.legend import Legend, colour_ramp
from npp_env.render.palette import Colour
from npp_env.render.pen import Pen
from npp_env.render.picture import PICTURE_SHAPE, draw_rgb
from npp_env.sim.geometry import geometry_of

CELL_PX = 12
OUTCOME_COLOURS: dict[str, Colour] = {"won": (30, 140, 80), "died": (206, 46, 46), "alive": (40, 110, 210)}
FASTEST_PX = 6.0
"""Speeds from here on have the same colour; running reaches 3.3 px a tick."""
_DOOR_COLOURS: dict[int, Colour] = {
    EntityKind.DOOR: palette.DOOR,
    EntityKind.LOCKED_DOOR: palette.LOCKED,
    EntityKind.TRAP_DOOR: palette.TRAP,
}
_SWITCHED = (int(EntityKind.LOCKED_DOOR), int(EntityKind.TRAP_DOOR))
_DOOR_NAMES = ((EntityKind.DOOR, "door"), (EntityKind.LOCKED_DOOR, "locked"), (EntityKind.TRAP_DOOR, "trap"))
_BINS = 64
_SWITCH_RING, _EXIT_RING = (20, 90, 200), (225, 35, 130)
_MARKS = (("start", palette.INK), ("switch", _SWITCH_RING), ("exit", _EXIT_RING))


def visit_counts(tracks: Sequence[Track], cell_px: int = CELL_PX) -> NDArray[np.int64]:
    """How often ninjas were in each square of a level; what lies beyond the map counts at its border.

    Returns:
        int64 (600 / cell_px, 1056 / cell_px), by row and column; a fresh array.

    Raises:
        NppError: cell_px does not divide 24.
    """
    return _counts(np.concatenate([track.places for track in tracks]) if tracks else np.zeros((0, 2)), cell_px)


def death_counts(tracks: Sequence[Track], cell_px: int = CELL_PX) -> NDArray[np.int64]:
    """How many ninjas died in each square of a level, as `visit_counts` counts."""
    ends = [track.places[-1] for track in tracks if track.outcome == "died"]
    return _counts(np.array(ends).reshape(-1, 2), cell_px)


def _counts(places: NDArray[Any], cell_px: int) -> NDArray[np.int64]:
    if type(cell_px) is not int or cell_px < 1 or 24 % cell_px:
        raise NppError(f"cell_px is {cell_px!r}; it must be a divisor of 24")
    rows, columns = PICTURE_SHAPE[0] // cell_px, PICTURE_SHAPE[1] // cell_px
    row = np.clip(places[:, 1] // cell_px, 0, rows - 1).astype(np.int64)
    column = np.clip(places[:, 0] // cell_px, 0, columns - 1).astype(np.int64)
    counts: NDArray[np.int64] = np.bincount(row * columns + column, minlength=rows * columns).reshape(rows, columns)
    return counts


def draw_tracks(tracks: Sequence[Track], colour_by: str = "time") -> NDArray[np.uint8]:
    """Draw tracks over their level, with a legend.

    Args:
        tracks: At least one, all of one level.
        colour_by: `time` since the start of each, `outcome`, or `speed`.

    Returns:
        RGB, uint8 (600 + LEGEND_PX, 1056, 3); a fresh array.

    Raises:
        NppError: There is no track, they are of several levels, or nothing is coloured so.
    """
    if colour_by not in COLOURINGS:
        raise NppError(f"colour_by is {colour_by!r}; it must be one of {', '.join(COLOURINGS)}")
    level = _level_of(tracks)
    picture = _pale_level(level)
    longest = max(1, *(int(track.frames[-1]) for track in tracks))
    ramp = colour_ramp("turbo", _BINS)
    for track in tracks:
        if colour_by == "outcome":
            _draw_line(picture, track.places, OUTCOME_COLOURS[track.outcome])
        elif len(track.places) > 1:
            shares = track.frames[:-1] / longest if colour_by == "time" else track.speeds / FASTEST_PX
            _draw_in_colours(picture, track.places, shares, ramp)
    _mark_ends(picture, tracks)
    _mark_goals(picture, level)
    legend = Legend(picture, level.name)
    legend.marks(_marks_of(level))
    if colour_by == "outcome":
        legend.outcomes(OUTCOME_COLOURS)
    else:
        ends = ("0 s", f"{longest / 60:.1f} s") if colour_by == "time" else ("0", f"{FASTEST_PX:g}+ px a tick")
        legend.ramp(ramp, colour_by, *ends)
    return legend.finish(_summary(tracks))


def draw_visits(tracks: Sequence[Track], cell_px: int = CELL_PX) -> NDArray[np.uint8]:
    """Draw where ninjas were, squares coloured by the logarithm of their visits; see `draw_tracks`."""
    return _draw_counts(tracks, visit_counts(tracks, cell_px), "visits", cell_px)


def draw_deaths(tracks: Sequence[Track], cell_px: int = CELL_PX) -> NDArray[np.uint8]:
    """Draw where ninjas died, squares coloured by how many; see `draw_tracks`."""
    return _draw_counts(tracks, death_counts(tracks, cell_px), "deaths", cell_px)


def _draw_counts(tracks: Sequence[Track], counts: NDArray[np.int64], name: str, cell_px: int) -> NDArray[np.uint8]:
    level = _level_of(tracks)
    picture = _pale_level(level)
    most = max(int(counts.max()), 1)
    ramp = colour_ramp("viridis" if name == "visits" else "hot", 256)
    # With a single value the ramp has no length; its upper end is taken.
    shares = np.log(np.maximum(counts, 1)) / np.log(most) if most > 1 else np.ones(counts.shape)
    colours = ramp[np.rint(255 * shares).astype(np.int64)].astype(np.float64)
    large = np.kron(colours, np.ones((cell_px, cell_px, 1)))
    strength = 0.8 * np.kron(counts > 0, np.ones((cell_px, cell_px)))[..., None]
    picture[:] = np.rint(picture * (1 - strength) + large * strength)
    _mark_goals(picture, level)
    legend = Legend(picture, level.name)
    legend.marks(_marks_of(level))
    legend.ramp(ramp, f"{name} by {cell_px} px", "1", f"{most:,}")
    return legend.finish(_summary(tracks))


def _level_of(tracks: Sequence[Track]) -> Level:
    if not tracks:
        raise NppError("there is no track to draw; give at least one")
    others = {track.level.hash for track in tracks}
    if len(others) > 1:
        raise NppError(f"the tracks are of {len(others)} levels; draw those of one level at a time")
    return tracks[0].level


def _pale_level(level: Level) -> NDArray[np.uint8]:
    """The start of a level, with its colours drawn back behind those of the data."""
    geometry = geometry_of(level)
    picture = draw_rgb(level, geometry, geometry["initial"], hud=False).astype(np.float64)
    grey = picture.mean(axis=2, keepdims=True)
    muted = 0.55 * picture + 0.45 * grey
    pale: NDArray[np.uint8] = np.rint(muted + (255 - muted) * 0.18).astype(np.uint8)
    return pale


def _draw_line(picture: NDArray[np.uint8], places: NDArray[np.float32], colour: Colour) -> None:
    Pen(picture).outline([(float(x), float(y)) for x, y in places], colour, 1, closed=False)


def _draw_in_colours(
    picture: NDArray[np.uint8], places: NDArray[np.float32], shares: NDArray[Any], ramp: NDArray[np.uint8]
) -> None:
    """Draw a line whose colour changes; pieces of one colour are drawn at once."""
    bins = np.clip(shares * _BINS, 0, _BINS - 1).astype(np.int64)
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    for first, last in zip(starts.tolist(), [*starts[1:].tolist(), len(bins)], strict=True):
        red, green, blue = ramp[bins[first]].tolist()
        _draw_line(picture, places[first : last + 1], (red, green, blue))


def _mark_ends(picture: NDArray[np.uint8], tracks: Sequence[Track]) -> None:
    """A cross where one died, a disc where one won, a ring where one was still under way."""
    pen = Pen(picture)
    for track in tracks:
        x, y = (float(value) for value in track.places[-1])
        colour = OUTCOME_COLOURS[track.outcome]
        if track.outcome == "died":
            pen.line((x - 4, y - 4), (x + 4, y + 4), colour, 2)
            pen.line((x - 4, y + 4), (x + 4, y - 4), colour, 2)
        elif track.outcome == "won":
            pen.disc(x, y, 3.5, colour)
        else:
            pen.ring(x, y, 3.5, colour, 1.5)


def _mark_goals(picture: NDArray[np.uint8], level: Level) -> None:
    """Rings around spawn, switches and exits, so that they show through whatever is drawn over them."""
    pen = Pen(picture)
    entities = geometry_of(level)["entities"]
    for row in entities[entities["kind"] == EntityKind.EXIT]:
        pen.ring(float(row["x"]), float(row["y"]), 11.0, palette.PAPER, 4)
        pen.ring(float(row["x"]), float(row["y"]), 11.0, _SWITCH_RING, 2)
        pen.ring(float(row["x0"]), float(row["y0"]), 17.0, palette.PAPER, 4)
        pen.ring(float(row["x0"]), float(row["y0"]), 17.0, _EXIT_RING, 2)
    geometry = geometry_of(level)
    kind_of_slot = {int(row["slot"]): int(row["kind"]) for row in entities if int(row["kind"]) in _DOOR_COLOURS}
    for wall in geometry["walls"][geometry["walls"]["door"] >= 0]:
        a, b = ((float(wall[f"x{k}"]), float(wall[f"y{k}"])) for k in (1, 2))
        pen.line(a, b, palette.PAPER, 6)
        pen.line(a, b, _DOOR_COLOURS[kind_of_slot[int(wall["door"])]], 4)
    for row in entities[np.isin(entities["kind"], _SWITCHED)]:
        pen.ring(float(row["x"]), float(row["y"]), 9.0, palette.PAPER, 4)
        pen.ring(float(row["x"]), float(row["y"]), 9.0, _DOOR_COLOURS[int(row["kind"])], 2)
    x, y = level.spawn
    pen.ring(x, y, 8.0, palette.PAPER, 4)
    pen.ring(x, y, 8.0, palette.INK, 2)


def _marks_of(level: Level) -> list[tuple[str, Colour]]:
    """What is marked in the pictures of a level."""
    doors = [(name, _DOOR_COLOURS[kind]) for kind, name in _DOOR_NAMES if level.count(kind)]
    return [*_MARKS, *doors]


def _summary(tracks: Sequence[Track]) -> str:
    count = {name: sum(track.outcome == name for track in tracks) for name in OUTCOME_COLOURS}
    parts = ", ".join(f"{number} {name}" for name, number in count.items() if number)
    return f"{len(tracks)} run{'s' if len(tracks) > 1 else ''}: {parts}"
