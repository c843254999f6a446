"""Scenes for the frames: every kind of entity in every mode and orientation, alone in a room, and pictures of them.

`python -m tests.reference.frame_scenes` draws the pictures that `test_frames.py` compares with anew. Look at them
before you keep them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from npp_env.level import Level
from npp_env.render.background import build_frame_background
from npp_env.render.frames import global_view, player_frame
from npp_env.sim.simulation import Simulation

PICTURES = Path(__file__).parent / "pictures"
# Record coordinates, 6 px each. The ninja stands to the left of the thing, the switch below it.
NINJA, PLACE, SWITCH = (82, 50), (88, 50), (89, 57)
SWITCHED = {3: 4, 6: 7, 8: 9}
DOORS = (5, 6, 8)
NAMES = {
    1: "mine", 2: "gold", 3: "exit", 5: "door", 6: "locked_door", 8: "trap_door", 10: "launch_pad", 11: "one_way",
    14: "zap_drone", 16: "floor_guard", 17: "bounce_block", 20: "thwump", 21: "toggle_mine", 23: "laser_turret",
    24: "boost_pad", 25: "death_ball", 26: "mini_drone", 28: "shove_thwump",
    12: "chaingun_drone", 13: "laser_drone", 18: "rocket_turret", 19: "gauss_turret", 15: "chaser", 22: "evil_ninja",
}  # fmt: skip
# Values of the flag, by name, of kinds that have more than one look.
LOOKS = {
    1: {"armed": 0, "spent": 1},
    2: {"there": 0, "taken": 1},
    3: {"closed": 0, "open": 1},
    5: {"closed": 0, "open": 1},
    6: {"closed": 0, "open": 3},
    8: {"open": 1, "closed": 2},
    21: {"armed": 0, "idle": 1, "arming": 2},
    12: {"idle": 0, "about_to_fire": 1, "firing": 2, "shooting": 2, "recovering": 3},
    15: {"calm": 0, "chasing": 1},
    22: {"asleep": 0, "touched": 1, "waiting": 2, "following": 3},
    13: {"idle": 0, "about_to_fire": 1, "firing": 2, "recovering": 3},
    18: {"idle": 0, "about_to_fire": 1, "flying": 2},
    19: {"idle": 0, "targeting": 1, "about_to_fire": 2, "shooting": 3, "recovering": 3},
}
# How long the phase of a look has lasted, other than 0.
TICKS = {(12, "firing"): 4, (12, "shooting"): 18, (19, "recovering"): 5}
LINE = (-0.6, 0.8)
"""Where shooters shoot: past the ninja, to the lower left."""
ORIENTATIONS = {
    **dict.fromkeys(DOORS, (0, 2, 4, 6)),
    **dict.fromkeys((10, 11, 23), range(8)),
    20: (0, 2, 4, 6),
    14: (0, 2, 4, 6),
    15: (0, 2, 4, 6),
    26: (0, 2, 4, 6),
}


@dataclass(frozen=True)
class Case:
    kind: int
    look: str = ""
    orientation: int = 0
    mode: int = 0

    @property
    def name(self) -> str:
        parts = [NAMES[self.kind], self.look, f"{self.orientation}" if self.kind in ORIENTATIONS else ""]
        return "-".join(part for part in parts if part)

    def simulation(self) -> Simulation:
        simulation = Simulation(room((self.kind, *PLACE, self.orientation, self.mode)))
        if self.kind in (12, 13, 15, 18, 19, 22):
            self.make_ready(simulation)
        elif self.look:
            simulation.flags[0] = LOOKS[self.kind][self.look]
        return simulation

    def make_ready(self, simulation: Simulation) -> None:
        """Put a shooter or hunter into its phase."""
        phase, movers = LOOKS[self.kind][self.look], simulation.movers
        if self.kind == 18:
            simulation.flags[0] = phase
            if self.look == "flying":
                movers["x"][0], movers["y"][0], movers["cell"][0] = 501.0, 322.0, 20 * 25 + 13
                movers["u"][0], movers["v"][0] = LINE
            return
        if self.kind in (15, 22):
            movers["phase"][0] = phase
            if self.kind == 22 and phase >= 2:
                # Touched in tick 7, of which the end is remembered.
                simulation.ninja["frame"], simulation.ninja["followers"] = 20 if phase == 2 else 140, 1
                movers["u"][0], movers["v"][0] = 1, 127
                simulation.state[-1920:].view("<f8").reshape(120, 2)[:] = 504.0, 332.0
            return
        movers["phase"][0], movers["stamp"][0] = phase, TICKS.get((self.kind, self.look), 0)
        if self.kind == 19 and phase:
            movers["u"][0], movers["v"][0] = 504.0, 332.0
        elif self.kind != 19 and (phase == 2 or (self.kind == 13 and phase == 1)):
            movers["u"][1], movers["v"][1], movers["phase"][1] = *LINE, 1 if self.kind == 12 else 0


def all_cases() -> list[Case]:
    return [
        Case(kind, look, orientation)
        for kind in NAMES
        for orientation in ORIENTATIONS.get(kind, (0,))
        for look in LOOKS.get(kind, ("",))
    ]


def room(*records: tuple[int, ...], ninja: tuple[int, int] = NINJA, tiles: np.ndarray | None = None) -> Level:
    """A level with these things; those that need a switch have it at SWITCH."""
    rows: list[tuple[int, ...]] = [(0, *ninja, 0, 0)]
    exits = [record for record in records if record[0] == 3]
    for record in sorted(records, key=lambda r: r[0] != 3):
        if record[0] != 3 and exits:
            rows += [(4, *SWITCH, 0, 0)] * len(exits)
            exits = []
        rows.append((*record, 0, 0)[:5])
        if record[0] in (6, 8):
            rows.append((SWITCHED[record[0]], *SWITCH, 0, 0))
    rows += [(4, *SWITCH, 0, 0)] * len(exits)
    return Level.from_parts(np.zeros((23, 42), np.uint8) if tiles is None else tiles, rows)


def frames_of(simulation: Simulation, background: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Both frames as the package draws them, int (84, 84) and (100, 176)."""
    behind = build_frame_background(simulation.level) if background is None else background
    frame, view = np.full((84, 84), 7, np.uint8), np.full((100, 176), 7, np.uint8)
    player_frame(simulation.handle, simulation.state, behind, frame)
    global_view(simulation.handle, simulation.state, behind, view)
    return frame.astype(int), view.astype(int)


