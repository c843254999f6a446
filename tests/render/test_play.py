from __future__ import annotations

import sys

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from npp_env.cli import main
from npp_env.cli.play import PlaySession, playlist
from npp_env.errors import LevelError, NppError
from npp_env.level import save_level
from npp_env.level.shipped import shipped_level_names
from npp_env.recording import load_recording
from npp_env.render.window import Window
from npp_env.sim.simulation import JUMP, LEFT, RIGHT, Simulation
from render.scenes import level_with

pygame = pytest.importorskip("pygame")

GOAL = level_with((3, 100, 92), (4, 90, 92), spawn=(70, 92))
OTHER = level_with((2, 20, 20))


@pytest.fixture(autouse=True)
def headless(monkeypatch, tmp_path):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("NPP_ENV_CACHE", str(tmp_path / "cache"))


def press(session: PlaySession, *keys: int) -> None:
    for key in keys:
        session.handle_event(pygame.event.Event(pygame.KEYDOWN, key=key))


def release(session: PlaySession, *keys: int) -> None:
    for key in keys:
        session.handle_event(pygame.event.Event(pygame.KEYUP, key=key))


def test_keys_make_inputs(tmp_path):
    session = PlaySession([GOAL], tmp_path)
    assert session.input_byte() == 0
    press(session, pygame.K_RIGHT, pygame.K_SPACE)
    assert session.input_byte() == RIGHT | JUMP
    release(session, pygame.K_RIGHT, pygame.K_SPACE)
    press(session, pygame.K_LEFT)
    assert session.input_byte() == LEFT


def test_play_follows_the_keys_and_is_recorded(tmp_path):
    session = PlaySession([GOAL], tmp_path)
    reference = Simulation(GOAL)
    for keys, byte in (((), 0), ((pygame.K_RIGHT,), RIGHT), ((pygame.K_SPACE,), RIGHT | JUMP)):
        press(session, *keys)
        for _ in range(5):
            session.tick()
            reference.advance(byte)
    assert (session.simulation.state == reference.state).all()
    assert session.recording.inputs.tolist() == [0] * 5 + [RIGHT] * 5 + [RIGHT | JUMP] * 5


def test_a_won_level_is_saved_and_replays(tmp_path):
    session = PlaySession([GOAL], tmp_path)
    press(session, pygame.K_RIGHT)
    for _ in range(400):
        session.tick()
    assert session.simulation.outcome == "won"
    frames = len(session.recording.inputs)
    assert frames < 300
    press(session, pygame.K_s)
    press(session, pygame.K_s)
    assert [path.name for path in session.saved] == ["scene_1.npprec", "scene_2.npprec"]
    recording = load_recording(session.saved[0])
    assert (recording.outcome, recording.frames, recording.level) == ("won", frames, GOAL)
    simulation = Simulation(GOAL)
    for byte in recording.inputs.tolist():
        simulation.advance(byte)
    assert simulation.outcome == "won"
    assert simulation.ninja["frame"] == frames


def test_what_cannot_be_saved_is_told(tmp_path):
    session = PlaySession([GOAL], tmp_path / "nowhere")
    before = session.draw().copy()
    press(session, pygame.K_s)
    assert session.saved == []
    assert (session.draw()[-24:] != before[-24:]).any()


def test_restart_and_next_level(tmp_path):
    session = PlaySession([GOAL, OTHER], tmp_path)
    for _ in range(20):
        session.tick()
    press(session, pygame.K_r)
    assert session.level == GOAL
    assert session.simulation.ninja["frame"] == 0
    assert len(session.recording.inputs) == 0
    press(session, pygame.K_n)
    assert session.level == OTHER
    press(session, pygame.K_n)
    assert session.level == GOAL


@pytest.mark.parametrize("event", [{"type": pygame.QUIT}, {"type": pygame.KEYDOWN, "key": pygame.K_ESCAPE}])
def test_quitting(tmp_path, event):
    session = PlaySession([GOAL], tmp_path)
    kind = event.pop("type")
    session.handle_event(pygame.event.Event(kind, **event))
    assert not session.running


def test_picture_shows_frame_and_outcome(tmp_path):
    session = PlaySession([GOAL], tmp_path)
    start = session.draw().copy()
    session.tick()
    assert (session.draw()[:24] != start[:24]).any()
    session.simulation.ninja["state"] = 6
    assert (session.draw()[-24:] != start[-24:]).any()


def test_a_session_needs_a_level(tmp_path):
    with pytest.raises(NppError, match="no level"):
        PlaySession([], tmp_path)


def test_playlist(tmp_path):
    names = shipped_level_names()
    assert len(playlist(None)) == len(names)
    assert playlist(names[1])[0] == playlist(None)[1]
    assert playlist(names[1])[-1] == playlist(None)[0]
    save_level(GOAL, tmp_path / "goal.nppmap")
    assert playlist(str(tmp_path / "goal.nppmap"))[0] == GOAL
    with pytest.raises(LevelError, match="no_such"):
        playlist("no_such")


class OneGlance(Window):
    """A window whose user looks at two frames, saves and closes it."""

    shown = 0

    def show(self, picture):
        super().show(picture)
        if self.closed:
            return
        type(self).shown += 1
        if type(self).shown == 2:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_s))
            pygame.event.post(pygame.event.Event(pygame.QUIT))


def test_the_command_runs_until_the_window_is_closed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("npp_env.cli.play.Window", OneGlance)
    assert main(["play", shipped_level_names()[0], "--save-to", str(tmp_path)]) == 0
    assert OneGlance.shown == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("saved: ")
    assert load_recording(line.removeprefix("saved: ")).outcome == "alive"


def test_the_command_names_a_missing_folder(capsys):
    assert main(["play", "--save-to", "no/such/folder"]) == 2
    assert "no/such/folder" in capsys.readouterr().err


def test_window_shows_and_closes():
    window = Window("a title", frames_per_second=0)
    picture = np.zeros((600, 1056, 3), np.uint8)
    picture[10, 20] = (200, 100, 50)
    window.show(picture)
    assert tuple(pygame.display.get_surface().get_at((20, 10)))[:3] == (200, 100, 50)
    assert window.events() is not None
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.events()
    assert window.closed
    window.show(picture)
    window.set_title("ignored")
    assert window.events() == []
    window.close()
    window.close()


def test_missing_pygame_names_the_pip_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match="pip install pygame"):
        Window()
    assert main(["play"]) == 2
    assert "pip install pygame" in capsys.readouterr().err
