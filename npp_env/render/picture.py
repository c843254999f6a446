"""The picture of a state for people: 1056 x 600, RGB, drawn without a display."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.level.cache import Artifact, LevelCache, default_cache
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.model import Level
from npp_env.render import palette
from npp_env.render.entity_shapes import SHAPES
from npp_env.render.frames import aim_and_shot
from npp_env.render.ninja_pose import draw_ninja
from npp_env.render.opencv import load_cv2
from npp_env.render.outlines import draw_outlines
from npp_env.render.pen import Pen
from npp_env.render.shown import Shown
from npp_env.render.tile_coverage import TILE_PX, level_coverage
from npp_env.sim.geometry import Geometry
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.outcome import Outcome, outcome_of
from npp_env.sim.views import flags_view, movers_view, ninja_view

PICTURE_SHAPE = (600, 1056, 3)
_EDGE_PX = 3
_OUTCOME_COLOURS = {Outcome.DIED: palette.HUD_DIED, Outcome.WON: palette.HUD_WON}


def build_rgb_tiles(level: Level, tile_px: int = TILE_PX) -> NDArray[np.uint8]:
    """Draw the tiles of a level, so many pixels wide; a fresh array (25 * tile_px, 44 * tile_px, 3)."""
    cv2 = load_cv2()
    solid = level_coverage(level, tile_px)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (_EDGE_PX, _EDGE_PX))
    core: Any = solid
    for _ in range(2 * tile_px // TILE_PX):
        # The world does not end at the picture's border, so nothing is worn away there.
        core = cv2.erode(core, kernel, borderType=cv2.BORDER_REPLICATE)
    share = solid[..., None] / 255.0
    inner = core[..., None] / 255.0
    wall = palette.WALL_EDGE + (np.array(palette.WALL, np.float64) - palette.WALL_EDGE) * inner
    blended = palette.EMPTY + (wall - palette.EMPTY) * share
    picture: NDArray[np.uint8] = np.rint(blended).astype(np.uint8)
    return picture


def build_rgb_background(level: Level) -> NDArray[np.uint8]:
    """Draw the tiles of a level and what is not simulated, all that never changes; a fresh array (600, 1056, 3)."""
    picture = build_rgb_tiles(level)
    draw_outlines(Pen(picture), level)
    return picture


RGB_BACKGROUND = Artifact("rgb_background", 2, lambda level, cache: build_rgb_background(level), persisted=False)
"""The tiles of a level (600, 1056, 3); drawn faster than a file of 1.9 MB is worth."""


def draw_rgb(
    level: Level,
    geometry: Geometry,
    state: NDArray[np.uint8],
    out: NDArray[np.uint8] | None = None,
    *,
    hud: bool = True,
    footer: str = "",
    clock: int | None = None,
    cache: LevelCache | None = None,
) -> NDArray[np.uint8]:
    """Draw the picture of a state.

    Args:
        level: The level.
        geometry: Its compiled form.
        state: uint8 (at least the level's state size,).
        out: uint8 (600, 1056, 3), contiguous, to draw into; a fresh array if None.
        hud: Write the level's name, frame, gold and outcome over the wall at the top.
        footer: A line to write over the wall at the bottom.
        clock: The frame that is written, where the clock does not go on with the world; that of the state if None.
        cache: Where the drawn tiles are kept; the process's own if None.

    Returns:
        `out`, or the fresh array.

    Raises:
        NppError: `out` or `state` has the wrong shape or type.
    """
    if out is None:
        out = np.empty(PICTURE_SHAPE, np.uint8)
    elif out.shape != PICTURE_SHAPE or out.dtype != np.uint8 or not out.flags.c_contiguous:
        raise NppError(f"`out` is {out.dtype} of shape {out.shape}; it must be contiguous uint8 {PICTURE_SHAPE}")
    if state.ndim != 1 or state.size < geometry["initial"].size:
        raise NppError(f"a state of this level takes {geometry['initial'].size} bytes, got shape {state.shape}")
    np.copyto(out, (cache or default_cache()).get(level, RGB_BACKGROUND))
    pen = Pen(out)
    ninja = ninja_view(state)
    layers = entities_by_layer(geometry, state)
    for layer in layers[:2]:
        for shown in layer:
            SHAPES[int(shown.row["kind"])][1](pen, shown)
    draw_ninja(pen, ninja)
    for shown in layers[2]:
        SHAPES[int(shown.row["kind"])][1](pen, shown)
    if hud:
        draw_hud(pen, level, geometry, ninja, clock)
    if footer:
        pen.text(30, PICTURE_SHAPE[0] - 8, footer, palette.HUD_TEXT)
    return out


def entities_by_layer(geometry: Geometry, state: NDArray[np.uint8]) -> list[list[Shown]]:
    """Every entity with what the state says of it, by layer, in map order."""
    movers, flags = movers_view(state, geometry), flags_view(state, geometry)
    frame = int(ninja_view(state)["frame"])
    handle = LevelHandle(geometry)
    layers: list[list[Shown]] = [[], [], []]
    for number, row in enumerate(geometry["entities"]):
        kind, slot, link = EntityKind(int(row["kind"])), int(row["slot"]), int(row["link"])
        flag = int(flags[slot]) if kind.row.flag is not None else 0
        mover = movers[slot] if kind.row.moves else None
        emerged = movers[link] if kind.row.emerged is not None and movers[link]["cell"] >= 0 else None
        aim, shot = aim_and_shot(handle, state, number) if kind.row.aims else (None, None)
        layers[SHAPES[kind][0]].append(Shown(row, flag, mover, frame, emerged, aim, shot))
    return layers


def draw_hud(pen: Pen, level: Level, geometry: Geometry, ninja: Any, clock: int | None = None) -> None:
    """Write name, gold, frame and outcome into the wall above the level, where nothing ever happens."""
    gold_total = int((geometry["entities"]["kind"] == EntityKind.GOLD).sum())
    frame, base = int(ninja["frame"]) if clock is None else clock, 16
    pen.text(30, base, level.name or "untitled", palette.HUD_TEXT)
    pen.text(1026, base, f"frame {frame:5d}   {frame / 60:6.2f} s", palette.HUD_TEXT, right=True)
    if gold_total:
        pen.text(790, base, f"gold {int(ninja['gold'])}/{gold_total}", palette.HUD_TEXT)
    outcome = outcome_of(int(ninja["state"]))
    if outcome in _OUTCOME_COLOURS:
        pen.text(528, base, outcome.label, _OUTCOME_COLOURS[outcome])
