"""Every error and warning that npp_env raises on purpose, and how names from files stand in their messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any


class NppError(Exception):
    """Base of all errors raised by npp_env."""


class LevelError(NppError, ValueError):
    """A level file or text that cannot be read; the message says where and what."""


class LevelWarning(UserWarning):
    """Levels that are not quite what they seem: not simulated or unverified in part, or files that are left out."""


class RecordingError(NppError, ValueError):
    """A recording that cannot be read, or that does not belong to the level it is played on."""


class StateError(NppError, ValueError):
    """A saved state that is foreign, truncated, or of another level or version."""


class ConfigError(NppError, ValueError):
    """A configuration value that is not allowed; the message names the field and what it takes."""


class ArgumentNameError(ConfigError, TypeError):
    """A keyword argument that does not exist; a `TypeError`, as Python raises for functions with fixed arguments."""


class KernelError(NppError, RuntimeError):
    """The compiled kernel does not fit the sources beside it."""


if TYPE_CHECKING:
    from gymnasium.error import DependencyNotInstalled

    class MissingDependencyError(NppError, DependencyNotInstalled, ImportError):
        """An optional package is missing; the message says what needs it and carries the pip line."""


def __getattr__(name: str) -> Any:
    # Gymnasium takes 0.15 s to import, and most programs that import this module never miss anything.
    if name == "MissingDependencyError":
        return _missing_dependency_error()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@lru_cache(maxsize=1)
def _missing_dependency_error() -> type:
    from gymnasium.error import DependencyNotInstalled

    bases = (NppError, DependencyNotInstalled, ImportError)
    text = "An optional package is missing; the message says what needs it and carries the pip line."
    return type("MissingDependencyError", bases, {"__doc__": text, "__module__": __name__})


@contextmanager
def requires(package: str, needed_by: str, pip_line: str) -> Iterator[None]:
    """Turn a failed import inside the block into a `MissingDependencyError`.

    Example:
        >>> with requires("nothing", "this example", "pip install nothing"):
        ...     import no_such_module
        Traceback (most recent call last):
        npp_env.errors.MissingDependencyError: this example needs nothing: pip install nothing
    """
    try:
        yield
    except ImportError as error:
        raise _missing_dependency_error()(f"{needed_by} needs {package}: {pip_line}") from error


LONGEST_NAME = 200
"""A name from a file may hold anything: control bytes that a terminal obeys, characters that turn the direction of
writing or take no place, line ends that make one line look like two, a million letters.
"""


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    r"""The text in one line: what cannot be printed as `\x1b`, and what is too long cut short.

    Example:
        >>> print(printable("plain") + ", " + printable("\x1b[2J\u202e\n") + ", " + printable("abcdef", 4))
        plain, \x1b[2J\u202e\x0a, abc…
    """
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return cut if cut.isprintable() else "".join(map(_printed, cut))


def printable_lines(text: str) -> str:
    """Several lines, of which only the line ends stay as they are; nothing is cut."""
    return "\n".join(printable(line, len(line)) for line in text.split("\n"))


def _printed(character: str) -> str:
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
