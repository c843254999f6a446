"""The error for a library that only some uses of the package need."""

from __future__ import annotations

from gymnasium.error import DependencyNotInstalled

from npp_env.errors import NppError


class ExtraNotInstalled(NppError, DependencyNotInstalled):
    """A library that this feature needs is missing; the message holds the pip line that brings it."""
