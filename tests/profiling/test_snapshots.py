from __future__ import annotations

import builtins
import contextlib
import json
import os
import pickle
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.profiling import MemoryTracker, SnapshotError, Verdict, read_snapshots, torch_snapshot
from npp_env.profiling.safe_pickle import load_plain_pickle, loads_plain_pickle
from npp_env.profiling.tensorboard_scalars import correlate, read_scalars
from profiling.event_writer import write_events

KB = 1024
MB = 2**20

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.tuples(inner, inner, inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(value=plain, protocol=st.integers(0, 5))
@settings(max_examples=150, deadline=None)
def test_plain_data_is_read_as_pickle_reads_it(value, protocol):
    if protocol == 0 and "\r" in repr(value):
        protocol = 2
    data = pickle.dumps(value, protocol)
    if protocol < 3 and contains_bytes(value):
        # Old protocols write bytes as a call of codecs.encode: a call is refused, whatever it calls.
        with pytest.raises(SnapshotError, match="refused"):
            loads_plain_pickle(data)
    else:
        assert loads_plain_pickle(data) == pickle.loads(data) == value


def contains_bytes(value):
    if isinstance(value, dict):
        return any(contains_bytes(inner) for inner in value.values())
    if isinstance(value, (list, tuple)):
        return any(contains_bytes(inner) for inner in value)
    return isinstance(value, bytes)


class Executes:
    def __reduce__(self):
        return (os.system, ("touch /tmp/npp_env_pwned",))


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_executed(protocol, monkeypatch):
    called = []
    monkeypatch.setattr(os, "system", called.append)
    monkeypatch.setattr(builtins, "eval", called.append)
    for payload in (Executes(), {"segments": [Executes()]}):
        with pytest.raises(SnapshotError, match="refused"):
            loads_plain_pickle(pickle.dumps(payload, protocol))
    for code in (b"cos\nsystem\n(S'x'\ntR.", b"\x80\x02\x82\x01.", b"Pid\n.", b"(i__main__\nX\n.", b"}}b."):
        with pytest.raises(SnapshotError):
            loads_plain_pickle(code)
    assert not called


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"(.",
        b"]",
        b"a.",
        b"]a.",
        b"](.",
        b"h\x05.",
        b"N(t",
        b"}(K\x01u.",
        b"}]Ns.",
        b"(q\x00.",
        b"I" + b"9" * 5000 + b"\n.",
        b"\x8b" + struct.pack("<i", -5) + b".",
        b"\x8d" + struct.pack("<Q", 2**62) + b"x.",
        b"X" + struct.pack("<I", 2**31) + b"x.",
        b"X\x02\x00\x00\x00\xff\xfe.",
        b"NN.",
    ],
)
def test_malformed_pickles_are_reported(data):
    with pytest.raises(SnapshotError):
        loads_plain_pickle(data)


@given(cut=st.integers(0, 400), noise=st.binary(max_size=20))
@settings(max_examples=200, deadline=None)
def test_damaged_pickles_never_do_anything_but_complain(cut, noise):
    data = pickle.dumps(cuda_snapshot(1))
    with contextlib.suppress(SnapshotError):
        loads_plain_pickle(data[:cut] + noise)


def test_a_huge_memo_index_costs_nothing():
    assert loads_plain_pickle(b"Nr\xff\xff\xff\xff.") is None


def test_a_deep_pickle_neither_recurses_nor_hashes():
    assert loads_plain_pickle(b")" + b"\x85" * 200_000 + b"0N.") is None
    with pytest.raises(SnapshotError, match="tuple as a key"):
        loads_plain_pickle(b"})" + b"\x85" * 200_000 + b"Ns.")


def test_large_files_are_not_read(tmp_path):
    path = tmp_path / "snapshot_step_1.pickle"
    path.write_bytes(pickle.dumps([1] * 1000))
    with pytest.raises(SnapshotError, match="at most"):
        load_plain_pickle(path, max_bytes=100)


def cuda_snapshot(step, leak=50 * KB):
    """The form of torch.cuda.memory._snapshot()."""
    frames = [
        {"filename": "??", "line": 0, "name": "torch::empty"},
        {"filename": "/train.py", "line": 12, "name": "collect"},
        {"filename": "/train.py", "line": 90, "name": "main"},
    ]
    leaked = {
        "size": 2 * MB + leak * step // 1000,
        "state": "active_allocated",
        "address": 1,
        "frames": frames,
    }
    small = {"size": 512, "requested_size": 500, "state": "active_allocated", "address": 2, "frames": []}
    unused = {"size": 4096, "state": "inactive", "address": 3, "frames": []}
    return {
        "segments": [
            {"device": 0, "segment_type": "large", "total_size": 20 * MB, "blocks": [leaked, unused]},
            {"device": 0, "segment_type": "small", "total_size": 2 * MB, "blocks": [small]},
        ],
        "device_traces": [[]],
        "allocator_settings": {"expandable_segments": False},
    }


