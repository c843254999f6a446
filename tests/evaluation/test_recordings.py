"""Episodes as recordings: what an environment kept replays to the very state it was in."""

from __future__ import annotations

import copy
import logging
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from npp_env import NppEnv, NppVectorEnv
from npp_env.errors import ConfigError, NppError, RecordingError
from npp_env.evaluation.record_episodes import EpisodeKeeper, RecordEpisodes, RecordVectorEpisodes, rank_of
from npp_env.level.shipped import load_shipped
from npp_env.recording import Recording, load_recording, load_shipped_recording
from npp_env.recording.replay import replay
from npp_env.runtime.saved_state import read_saved_state
from npp_env.sim import Simulation

LEVELS = ["shipped:first_steps", "shipped:mines", "shipped:doors"]


def replayed_state(recording: Recording) -> bytes:
    """State after a recording, by the simulation alone."""
    simulation = Simulation(recording.level)
    for byte in recording.inputs.tolist():
        simulation.advance(byte)
    return simulation.state.tobytes()


@pytest.mark.parametrize("frame_skip", [1, 3, 4])
def test_an_environment_records_what_was_played(frame_skip):
    env = NppEnv(levels=LEVELS, frame_skip=frame_skip, max_episode_frames=400)
    random = np.random.default_rng(frame_skip)
    outcomes = set()
    for seed in range(12):
        env.reset(seed=seed)
        ended = False
        while not ended:
            _, _, died, late, info = env.step(int(random.choice([0, 1, 2, 2, 3, 4, 5, 5])))
            ended = died or late
            if ended or info["episode_steps"] % 37 == 5:
                recording = env.recording()
                assert replayed_state(recording) == read_saved_state(env.get_state()).state.tobytes()
                assert (recording.frames, recording.gold) == (info["frame"], info["gold"])
        # A step after the end plays nothing, and so it records nothing.
        if died:
            env.step(2)
            assert env.recording() == recording
        outcomes.add(recording.outcome)
        result = replay(recording)
        assert (result.outcome, result.frames, result.unused_inputs) == (recording.outcome, recording.frames, 0)
    assert {"died", "alive"} <= outcomes


def test_copies_take_their_past_along():
    env = NppEnv(levels="shipped:mines")
    env.reset(seed=2)
    for action in (2, 5, 5, 0, 1):
        env.step(action)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin.step(4)
        assert twin.recording().inputs.tolist() == [*env.recording().inputs.tolist(), 5, 5, 5, 5]
    assert len(env.recording().inputs) == 20


def test_what_cannot_be_recorded_is_refused():
    env = NppEnv(levels="shipped:first_steps")
    with pytest.raises(RecordingError, match="reset"):
        env.recording()
    env.reset(seed=0)
    beginning = env.get_state()
    env.step(2)
    middle = env.get_state()
    env.step(2)
    env.set_state(middle)
    env.step(1)
    with pytest.raises(RecordingError, match="set_state"):
        env.recording()
    env.set_state(beginning)
    env.step(1)
    assert env.recording().inputs.tolist() == [4] * 4
    vector = NppVectorEnv(2, levels="shipped:first_steps")
    vector.reset(seed=0)
    with pytest.raises(RecordingError, match="start_recording"):
        vector.recording(0)
    vector.step([1, 2])
    vector.start_recording()
    vector.step([1, 2])
    with pytest.raises(RecordingError, match="start_recording"):
        vector.recording(0)
    with pytest.raises(NppError, match="no environment 2"):
        vector.recording(2)
    with pytest.raises(RecordingError, match="has ended"):
        vector.final_recording(1)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_vector_environment_records_each_of_its_environments(mode):
    env = NppVectorEnv(9, levels=LEVELS, max_episode_frames=300, autoreset_mode=mode)
    env.start_recording()
    env.reset(seed=4)
    random = np.random.default_rng(7)
    finals = 0
    for step in range(400):
        _, _, terminated, truncated, info = env.step(random.integers(6, size=9))
        ended = terminated | truncated
        final = info.get("final_info", info)
        for i in np.flatnonzero(ended).tolist():
            recording = env.final_recording(i)
            result = replay(recording)
            assert (result.frames, result.gold) == (final["frame"][i], final["gold"][i])
            assert result.outcome == {1: "won", 2: "died", 3: "alive"}[int(final["outcome"][i])]
            finals += 1
        if mode is AutoresetMode.DISABLED and ended.any():
            env.reset(options={"reset_mask": ended})
        if step % 50 == 20:
            for i in range(9):
                state = read_saved_state(env.get_state([i])[0]).state
                assert replayed_state(env.recording(i)) == state.tobytes()
    assert finals > 20


def test_a_restored_environment_records_again_after_its_end():
    env = NppVectorEnv(2, levels="shipped:first_steps/walk", max_episode_frames=80)
    env.start_recording()
    env.reset(seed=0)
    for _ in range(5):
        env.step([0, 0])
    env.set_state(env.get_state([1]), [0])
    with pytest.raises(RecordingError, match="set_state"):
        env.recording(0)
    assert env.recording(1).frames == 20
    for _ in range(15):
        env.step([0, 0])
    with pytest.raises(RecordingError):
        env.final_recording(0)
    assert env.final_recording(1).frames == 80
    for _ in range(21):
        env.step([0, 0])
    assert env.final_recording(0).frames == 80


