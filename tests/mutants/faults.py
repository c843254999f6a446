"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "swapped-arguments",
    "sign",
    "off-by-one",
    "neighbouring-constant",
    "exchanged-fields",
    "dropped-condition",
    "wrong-radius",
    "wrong-index",
)


class FaultError(Exception):
    """A fault that cannot be planted as it stands: it says nothing about the tests."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One small bug.

    Attributes:
        name: Unique, says what goes wrong.
        source: The file it is planted in, relative to the root of the repository.
        old: Text that occurs exactly once in the file, or in the function named by `within`.
        new: What stands there instead.
        tests: Name of the group of tests that should notice.
        kind: One of `KINDS`.
        within: Name of the function or class that `old` stands in, if the file has it more than once.
        invisible: Why nothing can be seen of it from outside; such a fault is planted all the same.
    """

    name: str
    source: str
    old: str
    new: str
    tests: str
    kind: str
    within: str = ""
    invisible: str = ""
