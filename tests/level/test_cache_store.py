"""Files of the cache: whatever happens to them, the next start gives the right arrays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from level.samples import small_level
from npp_env.level.cache import Artifact, LevelCache
from npp_env.level.cache_file import ArtifactKey, DamagedArtifactError
from npp_env.level.cache_store import ArtifactStore

ROOT = Path(__file__).parent.parent.parent
LEVEL = small_level()
EXPECTED = np.arange(600, dtype=np.float32).reshape(20, 30)
ARTIFACT = Artifact("table", 3, lambda level, cache: EXPECTED.copy())
KEY = ArtifactKey(LEVEL.hash, "table", "", 3)

WRITER = """
import sys
import numpy as np
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.cache_store import ArtifactStore
store, size, first = ArtifactStore(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
k = first
while True:
    store.write(ArtifactKey("ab" * 16, "series", str(k % 5), 1), np.full(size, k % 5, np.uint8))
    k += 1
"""


def one_file(folder: Path) -> Path:
    (path,) = folder.rglob("*.nppc")
    return path


def replace(path: Path, data: bytes) -> None:
    """Put another file in the place of one, which nobody may write to."""
    path.unlink()
    path.write_bytes(data)
    path.chmod(0o444)


def get(folder: Path) -> tuple[np.ndarray, list[str], LevelCache]:
    cache = LevelCache(directory=folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        array = cache.get(LEVEL, ARTIFACT)
        cache.get(LEVEL, ARTIFACT)
    return array, [str(warning.message) for warning in caught], cache


def expect_rebuilt(folder: Path) -> None:
    array, messages, cache = get(folder)
    assert np.array_equal(array, EXPECTED)
    assert len(messages) == 1
    assert "damaged artifact" in messages[0]
    assert cache.report()["table"].builds == 1
    array, messages, cache = get(folder)
    assert (messages, cache.report()["table"].loads) == ([], 1)
    assert np.array_equal(array, EXPECTED)


@settings(deadline=None)
@given(payload=hnp.arrays(st.sampled_from([np.uint8, np.float16, np.int64, np.bool_]), hnp.array_shapes(max_dims=3)))
def test_what_is_written_is_read(tmp_path_factory, payload):
    store = ArtifactStore(tmp_path_factory.mktemp("store"))
    assert store.read(KEY) is None
    store.write(KEY, payload)
    found = store.read(KEY)
    assert found.dtype == payload.dtype
    assert np.array_equal(found, payload, equal_nan=payload.dtype == np.float16)
    assert not found.flags.writeable


def test_files_hold_plain_bytes(tmp_path):
    get(tmp_path)
    data = one_file(tmp_path).read_bytes()
    start = data.index(EXPECTED.tobytes())
    assert (start % 64, len(data)) == (0, start + EXPECTED.nbytes + -EXPECTED.nbytes % 64)
    assert data[:8] == b"NPPCACHE"


@settings(max_examples=40, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_changed_byte_is_noticed(tmp_path_factory, place, flip):
    folder = tmp_path_factory.mktemp("cache")
    get(folder)
    path = one_file(folder)
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= flip
    replace(path, data)
    expect_rebuilt(folder)
    assert path.with_suffix(".damaged").read_bytes() == data


@settings(max_examples=30, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_any_truncation_is_noticed(tmp_path_factory, share):
    folder = tmp_path_factory.mktemp("cache")
    get(folder)
    path = one_file(folder)
    replace(path, path.read_bytes()[: int(share * path.stat().st_size)])
    expect_rebuilt(folder)


def test_files_of_another_level_are_noticed(tmp_path):
    other = small_level(extra=[(2, 9, 9, 0, 0)])
    cache = LevelCache(directory=tmp_path)
    cache.get(other, ARTIFACT)
    store = ArtifactStore(tmp_path)
    path = store.path_of(LEVEL.hash)
    path.parent.mkdir(exist_ok=True)
    shutil.move(one_file(tmp_path), path)
    with pytest.raises(DamagedArtifactError, match="belongs to level"):
        store.read(KEY)
    assert store.read(KEY) is None
    for data in (b"", b"\0", b"NPPCACHE", bytes(5000), path.with_suffix(".damaged").read_bytes() + b"\0"):
        get(tmp_path)
        replace(path, data)
        expect_rebuilt(tmp_path)


def test_all_artifacts_of_a_level_are_one_file_and_one_mapping(tmp_path):
    store = ArtifactStore(tmp_path)
    arrays = {str(k): np.full(10 + k, k, np.uint16) for k in range(4)}
    for variant, array in arrays.items():
        store.write(KEY._replace(variant=variant), array)
    one_file(tmp_path)
    found = {variant: store.read(KEY._replace(variant=variant)) for variant in arrays}
    assert all(np.array_equal(found[variant], array) for variant, array in arrays.items())
    assert len({array.base.file for array in found.values()}) == 1
    assert len({array.base.file for array in map(store.read, [KEY._replace(variant=v) for v in arrays])}) == 1
    # What was mapped before the file was replaced stays as it was.
    store.write(KEY._replace(variant="0"), np.full(10, 77, np.uint16))
    assert (found["0"] == 0).all()
    assert (ArtifactStore(tmp_path).read(KEY._replace(variant="0")) == 77).all()
    assert (ArtifactStore(tmp_path).read(KEY._replace(variant="3")) == 3).all()


def test_a_damaged_array_costs_its_file_but_no_wrong_value(tmp_path):
    store = ArtifactStore(tmp_path)
    second = KEY._replace(variant="second")
    store.write(KEY, EXPECTED)
    store.write(second, EXPECTED + 1)
    data = bytearray(one_file(tmp_path).read_bytes())
    data[data.index((EXPECTED + 1).tobytes())] ^= 1
    replace(one_file(tmp_path), data)
    store = ArtifactStore(tmp_path)
    first = store.read(KEY)
    with pytest.raises(DamagedArtifactError, match="checksum of table"):
        store.read(second)
    assert np.array_equal(first, EXPECTED)
    assert store.read(KEY) is None
    store.write(second, EXPECTED + 1)
    assert np.array_equal(store.read(second), EXPECTED + 1)


def test_damage_is_not_copied_into_the_next_file(tmp_path):
    store = ArtifactStore(tmp_path)
    store.write(KEY, EXPECTED)
    data = bytearray(one_file(tmp_path).read_bytes())
    data[-1] ^= 1
    replace(one_file(tmp_path), data)
    store.write(KEY._replace(variant="second"), EXPECTED + 1)
    assert store.read(KEY) is None
    assert np.array_equal(store.read(KEY._replace(variant="second")), EXPECTED + 1)


def test_a_file_with_too_many_versions_begins_anew(tmp_path):
    store = ArtifactStore(tmp_path)
    for version in range(20):
        store.write(KEY._replace(version=version), np.full(3, version))
        found = [ArtifactStore(tmp_path).read(KEY._replace(version=v)) for v in range(20)]
        there = range(version + 1) if version < 16 else range(16, version + 1)
        assert [v for v in range(20) if found[v] is not None] == list(there)
        assert all(int(found[v][0]) == v for v in there)


def test_a_variant_may_be_longer_than_a_file_name(tmp_path):
    store = ArtifactStore(tmp_path)
    store.write(KEY._replace(variant="0" * 2000), EXPECTED)
    assert np.array_equal(store.read(KEY._replace(variant="0" * 2000)), EXPECTED)
    assert store.read(KEY._replace(variant="0" * 2001)) is None


@pytest.mark.parametrize("payload", [np.zeros(3, object), np.zeros(3, "U4"), np.zeros(3, ">u2"), np.zeros((1,) * 5)])
def test_what_a_file_cannot_hold_is_refused(tmp_path, payload):
    with pytest.raises(ValueError, match="cannot be stored"):
        ArtifactStore(tmp_path).write(KEY, payload)
    assert list(tmp_path.iterdir()) == []


def test_another_version_is_not_read(tmp_path):
    get(tmp_path)
    newer = Artifact("table", 4, lambda level, cache: EXPECTED + 1)
    assert np.array_equal(LevelCache(directory=tmp_path).get(LEVEL, newer), EXPECTED + 1)


def test_a_directory_that_cannot_be_used_falls_back_to_memory(tmp_path):
    (tmp_path / "file").write_text("not a directory")
    cache = LevelCache(directory=tmp_path / "file" / "cache")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for level in (LEVEL, small_level(extra=[(2, 9, 9, 0, 0)])):
            assert np.array_equal(cache.get(level, ARTIFACT), EXPECTED)
    assert len(caught) == 1
    assert cache.report()["table"].private_bytes == 2 * EXPECTED.nbytes


def test_a_read_only_directory_still_serves_what_it_has(tmp_path, monkeypatch):
    get(tmp_path)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(ArtifactStore, "write_all", refuse)
    cache = LevelCache(directory=tmp_path)
    assert np.array_equal(cache.get(LEVEL, ARTIFACT), EXPECTED)
    other = Artifact("second", 1, lambda level, cache: EXPECTED)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for level in (LEVEL, small_level(extra=[(2, 9, 9, 0, 0)])):
            cache.get(level, other)
    assert ["Permission denied" in str(warning.message) for warning in caught] == [True]
    report = cache.report()
    assert (report["table"].loads, report["second"].private_bytes) == (1, 2 * EXPECTED.nbytes)


def start_writer(folder, size, first=0):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WRITER, str(folder), str(size), str(first)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    assert process.stdout.readline() == b"ready\n"
    return process


def check_series(folder, size) -> int:
    """Every file that is there reads back whole; returns how many there are."""
    store = ArtifactStore(folder)
    found = 0
    for k in range(5):
        array = store.read(ArtifactKey("ab" * 16, "series", str(k), 1))
        if array is not None:
            assert array.shape == (size,)
            assert (array == k).all()
            found += 1
    return found


def test_a_killed_writer_leaves_nothing_half_written(tmp_path):
    size = 3_000_000
    for k in range(4):
        process = start_writer(tmp_path, size, k)
        time.sleep(0.03 + 0.04 * k)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        check_series(tmp_path, size)
    store = ArtifactStore(tmp_path)
    store.write(ArtifactKey("ab" * 16, "series", "0", 1), np.zeros(size, np.uint8))
    assert check_series(tmp_path, size) >= 1
    store.clear()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [".bytes"]


def test_two_writers_at_once(tmp_path):
    size = 200_000
    writers = [start_writer(tmp_path, size), start_writer(tmp_path, size)]
    try:
        deadline = time.monotonic() + 10
        while check_series(tmp_path, size) < 5 and time.monotonic() < deadline:
            pass
        for _ in range(30):
            assert check_series(tmp_path, size) == 5
        assert all(writer.poll() is None for writer in writers)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            writer.stdout.close()


FULL_DISK = """
import sys, warnings
import numpy as np
from npp_env.level import Level
from npp_env.level.cache import Artifact, LevelCache
warnings.simplefilter("always")
cache = LevelCache(directory=sys.argv[1])
level = Level.from_parts(np.zeros((23, 42), np.uint8), [(0, 10, 90, 0, 0)])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for k in range(40):
        artifact = Artifact("big", 1, lambda level, cache: np.full(20_000, k, np.uint8), str(k))
        assert (cache.get(level, artifact) == k).all()
again = LevelCache(directory=sys.argv[1])
for k in range(40):
    artifact = Artifact("big", 1, lambda level, cache: np.full(20_000, k, np.uint8), str(k), persisted=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (again.get(level, artifact) == k).all()
use = cache.report()["big"]
print(len(caught), use.private_bytes > 0, use.mapped_bytes > 0)
"""


def test_a_full_disk_falls_back_to_memory(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = tmp_path / "full.py"
    script.write_text(FULL_DISK)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=256k none {disk}"
    can = (
        subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True) if shutil.which("unshare") else None
    )
    if can is None or can.returncode:
        pytest.skip("a small file system cannot be mounted here")
    command = f"{mount} && exec {sys.executable} {script} {disk}"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", command], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "True", "True"]


UNMAPPED = """
import sys
import numpy as np
from npp_env.level import cache_mapping
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.cache_store import ArtifactStore

key, content = ArtifactKey("ab" * 16, "table", "", 1), np.arange(9000)
store = ArtifactStore(sys.argv[1])
store.write(key, content)
held, met = store.read(key), []
library = cache_mapping._c_library()
unmap = library.unmap

def unmap_and_be_met(address, size):
    library.unmap = unmap
    unmap(address, size)
    met.append(store.read(key))

library.unmap = unmap_and_be_met
del held
assert len(met) == 1 and (met[0] == content).all()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="mappings are Python's own there")
def test_whoever_reads_while_a_file_is_unmapped_gets_it_anew(tmp_path):
    """Another thread, or a child that is forked then, must not get the mapping that is on its way out."""
    command = [sys.executable, "-c", UNMAPPED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
