"""TensorBoard event files: what they say, and that nothing in them costs more than it is long."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.profiling import SnapshotError
from npp_env.profiling.event_files import MAX_TAGS, ScalarLog
from npp_env.profiling.tensorboard_scalars import read_scalars
from profiling.event_writer import event, message, record, scalar, write_events

NAME = "events.out.tfevents.1700000000.host"
points = st.lists(
    st.tuples(st.sampled_from(["a", "train/loss", "ä"]), st.integers(-(2**40), 2**40), st.floats(width=32)), max_size=40
)


@given(scalars=points)
@settings(max_examples=60, deadline=None)
def test_scalars_come_back_sorted_by_step_and_the_last_of_a_step_counts(scalars, tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    write_events(folder / NAME, scalars)
    expected = {}
    for tag, step, value in scalars:
        expected.setdefault(tag, {})[step] = value
    found = read_scalars(folder)
    assert [series.tag for series in found] == sorted(expected)
    for series in found:
        assert series.steps.tolist() == sorted(expected[series.tag])
        wanted = [expected[series.tag][step] for step in sorted(expected[series.tag])]
        assert np.array_equal(series.values, wanted, equal_nan=True)


def test_what_is_no_scalar_is_skipped_and_several_files_are_one_series(tmp_path):
    tensor = message(1, b"histogram") + message(8, bytes(50))
    (tmp_path / f"{NAME}.0").write_bytes(event(1, tensor, scalar("loss", 2.0)) + event(2))
    (tmp_path / f"{NAME}.1").write_bytes(event(3, scalar("loss", 1.0)) + event(4, scalar("loss", 0.0))[:-9])
    (tmp_path / "notes.txt").write_bytes(b"\xff" * 100)
    (series,) = read_scalars(tmp_path)
    assert series.steps.tolist() == [1, 3]
    assert series.values.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    "content",
    [
        record(b"\xff" * 20),
        record(b"\x10" + b"\x80" * 12),
        record(b"\x2a\x05abc"),
        record(message(5, message(1, message(1, b"\xff\xfe") + b"\x15\0\0\0\0"))),
        record(b"\x15\0"),
        record(b"\x13"),
    ],
    ids=["noise", "endless number", "too short", "tag that is no text", "half a number", "unknown kind"],
)
def test_malformed_files_are_named(tmp_path, content):
    (tmp_path / NAME).write_bytes(event(1, scalar("loss", 2.0)) + content)
    with pytest.raises(SnapshotError, match=f"{NAME}: not a TensorBoard event file"):
        read_scalars(tmp_path)


def test_a_length_beyond_the_file_costs_nothing(tmp_path):
    (tmp_path / NAME).write_bytes(event(1, scalar("loss", 2.0)) + b"\xff" * 8 + bytes(40))
    (series,) = read_scalars(tmp_path)
    assert series.values.tolist() == [2.0]


def test_too_many_tags_are_refused(tmp_path):
    (tmp_path / NAME).write_bytes(event(1, *(scalar(f"tag {k}", 0.0) for k in range(MAX_TAGS + 1))))
    with pytest.raises(SnapshotError, match="more than 10,000 tags"):
        read_scalars(tmp_path)


@given(noise=st.binary(max_size=60), cut=st.integers(0, 60), at=st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_damage_gives_scalars_or_an_error(noise, cut, at, tmp_path_factory):
    path = tmp_path_factory.mktemp("events") / NAME
    data = event(1, scalar("loss", 2.0)) + event(2, scalar("loss", 1.0))
    path.write_bytes(data[:at] + noise + data[at + cut :])
    log = ScalarLog()
    try:
        log.read(path)
    except SnapshotError:
        return
    assert all(math.isfinite(step) for steps in log.steps.values() for step in steps)


def test_tags_cannot_command_a_terminal(tmp_path):
    write_events(tmp_path / NAME, [("\x1b[2J\n", 1, 0.0)])
    (series,) = read_scalars(tmp_path)
    assert series.tag == "\\x1b[2J\\x0a"


def test_agrees_with_tensorboard(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path))
    for step in range(50):
        for tag in ("a", "b/c"):
            value = Summary.Value(tag=tag, simple_value=math.sin(step) * 1e6)
            writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=Summary(value=[value])))
    writer.close()
    theirs = accumulator.EventAccumulator(str(tmp_path), size_guidance={"scalars": 0})
    theirs.Reload()
    ours = read_scalars(tmp_path)
    assert [series.tag for series in ours] == sorted(theirs.Tags()["scalars"])
    for series in ours:
        assert series.steps.tolist() == [point.step for point in theirs.Scalars(series.tag)]
        assert series.values.tolist() == [point.value for point in theirs.Scalars(series.tag)]
