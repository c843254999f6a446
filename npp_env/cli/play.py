"""`npp-env play`: play a level with the keyboard."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.cli.arguments import LEVEL_HELP, parse_finite_levels
from npp_env.cli.printing import say
from npp_env.errors import NppError
from npp_env.level.model import Level
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.recording import MAX_FRAMES, RECORDING_SUFFIX, Recording, save_recording
from npp_env.render.picture import PICTURE_SHAPE, draw_rgb
from npp_env.render.window import Window, load_pygame
from npp_env.sim.simulation import JUMP, LEFT, RIGHT, Simulation

_KEYS_LINE = "arrows move   space jump   R restart   N next level   S save recording   Esc quit"
_MESSAGE_FRAMES = 150


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env play`."""
    parser.add_argument(
        "level", nargs="?", metavar="LEVEL", help=f"{LEVEL_HELP}, or several, such as pack:FILE (default: all shipped)"
    )
    parser.add_argument(
        "--save-to", type=Path, default=Path(), metavar="DIR", help="folder for saved recordings (default: here)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command until the window is closed."""
    if not args.save_to.is_dir():
        raise NppError(f"--save-to {args.save_to}: there is no such folder")
    session = PlaySession(playlist(args.level), args.save_to)
    window = Window("N++")
    try:
        while session.running and not window.closed:
            for event in window.events():
                session.handle_event(event)
            session.tick()
            window.show(session.draw())
    finally:
        window.close()
    for path in session.saved:
        say(f"saved: {path}")
    return 0


def playlist(text: str | None) -> list[Level]:
    """The level that was asked for, then the shipped ones that follow it; or the levels that were asked for.

    Raises:
        LevelError: There is no such level.
    """
    names = shipped_level_names()
    asked = None if text is None else parse_finite_levels([text])
    if asked is not None and len(asked) > 1:
        return list(asked)
    first = names[0] if asked is None else asked.name_of(0)
    if first in names:
        start = names.index(first)
        return [load_shipped(name) for name in names[start:] + names[:start]]
    assert asked is not None
    return [asked[0], *(load_shipped(name) for name in names)]


class PlaySession:
    """A person's play: keys in, pictures out; knows nothing of windows or time.

    Args:
        levels: At least one; N goes to the next and from the last to the first.
        save_folder: Where S saves recordings.
    """

    def __init__(self, levels: list[Level], save_folder: Path) -> None:
        if not levels:
            raise NppError("there is no level to play; give at least one")
        self._pygame = load_pygame()
        self.levels = levels
        self.save_folder = save_folder
        self.running = True
        self.saved: list[Path] = []
        self._pressed: set[int] = set()
        self._picture = np.empty(PICTURE_SHAPE, np.uint8)
        self._message = ""
        self._message_frames = 0
        self._start(0)

    @property
    def level(self) -> Level:
        """The level being played."""
        return self.levels[self._index]

    @property
    def recording(self) -> Recording:
        """The attempt so far."""
        inputs = np.frombuffer(bytes(self._inputs), np.uint8)
        gold = int(self.simulation.ninja["gold"])
        return Recording.of_level(self.level, inputs, self.simulation.outcome, len(inputs), gold)

    def handle_event(self, event: Any) -> None:
        """React to a pygame event."""
        pygame = self._pygame
        if event.type == pygame.QUIT:
            self.running = False
        elif event.type == pygame.KEYUP:
            self._pressed.discard(event.key)
        elif event.type == pygame.KEYDOWN:
            self._pressed.add(event.key)
            if event.key == pygame.K_ESCAPE:
                self.running = False
            elif event.key == pygame.K_r:
                self._start(self._index)
            elif event.key == pygame.K_n:
                self._start((self._index + 1) % len(self.levels))
            elif event.key == pygame.K_s:
                self._save()

    def input_byte(self) -> int:
        """The input that the pressed keys make."""
        pygame = self._pygame
        byte = JUMP if self._pressed & {pygame.K_SPACE, pygame.K_UP, pygame.K_z} else 0
        byte |= RIGHT if pygame.K_RIGHT in self._pressed else 0
        byte |= LEFT if pygame.K_LEFT in self._pressed else 0
        return byte

    def tick(self) -> None:
        """Advance by one frame; after death or victory the world goes on, but nothing more is recorded."""
        self._message_frames = max(self._message_frames - 1, 0)
        if self.simulation.outcome == "alive" and len(self._inputs) < MAX_FRAMES:
            byte = self.input_byte()
            self._inputs.append(byte)
            self.simulation.advance(byte)
        elif self.simulation.outcome != "alive":
            self.simulation.advance(0, stop=False)

    def draw(self) -> NDArray[np.uint8]:
        """The present picture (600, 1056, 3); the session's own memory, valid until the next call."""
        footer = self._message if self._message_frames else _KEYS_LINE
        if not self._message_frames and self.simulation.outcome != "alive":
            ending = f"{self.simulation.outcome} at frame {len(self._inputs)}"
            footer = f"{ending}   -   R restart   N next level   S save recording   Esc quit"
        return draw_rgb(self.level, self.simulation.geometry, self.simulation.state, self._picture, footer=footer)

    def _start(self, index: int) -> None:
        self._index = index
        self._inputs = bytearray()
        self.simulation = Simulation(self.level)

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
