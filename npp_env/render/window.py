"""A window that shows pictures at the speed of the game."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import MissingDependencyError, NppError

WINDOW_SIZE = (1056, 600)
FRAMES_PER_SECOND = 60
_INVISIBLE = ("dummy", "offscreen")
"""What SDL falls back to where there is no display: nobody would ever see the window, or close it."""


def load_pygame() -> Any:
    """The pygame module.

    Raises:
        MissingDependencyError: It is not there.
    """
    try:
        import pygame
    except ImportError as error:
        raise MissingDependencyError("a window needs pygame; install it with `pip install pygame`") from error
    return pygame


class Window:
    """A pygame window; only one can be open in a process.

    Args:
        title: What the title bar says.
        frames_per_second: `show` waits so that it is called no more often than this; 0 for no waiting.
        resizable: Whether the user may change its size.

    Raises:
        MissingDependencyError: pygame is missing.
        NppError: There is no display to open a window on.
    """

    def __init__(
        self, title: str = "npp_env", frames_per_second: float = FRAMES_PER_SECOND, *, resizable: bool = False
    ) -> None:
        self._pygame = pygame = load_pygame()
        self.frames_per_second = frames_per_second
        self.closed = False
        """Whether the window was closed, by its user or by `close`."""
        self.is_full_screen = False
        self._flags = pygame.RESIZABLE if resizable else 0
        self._gamepads: list[Any] = []
        try:
            pygame.display.init()
            if pygame.display.get_driver() in _INVISIBLE and "SDL_VIDEODRIVER" not in os.environ:
                pygame.display.quit()
                raise pygame.error("there is no display")
            self._surface = pygame.display.set_mode(WINDOW_SIZE, self._flags)
        except pygame.error as error:
            raise NppError(
                f"cannot open a window: {error}; without a display use render_mode='rgb_array' or set "
                f"SDL_VIDEODRIVER=dummy"
            ) from error
        pygame.display.set_caption(title)
        self._clock = pygame.time.Clock()

    def set_full_screen(self, wanted: bool) -> None:
        """Use all of the screen, or a window again."""
        if self.closed or wanted == self.is_full_screen:
            return
        self.is_full_screen = wanted
        set_mode = self._pygame.display.set_mode
        if wanted:
            self._surface = set_mode((0, 0), self._pygame.FULLSCREEN)
        else:
            # A window that was never other than resizable keeps the size of the screen.
            set_mode(WINDOW_SIZE)
            self._surface = set_mode(WINDOW_SIZE, self._flags)

    def events(self) -> list[Any]:
        """What the user did since the last call, as pygame events; a closed window has none."""
        if self.closed:
            return []
        events: list[Any] = self._pygame.event.get()
        if any(event.type == self._pygame.JOYDEVICEADDED for event in events):
            self.open_gamepads()
        if any(event.type == self._pygame.QUIT for event in events):
            self.closed = True
            self._pygame.display.quit()
        return events

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Show a picture, uint8 (600, 1056, 3), and wait for the next frame's time; ignored once closed.

        It is scaled to the window, with its proportions kept.
        """
        if self.closed:
            return
        image = self._pygame.image.frombuffer(np.ascontiguousarray(picture), WINDOW_SIZE, "RGB")
        width, height = self._surface.get_size()
        scale = min(width / WINDOW_SIZE[0], height / WINDOW_SIZE[1])
        size = (max(round(WINDOW_SIZE[0] * scale), 1), max(round(WINDOW_SIZE[1] * scale), 1))
        if size != WINDOW_SIZE:
            image = self._pygame.transform.smoothscale(image, size)
            self._surface.fill((0, 0, 0))
        self._surface.blit(image, ((width - size[0]) // 2, (height - size[1]) // 2))
        self._pygame.display.flip()
        self._clock.tick(self.frames_per_second)

    def open_gamepads(self) -> int:
        """Listen to all gamepads that are there; how many."""
        self._pygame.joystick.init()
        count = int(self._pygame.joystick.get_count())
        self._gamepads = [self._pygame.joystick.Joystick(number) for number in range(count)]
        return count

    def answer(self) -> None:
        """Do what the user of a window wants that only shows: its close button and Esc close it, P halts it."""
        halted = False
        while not self.closed:
            for event in self.events():
                if event.type == self._pygame.KEYDOWN and event.key == self._pygame.K_ESCAPE:
                    self.close()
                elif event.type == self._pygame.KEYDOWN and event.key == self._pygame.K_p:
                    halted = not halted
            if not halted:
                return
            self._clock.tick(FRAMES_PER_SECOND)

    def close(self) -> None:
        """Close the window; may be called again."""
        if not self.closed:
            self.closed = True
            self._pygame.display.quit()
