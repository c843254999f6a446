"""Files and compiled functions stay short enough to be read at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "npp_env"
LONGEST_FILE, LONGEST_FUNCTION = 400, 80
# One docstring, read a second time as a whole; faults are planted in it by name.
LONGER = {"tests/reference/vectors.py"}
SUFFIXES = (".py", ".pyx", ".pxd", ".pyi")
_HEAD = re.compile(r"^( *)(?:def|cdef(?! class)|cpdef)\b.*\(")


def functions_of(text: str) -> list[tuple[str, int]]:
    """First line and number of lines of each function: up to the next line that is indented no further."""
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        head = _HEAD.match(line)
        if head is None:
            continue
        end = number + 1
        # The arguments may take several lines, the last of which is indented as the first.
        while end < len(lines) and not lines[end - 1].rstrip().endswith(":"):
            end += 1
        if any("=" in part.split("(")[0] for part in lines[number:end]):
            continue
        last = end
        while end < len(lines) and (not lines[end].strip() or indent_of(lines[end]) > len(head[1])):
            if lines[end].strip():
                last = end + 1
            end += 1
        found.append((line.strip(), last - number))
    return found


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def test_functions_are_measured():
    text = "cdef int one(\n    int a\n) noexcept:\n    return a\n\n\ndef two():\n    x = 1\n\n    return x\n\n\nX = 1\n"
    assert functions_of(text) == [("cdef int one(", 4), ("def two():", 4)]


def lengths_of(folder: Path, suffix: str) -> dict[str, int]:
    paths = (path for path in folder.rglob(f"*{suffix}") if path.relative_to(ROOT).as_posix() not in LONGER)
    return {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_file_of_the_package_is_longer_than_400_lines(suffix):
    lengths = lengths_of(PACKAGE, suffix)
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "docs"])
def test_no_other_file_is_longer_than_400_lines(folder):
    lengths = lengths_of(ROOT / folder, ".py")
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_compiled_function_is_longer_than_80_lines():
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {name}": length
        for path in PACKAGE.rglob("*.pyx")
        for name, length in functions_of(path.read_text(encoding="utf-8"))
    }
    assert len(found) > 300
    assert {name: length for name, length in found.items() if length > LONGEST_FUNCTION} == {}
