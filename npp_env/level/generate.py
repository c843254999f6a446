"""Endless levels: families with a difficulty, each level determined by its seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl

from npp_env.errors import LevelError
from npp_env.level.generators import (
    ambushes,
    caverns,
    corridors,
    hazards,
    mazes,
    minefields,
    platforms,
    shadows,
    towers,
)
from npp_env.level.generators.canvas import Canvas
from npp_env.level.level_set import register_scheme
from npp_env.level.model import Level

FAMILIES: dict[str, Callable[[Canvas, float], None]] = {
    "corridors": corridors.draw,
    "caverns": caverns.draw,
    "platforms": platforms.draw,
    "towers": towers.draw,
    "mazes": mazes.draw,
    "minefields": minefields.draw,
    "hazards": hazards.draw,
    "ambushes": ambushes.draw,
    "shadows": shadows.draw,
}
"""What draws a level of each family."""

ANY = "any"
"""Stands for the families of `ANY_FAMILIES` in turn."""
ANY_FAMILIES = ("corridors", "caverns", "platforms", "towers", "mazes", "minefields", "hazards")
"""The families without unverified entities; their number is part of what a seed means."""
SCHEME = "generated"
DEFAULT_DIFFICULTY = 0.3
MAX_SEED = 2**53


def generate(kind: str, difficulty: float = DEFAULT_DIFFICULTY, seed: int = 0) -> Level:
    """Make a level; the same arguments always give the same one.

    Nothing promises that it can be won, though at least nine of ten can: `npp_env.planning.solve` finds out.

    Args:
        kind: A family (see `FAMILIES`), or "any": the seed then chooses one of `ANY_FAMILIES`.
        difficulty: From 0 to 1.
        seed: Any integer from 0.

    Raises:
        LevelError: An argument is out of range.

    Example:
        >>> generate("towers", 0.5, seed=7) == generate("towers", 0.5, seed=7)
        True
    """
    if kind != ANY and kind not in FAMILIES:
        raise LevelError(f"no family {kind!r} of generated levels; there are {', '.join([*FAMILIES, ANY])}")
    if not 0.0 <= difficulty <= 1.0:
        raise LevelError(f"difficulty is {difficulty}; it must lie between 0 and 1")
    if isinstance(seed, bool) or int(seed) != seed or not 0 <= seed < MAX_SEED:
        raise LevelError(f"seed is {seed!r}; it must be an integer from 0 to {MAX_SEED - 1}")
    family = _family(kind, seed)
    # Seeding by text goes through a hash, so that neighbouring seeds have nothing in common.
    canvas = Canvas(random.Random(f"{family} {float(difficulty)!r} {int(seed)}"))
    FAMILIES[family](canvas, float(difficulty))
    metadata = {
        "author": "npp_env generator",
        "group": f"generated_{family}",
        "difficulty": f"{difficulty:g}",
        "seed": str(int(seed)),
    }
    return canvas.finish(f"{family} {seed}", metadata)


def _family(kind: str, seed: int) -> str:
    return ANY_FAMILIES[seed % len(ANY_FAMILIES)] if kind == ANY else kind


@dataclass(frozen=True, slots=True)
class GeneratedLevels:
    """A stream of generated levels: a function from an index to a level.

    Attributes:
        kind: A family, or "any".
        difficulty: Of the first level; of all, if `last_difficulty` is None.
        first_seed: Seed of the first level.
        count: Number of levels; None for no end.
        last_difficulty: Of the last level of a curriculum; difficulties between rise evenly. It takes a `count`.

    Raises:
        LevelError: An argument is out of range.
    """

    kind: str
    difficulty: float = DEFAULT_DIFFICULTY
    first_seed: int = 0
    count: int | None = None
    last_difficulty: float | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise LevelError(f"a stream of {self.count} generated levels; it needs at least one")
        if self.last_difficulty is not None and self.count is None:
            raise LevelError("a curriculum (difficulty=A-B) needs seeds=FIRST-LAST to know where it ends")
        self(0)
        if self.count is not None:
            self(self.count - 1)

    def __call__(self, index: int) -> Level:
        """The level of an index from 0."""
        difficulty = self.difficulty
        if self.last_difficulty is not None and self.count is not None and self.count > 1:
            difficulty += (self.last_difficulty - self.difficulty) * index / (self.count - 1)
        return generate(self.kind, difficulty, self.first_seed + index)

    @property
    def never_repeats(self) -> bool:
        """See `LevelSet.never_repeats`."""
        return self.count is None

    def name_of(self, index: int) -> str:
        """The name of the level of an index, which is not made for it."""
        seed = self.first_seed + index
        return f"{_family(self.kind, seed)} {seed}"


def parse_generated(text: str) -> GeneratedLevels:
    """Read what follows `generated:` in the name of a level set.

    Args:
        text: `KIND?difficulty=D&seeds=FIRST-LAST`; `difficulty=A-B` rises over the seeds. Both may be left out.

    Raises:
        LevelError: It cannot be understood; the message says which part.

    Example:
        >>> parse_generated("caverns?difficulty=0.3&seeds=0-999").count
        1000
    """
    kind, _, query = text.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=False))
    unknown = sorted(set(options) - {"difficulty", "seeds"})
    if unknown:
        raise LevelError(f"{SCHEME}:{text}: unknown option {unknown[0]!r}; there are difficulty and seeds")
    try:
        low, _, high = options.get("difficulty", str(DEFAULT_DIFFICULTY)).partition("-")
        first, _, last = options.get("seeds", "0").partition("-")
        difficulty, first_seed = float(low), int(first)
        last_difficulty = float(high) if high else None
        count = int(last) - first_seed + 1 if last else None
    except ValueError as error:
        raise LevelError(f"{SCHEME}:{text}: {error}; write difficulty=0.3 or 0.1-0.9, seeds=0-999") from error
    return GeneratedLevels(kind, difficulty, first_seed, count, last_difficulty)


register_scheme(SCHEME, parse_generated)