def dead_ninja() -> Simulation:
    simulation = Simulation(room((2, 150, 90)))
    simulation.ninja["state"] = 6
    return simulation


def _tile_samples() -> Iterator[np.ndarray]:
    """The 38 tiles from both frames, each beside the next."""
    for tile in range(38):
        tiles = np.zeros((23, 42), np.uint8)
        tiles[PLACE[1] // 4 - 1, PLACE[0] // 4 - 1] = tile
        frame, view = frames_of(Simulation(room((2, 8, 8), tiles=tiles)))
        yield _joined(frame, view)


def _joined(frame: np.ndarray, view: np.ndarray) -> np.ndarray:
    """The surroundings of PLACE: 36 x 36 of the player frame, 18 x 36 of the global view below it."""
    left, top = 42 + 3 * (PLACE[0] - NINJA[0]) - 15, 42 + 3 * (PLACE[1] - NINJA[1]) - 12
    column, row = PLACE[0] - 18, PLACE[1] - 8
    return np.concatenate([frame[top : top + 36, left : left + 36], view[row : row + 18, column : column + 36]])


def sheets() -> dict[str, Callable[[], list[np.ndarray]]]:
    """What each picture shows, by its name; made when asked for."""

    def of_kinds(*kinds: int) -> Callable[[], list[np.ndarray]]:
        return lambda: [_joined(*frames_of(case.simulation())) for case in all_cases() if case.kind in kinds]

    return {
        "mines_gold_exit": of_kinds(1, 2, 3, 21, 24),
        "doors": of_kinds(5, 6, 8),
        "plates": of_kinds(10, 11),
        "movers": of_kinds(14, 16, 17, 20, 25, 26, 28),
        "lasers": of_kinds(23),
        "shooters": of_kinds(12, 13, 18, 19),
        "hunters": of_kinds(15, 22),
        "ninja": lambda: [_around_ninja(Simulation(room((2, 150, 90)))), _around_ninja(dead_ninja())],
        "tiles": lambda: list(_tile_samples()),
    }


def _around_ninja(simulation: Simulation) -> np.ndarray:
    frame, view = frames_of(simulation)
    return np.concatenate([frame[24:60, 24:60], view[41:59, 60:96]])


def sheet(pictures: list[np.ndarray], per_row: int = 8) -> np.ndarray:
    """Pictures of one size in rows, white between them."""
    height, width = pictures[0].shape
    rows = -(-len(pictures) // per_row)
    out = np.full((rows * (height + 2), per_row * (width + 2)), 255, np.uint8)
    for k, picture in enumerate(pictures):
        top, left = (k // per_row) * (height + 2), (k % per_row) * (width + 2)
        out[top : top + height, left : left + width] = picture
    return out


def read_picture(name: str) -> np.ndarray:
    import cv2

    found = cv2.imread(str(PICTURES / f"{name}.png"), cv2.IMREAD_GRAYSCALE)
    assert found is not None, name
    return found


def main() -> None:
    import cv2

    PICTURES.mkdir(exist_ok=True)
    for name, make in sheets().items():
        cv2.imwrite(str(PICTURES / f"{name}.png"), sheet(make()), [cv2.IMWRITE_PNG_COMPRESSION, 9])
        sys.stdout.write(f"{name}.png\n")


if __name__ == "__main__":
    main()
