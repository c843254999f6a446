from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tracemalloc
import warnings

import gymnasium as gym
import numpy as np
import pytest
from golden_levels import golden
from gymnasium.utils.env_checker import check_env
from play import held_actions

import npp_env
from npp_env.config import PRESETS
from npp_env.errors import ConfigError, LevelError, NppError, StateError
from npp_env.level.binary import read_map
from npp_env.level.shipped import shipped_level_names
from npp_env.observe.spec import OBSERVATION_KEYS

ID = "npp_env:Npp-v0"
ALL_KEYS = {"observation": {"keys": list(OBSERVATION_KEYS)}, "graph": {"max_nodes": 900, "max_edges": 4000}}


def same(a, b) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize("preset", PRESETS)
def test_check_env_without_warnings(preset):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # `copy=True` is what check_env wants; the presets are checked for all else.
        check_env(gym.make(ID, preset=preset, copy=True).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("layout", ["dict", "flat", "packed", "state"])
def test_check_env_for_each_layout(layout):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(ID, config={"observation": {"layout": layout}}).unwrapped, skip_render_check=True)


def test_check_env_renders():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(ID, render_mode="rgb_array").unwrapped)


def test_made_in_a_fresh_interpreter():
    code = "import gymnasium as gym; e = gym.make('npp_env:Npp-v0'); e.reset(seed=1); print(e.step(2)[4]['frame'])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stdout == "4\n", done.stderr


def test_spec_is_json():
    env = gym.make(ID, config={"frame_skip": 1, "reward": {"shaping_weight": 0.0}}, levels=["shipped:first_steps"])
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.unwrapped.config == env.unwrapped.config


@pytest.mark.parametrize("name", shipped_level_names())
def test_observations_lie_in_their_space(name):
    env = gym.make(ID, config=ALL_KEYS, levels=f"shipped:{name}").unwrapped
    observation, _ = env.reset(seed=3)
    for action in held_actions(np.random.default_rng(5), 60)[:, 0]:
        for key, array in observation.items():
            assert array in env.observation_space[key], key
        observation, reward, terminated, truncated, _ = env.step(action)
        assert np.isfinite(reward)
        if terminated or truncated:
            observation, _ = env.reset()


def test_golden_levels_give_environments_that_run():
    levels = [read_map(item.map) for item in golden()]
    env = npp_env.NppEnv(ALL_KEYS, levels=levels)
    rng = np.random.default_rng(0)
    for number in range(len(levels)):
        observation, info = env.reset(seed=number, options={"level": number})
        assert info["level"] == number
        for action in held_actions(rng, 30)[:, 0]:
            observation, _, terminated, truncated, _ = env.step(action)
            assert observation in env.observation_space
            if terminated or truncated:
                break


def test_two_with_one_seed_agree():
    a, b = (gym.make(ID, config=ALL_KEYS) for _ in range(2))
    assert same(a.reset(seed=9)[0], b.reset(seed=9)[0])
    for action in held_actions(np.random.default_rng(1), 300)[:, 0]:
        (oa, *ra), (ob, *rb) = a.step(action), b.step(action)
        assert same(oa, ob)
        assert ra == rb
        if ra[1] or ra[2]:
            assert same(a.reset()[0], b.reset()[0])


def test_seeds_choose_levels():
    env = gym.make(ID)
    chosen = [env.reset(seed=seed)[1]["level"] for seed in range(40)]
    assert len(set(chosen)) > 3
    assert chosen == [env.reset(seed=seed)[1]["level"] for seed in range(40)]


@pytest.mark.parametrize("mode", ["copy", "views", "buffers"])
def test_ownership(mode):
    keys = ["game_state", "entity_states", "player_frame", "action_mask"]
    arguments = {
        "config": {"observation": {"keys": keys}},
        "copy": mode == "copy",
        "levels": "shipped:first_steps",
    }
    env = npp_env.NppEnv(**arguments)
    if mode == "buffers":
        mine = {key: np.zeros((1, *space.shape), space.dtype) for key, space in env.observation_space.spaces.items()}
        env = npp_env.NppEnv(**arguments, buffers=mine)
    kept, copies = [], []
    observation, _ = env.reset(seed=0)
    for action in held_actions(np.random.default_rng(2), 40)[:, 0]:
        kept.append(observation)
        copies.append(copy.deepcopy(observation))
        observation, _, terminated, truncated, _ = env.step(action)
        assert mode == "buffers" or same(kept[-1], copies[-1])
        if mode == "buffers":
            assert all(observation[key].base is mine[key] for key in keys)
        if terminated or truncated:
            break
    survived = [same(one, two) for one, two in zip(kept, copies, strict=True)]
    assert all(survived) == (mode == "copy")
    if mode == "copy":
        assert not any(np.shares_memory(kept[0][key], kept[1][key]) for key in keys)


