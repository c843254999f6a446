"""A person's play: wishes in, pictures out; knows nothing of windows or time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.cli.play_controls import Controls, Wish
from npp_env.cli.play_menu import LevelMenu, MenuRow, seconds
from npp_env.cli.play_scores import BestRuns, winning_recording
from npp_env.errors import NppError
from npp_env.level.level_set import SHIPPED
from npp_env.level.model import Level
from npp_env.recording import MAX_FRAMES, RECORDING_SUFFIX, Recording, save_recording
from npp_env.render.ninja_pose import draw_ninja
from npp_env.render.pen import Pen
from npp_env.render.picture import PICTURE_SHAPE, draw_rgb
from npp_env.sim.simulation import Simulation

SPEEDS = (1.0, 0.5, 0.25)
_KEYS_LINE = (
    "arrows or WASD   space jump   R restart   N next   L slow   G ghosts   F full screen   F5 save   Esc levels"
)
_MESSAGE_FRAMES = 150
_BEST_GHOST, _WINNING_GHOST = (96, 170, 255), (240, 190, 90)


class Ghost:
    """Another run of the level, played beside the player's.

    Args:
        recording: The run, with its level.
        colour: What it is drawn in.
    """

    def __init__(self, recording: Recording, colour: tuple[int, int, int]) -> None:
        assert recording.level is not None
        self._inputs = recording.inputs & 7
        self._frame = 0
        self.colour = colour
        self.simulation = Simulation(recording.level)

    def tick(self) -> None:
        """One frame on, as long as there are inputs."""
        if self._frame < len(self._inputs):
            self.simulation.advance(int(self._inputs[self._frame]))
            self._frame += 1


class PlaySession:
    """Levels, attempts, ghosts, the menu.

    Args:
        levels: At least one, each with the name that the menu shows; from the last it goes on with the first.
        save_folder: Where recordings are saved.
        best: The player's best runs.
    """

    def __init__(self, levels: Sequence[tuple[str, Level]], save_folder: Path, best: BestRuns) -> None:
        if not levels:
            raise NppError("there is no level to play; give at least one")
        self.levels = list(levels)
        self.save_folder = save_folder
        self.best = best
        self.controls = Controls()
        self.running = True
        self.full_screen = False
        self.speed = SPEEDS[0]
        self.show_ghosts = True
        self.saved: list[Path] = []
        self.menu: LevelMenu | None = None
        self._picture = np.empty(PICTURE_SHAPE, np.uint8)
        self._message = ""
        self._message_frames = 0
        self._start(0)

    @property
    def level(self) -> Level:
        """The level being played."""
        return self.levels[self._index][1]

    @property
    def recording(self) -> Recording:
        """The attempt so far."""
        inputs = np.frombuffer(bytes(self._inputs), np.uint8)
        gold = int(self.simulation.ninja["gold"])
        return Recording.of_level(self.level, inputs, self.simulation.outcome, len(inputs), gold)

    def handle_event(self, event: Any) -> None:
        """React to a pygame event."""
        wish = self.controls.take(event)
        if wish is Wish.QUIT:
            self.running = False
        elif wish is Wish.FULL_SCREEN:
            self.full_screen = not self.full_screen
        elif self.menu is not None:
            self._choose(self.menu, wish)
        elif wish is Wish.MENU:
            self.menu = LevelMenu(len(self.levels), self._index)
        elif wish is Wish.RESTART:
            self._start(self._index)
        elif wish is Wish.NEXT or (wish is Wish.CHOOSE and self.simulation.outcome == "won"):
            self._start((self._index + 1) % len(self.levels))
        elif wish is Wish.CHOOSE and self.simulation.outcome == "died":
            self._start(self._index)
        elif wish is Wish.SAVE:
            self._save()
        elif wish is Wish.SLOWER:
            self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]
            self._tell(f"speed {self.speed:g}")
        elif wish is Wish.GHOSTS:
            self.show_ghosts = not self.show_ghosts
            self._tell("ghosts: blue your best, yellow the recording that wins" if self.show_ghosts else "no ghosts")

    def _choose(self, menu: LevelMenu, wish: Wish | None) -> None:
        steps = {Wish.UP: (-1, 0), Wish.DOWN: (1, 0), Wish.LEFT: (0, -1), Wish.RIGHT: (0, 1)}
        if wish in steps:
            menu.move(*steps[wish])
        elif wish is Wish.MENU:
            self.menu = None
        elif wish is Wish.CHOOSE:
            self.menu = None
            self._start(menu.chosen)

    def tick(self) -> None:
        """Advance by one frame; the menu holds the game, and after the end nothing more is recorded."""
        self._message_frames = max(self._message_frames - 1, 0)
        if self.menu is not None:
            return
        if self.simulation.outcome != "alive":
            self.simulation.advance(0, stop=False)
        elif len(self._inputs) < MAX_FRAMES:
            byte = self.controls.input_byte()
            self._inputs.append(byte)
            self.simulation.advance(byte)
            for ghost in self.ghosts:
                ghost.tick()
            if self.simulation.outcome == "won":
                self._offer()

    def draw(self) -> NDArray[np.uint8]:
        """The present picture (600, 1056, 3); the session's own memory, valid until the next call."""
        if self.menu is not None:
            self.menu.draw(self._picture, {number: self._menu_row(number) for number in self.menu.page})
            return self._picture
        footer = self._message if self._message_frames else _KEYS_LINE
        if not self._message_frames and self.simulation.outcome != "alive":
            ending = f"{self.simulation.outcome} at frame {len(self._inputs)} ({seconds(len(self._inputs))} s)"
            next_step = "jump next level" if self.simulation.outcome == "won" else "jump try again"
            footer = f"{ending}   -   {next_step}   R restart   N next level   F5 save recording   Esc levels"
        # The clock stops with the attempt, the world does not.
        picture = draw_rgb(
            self.level,
            self.simulation.geometry,
            self.simulation.state,
            self._picture,
            footer=footer,
            clock=len(self._inputs),
        )
        if self.show_ghosts:
            for ghost in self.ghosts:
                draw_ninja(Pen(picture), ghost.simulation.ninja, ghost.colour, ghost.colour)
            draw_ninja(Pen(picture), self.simulation.ninja)
        return picture

    def _menu_row(self, number: int) -> MenuRow:
        name, level = self.levels[number]
        best, winning = self.best.best(level), winning_recording(name, level)
        return MenuRow(
            name.removeprefix(f"{SHIPPED}:"),
            level.metadata.get("difficulty", ""),
            None if best is None else best.frames,
            None if winning is None else winning.frames,
        )

    def _start(self, index: int) -> None:
        self._index = index
        self._inputs = bytearray()
        self.simulation = Simulation(self.level)
        name = self.levels[index][0]
        runs = ((self.best.best(self.level), _BEST_GHOST), (winning_recording(name, self.level), _WINNING_GHOST))
        self.ghosts = [Ghost(run, colour) for run, colour in runs if run is not None]

    def _offer(self) -> None:
        try:
            if self.best.offer(self.recording):
                self._tell(f"your best time: {seconds(len(self._inputs))} s")
        except NppError as error:
            self._tell(f"your best time, but it cannot be kept: {error}")

    def _save(self) -> None:
        stem = re.sub(r"[^a-z0-9]+", "_", self.level.name.lower()).strip("_") or self.level.hash[:8]
        for number in range(1, 10_000):
            path = self.save_folder / f"{stem}_{number}{RECORDING_SUFFIX}"
            if not path.exists():
                break
        try:
            save_recording(self.recording, path)
        except NppError as error:
            self._tell(f"not saved: {error}")
            return
        self.saved.append(path)
        self._tell(f"saved {path.name}")

    def _tell(self, message: str) -> None:
        self._message, self._message_frames = message, _MESSAGE_FRAMES
