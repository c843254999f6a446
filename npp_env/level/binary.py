"""The binary map format of N++."""

from __future__ import annotations

import numpy as np

from npp_env.errors import LevelError
from npp_env.level.layout import (
    COLUMNS,
    COUNT_TYPES,
    COUNTS_OFFSET,
    HEADER_BYTES,
    MAX_MAP_BYTES,
    MAX_RECORDS,
    RECORD_BYTES,
    RECORDS_OFFSET,
    ROWS,
)
from npp_env.level.model import Level


def read_map(data: bytes) -> Level:
    """Read a binary map.

    The number of records follows from the length of the data, as in the game; the counts table and the
    length field in the header are kept but not believed.

    Args:
        data: The whole map, nothing behind it.

    Returns:
        A level from which `write_map` gives exactly these bytes.

    Raises:
        LevelError: The data is not a playable map; the message says at which offset, and why.
    """
    data = bytes(data)
    if len(data) < RECORDS_OFFSET + RECORD_BYTES:
        raise LevelError(
            f"offset {len(data)}: the map ends here; header, tiles, counts and one record take at least "
            f"{RECORDS_OFFSET + RECORD_BYTES} bytes"
        )
    if len(data) > MAX_MAP_BYTES:
        raise LevelError(
            f"offset {MAX_MAP_BYTES}: the map goes on to {len(data)} bytes; at most {MAX_RECORDS} records are allowed"
        )
    surplus = (len(data) - RECORDS_OFFSET) % RECORD_BYTES
    if surplus:
        raise LevelError(
            f"offset {len(data) - surplus}: {surplus} bytes are left over; from offset {RECORDS_OFFSET} on a "
            f"map consists of records of {RECORD_BYTES} bytes"
        )
    return Level(
        tiles=np.frombuffer(data, np.uint8, ROWS * COLUMNS, HEADER_BYTES).reshape(ROWS, COLUMNS),
        records=np.frombuffer(data, np.uint8, offset=RECORDS_OFFSET).reshape(-1, RECORD_BYTES),
        counts=np.frombuffer(data, np.dtype("<u2"), COUNT_TYPES, COUNTS_OFFSET).astype(np.uint16),
        header=data[:HEADER_BYTES],
    )


def write_map(level: Level) -> bytes:
    """Write a binary map; a level that was read from one gives the same bytes back.

    Metadata has no place in a map and is left out.
    """
    counts = level.counts.astype("<u2").tobytes()
    return level.header + level.tiles.tobytes() + counts + level.records.tobytes()
