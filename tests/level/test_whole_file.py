from __future__ import annotations

import os
import stat
import threading

import pytest

from npp_env.level import whole_file
from npp_env.level.whole_file import TEMPORARY, write_whole


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.startswith(TEMPORARY)]


def test_old_or_new(tmp_path):
    """Somebody who reads all the time never sees anything else, and never sees the file missing."""
    path = tmp_path / "file"
    contents = [bytes([number]) * 300_000 for number in (1, 2)]
    path.write_bytes(contents[0])
    seen, done = set(), threading.Event()

    def read():
        while not done.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(100):
        write_whole(path, contents[turn % 2])
    done.set()
    reader.join()
    assert seen <= set(contents)
    assert not leftovers(tmp_path)


def test_an_existing_file_is_left_alone(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"first", overwrite=False)
    with pytest.raises(FileExistsError):
        write_whole(path, b"second", overwrite=False)
    assert path.read_bytes() == b"first"
    assert not leftovers(tmp_path)


def test_a_file_made_in_the_meantime_is_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "file"
    link = os.link

    def link_late(source, target):
        path.write_bytes(b"theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", link_late)
    with pytest.raises(FileExistsError):
        write_whole(path, b"ours", overwrite=False)
    assert path.read_bytes() == b"theirs"
    assert not leftovers(tmp_path)


def test_without_links(tmp_path, monkeypatch):
    def refuse(source, target):
        raise PermissionError("no links here")

    monkeypatch.setattr(whole_file.os, "link", refuse)
    write_whole(tmp_path / "file", b"content", overwrite=False)
    assert (tmp_path / "file").read_bytes() == b"content"
    assert not leftovers(tmp_path)


def test_a_failure_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file.os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert not leftovers(tmp_path)


def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_devices_are_written_directly(tmp_path):
    write_whole(os.devnull, b"gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
