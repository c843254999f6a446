"""What a player does with keys and gamepads, as inputs of the game and as wishes."""

from __future__ import annotations

from enum import Enum
from typing import Any

from npp_env.render.window import load_pygame
from npp_env.sim.simulation import JUMP, LEFT, RIGHT

_TILT = 0.4
"""How far a stick has to be moved to count, of 1."""


class Wish(Enum):
    """What a player can want beside running and jumping."""

    QUIT = "quit"
    MENU = "menu"
    RESTART = "restart"
    NEXT = "next level"
    SAVE = "save the recording"
    SLOWER = "slow motion"
    FULL_SCREEN = "full screen"
    GHOSTS = "ghosts"
    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"
    CHOOSE = "choose"


class Controls:
    """Keeps track of keys, buttons and sticks; knows nothing of the game's state.

    Keys: arrows or A and D run, space, up, W or Z jump. Gamepad: stick or cross run, any of the first four buttons
    jumps, the buttons behind them are menu (or back) and restart (or start).
    """

    def __init__(self) -> None:
        self._pygame = pygame = load_pygame()
        self._jump_keys = {pygame.K_SPACE, pygame.K_UP, pygame.K_w, pygame.K_z}
        self._left_keys = {pygame.K_LEFT, pygame.K_a}
        self._right_keys = {pygame.K_RIGHT, pygame.K_d}
        self._wishes = {
            pygame.K_ESCAPE: Wish.MENU,
            pygame.K_TAB: Wish.MENU,
            pygame.K_r: Wish.RESTART,
            pygame.K_n: Wish.NEXT,
            pygame.K_F5: Wish.SAVE,
            pygame.K_l: Wish.SLOWER,
            pygame.K_F11: Wish.FULL_SCREEN,
            pygame.K_f: Wish.FULL_SCREEN,
            pygame.K_g: Wish.GHOSTS,
            pygame.K_q: Wish.QUIT,
            pygame.K_UP: Wish.UP,
            pygame.K_w: Wish.UP,
            pygame.K_DOWN: Wish.DOWN,
            pygame.K_s: Wish.DOWN,
            pygame.K_LEFT: Wish.LEFT,
            pygame.K_a: Wish.LEFT,
            pygame.K_RIGHT: Wish.RIGHT,
            pygame.K_d: Wish.RIGHT,
            pygame.K_RETURN: Wish.CHOOSE,
            pygame.K_SPACE: Wish.CHOOSE,
        }
        self._buttons = {6: Wish.MENU, 7: Wish.RESTART, 4: Wish.SLOWER, 5: Wish.NEXT}
        self._pressed: set[int] = set()
        self._pad_jumps: set[int] = set()
        self._stick = 0.0
        self._cross = (0, 0)

    def input_byte(self) -> int:
        """The input of the game that is held now."""
        pressed = self._pressed
        left = bool(pressed & self._left_keys) or self._stick < -_TILT or self._cross[0] < 0
        right = bool(pressed & self._right_keys) or self._stick > _TILT or self._cross[0] > 0
        jump = bool(pressed & self._jump_keys) or bool(self._pad_jumps)
        return JUMP * jump | LEFT * left | RIGHT * right

    def take(self, event: Any) -> Wish | None:
        """Take note of a pygame event; the wish that it stands for, if any."""
        pygame = self._pygame
        if event.type == pygame.QUIT:
            return Wish.QUIT
        if event.type == pygame.KEYDOWN:
            self._pressed.add(event.key)
            return self._wishes.get(event.key)
        if event.type == pygame.KEYUP:
            self._pressed.discard(event.key)
        elif event.type == pygame.JOYAXISMOTION and event.axis == 0:
            self._stick = float(event.value)
        elif event.type == pygame.JOYHATMOTION:
            self._cross = (int(event.value[0]), int(event.value[1]))
            return {(0, 1): Wish.UP, (0, -1): Wish.DOWN, (-1, 0): Wish.LEFT, (1, 0): Wish.RIGHT}.get(self._cross)
        elif event.type == pygame.JOYBUTTONDOWN:
            if event.button < 4:
                self._pad_jumps.add(event.button)
                return Wish.CHOOSE
            return self._buttons.get(event.button)
        elif event.type == pygame.JOYBUTTONUP:
            self._pad_jumps.discard(event.button)
        return None
