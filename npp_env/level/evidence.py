"""What the rules of an entity rest on; docs/fidelity.md shows it for every kind."""

from __future__ import annotations

from enum import Enum


class Evidence(Enum):
    """How well it is known that a kind behaves here as in the game, best first; the value is how to say it."""

    RECORDINGS = "recordings of the real game"
    """One of the rules with which all 22 recordings of the real game end on their exact frame."""
    ONE_SOURCE = "one source"
    """Mostly the rules of the game's predecessor."""
    NOTHING = "nothing"
    """No source says what it does."""

    @property
    def verified(self) -> bool:
        """Whether the real game bore it out."""
        return self is Evidence.RECORDINGS
