"""Reads pickles that hold plain data, without executing anything in them.

A pickle is a program. This is an interpreter for the part of its instructions that build numbers, strings,
lists, tuples and dicts; every other instruction (imports, calls, object state, persistent ids) is refused by
name and position. It never reaches Python's own unpickler, so a memo index or a length field cannot make it
allocate more than the file holds. Time and memory are proportional to the size of the file; but what it gives may hold
the same list in many places, so whoever writes all of it out may never come to an end.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from npp_env.profiling.errors import SnapshotError

MAX_FILE_BYTES = 512 * 2**20
MAX_DECIMAL_DIGITS = 64
MAX_LONG_BYTES = 64
MAX_NUMBER_KEYS = 1000
"""Keys of dicts that are numbers; unlike texts they can be chosen to have one hash, and then each meets all others."""

_MARK = object()
_KEY_TYPES = (str, int, float, bytes, type(None))


def load_plain_pickle(path: Path, *, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Read a pickle of plain data from a file.

    Raises:
        SnapshotError: The file is larger than `max_bytes`, truncated, malformed, or wants to import or call
            something.
    """
    size = path.stat().st_size
    if size > max_bytes:
        raise SnapshotError(f"{path.name}: {size:,} bytes are more than the {max_bytes:,} that are read at most")
    try:
        return loads_plain_pickle(path.read_bytes())
    except SnapshotError as error:
        raise SnapshotError(f"{path.name}: {error}") from None


def loads_plain_pickle(data: bytes) -> Any:
    """Read a pickle of plain data.

    Example:
        >>> import pickle
        >>> loads_plain_pickle(pickle.dumps({"segments": [1, 2.5, None]}))
        {'segments': [1, 2.5, None]}
    """
    machine = _Machine(data)
    try:
        return machine.run()
    except SnapshotError:
        raise
    except (IndexError, struct.error):
        raise SnapshotError(f"truncated or malformed at byte {machine.position}") from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise SnapshotError(f"malformed at byte {machine.position}: {error}") from None


