"""What a fuzzed entrance is, and what every refusal must look like."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.mutate import BINARY, Change

MAX_MESSAGE_CHARACTERS = 2000

Run = Callable[[bytes], None]


class WrongOutcome(Exception):
    """The entrance took an input and did something that it must not do."""


@dataclass(frozen=True)
class Entrance:
    """One way into the package.

    Attributes:
        name: Word on the command line.
        seeds: Good inputs.
        open: Given a scratch folder, makes the function that takes one input. It raises `NppError` for a refusal;
            whatever else it raises is a finding.
        changes: How inputs are changed.
        tokens: Pieces that mean something to the reader.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    open: Callable[[Path], Run]
    changes: Sequence[Change] = BINARY
    tokens: Sequence[bytes] = ()


def require(ok: bool, what: str) -> None:
    """Raise `WrongOutcome` unless it holds (an `assert` that no option turns off)."""
    if not ok:
        raise WrongOutcome(what)


def check_message(error: Exception) -> None:
    """A refusal can be printed: it says something, in bounded length, without control characters."""
    text = str(error)
    require(0 < len(text) <= MAX_MESSAGE_CHARACTERS, f"a message of {len(text)} characters: {text[:200]!r}")
    require(all(line.isprintable() for line in text.split("\n")), f"control characters in the message {text[:300]!r}")


def chance(data: bytes, one_in: int) -> bool:
    """Whether a costly check is due: for a fixed share of inputs, the same ones whenever they are run."""
    return random.Random(data).randrange(one_in) == 0
