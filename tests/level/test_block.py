from __future__ import annotations

import numpy as np
import pytest

from npp_env.errors import StateError
from npp_env.level.block import BlockFormat

POINT = np.dtype([("x", "<f4"), ("tag", "u1", 3)])
FORMAT = BlockFormat("toy", magic=77, version=3, sections=(("small", "u1"), ("points", POINT)), numbers=2)


def packed():
    points = np.zeros(2, POINT)
    points["x"] = [1.5, -2]
    return FORMAT.pack({"small": np.arange(5), "points": points}, [8, -9])


def test_a_block_gives_back_what_was_packed():
    block = packed()
    assert block[:20].view("<i4").tolist() == [77, 3, block.size, 8, -9]
    numbers, sections = FORMAT.open(block)
    assert numbers == [8, -9]
    assert sections["small"].tolist() == [0, 1, 2, 3, 4]
    assert sections["points"]["x"].tolist() == [1.5, -2]
    # What the header says of each section leads a reader with nothing but a pointer to it.
    header = block[: 4 * FORMAT.header_ints].view("<i4")
    for k, array in enumerate(sections.values()):
        start, count = header[5 + 2 * k : 7 + 2 * k].tolist()
        assert block[start : start + array.nbytes].tobytes() == array.tobytes()
        assert count == array.size
        assert start % 8 == 0
    for array in (block, *sections.values()):
        assert not array.flags.writeable


@pytest.mark.parametrize("place", range(3))
def test_blocks_of_another_format_are_refused(place):
    block = packed().copy()
    block.view("<i4")[place] += 1
    with pytest.raises(StateError, match="not a toy of version 3"):
        FORMAT.open(block)


@pytest.mark.parametrize(("place", "value"), [(5, 4), (5, 1000), (6, -1), (8, 1000), (7, 41)])
def test_sections_beyond_their_block_are_refused(place, value):
    block = packed().copy()
    block.view("<i4")[place] = value
    with pytest.raises(StateError, match="not a toy: section"):
        FORMAT.open(block)
