"""Replaying recordings: outcome, frame, gold, score and trace."""

from __future__ import annotations

import numpy as np
import pytest
from golden_levels import golden

from npp_env.errors import RecordingError
from npp_env.level import Level, read_map
from npp_env.recording import Recording
from npp_env.recording.replay import replay, score_seconds

TILES = np.zeros((23, 42), np.uint8)
TILES[19:] = 1


def level(*records) -> Level:
    return Level.from_parts(TILES, [(0, 20, 78, 0, 0), *records])


def record(level: Level, byte: int, ticks: int) -> Recording:
    return Recording.of_level(level, np.full(ticks, byte, np.uint8))


def test_golden_trajectories_are_their_own_trace():
    ends = set()
    for g in golden():
        result = replay(Recording.of_level(read_map(g.map), g.inputs), trace=True)
        frames = result.frames
        assert np.array_equal(result.trace.ninja, g.ninja[:frames])
        assert np.array_equal(result.trace.state, g.flags[:frames, 0])
        assert (result.trace.ninja.dtype, result.trace.ninja.shape) == (np.float64, (frames, 4))
        # It stops in the tick of death or victory, and nowhere else.
        over = np.flatnonzero(np.isin(g.flags[:, 0], (6, 8)))
        assert frames == (over[0] + 1 if len(over) else len(g.inputs))
        assert result.outcome == {6: "died", 8: "won"}.get(int(g.flags[frames - 1, 0]), "alive")
        assert result.gold == g.flags[frames - 1, 1]
        assert result.unused_inputs == len(g.inputs) - frames
        ends.add(result.outcome)
    assert ends >= {"died", "alive"}


def test_with_and_without_trace_agree():
    for g in golden()[::10]:
        recording = Recording.of_level(read_map(g.map), g.inputs)
        one, other = replay(recording), replay(recording, trace=True)
        assert one.trace is None
        assert (one.outcome, one.frames, one.gold, one.score) == (
            other.outcome,
            other.frames,
            other.gold,
            other.score,
        )


def test_a_win_scores_the_time_left_and_the_gold():
    plain = replay(record(level((3, 40, 78, 0, 0), (4, 30, 78, 0, 0)), 2, 200))
    rich = replay(record(level((3, 40, 78, 0, 0), (4, 30, 78, 0, 0), (2, 25, 78, 0, 0)), 2, 200))
    assert plain.outcome == rich.outcome == "won"
    assert (plain.gold, rich.gold) == (0, 1)
    assert rich.score - plain.score == pytest.approx(2)
    # The clock stops within the winning tick.
    assert 90 - plain.frames / 60 <= plain.score < 90 - (plain.frames - 1) / 60
    assert plain.unused_inputs == 200 - plain.frames


def test_score_in_numbers():
    assert score_seconds(0, 0, 1.0) == 90
    assert score_seconds(600, 3, 0.25) == pytest.approx(90 - 10 + 6 + 0.75 / 60)


def test_death_and_survival_score_nothing():
    died = replay(record(level((1, 40, 78, 0, 0)), 2, 200))
    assert (died.outcome, died.score) == ("died", 0)
    alive = replay(record(level(), 2, 50))
    assert (alive.outcome, alive.frames, alive.score, alive.unused_inputs) == ("alive", 50, 0, 0)
    empty = replay(record(level(), 2, 0), trace=True)
    assert (empty.outcome, empty.frames, empty.trace.ninja.shape) == ("alive", 0, (0, 4))


def test_the_reset_bit_of_attract_files_is_ignored():
    plain = replay(record(level(), 2, 50), trace=True)
    marked = replay(record(level(), 2 | 8, 50), trace=True)
    assert np.array_equal(plain.trace.ninja, marked.trace.ninja)


def test_a_missing_or_wrong_level_is_a_clear_error():
    mine, other = level(), level((2, 40, 78, 0, 0))
    bare = Recording(None, mine.hash, np.full(10, 2, np.uint8))
    with pytest.raises(RecordingError, match=mine.hash):
        replay(bare)
    with pytest.raises(RecordingError, match=f"belongs to level {mine.hash}.*{other.hash}"):
        replay(bare, other)
    with pytest.raises(RecordingError, match="belongs to level"):
        replay(record(mine, 2, 10), other)
    assert replay(bare, mine).frames == 10
