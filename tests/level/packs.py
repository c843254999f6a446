"""Packs made by hand from the description of the format, which share no code with the package; and damaged ones."""

from __future__ import annotations

import random
import re
import sys

from npp_env.errors import LevelError
from npp_env.level import Level, read_pack, write_pack

BLOCKS = (0, 1, 2, 3, 5, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)
RECORD_SIZES = {
    2: (0, 1, 2, 16, 17, 18, 19, 21, 22, 24, 25, 27, 28),
    3: (5, 10, 11, 20),
    4: (12, 13, 14, 15, 23, 26, 3),
    5: (6, 8),
}
SIZE_OF = {kind: size for size, kinds in RECORD_SIZES.items() for kind in kinds}
PLACE = re.compile(r"^line (\d+), offset (\d+): ")


def digits(data: bytes) -> str:
    """Pairs of hex digits, the low nibble first."""
    return "".join("0123456789abcdef"[byte % 16] + "0123456789abcdef"[byte // 16] for byte in data)


def level_bytes(blocks: dict[int, list[tuple[int, ...]]], tiles: bytes = bytes(966), upto: int = 28) -> bytes:
    """Header, tiles and the blocks of types up to `upto`; no footer."""
    data = bytes(4) + tiles
    for kind in BLOCKS:
        if kind <= upto:
            records = blocks.get(kind, [])
            data += bytes([len(records) // 256, len(records) % 256]) + bytes(v for record in records for v in record)
    return data


def pack_line(name: str, blocks: dict[int, list[tuple[int, ...]]], tiles: bytes = bytes(966)) -> bytes:
    return f"${name}#{digits(level_bytes(blocks, tiles) + bytes(4))}#".encode("latin-1")


def crowded_blocks() -> dict[int, list[tuple[int, ...]]]:
    """Two records of every type (one ninja), all bytes different from their neighbours."""
    blocks: dict[int, list[tuple[int, ...]]] = {}
    for kind in BLOCKS:
        rows = []
        for k in range(1 if kind == 0 else 2):
            x, y, orientation, mode = 10 + kind, 20 + 3 * k + kind, (kind + k) % 8, (kind + k) % 4
            extra = {2: (), 3: (orientation,), 4: (orientation, mode), 5: (orientation, 80 + k, 60 + kind)}
            rows.append((x, y, 90 + k, 70 + k) if kind == 3 else (x, y, *extra[SIZE_OF[kind]]))
        blocks[kind] = rows
    return blocks


SIMPLE = {0: [(10, 90)], 3: [(60, 90, 30, 90)]}


def sample_pack() -> bytes:
    tiles = bytes(k % 38 for k in range(966))
    return b"".join(
        line + b"\n"
        for line in (
            pack_line("one", SIMPLE),
            pack_line("crowd", crowded_blocks(), tiles),
            pack_line("doors", {**SIMPLE, 5: [(5, 5, 2)], 6: [(7, 7, 0, 8, 8)], 25: [(9, 9)] * 3}),
        )
    )


def damage(data: bytes, random_: random.Random) -> bytes:
    """The pack with some accidents."""
    text = bytearray(data)
    for _ in range(random_.choice((1, 1, 2, 5))):
        at = random_.randrange(len(text) + 1)
        end = min(len(text), at + random_.choice((1, 1, 2, 4, 50, 3000)))
        what = random_.randrange(8)
        if what == 0:
            text[at : at + 1] = bytes([random_.randrange(256)])
        elif what == 1:
            text[at : at + 1] = random_.choice(b"0123456789abcdefABCDEF#$\n\r ").to_bytes(1, "big")
        elif what == 2:
            del text[at:end]
        elif what == 3:
            text[at:at] = text[at:end]
        elif what == 4:
            text[at:at] = bytes(random_.randrange(256) for _ in range(random_.randrange(8)))
        elif what == 5:
            del text[at:]
        elif what == 6:
            start = random_.randrange(len(text) + 1)
            text[at:at] = text[start : start + end - at]
        else:
            text[at:end] = digits(bytes(random_.randrange(256) for _ in range((end - at) // 2))).encode()
    return bytes(text)


def check_pack_or_error(data: bytes) -> list[Level] | str:
    """Read what may be a pack: levels that can be written and read again, or an error that says where."""
    try:
        levels = read_pack(data)
    except LevelError as error:
        message = str(error)
        place = PLACE.match(message)
        assert place, message
        lines = data.split(b"\n")
        assert 1 <= int(place[1]) <= len(lines), message
        assert 0 <= int(place[2]) <= len(lines[int(place[1]) - 1]), message
        assert len(message) < 400
        return message
    for level in levels:
        assert all(PLACE.match(note) for note in level.notes)
        try:
            again = write_pack([level])
        except LevelError as error:
            complaint = str(error)
            assert "exits; the game tells at most 255 apart" in complaint
            continue
        (back,) = read_pack(again)
        assert (back, back.name, back.header) == (level, level.name, level.header)
        if not level.notes:
            assert again.rstrip(b"\n").lower() in data.lower()
    return levels


def check_damaged(count: int, seed: int, play_every: int) -> dict[str, int]:
    """Damage a pack again and again; how many were packs all the same, how many were played, and what was wrong."""
    from npp_env.sim import Simulation

    random_ = random.Random(seed)
    found = {"packs": 0, "errors": 0, "played": 0}
    whole = sample_pack()
    for number in range(count):
        result = check_pack_or_error(damage(whole, random_))
        if isinstance(result, str):
            found["errors"] += 1
            continue
        found["packs"] += 1
        if number % play_every == 0:
            for level in result:
                Simulation(level).advance(random_.randrange(8), 60)
                found["played"] += 1
    return found


if __name__ == "__main__":
    print(check_damaged(int(sys.argv[1]), seed=int(sys.argv[2]), play_every=20))
