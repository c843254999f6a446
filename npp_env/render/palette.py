"""Colours of the picture, as (red, green, blue)."""

from __future__ import annotations

Colour = tuple[int, int, int]

EMPTY: Colour = (210, 214, 216)
WALL: Colour = (112, 122, 132)
WALL_EDGE: Colour = (84, 93, 103)

INK: Colour = (28, 30, 36)
PAPER: Colour = (244, 246, 247)
SHADE: Colour = (158, 166, 173)

NINJA: Colour = INK
HEADBAND: Colour = (214, 60, 52)
DANGER: Colour = (206, 46, 46)
DANGER_DARK: Colour = (92, 20, 28)
WARNING: Colour = (236, 140, 48)
BEAM: Colour = (232, 64, 64)
BEAM_FAINT: Colour = (232, 150, 150)
GAUSS: Colour = (150, 62, 200)
TRACER: Colour = (250, 176, 40)
SMOKE: Colour = (120, 122, 126)

GOLD: Colour = (244, 196, 48)
GOLD_EDGE: Colour = (168, 118, 12)
GOAL: Colour = (52, 138, 214)
GOAL_LIGHT: Colour = (164, 220, 255)

DOOR: Colour = (60, 148, 92)
LOCKED: Colour = (150, 60, 160)
TRAP: Colour = (196, 84, 40)

SPRING: Colour = (64, 172, 116)
ONE_WAY: Colour = (92, 100, 168)
BOOST: Colour = (70, 168, 214)
BLOCK: Colour = (236, 238, 240)
MACHINE: Colour = (66, 74, 88)
"""Bodies of drones, guards, turrets and thwumps."""

UNKNOWN: Colour = (178, 24, 132)
"""Outlines of what is not simulated; nothing else has this colour."""

HUD_TEXT: Colour = (236, 239, 241)
HUD_WON: Colour = (150, 232, 160)
HUD_DIED: Colour = (255, 150, 140)
