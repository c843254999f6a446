"""What others may have put into a cache folder, and what a system runs out of: nothing hangs, nothing is misread."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from level.samples import small_level
from npp_env.level import cache_mapping, cache_room
from npp_env.level.cache import Artifact, LevelCache
from npp_env.level.cache_file import ArtifactKey, DamagedArtifactError
from npp_env.level.cache_mapping import is_shared
from npp_env.level.cache_store import ArtifactStore

ROOT = Path(__file__).parent.parent.parent
LEVEL = small_level()
EXPECTED = np.arange(5000, dtype=np.int32)
ARTIFACT = Artifact("table", 1, lambda level, cache: EXPECTED.copy())
KEY = ArtifactKey(LEVEL.hash, "table", "", 1)
FOREIGNER = 54321

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


def get(folder: Path) -> tuple[np.ndarray, list[str], LevelCache]:
    cache = LevelCache(directory=folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        array = cache.get(LEVEL, ARTIFACT)
    return array, [str(warning.message) for warning in caught], cache


def expect_repaired(folder: Path, reason: str) -> None:
    """What lies in the place of the file is refused, set aside, and replaced by the right array."""
    array, messages, cache = get(folder)
    assert np.array_equal(array, EXPECTED)
    assert len(messages) == 1
    assert reason in messages[0]
    assert cache.report()["table"].mapped_bytes == EXPECTED.nbytes
    array, messages, cache = get(folder)
    assert (messages, cache.report()["table"].loads) == ([], 1)
    assert np.array_equal(array, EXPECTED)


@pytest.fixture
def stored(tmp_path):
    """A folder with the file of a level, and the file."""
    get(tmp_path)
    return tmp_path, ArtifactStore(tmp_path).path_of(LEVEL.hash)


def test_a_pipe_does_not_hang(stored):
    folder, path = stored
    path.unlink()
    os.mkfifo(path)
    expect_repaired(folder, "not a regular file")


def test_a_link_is_not_followed(stored):
    folder, path = stored
    target = folder / "target"
    shutil.move(path, target)
    path.symlink_to(target)
    before = target.read_bytes()
    expect_repaired(folder, os.strerror(errno.ELOOP))
    assert target.read_bytes() == before


def test_a_folder_a_socket_and_a_device_are_set_aside(stored, monkeypatch):
    folder, path = stored
    path.unlink()
    path.mkdir()
    expect_repaired(folder, "not a regular file")
    path.unlink()
    monkeypatch.chdir(path.parent)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path.name)
    # Its place is taken by the folder, over which nothing can be renamed.
    path.with_suffix(".damaged").rmdir()
    expect_repaired(folder, os.strerror(errno.ENXIO))
    listening.close()
    if os.geteuid() == 0:
        path.unlink()
        try:
            os.mknod(path, 0o20600, os.makedev(1, 5))
        except PermissionError:
            return
        expect_repaired(folder, "not a regular file")


@pytest.mark.parametrize("mode", [0o464, 0o446, 0o666])
def test_a_file_that_others_may_write_to_is_not_read(stored, mode):
    folder, path = stored
    path.chmod(mode)
    expect_repaired(folder, "others than its owner may write")


def test_files_are_written_so_that_nobody_can_cut_them_off_by_mistake(stored):
    _, path = stored
    assert path.stat().st_mode & 0o777 == 0o444
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            os.truncate(path, 10)


def test_files_of_another_user_are_not_read(stored):
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    folder, path = stored
    os.chown(path, FOREIGNER, FOREIGNER)
    expect_repaired(folder, f"belongs to user {FOREIGNER}")


def test_each_user_has_files_of_their_own_and_reads_those_of_root(tmp_path, monkeypatch):
    store = ArtifactStore(tmp_path)
    store.write(KEY, EXPECTED)
    owner = os.geteuid()
    assert store.path_of(LEVEL.hash).parent.parent == tmp_path / str(owner)
    monkeypatch.setattr(os, "geteuid", lambda: FOREIGNER)
    other = ArtifactStore(tmp_path)
    if owner == 0:
        assert np.array_equal(other.read(KEY), EXPECTED)
    else:
        # Even in the folder that passes for root's, the file itself is asked.
        shutil.copytree(tmp_path / str(owner), tmp_path / "0")
        assert ArtifactStore(tmp_path).read(KEY) is None
    other.write(KEY._replace(variant="own"), EXPECTED + 1)
    assert sorted(path.name for path in (tmp_path / str(FOREIGNER)).rglob("*.nppc")) == [f"{LEVEL.hash}.nppc"]


def test_damage_in_the_files_of_root_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: FOREIGNER)
    (tmp_path / "0" / LEVEL.hash[:2]).mkdir(parents=True)
    planted = tmp_path / "0" / LEVEL.hash[:2] / f"{LEVEL.hash}.nppc"
    planted.write_bytes(b"nonsense")
    assert ArtifactStore(tmp_path).read(KEY) is None
    assert planted.read_bytes() == b"nonsense"


AS_ANOTHER_USER = """
import os, sys, warnings
import numpy as np
from npp_env.level import Level
from npp_env.level.cache import Artifact, LevelCache
level = Level.from_parts(np.zeros((23, 42), np.uint8), [(0, 10, 90, 0, 0), (3, 60, 90, 0, 0), (4, 30, 90, 0, 0)])
os.setgroups([]), os.setgid(int(sys.argv[2])), os.setuid(int(sys.argv[2]))
cache = LevelCache(directory=sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    array = cache.get(level, Artifact("table", 1, lambda level, cache: np.arange(5000, dtype=np.int32)))
use = cache.report()["table"]
print(level.hash, array.tolist() == list(range(5000)), len(caught), use.loads, use.builds, use.mapped_bytes > 0)
"""


def run_as(user: int, folder: Path) -> list[str]:
    command = [sys.executable, "-c", AS_ANOTHER_USER, str(folder), str(user)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_two_users_share_a_folder(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("only root can act as others")
    folder = tmp_path_factory.mktemp("shared")
    for parent in (folder, *folder.parents):
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    folder.chmod(0o777)
    # Each builds its own, and finds it again; nobody is warned.
    for user in (FOREIGNER, FOREIGNER + 1):
        assert run_as(user, folder) == [LEVEL.hash, "True", "0", "0", "1", "True"]
        assert run_as(user, folder) == [LEVEL.hash, "True", "0", "1", "0", "True"]
    # One plants a file of its own in the other's place.
    mine, theirs = (folder / str(FOREIGNER + k) / LEVEL.hash[:2] / f"{LEVEL.hash}.nppc" for k in range(2))
    theirs.unlink()
    shutil.copyfile(mine, theirs)
    os.chown(theirs, FOREIGNER, FOREIGNER)
    assert run_as(FOREIGNER + 1, folder) == [LEVEL.hash, "True", "1", "0", "1", "True"]
    # What root has warmed serves a user who has nothing, and may write nothing.
    shutil.rmtree(folder)
    folder.mkdir()
    folder.chmod(0o755)
    get(folder)
    assert run_as(FOREIGNER, folder) == [LEVEL.hash, "True", "0", "1", "0", "True"]


def test_whatever_goes_wrong_while_reading_is_damage(stored):
    folder, path = stored

    def check(array):
        raise RecursionError("of all things")

    store = ArtifactStore(folder)
    with pytest.raises(DamagedArtifactError, match="of all things"):
        store.read(KEY, check)
    assert not path.exists()
    assert path.with_suffix(".damaged").exists()


def test_a_file_system_on_which_everybody_may_write_costs_one_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_room, "_mode", lambda: 0o666)
    previous = os.umask(0)
    try:
        cache = LevelCache(directory=tmp_path)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for level in (LEVEL, small_level(extra=[(2, 9, 9, 0, 0)]), small_level(extra=[(2, 8, 9, 0, 0)])):
                assert np.array_equal(cache.get(level, ARTIFACT), EXPECTED)
    finally:
        os.umask(previous)
    assert ["others than its owner may write" in str(warning.message) for warning in caught] == [True]
    assert cache.report()["table"].private_bytes == 3 * EXPECTED.nbytes


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES])
def test_want_of_the_system_is_no_damage(stored, monkeypatch, code):
    folder, path = stored

    def refuse(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(cache_mapping.os, "open", refuse)
        array, messages, _ = get(folder)
    assert np.array_equal(array, EXPECTED)
    assert len(messages) == 1
    assert os.strerror(code) in messages[0]
    assert path.exists()
    array, messages, _ = get(folder)
    assert messages == []


def test_without_room_for_a_mapping_files_are_read_into_memory(stored, monkeypatch):
    folder, _ = stored

    def refuse(descriptor, size):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(cache_mapping._c_library(), "map", refuse)
    array, messages, cache = get(folder)
    assert np.array_equal(array, EXPECTED)
    assert messages == []
    assert not is_shared(array)
    assert not array.flags.writeable
    use = cache.report()["table"]
    assert (use.loads, use.private_bytes, use.mapped_bytes) == (1, EXPECTED.nbytes, 0)


def test_a_file_that_is_cut_off_while_it_is_read_into_memory(stored, monkeypatch):
    folder, path = stored

    def cut(descriptor, size):
        path.chmod(0o644)
        os.truncate(path, 100)
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    with monkeypatch.context() as patch:
        patch.setattr(cache_mapping._c_library(), "map", cut)
        array, messages, _ = get(folder)
    assert np.array_equal(array, EXPECTED)
    assert "cut off while it was read" in messages[0]
