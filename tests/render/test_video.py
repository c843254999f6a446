from __future__ import annotations

import sys

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from hypothesis import given
from hypothesis import strategies as st

from npp_env.cli import main
from npp_env.errors import NppError, RecordingError
from npp_env.level import save_level
from npp_env.recording import Recording
from npp_env.render import palette, video
from npp_env.render.video import (
    LINGER_FRAMES,
    gif_durations,
    gif_palette,
    record_video,
    recording_frames,
    write_video,
)
from npp_env.sim.simulation import RIGHT
from render.scenes import level_with

LEVEL = level_with((3, 100, 92), (4, 90, 92), spawn=(70, 92))


def recording_of(count: int) -> Recording:
    return Recording.of_level(LEVEL, np.full(count, RIGHT, np.uint8))


def test_gif_keeps_the_speed_of_the_game(tmp_path):
    from PIL import Image

    path = tmp_path / "run.gif"
    record_video(recording_of(30), path)
    with Image.open(path) as gif:
        assert gif.size == (528, 300)
        total = 0
        for k in range(gif.n_frames):
            gif.seek(k)
            total += gif.info["duration"]
    # 75 frames of the game, every second one shown.
    assert total == pytest.approx(1000 * (30 + LINGER_FRAMES) / 60, abs=40)


def test_gif_keeps_the_colours(tmp_path):
    from PIL import Image

    path = tmp_path / "run.gif"
    record_video(recording_of(2), path, scale=1.0)
    with Image.open(path) as gif:
        picture = np.asarray(gif.convert("RGB"))
    assert tuple(picture[300, 300]) == palette.EMPTY
    assert tuple(picture[30, 5]) == palette.WALL


def test_gif_of_other_pictures_takes_their_colours(tmp_path):
    from PIL import Image

    path = tmp_path / "plain.gif"
    write_video(path, [np.full((8, 8, 3), (10, 200, 30), np.uint8)] * 2, fps=10)
    with Image.open(path) as gif:
        assert np.abs(np.asarray(gif.convert("RGB"))[4, 4].astype(int) - (10, 200, 30)).max() <= 4


def test_mp4_has_every_frame(tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "run.mp4"
    record_video(recording_of(5), path, scale=0.25)
    with imageio.get_reader(path) as reader:
        meta = reader.get_meta_data()
        frames = [np.asarray(frame) for frame in reader]
    assert meta["fps"] == 60
    assert len(frames) == 1 + 5 + LINGER_FRAMES
    assert frames[0].shape == (150, 264, 3)
    assert np.abs(frames[0][75, 75].astype(int) - palette.EMPTY).max() < 12


def test_frames_stop_at_the_outcome():
    # The ninja runs over the switch into the exit, long before the inputs end.
    frames = sum(1 for _ in recording_frames(recording_of(600)))
    assert 1 + LINGER_FRAMES < frames < 300


def test_recording_without_a_level():
    recording = Recording(None, LEVEL.hash, np.zeros(3, np.uint8))
    with pytest.raises(RecordingError, match=LEVEL.hash):
        recording_frames(recording)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"every": 0}, "every is 0"), ({"scale": 0.0}, "scale is 0.0"), ({"scale": 9}, "scale is 9")],
)
def test_options_out_of_range(tmp_path, options, message):
    with pytest.raises(NppError, match=message):
        record_video(recording_of(1), tmp_path / "run.gif", **options)


def test_mistakes_are_named(tmp_path):
    picture = np.zeros((4, 4, 3), np.uint8)
    with pytest.raises(NppError, match=r"'\.avi'; use \.gif or \.mp4"):
        write_video(tmp_path / "run.avi", [picture], 60)
    with pytest.raises(NppError, match="at least one picture"):
        write_video(tmp_path / "run.gif", [], 60)
    with pytest.raises(NppError, match="fps is 0"):
        write_video(tmp_path / "run.gif", [picture], 0)


@pytest.mark.parametrize(("suffix", "library"), [("gif", "PIL"), ("mp4", "imageio_ffmpeg")])
def test_missing_library_names_the_pip_line(tmp_path, monkeypatch, suffix, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install npp_env\[video\]") as caught:
        record_video(recording_of(1), tmp_path / f"run.{suffix}")
    # So that a command reports it as a user's mistake.
    assert isinstance(caught.value, NppError)


@given(st.integers(1, 500), st.floats(1, 50))
def test_durations_keep_time(count, fps):
    durations = gif_durations(count, fps)
    assert len(durations) == count
    assert all(duration > 0 and duration % 10 == 0 for duration in durations)
    assert sum(durations) == pytest.approx(1000 * count / fps, abs=10)


def test_palette_has_every_named_colour():
    colours = {tuple(row) for row in gif_palette().tolist()}
    assert gif_palette().shape == (256, 3)
    assert {palette.EMPTY, palette.WALL, palette.NINJA, palette.GOLD, palette.DANGER} <= colours


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
@pytest.mark.parametrize("frames", [1, 20, 21])
def test_no_video_has_more_pictures_than_are_counted(suffix, frames, monkeypatch):
    """The budget of `npp-env replay` rests on it: most pictures of a short video are drawn after the end."""
    drawn = []
    monkeypatch.setattr(video, "write_video", lambda path, pictures, fps, colours: drawn.extend(pictures))
    record_video(recording_of(frames), f"run{suffix}")
    counted = video.count_pictures(f"run{suffix}", frames)
    assert counted - 3 <= len(drawn) <= counted


def test_pictures_of_crowds_cost_more_than_the_budget(tmp_path, capsys):
    save_level(level_with(*[(1, 90, 92)] * 4000), tmp_path / "level.nppmap")
    (tmp_path / "inputs").write_bytes(bytes([2] * 20))
    words = ["replay", str(tmp_path / "level.nppmap"), str(tmp_path / "inputs"), "-o", str(tmp_path / "run.gif")]
    assert main(words) == 2
    assert "--budget" in capsys.readouterr().err
    assert not (tmp_path / "run.gif").exists()
