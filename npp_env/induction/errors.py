"""What goes wrong while a plan is computed."""

from __future__ import annotations

from npp_env.errors import NppError


class InductionError(NppError):
    """A model, a folder or a parameter with which no plan can be computed; the message says what to do."""


class DamagedStoreError(InductionError):
    """A file of a plan's folder is not what was written; nothing else was touched."""


class ForeignStoreError(InductionError):
    """A folder holds something else than what is asked for; nothing in it was touched."""


class DiskFullError(InductionError, OSError):
    """The disk has no room; what was complete is kept, and the same call goes on from there."""


class CyclicModelError(InductionError):
    """A model leads back to a state that it came from, where that is not allowed."""