def test_the_log_is_bounded(monkeypatch):
    monkeypatch.setattr("npp_env.runtime.input_log.MAX_FRAMES", 2000)
    env = NppVectorEnv(3, levels="shipped:first_steps/walk", max_episode_frames=None)
    env.start_recording()
    env.reset(seed=0)
    for _ in range(1500):
        env.step([0, 0, 0])
    assert env._log._rows.nbytes <= 3 * 1024
    with pytest.raises(RecordingError, match="longer"):
        env.recording(0)


def run_episodes(env, count: int, seed: int = 0) -> list[dict]:
    random = np.random.default_rng(seed)
    infos = []
    for episode in range(count):
        _, info = env.reset(seed=seed + episode)
        ended = False
        while not ended:
            # The switch of this level is to the left, the exit to the right.
            _, _, died, late, info = env.step((2 if info["phase"] else 1) if episode % 2 else int(random.integers(6)))
            ended = died or late
        infos.append(info)
    return infos


def made(levels: str = "shipped:first_steps/walk") -> gym.Env:
    return gym.make("npp_env:Npp-v0", levels=levels, max_episode_frames=400)


def test_all_episodes_are_kept_and_numbers_go_on(tmp_path):
    infos = run_episodes(RecordEpisodes(made(), tmp_path), 4)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 4
    assert names[1] == "first_steps-walk-000001-won.npprec"
    assert [load_recording(info["recording"]).frames for info in infos] == [info["frame"] for info in infos]
    run_episodes(RecordEpisodes(made(), tmp_path), 2)
    assert sorted(path.name for path in tmp_path.iterdir())[5] == "first_steps-walk-000005-won.npprec"


def test_wins_and_every_third(tmp_path):
    infos = run_episodes(RecordEpisodes(made(), tmp_path / "wins", keep="wins"), 6)
    assert ["recording" in info for info in infos] == [info["outcome"] == 1 for info in infos]
    run_episodes(RecordEpisodes(made(), tmp_path / "some", keep=3), 7)
    numbers = sorted(path.name.split("-")[2] for path in (tmp_path / "some").iterdir())
    assert numbers == ["000000", "000003", "000006"]


def test_the_best_is_replaced_only_by_a_better_one(tmp_path):
    level = load_shipped("first_steps/walk")
    won = load_shipped_recording("first_steps/walk")
    keeper = EpisodeKeeper(tmp_path, "best")

    def offer(outcome: str, frames: int, total: float) -> bool:
        recording = Recording.of_level(level, won.inputs[:frames], outcome, frames, 0)
        return keeper.offer(recording, total) is not None

    assert offer("died", 10, -0.5)
    assert not offer("alive", 50, -0.7)
    assert offer("alive", 50, 0.3)
    assert offer("won", 90, -2.0)
    assert not offer("won", 95, 9.0)
    assert offer("won", 80, 0.0)
    keeper = EpisodeKeeper(tmp_path, "best")
    assert not offer("won", 85, 0.0)
    (path,) = tmp_path.iterdir()
    assert load_recording(path).frames == 80
    assert rank_of(load_recording(path)) > rank_of(Recording.of_level(level, won.inputs[:5], "died", 5, 0), 1e9)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vector_episodes_are_kept(tmp_path, mode):
    native = NppVectorEnv(4, levels="shipped:first_steps/walk", max_episode_frames=400, autoreset_mode=mode)
    env = RecordVectorEpisodes(gym.wrappers.vector.RecordEpisodeStatistics(native), tmp_path)
    _, info = env.reset(seed=0)
    ended = 0
    for _ in range(320):
        there = np.where(info["phase"] == 1, 2, 1)
        _, _, terminated, truncated, info = env.step(np.where([True, False, True, False], there, 0))
        ended += int((terminated | truncated).sum())
    assert ended == len(env.keeper.written) == len(list(tmp_path.iterdir())) > 8
    outcomes = [replay(load_recording(path)).outcome for path in env.keeper.written]
    assert outcomes == [path.stem.rpartition("-")[2] for path in env.keeper.written]
    assert set(outcomes) == {"won", "alive"}


def test_a_folder_gets_no_more_than_it_should(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        run_episodes(RecordEpisodes(made(), tmp_path, most_files=2), 5)
    assert len(list(tmp_path.iterdir())) == 2
    assert len([record for record in caplog.records if "no more are kept" in record.message]) == 1


@pytest.mark.parametrize("keep", ["some", 0, -1, 1.5, True, None, ["all"]])
def test_wrong_choices_are_refused(tmp_path, keep):
    with pytest.raises(ConfigError, match="keep is"):
        EpisodeKeeper(tmp_path, keep)


def test_foreign_environments_are_refused(tmp_path):
    with pytest.raises(NppError, match="no environment of npp_env"):
        RecordEpisodes(gym.make("CartPole-v1"), tmp_path)
    with pytest.raises(NppError, match="RecordVectorEpisodes"):
        RecordEpisodes(NppVectorEnv(1, levels="shipped:first_steps"), tmp_path)
    with pytest.raises(NppError, match="RecordEpisodes"):
        RecordVectorEpisodes(gym.make_vec("CartPole-v1", 1), tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="folder"):
        EpisodeKeeper(tmp_path / "file" / "below")
