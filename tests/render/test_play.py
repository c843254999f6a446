from __future__ import annotations

import os
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from npp_env.cli import main
from npp_env.cli.play import playlist
from npp_env.cli.play_menu import LevelMenu
from npp_env.cli.play_scores import BestRuns
from npp_env.cli.play_session import PlaySession
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


def session_of(folder, *levels) -> PlaySession:
    return PlaySession([(level.name, level) for level in levels], folder, BestRuns(folder / "best"))


def press(session: PlaySession, *keys: int) -> None:
    for key in keys:
        session.handle_event(pygame.event.Event(pygame.KEYDOWN, key=key))


def release(session: PlaySession, *keys: int) -> None:
    for key in keys:
        session.handle_event(pygame.event.Event(pygame.KEYUP, key=key))


def test_keys_make_inputs(tmp_path):
    session = session_of(tmp_path, GOAL)
    assert session.controls.input_byte() == 0
    press(session, pygame.K_RIGHT, pygame.K_SPACE)
    assert session.controls.input_byte() == RIGHT | JUMP
    release(session, pygame.K_RIGHT, pygame.K_SPACE)
    press(session, pygame.K_LEFT)
    assert session.controls.input_byte() == LEFT


def test_play_follows_the_keys_and_is_recorded(tmp_path):
    session = session_of(tmp_path, GOAL)
    reference = Simulation(GOAL)
    for keys, byte in (((), 0), ((pygame.K_RIGHT,), RIGHT), ((pygame.K_SPACE,), RIGHT | JUMP)):
        press(session, *keys)
        for _ in range(5):
            session.tick()
            reference.advance(byte)
    assert (session.simulation.state == reference.state).all()
    assert session.recording.inputs.tolist() == [0] * 5 + [RIGHT] * 5 + [RIGHT | JUMP] * 5


def test_a_won_level_is_saved_and_replays(tmp_path):
    session = session_of(tmp_path, GOAL)
    press(session, pygame.K_RIGHT)
    for _ in range(400):
        session.tick()
    assert session.simulation.outcome == "won"
    frames = len(session.recording.inputs)
    assert frames < 300
    press(session, pygame.K_F5)
    press(session, pygame.K_F5)
    assert [path.name for path in session.saved] == ["scene_1.npprec", "scene_2.npprec"]
    recording = load_recording(session.saved[0])
    assert (recording.outcome, recording.frames, recording.level) == ("won", frames, GOAL)
    simulation = Simulation(GOAL)
    for byte in recording.inputs.tolist():
        simulation.advance(byte)
    assert simulation.outcome == "won"
    assert simulation.ninja["frame"] == frames


def test_what_cannot_be_saved_is_told(tmp_path):
    session = session_of(tmp_path / "nowhere", GOAL)
    before = session.draw().copy()
    press(session, pygame.K_F5)
    assert session.saved == []
    assert (session.draw()[-24:] != before[-24:]).any()


def test_restart_and_next_level(tmp_path):
    session = session_of(tmp_path, GOAL, OTHER)
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


@pytest.mark.parametrize("event", [{"type": pygame.QUIT}, {"type": pygame.KEYDOWN, "key": pygame.K_q}])
def test_quitting(tmp_path, event):
    session = session_of(tmp_path, GOAL)
    kind = event.pop("type")
    session.handle_event(pygame.event.Event(kind, **event))
    assert not session.running


def test_picture_shows_frame_and_outcome(tmp_path):
    session = session_of(tmp_path, GOAL)
    start = session.draw().copy()
    session.tick()
    assert (session.draw()[:24] != start[:24]).any()
    session.simulation.ninja["state"] = 6
    stopped = session.draw()[:24].copy()
    for _ in range(30):
        session.tick()
    assert (session.draw()[:24] == stopped).all()
    assert int(session.simulation.ninja["frame"]) > 30
    assert (session.draw()[-24:] != start[-24:]).any()


def test_a_session_needs_a_level(tmp_path):
    with pytest.raises(NppError, match="no level"):
        session_of(tmp_path)


def test_playlist(tmp_path):
    everything = playlist(None)
    names = [name for name, _ in everything]
    assert sorted(names) == shipped_level_names()
    hardness = [int(level.metadata["difficulty"]) for _, level in everything]
    assert hardness == sorted(hardness)
    assert names[0].startswith("first_steps/")
    assert playlist(names[1]) == everything[1:] + everything[:1]
    save_level(GOAL, tmp_path / "goal.nppmap")
    assert playlist(str(tmp_path / "goal.nppmap"))[0][1] == GOAL
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
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_F5))
            pygame.event.post(pygame.event.Event(pygame.QUIT))


def test_the_command_runs_until_the_window_is_closed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("npp_env.render.window.Window", OneGlance)
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
    assert window.events() == []
    window.close()
    window.close()


def test_missing_pygame_names_the_pip_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match="pip install pygame"):
        Window()
    assert main(["play"]) == 2
    assert "pip install pygame" in capsys.readouterr().err


def win(session):
    press(session, pygame.K_RIGHT)
    while session.simulation.outcome == "alive":
        session.tick()
    release(session, pygame.K_RIGHT)


def test_the_best_run_is_kept_and_comes_back_as_a_ghost(tmp_path):
    session = session_of(tmp_path, GOAL)
    assert session.ghosts == []
    for _ in range(20):
        session.tick()
    win(session)
    slow = len(session.recording.inputs)
    press(session, pygame.K_r)
    win(session)
    fast = len(session.recording.inputs)
    assert fast < slow
    press(session, pygame.K_r)
    for _ in range(30):
        session.tick()
    win(session)
    again = session_of(tmp_path, GOAL)
    assert again.best.best(GOAL).frames == fast
    (ghost,) = again.ghosts
    plain = again.draw().copy()
    for _ in range(fast):
        again.tick()
    assert ghost.simulation.outcome == "won"
    assert int(ghost.simulation.ninja["frame"]) == fast
    moved = again.draw().copy()
    press(again, pygame.K_g)
    assert (again.draw()[24:576] != moved[24:576]).any()
    assert (moved != plain).any()