def write_cuda(folder, step, **options):
    (folder / f"snapshot_step_{step}.pickle").write_bytes(pickle.dumps(cuda_snapshot(step, **options)))


def test_a_series_of_cuda_snapshots(tmp_path):
    for step in range(0, 20_000, 1000):
        write_cuda(tmp_path, step)
    (series,) = read_snapshots(tmp_path)
    assert series.kind == "cuda"
    assert series.problems == ()
    first = series.rows[0]
    assert (first.total_active_bytes, first.small_pool_bytes, first.large_pool_bytes) == (
        2 * MB + 512,
        512,
        2 * MB,
    )
    assert first.block_count == 2
    growth = series.growth()
    assert growth.verdict is Verdict.GROWING
    assert growth.slope_per_1k == pytest.approx(50 * KB, rel=0.01)
    top = series.top_contexts()[0]
    assert top.context == "collect (/train.py:12) < main (/train.py:90)"
    assert top.growth_bytes == 19 * 50 * KB


def test_our_snapshots_come_back(tmp_path):
    tracker = MemoryTracker(interval=10, budget_fraction=None, snapshot_dir=tmp_path)
    for step in range(101):
        tracker.on_step(step)
    (series,) = read_snapshots(tmp_path)
    assert series.kind == "process"
    assert [row.step for row in series.rows] == list(range(0, 101, 10))
    assert series.rows[0].total_active_bytes == tracker.samples[0].uss_bytes
    json.dumps(series.to_dict())


def test_what_is_wrong_with_a_folder_is_reported_not_fatal(tmp_path):
    for step in (0, 100, 200, 300, 500, 600):
        write_cuda(tmp_path, step)
    whole = (tmp_path / "snapshot_step_600.pickle").read_bytes()
    (tmp_path / "snapshot_step_600.pickle").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "snapshot_step_700.pickle").write_bytes(pickle.dumps({"weights": [1, 2]}))
    (tmp_path / "snapshot_step_800.pickle").write_bytes(pickle.dumps(Executes()))
    (tmp_path / "snapshot_step_5.json").write_text('{"format": "npp_env.memory_snap')
    (tmp_path / "snapshot_step_6.json").write_text('{"format": "something else"}')
    (tmp_path / "notes.txt").write_text("hello")
    process, cuda = read_snapshots(tmp_path)
    assert [row.step for row in cuda.rows] == [0, 100, 200, 300, 500]
    text = "\n".join(cuda.problems)
    for part in (
        "truncated",
        "no list of segments",
        "refused",
        "step 300 and 500",
        "notes.txt",
        "mixed folder",
    ):
        assert part in text
    assert process.rows == ()
    assert "snapshot_step_5.json: truncated" in "\n".join(process.problems)


def test_an_empty_or_missing_folder_is_an_error(tmp_path):
    with pytest.raises(SnapshotError, match="holds no snapshot"):
        read_snapshots(tmp_path)
    with pytest.raises(SnapshotError, match="not a folder"):
        read_snapshots(tmp_path / "nowhere")


