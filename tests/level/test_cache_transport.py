"""Files of the cache on their way from one store to another."""

from __future__ import annotations

import numpy as np
import pytest

from level.samples import small_level
from npp_env.level.cache_file import ArtifactKey, DamagedArtifactError
from npp_env.level.cache_store import ArtifactStore

LEVEL = small_level()
EXPECTED = np.arange(600, dtype=np.float32).reshape(20, 30)
KEY = ArtifactKey(LEVEL.hash, "table", "", 3)


def test_files_go_from_store_to_store(tmp_path):
    here, there = ArtifactStore(tmp_path / "here"), ArtifactStore(tmp_path / "there")
    assert here.export(LEVEL.hash) is None
    assert here.sections(LEVEL.hash) == frozenset()
    here.write(KEY, EXPECTED)
    other = ArtifactKey(LEVEL.hash, "other", "", 1)
    there.write(other, np.arange(5))
    data = here.export(LEVEL.hash)
    assert not here.sections(LEVEL.hash) <= there.sections(LEVEL.hash)
    there.install(LEVEL.hash, data)
    np.testing.assert_array_equal(there.read(KEY), EXPECTED)
    np.testing.assert_array_equal(there.read(other), np.arange(5))
    assert here.sections(LEVEL.hash) < there.sections(LEVEL.hash)


def test_what_is_damaged_on_its_way_is_not_installed(tmp_path):
    here, there = ArtifactStore(tmp_path / "here"), ArtifactStore(tmp_path / "there")
    here.write(KEY, EXPECTED)
    data = here.export(LEVEL.hash)
    for place in (0, 60, 300, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(DamagedArtifactError):
            there.install(LEVEL.hash, bytes(damaged))
    with pytest.raises(DamagedArtifactError):
        there.install(LEVEL.hash, data[:-64])
    with pytest.raises(DamagedArtifactError, match="belongs to level"):
        there.install("ab" * 16, data)
    assert there.read(KEY) is None
    assert not there.has_file("ab" * 16)


def test_a_damaged_file_is_not_exported(tmp_path):
    store = ArtifactStore(tmp_path)
    store.write(KEY, EXPECTED)
    path = store.path_of(LEVEL.hash)
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.unlink()
    path.write_bytes(bytes(data))
    assert store.export(LEVEL.hash) is None
