"""A window that shows pictures at the speed of the game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import MissingDependencyError, NppError

WINDOW_SIZE = (1056, 600)
FRAMES_PER_SECOND = 60


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

    Raises:
        MissingDependencyError: pygame is missing.
        NppError: There is no display to open a window on.
    """

    def __init__(self, title: str = "npp_env", frames_per_second: int = FRAMES_PER_SECOND) -> None:
        self._pygame = load_pygame()
        self.frames_per_second = frames_per_second
        self.closed = False
        """Whether the window was closed, by its user or by `close`."""
        try:
            self._pygame.display.init()
            self._surface = self._pygame.display.set_mode(WINDOW_SIZE)
        except self._pygame.error as error:
            raise NppError(
                f"cannot open a window: {error}; without a display use render_mode='rgb_array' or set "
                f"SDL_VIDEODRIVER=dummy"
            ) from error
        self._pygame.display.set_caption(title)
        self._clock = self._pygame.time.Clock()

    def set_title(self, title: str) -> None:
        """Change the title bar."""
        if not self.closed:
            self._pygame.display.set_caption(title)

    def events(self) -> list[Any]:
        """What the user did since the last call, as pygame events; a closed window has none."""
        if self.closed:
            return []
        events: list[Any] = self._pygame.event.get()
        if any(event.type == self._pygame.QUIT for event in events):
            self.closed = True
            self._pygame.display.quit()
        return events

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Show a picture, uint8 (600, 1056, 3), and wait for the next frame's time; ignored once closed."""
        if self.closed:
            return
        image = self._pygame.image.frombuffer(np.ascontiguousarray(picture), WINDOW_SIZE, "RGB")
        self._surface.blit(image, (0, 0))
        self._pygame.display.flip()
        self._clock.tick(self.frames_per_second)

    def close(self) -> None:
        """Close the window; may be called again."""
        if not self.closed:
            self.closed = True
            self._pygame.display.quit()