@pytest.mark.parametrize("copies", [True, False])
def test_steps_allocate_nothing_that_stays(copies):
    env = npp_env.NppEnv(preset="parallel_training", copy=copies, levels="shipped:first_steps", max_episode_frames=None)
    env.reset(seed=0)
    actions = held_actions(np.random.default_rng(3), 1000)[:, 0]

    def run():
        for action in actions:
            if env.step(action)[2]:
                env.reset()

    run()
    tracemalloc.start()
    run()
    before = tracemalloc.get_traced_memory()[0]
    run()
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 2000
    assert peak - before < 20_000


def test_views_are_not_built_anew():
    env = npp_env.NppEnv(preset="parallel_training")
    env.reset(seed=0)
    first, second, third = (env.step(1)[0]["game_state"] for _ in range(3))
    assert first is third
    assert first is not second


def test_state_round_trip_replays_exactly():
    env = gym.make(ID, config=ALL_KEYS).unwrapped
    env.reset(seed=4)
    actions = held_actions(np.random.default_rng(4), 120)[:, 0]
    for action in actions[:40]:
        env.step(action)
    saved = env.get_state()
    first = [env.step(action) for action in actions[40:60]]
    for twin in (env, pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        twin.set_state(saved)
        for action, expected in zip(actions[40:60], first, strict=True):
            got = twin.step(action)
            assert same(got[0], expected[0])
            assert got[1:] == expected[1:]


def test_pickle_carries_the_episode():
    env = npp_env.NppEnv(levels="shipped:first_steps")
    env.reset(seed=8)
    for _ in range(10):
        env.step(2)
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert twin.get_state() == env.get_state()
        a, b = copy.deepcopy(env), twin
        for action in (5, 5, 2, 3, 1, 0):
            assert a.step(action)[1:] == b.step(action)[1:]
        assert [a.reset()[1]["level"] for _ in range(5)] == [b.reset()[1]["level"] for _ in range(5)]


def test_bad_states_change_nothing():
    env = npp_env.NppEnv(levels="shipped:first_steps")
    env.reset(seed=8, options={"level": 0})
    good = env.get_state()
    other = npp_env.NppEnv(levels="shipped:first_steps")
    other.reset(seed=8, options={"level": 1})
    foreign = bytearray(good)
    foreign[12:28] = b"0123456789abcdef"
    damaged = good[:-9] + bytes([good[-9] ^ 1]) + good[-8:]
    for bad in (
        damaged,
        b"",
        b"rubbish" * 20,
        good[:-1],
        good + b"x",
        bytes(foreign),
        5,
        np.zeros(3),
        good[:4] + b"\x09" + good[5:],
    ):
        with pytest.raises(StateError):
            env.set_state(bad)
        assert env.get_state() == good
    env.set_state(other.get_state())
    assert env.level == other.level


def test_level_options():
    env = gym.make(ID, levels="shipped:first_steps").unwrapped
    level = read_map(golden()[0].map)
    assert env.reset(options={"level": level})[1]["level"] == -1
    assert env.level == level
    assert env.reset(options={"level": 2})[1]["level"] == 2
    env.reset(options={"level": "shipped:first_steps/walk"})
    for wrong in (99, -1, 1.5):
        with pytest.raises(ConfigError, match="level"):
            env.reset(options={"level": wrong})
    with pytest.raises(LevelError):
        env.reset(options={"level": "shipped:nowhere/nothing"})


@pytest.mark.parametrize("action", [-1, 6, 2.5, "jump", None, [1, 2]])
def test_bad_actions(action):
    env = npp_env.NppEnv()
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(NppError, match="action"):
        env.step(action)
    assert env.get_state() == before


def test_step_before_reset():
    with pytest.raises(NppError, match="reset"):
        npp_env.NppEnv().step(0)


def test_wrong_arguments_name_the_field():
    with pytest.raises(ConfigError, match="render_mode"):
        npp_env.NppEnv(render_mode="ascii")
    with pytest.raises(ConfigError, match="frame_skip"):
        gym.make(ID, frame_skip=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        gym.make(ID, frameskip=4)
    with pytest.raises(ConfigError, match="game_state"):
        npp_env.NppEnv(preset="parallel_training", buffers={"game_state": np.zeros((1, 3))})


def test_environments_share_all_that_belongs_to_a_level():
    a, b = (npp_env.NppEnv(preset="training")._episodes for _ in range(2))
    shorter = npp_env.NppEnv(preset="training", max_episode_frames=50)._episodes
    assert a.levels is b.levels is shorter.levels
    assert a.num_levels <= a._capacity
    for number in range(a.num_levels):
        assert a.resources(number) is b.resources(number)
    assert shorter.resources(0) is not a.resources(0)
    assert shorter.resources(0).handle is a.resources(0).handle
    assert shorter.resources(0).limit_frames == 50


def test_truncation():
    env = npp_env.NppEnv(levels="shipped:first_steps", max_episode_frames=10)
    env.reset(seed=0)
    ends = [env.step(0)[2:] for _ in range(3)]
    assert [end[1] for end in ends] == [False, False, True]
    assert ends[-1][2]["outcome"] == npp_env.Outcome.OUT_OF_TIME


def masked_twins(state: dict, mask: np.ndarray) -> list[tuple[int, int]]:
    """Each masked action with the action that it must not differ from."""
    twin = {3: 0, 4: 1, 5: 2}
    return [(action, twin.get(action, 0)) for action in range(1, 6) if not mask[action]]


def test_masked_actions_make_no_difference():
    env = npp_env.NppEnv({"observation": {"keys": ["game_state"]}, "reward": {"shaping_weight": 0}})
    probe = copy.deepcopy(env)
    rng = np.random.default_rng(6)
    masked = 0
    for seed in range(12):
        env.reset(seed=seed)
        for action in held_actions(rng, 60)[:, 0]:
            _, _, terminated, truncated, _ = env.step(action)
            mask = env.action_masks()
            assert mask.any()
            saved = env.get_state()
            for useless, twin in masked_twins({}, mask):
                masked += 1
                motion = []
                for one in (useless, twin):
                    probe.set_state(saved)
                    probe.step(one)
                    ninja = probe._episodes.ninjas[0]
                    motion.append([ninja[name].item() for name in ("x", "y", "vx", "vy", "state", "gold")])
                assert motion[0] == motion[1]
            if terminated or truncated:
                assert mask.tolist() == [True] + [False] * 5 or truncated
                break
    assert masked > 20


def test_wrappers():
    from gymnasium import wrappers

    env = gym.make(ID, preset="visual_testing", copy=True, render_mode="rgb_array", levels="shipped:first_steps")
    for wrapped in (
        wrappers.RecordEpisodeStatistics(env),
        wrappers.FrameStackObservation(env, 3),
        wrappers.TimeLimit(env, 5),
        wrappers.FlattenObservation(env),
    ):
        observation, _ = wrapped.reset(seed=0)
        assert observation in wrapped.observation_space
        for _ in range(6):
            observation, _, terminated, truncated, _ = wrapped.step(2)
            assert observation in wrapped.observation_space
            if terminated or truncated:
                break
    assert gym.make(ID).get_wrapper_attr("action_masks") is not None


def test_record_video(tmp_path):
    pytest.importorskip("moviepy")
    env = gym.make(ID, render_mode="rgb_array", levels="shipped:first_steps", max_episode_frames=40)
    env = gym.wrappers.RecordVideo(env, str(tmp_path), disable_logger=True)
    env.reset(seed=0)
    while not any(env.step(2)[2:4]):
        pass
    env.close()
    assert list(tmp_path.glob("*.mp4"))


def test_sync_vector_env():
    env = gym.vector.SyncVectorEnv([lambda: gym.make(ID, preset="training") for _ in range(3)])
    env.reset(seed=0)
    for _ in range(5):
        observation, *_ = env.step(np.array([1, 2, 5]))
    assert observation["game_state"].dtype == np.float16
    env.close()


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_async_vector_env(context):
    # Before Gymnasium 1.4 its shared memory does not take float16.
    shared = tuple(int(part) for part in gym.__version__.split(".")[:2]) >= (1, 4)
    env = gym.vector.AsyncVectorEnv([make_training] * 2, context=context, shared_memory=shared)
    sync = gym.vector.SyncVectorEnv([make_training] * 2)
    assert same(env.reset(seed=0)[0], sync.reset(seed=0)[0])
    for _ in range(5):
        assert same(env.step(np.array([2, 5]))[0], sync.step(np.array([2, 5]))[0])
    env.close()


def make_training():
    return gym.make(ID, preset="training")


def test_human_window_opens_and_closes():
    env = gym.make(ID, render_mode="human", levels="shipped:first_steps")
    env.reset(seed=0)
    env.step(2)
    assert env.render() is None
    env.close()
    env.close()


def test_rgb_array_is_fresh():
    env = gym.make(ID, render_mode="rgb_array").unwrapped
    env.reset(seed=0)
    a, b = env.render(), env.render()
    assert a.shape == (600, 1056, 3)
    assert a.dtype == np.uint8
    assert not np.shares_memory(a, b)
    assert len(np.unique(a.reshape(-1, 3), axis=0)) > 5