def test_a_damaged_best_run_is_none(tmp_path):
    best = BestRuns(tmp_path)
    (tmp_path / f"{GOAL.hash}.npprec").write_bytes(b"rubbish")
    assert best.best(GOAL) is None


def test_the_recording_that_wins_is_a_ghost(tmp_path):
    session = PlaySession(playlist("first_steps/walk")[:1], tmp_path, BestRuns(tmp_path / "best"))
    (ghost,) = session.ghosts
    for _ in range(2000):
        ghost.tick()
    assert ghost.simulation.outcome == "won"


def test_wasd_and_gamepads(tmp_path):
    session = session_of(tmp_path, GOAL)
    press(session, pygame.K_d, pygame.K_w)
    assert session.controls.input_byte() == RIGHT | JUMP
    release(session, pygame.K_d, pygame.K_w)
    press(session, pygame.K_a)
    assert session.controls.input_byte() == LEFT
    release(session, pygame.K_a)
    for event, byte in (
        (pygame.event.Event(pygame.JOYAXISMOTION, axis=0, value=0.9), RIGHT),
        (pygame.event.Event(pygame.JOYAXISMOTION, axis=0, value=0.1), 0),
        (pygame.event.Event(pygame.JOYHATMOTION, hat=0, value=(-1, 0)), LEFT),
        (pygame.event.Event(pygame.JOYBUTTONDOWN, button=0), LEFT | JUMP),
        (pygame.event.Event(pygame.JOYBUTTONUP, button=0), LEFT),
        (pygame.event.Event(pygame.JOYHATMOTION, hat=0, value=(0, 0)), 0),
    ):
        session.handle_event(event)
        assert session.controls.input_byte() == byte


def test_the_menu_holds_the_game_and_chooses_a_level(tmp_path):
    session = session_of(tmp_path, GOAL, OTHER)
    game = session.draw().copy()
    press(session, pygame.K_ESCAPE)
    frames = len(session.recording.inputs)
    session.tick()
    assert len(session.recording.inputs) == frames
    menu = session.draw().copy()
    assert (menu != game).any()
    press(session, pygame.K_DOWN)
    assert (session.draw() != menu).any()
    press(session, pygame.K_RETURN)
    assert session.menu is None
    assert session.level == OTHER
    press(session, pygame.K_TAB)
    press(session, pygame.K_TAB)
    assert session.level == OTHER


def test_pages_of_the_menu():
    menu = LevelMenu(75, 70)
    assert list(menu.page) == list(range(40, 75))
    menu.move(rows=10)
    assert menu.chosen == 5
    assert list(menu.page) == list(range(40))
    menu.move(columns=1)
    assert menu.chosen == 25


def test_slow_motion_and_full_screen(tmp_path):
    session = session_of(tmp_path, GOAL)
    speeds = []
    for _ in range(4):
        speeds.append(session.speed)
        press(session, pygame.K_l)
    assert speeds == [1.0, 0.5, 0.25, 1.0]
    press(session, pygame.K_F11)
    assert session.full_screen


def test_the_window_scales_with_its_proportions_kept():
    window = Window(frames_per_second=0, resizable=True)
    picture = np.full((600, 1056, 3), 200, np.uint8)
    window._surface = pygame.display.set_mode((2112, 1300), pygame.RESIZABLE)
    window.show(picture)
    seen = pygame.surfarray.array3d(pygame.display.get_surface())
    assert (seen[:, 50:1250] == 200).all()
    assert (seen[:, :50] == 0).all()
    window.set_full_screen(True)
    assert window.is_full_screen
    window.show(picture)
    window.set_full_screen(False)
    assert pygame.display.get_surface().get_size() == (1056, 600)
    window.close()


def test_a_window_that_shows_answers_its_user():
    window = Window(frames_per_second=0)
    window.answer()
    assert not window.closed
    press_p = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_p)
    pygame.event.post(press_p)
    pygame.event.post(press_p)
    window.answer()
    assert not window.closed
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
    window.answer()
    assert window.closed


@pytest.mark.parametrize("frame_skip", [1, 4, 7])
def test_pictures_of_an_environment_run_at_the_speed_of_the_game(monkeypatch, frame_skip):
    env = gym.make("npp_env:Npp-v0", render_mode="human", frame_skip=frame_skip, levels="shipped:first_steps")
    assert env.metadata["render_fps"] == pytest.approx(60 / frame_skip)
    waits = []
    monkeypatch.setattr(
        "npp_env.render.window.Window.show", lambda window, picture: waits.append(window.frames_per_second)
    )
    env.reset(seed=0)
    for _ in range(5):
        env.step(0)
    # A picture a step, each shown for as long as its ticks take in the game.
    assert sum(1 / rate for rate in waits[1:]) == pytest.approx(5 * frame_skip / 60)
    env.close()


def test_closing_the_window_does_not_end_the_environment():
    env = gym.make("npp_env:Npp-v0", render_mode="human", levels="shipped:first_steps")
    env.reset(seed=0)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(0)
    assert env.unwrapped._window.closed
    env.step(0)
    env.close()


def test_without_a_display_there_is_an_error_at_once(tmp_path):
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-m", "npp_env", "play"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("npp-env play: cannot open a window: ")
