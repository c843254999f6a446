"""Names from files, such as those of levels, made fit to be printed.

A name may hold anything: control bytes that a terminal obeys, characters that turn the direction of writing or take no
place, line ends that make one line look like two, a million letters.
"""

from __future__ import annotations

LONGEST_NAME = 200


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
