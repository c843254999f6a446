"""A picture of an exact plan: where the ninja can be, how soon it can have won from there, and the fastest way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.induction.level_arrays import LevelReader
from npp_env.induction.npp_model import has_won
from npp_env.induction.npp_plan import NppPlan
from npp_env.induction.optimal import VALUES
from npp_env.render.picture import PICTURE_SHAPE, draw_rgb
from npp_env.sim.kernel import Batch
from npp_env.sim.views import ninja_view

CELL_PX = 4
_HOPELESS = (120, 120, 130)
_WAY, _WAY_EDGE = (255, 255, 255), (20, 20, 20)
_SHARE = 0.75
_BLOCK = 1 << 15
_ROWS, _COLUMNS = PICTURE_SHAPE[0] // CELL_PX, PICTURE_SHAPE[1] // CELL_PX


def least_frames(plan: NppPlan) -> NDArray[np.float64]:
    """The fewest ticks from the start to victory over any state in each square of 4 pixels.

    Returns:
        Fresh (150, 264): infinite where states can be met but none of them wins, not a number where none can be met.
    """
    grid = np.full(_ROWS * _COLUMNS, np.nan)
    policy, transitions = plan.policy, plan.policy.transitions
    for level in range(policy.horizon + 1):
        first_state = transitions.span(level)[0]
        values = None if level == policy.horizon else LevelReader(policy.folder, VALUES, level, first_state)
        for _, first, last in transitions.pieces(level, _BLOCK):
            states = transitions.states(first, last)
            ninja, won = ninja_view(states), has_won(states)
            frames = np.where(won, ninja["frame"] - plan.model.first_frame, np.inf)
            if values is not None:
                frames = np.where(won, frames, -values.rows(first, last))
                values.release()
            row = np.clip(ninja["y"] // CELL_PX, 0, _ROWS - 1).astype(np.int64)
            column = np.clip(ninja["x"] // CELL_PX, 0, _COLUMNS - 1).astype(np.int64)
            np.fmin.at(grid, row * _COLUMNS + column, frames)
    return grid.reshape(_ROWS, _COLUMNS)


def draw_plan(plan: NppPlan) -> NDArray[np.uint8]:
    """Draw a plan over its level.

    Squares where the ninja can be are coloured by the fewest ticks from the start to victory of any state there, from
    blue (the fastest victory) to red (the slowest); grey where none wins within the horizon. The line is the
    fastest way.

    Returns:
        RGB, uint8 (600, 1056, 3), a fresh array.
    """
    import cv2

    model = plan.model
    grid = least_frames(plan)
    met, wins = ~np.isnan(grid), np.isfinite(grid)
    told = "no victory within the horizon"
    if plan.frames is not None:
        told = f"frames to win: blue {plan.frames} to red {grid[wins].max():.0f}, grey: not in time; line: fastest way"
    footer = f"{plan.policy.horizon} decisions of {model.frame_skip} frames, {plan.states:,} states; {told}"
    picture = draw_rgb(model.level, model.handle.geometry, model.first, footer=footer)
    colours = np.empty((*grid.shape, 3), np.float64)
    colours[:] = _HOPELESS
    if wins.any():
        low, high = float(grid[wins].min()), float(grid[wins].max())
        shade = np.zeros(grid.shape, np.uint8)
        shade[wins] = (255 * (grid[wins] - low) / max(high - low, 1.0)).astype(np.uint8)
        # The map runs from blue to red in OpenCV's order of channels.
        colours[wins] = cv2.applyColorMap(shade, cv2.COLORMAP_JET)[..., ::-1][wins]
    large = np.repeat(np.repeat(colours, CELL_PX, axis=0), CELL_PX, axis=1)
    shown = np.repeat(np.repeat(met, CELL_PX, axis=0), CELL_PX, axis=1)
    picture[shown] = np.rint(picture[shown] * (1 - _SHARE) + large[shown] * _SHARE).astype(np.uint8)
    if plan.inputs is not None:
        way = np.rint(_way(plan)).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(picture, [way], False, _WAY_EDGE, 4, cv2.LINE_AA)
        cv2.polylines(picture, [way], False, _WAY, 2, cv2.LINE_AA)
    return picture


def _way(plan: NppPlan) -> NDArray[np.float64]:
    """Where the ninja is on its fastest way, tick by tick."""
    assert plan.inputs is not None
    walker = Batch(1, plan.model.state_bytes)
    walker.set_levels(plan.model.handle)
    walker.states[0] = plan.model.first
    places = []
    for byte in plan.inputs.tolist():
        walker.advance_one(0, byte, 1)
        ninja = ninja_view(walker.states)[0]
        places.append((float(ninja["x"]), float(ninja["y"])))
    return np.array(places)
