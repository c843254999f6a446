"""The fault suite sees what it is there for: planted wrongs are wrong outcomes."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

import pytest

from npp_env.level import cache_store
from npp_env.level.cache import LevelCache
from npp_env.recording import load_shipped_recording
from npp_env.recording.compact import write_recording
from tests.faults import bits, kills
from tests.faults.scenes import CacheScene, RecordingScene, ReportScene, TrainerScene
from tests.faults.tally import Tally
from tests.faults.victims import Hang, Victim, run_victim

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="faults need fork")


class HalfWritten(RecordingScene):
    """Writes in place, as one must not."""

    name = "planted"

    def write(self, content, path):
        data = write_recording(content)
        with open(path, "wb", buffering=0) as file:
            file.write(data[: len(data) // 2])
            time.sleep(0.01)
            file.write(data[len(data) // 2 :])


def test_half_a_file_is_noticed():
    tally = Tally()
    kills.kill(HalfWritten(), 30, tally, seed=1)
    assert tally.rows["kill -9: planted"].faults == 30
    assert tally.wrong > 3


@pytest.mark.parametrize("scene", [RecordingScene(), ReportScene(), CacheScene(4), TrainerScene()])
def test_a_few_kills(scene):
    tally = Tally()
    kills.kill(scene, 6, tally, seed=2)
    assert tally.wrong == 0, next(iter(tally.rows.values())).wrong[0]
    assert next(iter(tally.rows.values())).checks == 6


def test_a_wrong_array_is_noticed(tmp_path):
    scene = CacheScene(2)
    key = next(iter(scene.right))
    scene.right[key] = bytes(len(scene.right[key]))
    with pytest.raises(AssertionError, match="wrong"):
        scene.compare(LevelCache(directory=tmp_path), scene.levels)


def test_a_wrong_checkpoint_is_noticed(tmp_path):
    scene = TrainerScene()
    run_victim(lambda: scene.work(tmp_path, None))
    scene.check(tmp_path)
    step = max(scene.right)
    scene.right[step] = [*scene.right[step][1:], scene.right[step][0]]
    with pytest.raises(AssertionError, match=f"step {step}"):
        scene.check(tmp_path)


def test_flipped_bits_of_a_cache_file(monkeypatch):
    tally = Tally()
    bits.flipped_bits(tally, 4999)
    [row] = tally.rows.values()
    assert (row.wrong, row.faults > 30) == ([], True)
    # A reader that trusts the file.
    monkeypatch.setattr(cache_store, "verify", lambda file, section: None)
    monkeypatch.setattr(bits, "GEOMETRY", replace(bits.GEOMETRY, check=None))
    bits.flipped_bits(tally, 4999)
    assert tally.wrong


def test_a_hang_is_noticed():
    with pytest.raises(Hang):
        Victim(lambda: time.sleep(60)).wait(0.2)


def test_how_victims_end():
    assert run_victim(lambda: None).code == 0
    failed = run_victim(lambda: 1 / 0)
    assert "ZeroDivisionError" in failed.said
    victim = Victim(lambda: time.sleep(60))
    assert victim.send(signal.SIGKILL)
    assert victim.wait().code == -signal.SIGKILL


def test_contents_differ():
    assert len({write_recording(load_shipped_recording(name)) for name in ("first_steps/walk", "mixed/factory")}) == 2