def test_scalars_are_correlated_by_their_changes(tmp_path):
    for step in range(0, 5000, 250):
        write_cuda(tmp_path, step, leak=50 * KB if step % 1000 else 60 * KB)
    (series,) = read_snapshots(tmp_path)
    memory = {row.step: row.total_active_bytes for row in series.rows}
    write_events(
        tmp_path / "events.out.tfevents.1",
        [
            *(("train/buffer", step, value / 1e6) for step, value in memory.items()),
            *(("train/loss", step, float((step // 250) % 2)) for step in memory),
            ("train/other", 0, 1.0),
        ],
    )
    found = correlate(series.rows, read_scalars(tmp_path))
    assert [entry.tag for entry in found] == ["train/buffer", "train/loss"]
    assert found[0].of_changes == pytest.approx(1.0)
    assert found[0].points == len(memory)


def shared_lists(depth):
    """A list that holds one list twice, and so on: little to pickle, but 2**depth places to write out."""
    value = []
    for _ in range(depth):
        value = [value, value]
    return value


def cuda_pickle(frame=None, **fields):
    """A CUDA snapshot of one block."""
    block = {"state": "active_allocated", "size": 100, "frames": [frame], **fields}
    return pickle.dumps({"segments": [{"blocks": [block]}]})


def only_row(tmp_path, data):
    path = tmp_path / "snapshot_step_1.pickle"
    path.write_bytes(data)
    (series,) = read_snapshots(tmp_path)
    return (series.rows[0] if series.rows else None), series.problems


@pytest.mark.parametrize(
    ("field", "contexts"),
    [
        ("state", []),
        ("name", ["? (a.py:7)"]),
        ("filename", ["f (?:7)"]),
        ("line", ["(no stack recorded)"]),
    ],
)
def test_shared_lists_are_not_written_out(tmp_path, field, contexts):
    frame = {"name": "f", "filename": "a.py", "line": 7}
    lists = shared_lists(22)
    data = cuda_pickle(frame, state=lists) if field == "state" else cuda_pickle({**frame, field: lists})
    assert len(data) < 500
    tracemalloc.start()
    try:
        row, problems = only_row(tmp_path, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problems == ()
    assert list(row.contexts) == contexts
    assert peak < MB


def test_deep_lists_are_nothing_special(tmp_path):
    data = cuda_pickle({"name": "deep"})
    deep = b"]" * 5000 + b"a" * 4999
    row, problems = only_row(tmp_path, data.replace(b"\x8c\x04deep\x94", deep))
    assert problems == ()
    assert row.contexts == {"? (?:0)": 100}


def test_keys_cannot_be_chosen_to_collide():
    modulus = 2**61 - 1  # numbers that differ by it have the same hash
    data = pickle.dumps({k * modulus: None for k in range(1001)})
    with pytest.raises(SnapshotError, match="more than 1,000 keys are numbers"):
        loads_plain_pickle(data)
    assert len(loads_plain_pickle(pickle.dumps({k * modulus: None for k in range(1000)}))) == 1000
    assert len(loads_plain_pickle(pickle.dumps({str(k): None for k in range(5000)}))) == 5000


def test_blocks_cannot_be_more_than_the_file_is_long(tmp_path):
    blocks = b"](" + b"}" * 200 + b"e\x94"
    segment = b"}\x94(\x8c\x06blocks" + blocks + b"u"
    data = b"\x80\x04](" + segment + b"h\x00" * 400 + b"e."
    assert len(pickle.loads(data)) == 401
    row, problems = only_row(tmp_path, data)
    assert row is None
    assert problems == (f"snapshot_step_1.pickle: more than {len(data):,} blocks",)


def test_stacks_that_blocks_share_are_read_once(tmp_path, monkeypatch):
    read = []
    context = torch_snapshot._context
    monkeypatch.setattr(torch_snapshot, "_context", lambda frames: read.append(frames) or context(frames))
    frames = [{"name": "f", "filename": "a.py", "line": 1}]
    blocks = [{"state": "active_allocated", "size": 1, "frames": frames} for _ in range(50)]
    row, _ = only_row(tmp_path, pickle.dumps({"segments": [{"blocks": blocks}]}))
    assert row.contexts == {"f (a.py:1)": 50}
    assert len(read) == 1


@pytest.mark.parametrize("size", [-1, 2**63, 2**400, True, 1.5, "1", None])
def test_sizes_that_are_none_are_refused(tmp_path, size):
    row, (problem,) = only_row(
        tmp_path, pickle.dumps({"segments": [{"blocks": [{"state": "active_allocated", "size": size}]}]})
    )
    assert row is None
    assert "size is no whole number from 0 to" in problem


@pytest.mark.parametrize(
    "fields",
    [
        f'"uss_bytes": 1{"0" * 4000}',
        f'"uss_bytes": 1{"0" * 5000}',
        '"uss_bytes": 1, "python_blocks": 9223372036854775808',
        '"uss_bytes": -1',
        '"uss_bytes": true',
        '"uss_bytes": 1e300',
        '"uss_bytes": NaN',
        '"uss_bytes": 1, "torch": {"cuda_small_pool_bytes": 1.5}',
        '"uss_bytes": ' + "[" * 100_000,
    ],
    ids=["4,000 digits", "5,000 digits", "2**63", "negative", "true", "1e300", "NaN", "fraction", "deep"],
)
def test_numbers_of_json_snapshots_are_checked(tmp_path, fields):
    path = tmp_path / "snapshot_step_1.json"
    path.write_text('{"format": "npp_env.memory_snapshot", "version": 1, ' + fields + "}")
    (series,) = read_snapshots(tmp_path)
    assert series.rows == ()
    assert len(series.problems) == 1
    assert series.problems[0].startswith("snapshot_step_1.json: ")


def test_names_of_stacks_cannot_command_a_terminal(tmp_path):
    frames = [{"name": "\x1b[2J", "filename": "a\n.py", "line": 1}]
    row, _ = only_row(
        tmp_path, pickle.dumps({"segments": [{"blocks": [{"state": "active", "size": 1, "frames": frames}]}]})
    )
    assert list(row.contexts) == ["\\x1b[2J (a\\x0a.py:1)"]
