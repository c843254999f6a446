from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import threading

import gymnasium as gym
import numpy as np
import pytest
from golden_levels import golden
from gymnasium.vector import AutoresetMode
from play import held_actions

import npp_env
from npp_env.errors import ConfigError, LevelError, NppError, StateError
from npp_env.level.binary import read_map
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.sim.handles import handle_of

ID = "npp_env:Npp-v0"
MODES = list(AutoresetMode)
SETS = {
    "vectors": ["game_state", "reachability_features", "action_mask"],
    "entities": ["entity_states", "switch_states", "spatial_context"],
    "frames": ["player_frame", "global_view"],
    "graph": [key for key in OBSERVATION_KEYS if key.startswith("graph_")],
}
GRAPH = {"max_nodes": 700, "max_edges": 3000}


def numbers_of(values):
    """What `reset` or `step` gave, without the texts that only infos of single environments have."""
    if isinstance(values, tuple):
        return tuple(numbers_of(value) for value in values)
    if isinstance(values, dict):
        return {key: numbers_of(value) for key, value in values.items() if key not in ("level_name", "_level_name")}
    return values


def assert_same(a, b, where):
    assert type(a) is type(b), where
    if isinstance(a, tuple):
        for i, (one, two) in enumerate(zip(a, b, strict=True)):
            assert_same(one, two, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, np.ndarray) and a.dtype == object:
        assert b.dtype == object, where
        for i in range(len(a)):
            assert_same(a[i], b[i], f"{where}[{i}]")
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, where
        np.testing.assert_array_equal(a, b, err_msg=where)
    else:
        assert a == b, where


def lockstep(arguments, mode, steps, num_envs=6, seed=3, threads=1):
    native = npp_env.NppVectorEnv(num_envs, autoreset_mode=mode, num_threads=threads, **arguments)
    plain = gym.vector.SyncVectorEnv(
        [lambda: npp_env.NppEnv(**arguments) for _ in range(num_envs)], autoreset_mode=mode
    )
    assert native.single_observation_space == plain.single_observation_space
    assert native.observation_space == plain.observation_space
    assert_same(native.reset(seed=seed), numbers_of(plain.reset(seed=seed)), "reset")
    ends = {"terminated": 0, "truncated": 0, "won": 0}
    for step, actions in enumerate(held_actions(np.random.default_rng(seed), steps, num_envs)):
        got, expected = native.step(actions), numbers_of(plain.step(actions))
        assert_same(got, expected, f"step {step}")
        ended = got[2] | got[3]
        ends["terminated"] += int(got[2].sum())
        ends["truncated"] += int(got[3].sum())
        infos = got[4].get("final_info", got[4]) if mode is AutoresetMode.SAME_STEP else got[4]
        ends["won"] += int((infos["outcome"][ended] == 1).sum())
        if mode is AutoresetMode.DISABLED and ended.any():
            assert_same(
                native.reset(options={"reset_mask": ended.copy()}),
                numbers_of(plain.reset(options={"reset_mask": ended.copy()})),
                f"reset at {step}",
            )
    native.close()
    plain.close()
    return ends


@pytest.mark.parametrize("mode", MODES)
def test_lockstep_with_mixed_levels(mode):
    levels = [read_map(item.map) for item in golden() if item.kind in ("goal", "zoo")][:12]
    arguments = {
        "levels": levels,
        "config": {"observation": {"keys": SETS["vectors"]}, "max_episode_frames": 300},
    }
    ends = lockstep(arguments, mode, 2000)
    assert ends["terminated"] > 10
    assert ends["truncated"] > 10


def test_lockstep_with_wins():
    arguments = {
        "preset": "training",
        "copy": True,
        "levels": "shipped:first_steps",
        "max_episode_frames": 900,
    }
    assert lockstep(arguments, AutoresetMode.NEXT_STEP, 2000)["won"] > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SETS)
def test_lockstep_for_each_observation_set(mode, name):
    arguments = {
        "config": {"observation": {"keys": SETS[name]}, "graph": GRAPH, "max_episode_frames": 160},
        "levels": "shipped",
    }
    lockstep(arguments, mode, 150, num_envs=4)


@pytest.mark.parametrize("layout", ["flat", "packed", "state"])
def test_lockstep_for_each_layout(layout):
    lockstep(
        {"config": {"observation": {"layout": layout}, "max_episode_frames": 100}},
        AutoresetMode.SAME_STEP,
        120,
    )


def test_threads_do_not_change_results():
    runs = []
    for threads in (1, 2, 3):
        env = npp_env.NppVectorEnv(100, preset="training", num_threads=threads, max_episode_frames=200)
        env.reset(seed=1)
        rng = np.random.default_rng(2)
        steps = [env.step(actions) for actions in held_actions(rng, 60, 100)]
        runs.append(steps)
        env.close()
    for other in runs[1:]:
        for a, b in zip(runs[0], other, strict=True):
            assert_same(a, b, "threads")


