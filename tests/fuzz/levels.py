"""Entrances for levels and recordings."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np

from npp_env.level import load_level, read_map, read_text, write_map, write_text
from npp_env.level.entity_kinds import KIND_OF_LABEL
from npp_env.level.pack import read_pack, write_pack
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.recording import (
    Recording,
    load_shipped_recording,
    read_attract,
    read_recording,
    write_attract,
    write_recording,
)
from npp_env.recording.replay import replay
from npp_env.sim import Simulation
from npp_env.sim.views import movers_view
from tests.fuzz.entrance import Entrance, Run, chance, require
from tests.fuzz.mutate import TEXT

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sim.fuzz_maps import crowded_map, find_insanity, wild_map

PLAYED_ONE_IN = 64
"""Compiling a level costs a hundred times as much as reading it."""
TICKS = 60


def play(level: object, seed: bytes) -> None:
    """A second of random play: no number may be lost."""
    simulation = Simulation(level)
    for byte in seed[: TICKS // 10] or b"\2":
        simulation.advance(byte & 7, 10, stop=False)
        if len(level.records) < 1000:
            insanity = find_insanity(simulation.ninja, movers_view(simulation.state, simulation.geometry))
            require(insanity is None, str(insanity))


def map_seeds() -> list[bytes]:
    rng = np.random.default_rng(1)
    shipped = [write_map(load_shipped(name)) for name in shipped_level_names()]
    return [*shipped, *(wild_map(rng) for _ in range(30)), crowded_map(1, 300)]


def open_maps(folder: Path) -> Run:
    def run(data: bytes) -> None:
        level = read_map(data)
        require(write_map(level) == data, "the map does not come back as it was")
        if chance(data, 4):
            require(read_text(write_text(level)) == level, "the map does not survive as a text")
            require(all(len(line) < 1000 for line in level.warnings), "an endless warning")
        if chance(data, PLAYED_ONE_IN):
            play(level, data[-6:])

    return run


def text_seeds() -> list[bytes]:
    rng = np.random.default_rng(2)
    wild = []
    for _ in range(20):
        try:
            wild.append(write_text(read_map(wild_map(rng))).encode())
        except ValueError:
            continue
    return [*(write_text(load_shipped(name)).encode() for name in shipped_level_names()), *wild]


def open_texts(folder: Path) -> Run:
    def run(data: bytes) -> None:
        level = read_text(data.decode("utf-8", "replace"))
        text = write_text(level)
        again = read_text(text)
        same = again == level and again.header == level.header and again.metadata == level.metadata
        require(same and (again.counts == level.counts).all(), "the text does not come back as the same level")
        if chance(data, PLAYED_ONE_IN):
            play(level, data[-6:])

    return run


def open_level_files(folder: Path) -> Run:
    path = folder / "level"

    def run(data: bytes) -> None:
        path.write_bytes(data)
        load_level(path)

    return run


def pack_seeds() -> list[bytes]:
    lines = []
    for name in shipped_level_names():
        lines.append(write_pack([load_shipped(name)], as_game=True))
    return [*lines, b"".join(lines[:3]), b"\r\n".join(lines[3:5])]


def open_packs(folder: Path) -> Run:
    def run(data: bytes) -> None:
        levels = read_pack(data)
        require(read_pack(write_pack(levels)) == levels, "the pack does not come back as it was")
        if chance(data, PLAYED_ONE_IN):
            play(levels[0], data[-6:])

    return run


def _recordings() -> list[Recording]:
    shipped = [load_shipped_recording(name) for name in list(shipped_level_names())[::4]]
    first = shipped[0]
    odd = Recording(None, first.level_hash, first.inputs, None, None, None, bytes(range(30)))
    return [*shipped, odd]


def attract_seeds() -> list[bytes]:
    return [write_attract(recording) for recording in _recordings() if recording.level is not None]


def open_attract(folder: Path) -> Run:
    def run(data: bytes) -> None:
        if len(data) > 8 and chance(data, 2):
            # Lengths that fit, or hardly any input gets further than they.
            split = max(8, min(len(data), 8 + int.from_bytes(data[:4], "little")))
            header = bytearray(data[split : split + 30])
            if len(header) == 30:
                struct.pack_into("<I", header, 9, len(data) - split - 30)
            data = struct.pack("<II", split - 8, len(data) - split) + data[8:split] + header + data[split + 30 :]
        recording = read_attract(data)
        require(write_attract(recording) == data, "the attract file does not come back as it was")
        if chance(data, PLAYED_ONE_IN):
            replay(recording)

    return run


def recording_seeds() -> list[bytes]:
    seeds = [write_recording(recording) for recording in _recordings()]
    return seeds + [write_recording(recording, embed_level=False) for recording in _recordings()[:3]]


def open_recordings(folder: Path) -> Run:
    def run(data: bytes) -> None:
        if len(data) > 4 and not chance(data, 4):
            data = data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))
        recording = read_recording(data)
        again = read_recording(write_recording(recording))
        require(same_recording(recording, again), "the recording does not come back as it was")
        if recording.level is not None and chance(data, PLAYED_ONE_IN):
            replay(recording)

    return run


def same_recording(a: Recording, b: Recording) -> bool:
    facts = ("level", "level_hash", "outcome", "frames", "gold", "demo_header")
    return all(getattr(a, name) == getattr(b, name) for name in facts) and np.array_equal(a.inputs, b.inputs)


_WORDS = [b"npp-level 1\n", b"tiles:\n", b"entities:\n", b"counts: ", b"header: 4 ff\n", b"name: ", b"tile 1 1 99\n"]
ENTRANCES = (
    Entrance("map", map_seeds, open_maps),
    Entrance("text", text_seeds, open_texts, TEXT, [*_WORDS, *(f"{word} ".encode() for word in KIND_OF_LABEL)]),
    Entrance(
        "level-file",
        lambda: map_seeds()[::9] + text_seeds()[::9] + attract_seeds()[::9] + pack_seeds()[::9],
        open_level_files,
    ),
    Entrance("pack", pack_seeds, open_packs, TEXT, [b"$", b"#", b"\n", b"0000", b"ffff", b"$a#00000000"]),
    Entrance("attract", attract_seeds, open_attract),
    Entrance("recording", recording_seeds, open_recordings),
)
