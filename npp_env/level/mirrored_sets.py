"""Sets of levels flipped left to right: `mirrored:SET`."""

from __future__ import annotations

from dataclasses import dataclass

from npp_env.errors import LevelError
from npp_env.level.level_set import LevelSet, register_scheme
from npp_env.level.mirror import mirror_level
from npp_env.level.model import Level

MIRRORED = "mirrored"


@dataclass(frozen=True, slots=True)
class MirroredLevels:
    """Levels that are made when they are asked for, mirrored: a function from an index to a level.

    Attributes:
        levels: The set.
        count: Number of levels; None for no end.
    """

    levels: LevelSet
    count: int | None

    def __call__(self, index: int) -> Level:
        """The level of an index from 0."""
        return mirror_level(self.levels[index])

    @property
    def never_repeats(self) -> bool:
        """See `LevelSet.never_repeats`."""
        return self.levels.never_repeats


def parse_mirrored(text: str) -> LevelSet:
    """Open the set that `mirrored:` stands before, and mirror its levels.

    Raises:
        LevelError: It names no levels.

    Example:
        >>> LevelSet.parse("mirrored:shipped:first_steps").names()[0]
        'mirrored:first_steps/fall'
    """
    if not text:
        raise LevelError(f"{MIRRORED}: of which levels? Write {MIRRORED}:shipped:first_steps, {MIRRORED}:FOLDER")
    levels = LevelSet.parse(text)
    if levels.is_made:
        return LevelSet(MirroredLevels(levels, len(levels) if levels.is_finite else None))
    return LevelSet([mirror_level(level) for level in levels], [f"{MIRRORED}:{name}" for name in levels.names()])


register_scheme(MIRRORED, parse_mirrored)