def _step_in_child(env, actions, queue):
    queue.put([part.tolist() for part in env.step(actions)[1:3]])


def test_threads_survive_a_fork():
    env = npp_env.NppVectorEnv(64, preset="training", num_threads=2)
    env.reset(seed=1)
    actions = np.full(64, 2)
    env.step(actions)
    saved = env.get_state()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_step_in_child, args=(env, actions, queue))
    child.start()
    got = queue.get(timeout=60)
    child.join(60)
    env.set_state(saved)
    expected = env.step(actions)
    assert got == [part.tolist() for part in expected[1:3]]
    assert child.exitcode == 0


def test_two_environments_in_two_threads():
    def play(results, number):
        env = npp_env.NppVectorEnv(40, preset="training", num_threads=2)
        env.reset(seed=number)
        total = [env.step(actions)[1].sum() for actions in held_actions(np.random.default_rng(number), 80, 40)]
        results[number] = total

    alone: dict = {}
    together: dict = {}
    for number in (0, 1):
        play(alone, number)
    threads = [threading.Thread(target=play, args=(together, number)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alone == together


def test_idle_threads_do_not_spin():
    env = npp_env.NppVectorEnv(64, num_threads=2)
    env.reset(seed=0)
    env.step(np.zeros(64, int))
    before = sum(os.times()[:2])
    threading.Event().wait(0.5)
    assert sum(os.times()[:2]) - before < 0.2


def test_make_vec():
    env = gym.make_vec(ID, num_envs=5, preset="parallel_training", max_episode_steps=7)
    assert isinstance(env, npp_env.NppVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    env.reset(seed=0)
    ends = [env.step(np.zeros(5, int))[3] for _ in range(8)]
    assert not np.any(ends[:6])
    assert (ends[6] | (env.unwrapped._engine.slots["terminated"] > 0)).any()


@pytest.mark.parametrize("seed", [7, [7, 8, 9, 10]])
def test_seeds(seed):
    env = npp_env.NppVectorEnv(4)
    levels = env.reset(seed=seed)[1]["level"]
    single = npp_env.NppEnv()
    assert levels.tolist() == [single.reset(seed=7 + i)[1]["level"] for i in range(4)]


def test_sampling():
    count = len(npp_env.NppVectorEnv(1, levels="shipped:first_steps")._episodes.levels)
    weights = np.zeros(count)
    weights[2] = 1
    env = npp_env.NppVectorEnv(8, levels="shipped:first_steps", sampling=weights.tolist())
    assert set(env.reset(seed=0)[1]["level"]) == {2}
    env = npp_env.NppVectorEnv(8, levels="shipped:first_steps", sampling=lambda i, episode, random, n: i % 2)
    assert env.reset(seed=0)[1]["level"].tolist() == [0, 1] * 4
    env = npp_env.NppVectorEnv(400, levels="shipped:first_steps")
    assert len(set(env.reset(seed=0)[1]["level"])) == count
    for wrong in ("sometimes", [-1.0] * count, 3):
        with pytest.raises(ConfigError, match="sampling"):
            npp_env.NppVectorEnv(2, levels="shipped:first_steps", sampling=wrong)
    with pytest.raises(ConfigError, match="weights"):
        npp_env.NppVectorEnv(2, levels="shipped:first_steps", sampling=[1.0]).reset(seed=0)


@pytest.mark.parametrize("mode", ["copy", "views", "buffers"])
def test_ownership(mode):
    arguments = {"levels": "shipped:first_steps", "preset": "training", "copy": mode == "copy"}
    mine = None
    if mode == "buffers":
        space = npp_env.NppVectorEnv(3, **arguments).observation_space
        mine = {key: np.zeros(part.shape, part.dtype) for key, part in space.spaces.items()}
    env = npp_env.NppVectorEnv(3, **arguments, buffers=mine)
    previous, _ = env.reset(seed=0)
    kept, copies = [], []
    for actions in held_actions(np.random.default_rng(0), 20, 3):
        kept.append(previous)
        copies.append({key: array.copy() for key, array in previous.items()})
        previous, *_ = env.step(actions)
        if mode != "buffers":
            assert_same(kept[-1], copies[-1], "one more step")
    if mode == "copy":
        assert_same(kept, copies, "all steps") if isinstance(kept, np.ndarray) else None
        for a, b in zip(kept, copies, strict=True):
            assert_same(a, b, "kept")
    if mode == "buffers":
        assert all(previous[key] is mine[key] for key in mine)


def test_final_observations_are_never_overwritten():
    env = npp_env.NppVectorEnv(
        4, autoreset_mode="SAME_STEP", copy=False, max_episode_frames=20, levels="shipped:first_steps"
    )
    env.reset(seed=0)
    kept = []
    for actions in held_actions(np.random.default_rng(0), 60, 4):
        info = env.step(actions)[4]
        for final in info.get("final_obs", []):
            if final is not None:
                kept.append((final, {key: array.copy() for key, array in final.items()}))
    assert len(kept) > 20
    for final, copied in kept:
        assert_same(final, copied, "final_obs")


@pytest.mark.parametrize("kind", [npp_env.NppEnv, npp_env.NppVectorEnv])
def test_the_state_layout_refuses_larger_states(kind):
    levels = sorted((read_map(item.map) for item in golden()), key=lambda level: handle_of(level).state_bytes)
    env = kind(config={"observation": {"layout": "state"}}, levels=[levels[0]])
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(LevelError, match="bytes"):
        env.reset(options={"level": levels[-1]})
    assert env.get_state() == before
    env.reset(options={"level": levels[0]})


def test_what_could_not_be_made_closes_in_silence(recwarn):
    with pytest.raises(ConfigError):
        npp_env.NppVectorEnv(0)
    gc.collect()
    assert not recwarn.list


def test_bad_input_changes_nothing():
    env = npp_env.NppVectorEnv(3, levels="shipped:first_steps")
    with pytest.raises(NppError, match="reset"):
        env.step(np.zeros(3, int))
    env.reset(seed=0)
    before = env.get_state()
    for bad in (
        np.zeros(2, int),
        np.zeros((3, 1), int),
        np.zeros(3),
        [0, 1, 6],
        [-1, 0, 0],
        ["a"] * 3,
        None,
        [0, 1],
    ):
        with pytest.raises(NppError):
            env.step(bad)
    for mask in (np.ones(2, bool), np.ones(3, int), np.zeros(3, bool), [True] * 3):
        with pytest.raises(NppError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(NppError):
        env.reset(options={"level": "shipped:nowhere"})
    with pytest.raises(NppError):
        env.reset(seed=[1, 2])
    with pytest.raises(StateError):
        env.set_state([before[0], before[1], b"rubbish"])
    assert env.get_state() == before
    for arguments in (
        {"num_envs": 0},
        {"num_threads": 0},
        {"autoreset_mode": "LATER"},
        {"render_mode": "human"},
    ):
        with pytest.raises(ConfigError, match=next(iter(arguments))):
            npp_env.NppVectorEnv(**{"num_envs": 2, **arguments})
    with pytest.raises(NppError):
        npp_env.NppVectorEnv(2, levels="shipped:nowhere")


def test_states_move_between_environments():
    vector = npp_env.NppVectorEnv(4, preset="training")
    single = npp_env.NppEnv(preset="training")
    single.reset(seed=5)
    for _ in range(9):
        single.step(5)
    vector.reset(seed=0)
    vector.set_state([single.get_state()], indices=[2])
    observation, reward, *_ = single.step(2)
    got = vector.step(np.array([0, 0, 2, 0]))
    assert got[1][2] == reward
    for key, array in observation.items():
        np.testing.assert_array_equal(got[0][key][2], array)


def test_masks_and_pictures():
    env = npp_env.NppVectorEnv(3, render_mode="rgb_array")
    observation, _ = env.reset(seed=0)
    assert env.action_masks().shape == (3, 6)
    np.testing.assert_array_equal(env.action_masks(), observation["action_mask"])
    assert len(env.render()) == 3
    assert [picture.shape for picture in env.render([1])] == [(600, 1056, 3)]


def test_batch_space_takes_no_memory_per_environment():
    env = npp_env.NppVectorEnv(64, config={"observation": {"keys": ["global_view"]}})
    space = env.observation_space["global_view"]
    assert space.shape == (64, 100, 176, 1)
    assert space.low.base is not None
    assert space.low.strides[0] == 0
    assert env.observation_space == gym.vector.utils.batch_space(env.single_observation_space, 64)


def test_the_space_of_actions_is_that_of_gymnasium_and_takes_no_memory_for_each_environment():
    env = npp_env.NppVectorEnv(1000, levels="shipped:first_steps")
    space, wanted = env.action_space, gym.vector.utils.batch_space(env.single_action_space, 1000)
    assert space == wanted
    assert pickle.loads(pickle.dumps(space)) == wanted
    assert space.nvec.strides == space.start.strides == (0,)
    space.seed(3)
    wanted.seed(3)
    assert space.sample().tolist() == wanted.sample().tolist()
    assert wanted.sample() in space