class _Machine:
    """The stack machine of the pickle format, for plain data."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.number_keys = 0

    def run(self) -> Any:
        data, instructions = self.data, _INSTRUCTIONS
        while True:
            code = data[self.position]
            self.position += 1
            if code == 0x2E:  # STOP
                if len(self.stack) != 1 or self.stack[0] is _MARK:
                    raise SnapshotError(f"malformed: {len(self.stack)} values are left at the end")
                return self.stack[0]
            instruction = instructions.get(code)
            if instruction is None:
                raise SnapshotError(f"instruction {_name(code)} at byte {self.position - 1} is not plain data; refused")
            instruction(self)

    def take(self, count: int) -> bytes:
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise SnapshotError(f"truncated at byte {self.position}: {count} more bytes were announced")
        piece = self.data[self.position : end]
        self.position = end
        return piece

    def take_number(self, layout: str) -> Any:
        value = struct.unpack_from(layout, self.data, self.position)[0]
        self.position += struct.calcsize(layout)
        return value

    def take_line(self) -> bytes:
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise SnapshotError(f"truncated at byte {self.position}")
        line = self.data[self.position : end]
        self.position = end + 1
        return line

    def pop(self) -> Any:
        value = self.stack.pop()
        if value is _MARK:
            raise SnapshotError(f"malformed at byte {self.position}: a mark stands where a value belongs")
        return value

    def pop_to_mark(self) -> list[Any]:
        stack = self.stack
        index = len(stack) - 1
        while index >= 0 and stack[index] is not _MARK:
            index -= 1
        if index < 0:
            raise SnapshotError(f"malformed at byte {self.position}: no mark")
        values = stack[index + 1 :]
        del stack[index:]
        return values

    def set_items(self, target: dict[Any, Any], flat: list[Any]) -> None:
        if len(flat) % 2:
            raise SnapshotError("malformed: a key without a value")
        for key, value in zip(flat[::2], flat[1::2], strict=True):
            # Tuples as keys would be hashed recursively, and a deep one overflows the C stack.
            if not isinstance(key, _KEY_TYPES):
                raise SnapshotError(f"a {type(key).__name__} as a key is not plain data")
            if isinstance(key, (int, float)):
                self.number_keys += 1
                if self.number_keys > MAX_NUMBER_KEYS:
                    raise SnapshotError(f"more than {MAX_NUMBER_KEYS:,} keys are numbers, at byte {self.position}")
            target[key] = value

    def top(self, kind: type) -> Any:
        value = self.stack[-1]
        if type(value) is not kind:
            raise SnapshotError(f"malformed at byte {self.position}: a {kind.__name__} was expected")
        return value


def _name(code: int) -> str:
    import pickletools

    for opcode in pickletools.opcodes:
        if opcode.code == chr(code):
            return str(opcode.name)
    return f"0x{code:02x}"


def _push(make: Callable[[_Machine], Any]) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(make(machine))


def _sized(layout: str, decode: Callable[[bytes], Any]) -> Callable[[_Machine], None]:
    def instruction(machine: _Machine) -> None:
        machine.stack.append(decode(machine.take(machine.take_number(layout))))

    return instruction


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def _long(raw: bytes) -> int:
    if len(raw) > MAX_LONG_BYTES:
        raise SnapshotError(f"an integer of {len(raw)} bytes is not plain data")
    return int.from_bytes(raw, "little", signed=True)


def _decimal(machine: _Machine) -> Any:
    line = machine.take_line().rstrip(b"L")
    if len(line) > MAX_DECIMAL_DIGITS:
        raise SnapshotError(f"an integer of {len(line)} digits is not plain data")
    return {b"00": False, b"01": True}.get(line) if line in (b"00", b"01") else int(line)


def _dict_of(machine: _Machine) -> dict[Any, Any]:
    target: dict[Any, Any] = {}
    machine.set_items(target, machine.pop_to_mark())
    return target


def _set_item(machine: _Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.set_items(machine.top(dict), [key, value])


def _set_many(machine: _Machine) -> None:
    flat = machine.pop_to_mark()
    machine.set_items(machine.top(dict), flat)


def _append(machine: _Machine) -> None:
    value = machine.pop()
    machine.top(list).append(value)


def _append_many(machine: _Machine) -> None:
    values = machine.pop_to_mark()
    machine.top(list).extend(values)


def _tuple_of(count: int) -> Callable[[_Machine], None]:
    def instruction(machine: _Machine) -> None:
        values = [machine.pop() for _ in range(count)]
        machine.stack.append(tuple(reversed(values)))

    return instruction


def _remember(index: Callable[[_Machine], int]) -> Callable[[_Machine], None]:
    def instruction(machine: _Machine) -> None:
        value = machine.stack[-1]
        if value is _MARK:
            raise SnapshotError(f"malformed at byte {machine.position}: a mark cannot be remembered")
        machine.memo[index(machine)] = value

    return instruction


def _recall(index: Callable[[_Machine], int]) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(machine.memo[index(machine)])


def _number(layout: str) -> Callable[[_Machine], Any]:
    return lambda machine: machine.take_number(layout)


def _skip(count: int) -> Callable[[_Machine], None]:
    def instruction(machine: _Machine) -> None:
        machine.take(count)

    return instruction


def _line_number(machine: _Machine) -> int:
    line = machine.take_line()
    if len(line) > 20:
        raise SnapshotError("a memo index of more than 20 digits")
    return int(line)


_INSTRUCTIONS: dict[int, Callable[[_Machine], None]] = {
    ord(code): instruction
    for code, instruction in {
        "\x80": _skip(1),  # PROTO
        "\x95": _skip(8),  # FRAME: the length is a hint for buffered readers
        "(": lambda machine: machine.stack.append(_MARK),
        "0": lambda machine: machine.stack.pop() and None,
        "1": lambda machine: machine.pop_to_mark() and None,
        "N": _push(lambda machine: None),
        "\x88": _push(lambda machine: True),
        "\x89": _push(lambda machine: False),
        "I": _push(_decimal),
        "L": _push(_decimal),
        "J": _push(_number("<i")),
        "K": _push(_number("<B")),
        "M": _push(_number("<H")),
        "\x8a": _sized("<B", _long),
        "\x8b": _sized("<i", _long),
        "F": _push(lambda machine: float(machine.take_line())),
        "G": _push(_number(">d")),
        "V": _push(lambda machine: machine.take_line().decode("raw-unicode-escape")),
        "X": _sized("<I", _text),
        "\x8c": _sized("<B", _text),
        "\x8d": _sized("<Q", _text),
        "B": _sized("<I", bytes),
        "C": _sized("<B", bytes),
        "\x8e": _sized("<Q", bytes),
        "]": _push(lambda machine: []),
        "}": _push(lambda machine: {}),
        ")": _push(lambda machine: ()),
        "l": _push(lambda machine: machine.pop_to_mark()),
        "d": _push(_dict_of),
        "t": _push(lambda machine: tuple(machine.pop_to_mark())),
        "\x85": _tuple_of(1),
        "\x86": _tuple_of(2),
        "\x87": _tuple_of(3),
        "a": _append,
        "e": _append_many,
        "s": _set_item,
        "u": _set_many,
        "q": _remember(_number("<B")),
        "r": _remember(_number("<I")),
        "p": _remember(_line_number),
        "\x94": _remember(lambda machine: len(machine.memo)),
        "h": _recall(_number("<B")),
        "j": _recall(_number("<I")),
        "g": _recall(_line_number),
    }.items()
}
