"""Pictures of many episodes: tracks from every source agree, counts are right, and what is drawn lies where it was."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env import NppEnv, NppVectorEnv
from npp_env.cli import main
from npp_env.errors import NppError, RecordingError, StateError
from npp_env.evaluation.pictures import (
    OUTCOME_COLOURS,
    death_counts,
    draw_deaths,
    draw_tracks,
    draw_visits,
    visit_counts,
)
from npp_env.evaluation.tracks import Track, track_of, tracks_of_environment, tracks_of_states
from npp_env.level.shipped import load_shipped
from npp_env.recording import Recording, load_shipped_recording, save_recording
from npp_env.render.legend import LEGEND_PX, SCALE_PX, colour_ramp

LEVELS = "shipped:first_steps"


def rollout(steps: int = 120, num_envs: int = 3) -> tuple[np.ndarray, list[Recording]]:
    """State rows of a rollout, and the recordings of the same episodes."""
    env = NppVectorEnv(num_envs, levels=LEVELS, frame_skip=4, max_episode_frames=200, observation={"layout": "state"})
    env.start_recording()
    rows, _ = env.reset(seed=3)
    random = np.random.default_rng(0)
    kept, recordings = [rows.copy()], []
    for _ in range(steps):
        rows, _, terminated, truncated, _ = env.step(random.integers(6, size=num_envs))
        kept.append(rows.copy())
        recordings += [env.final_recording(i) for i in np.flatnonzero(terminated | truncated).tolist()]
    recordings += [env.recording(i) for i in range(num_envs) if env.recording(i).frames]
    return np.array(kept), recordings


def test_tracks_of_states_and_of_recordings_agree():
    rows, recordings = rollout()
    from_states = [track for track in tracks_of_states(rows, LEVELS) if track.frames[-1] > 0]
    from_recordings = [track_of(recording) for recording in recordings]
    assert len(from_states) == len(from_recordings) > 5
    ticks = {(track.level.hash, tuple(track.places[-1].tolist()), track.outcome) for track in from_recordings}
    for track in from_states:
        assert (track.level.hash, tuple(track.places[-1].tolist()), track.outcome) in ticks
        assert (np.diff(track.frames) > 0).all()
        twins = [other for other in from_recordings if (other.places[-1] == track.places[-1]).all()]
        assert any((other.places[track.frames] == track.places).all() for other in twins)
    single = tracks_of_states(rows[:, 0], LEVELS)
    assert [len(track.places) for track in single] == [
        len(track.places) for track in tracks_of_states(rows[:, :1], LEVELS)
    ]


def test_tracks_of_a_running_environment():
    env = NppVectorEnv(3, levels="shipped:first_steps/walk", max_episode_frames=80)
    with pytest.raises(RecordingError, match="start_recording"):
        tracks_of_environment(env)
    env.start_recording()
    env.reset(seed=0)
    for _ in range(30):
        env.step([2, 1, 0])
    tracks = tracks_of_environment(env)
    assert sorted(int(track.frames[-1]) for track in tracks) == [36, 36, 36, 80, 80, 80]
    assert draw_tracks(tracks).shape == (600 + LEGEND_PX, 1056, 3)


@pytest.mark.parametrize("damage", ["version", "level", "number", "bytes", "shape", "dtype"])
def test_rows_that_are_none_are_refused(damage):
    rows, _ = rollout(5, 2)
    if damage == "version":
        rows[2, 0, 0] = 99
    elif damage == "level":
        rows[2, 0, 16] ^= 1
    elif damage == "number":
        rows[2, 0, 4] = 200
    elif damage == "bytes":
        rows[2, 0, 60] ^= 1
    elif damage == "shape":
        rows = rows[0, 0]
    else:
        rows = rows.astype(np.int64)
    with pytest.raises(StateError):
        tracks_of_states(rows, LEVELS)


def by_hand(places: list[tuple[float, float]], outcome: str = "alive") -> Track:
    array = np.array(places, np.float32)
    return Track(load_shipped("first_steps/walk"), array, np.arange(len(array), dtype=np.int32), outcome)


def test_counts_are_those_of_the_squares():
    tracks = [by_hand([(6, 6), (11.9, 11.9), (12, 6), (-50, 5000)], "died"), by_hand([(13, 1)], "won")]
    counts = visit_counts(tracks)
    assert counts.shape == (50, 88)
    assert (counts[0, 0], counts[0, 1], counts[49, 0], counts.sum()) == (2, 2, 1, 5)
    assert visit_counts(tracks, 24).shape == (25, 44)
    deaths = death_counts(tracks)
    assert (deaths[49, 0], deaths.sum()) == (1, 1)
    for wrong in (0, 7, 48, 2.0):
        with pytest.raises(NppError, match="divisor"):
            visit_counts(tracks, wrong)


def test_speed_is_pixels_a_tick():
    track = Track(by_hand([(0, 0)]).level, np.array([[0, 0], [12, 5], [12, 5]], np.float32), np.array([0, 4, 8]), "won")
    assert track.speeds.tolist() == [3.25, 0.0]


def test_colours_follow_time_outcome_and_speed():
    line = [(200.0 + 2 * k, 300.5) for k in range(200)]
    ramp = colour_ramp("turbo", 64).astype(int)
    picture = draw_tracks([by_hand(line)], "time").astype(int)
    for share in (0.1, 0.5, 0.9):
        pixel = picture[299:302, 200 + round(400 * share)]
        assert np.abs(pixel - ramp[round(63 * share)]).sum(axis=1).min() < 60
    slow_then_fast = [(200.0 + 0.6 * k, 300.5) for k in range(100)] + [(260.0 + 5 * k, 300.5) for k in range(60)]
    picture = draw_tracks([by_hand(slow_then_fast)], "speed").astype(int)
    assert np.abs(picture[299:302, 230] - ramp[6]).sum(axis=1).min() < 60
    assert np.abs(picture[299:302, 400] - ramp[53]).sum(axis=1).min() < 60
    for outcome, colour in OUTCOME_COLOURS.items():
        picture = draw_tracks([by_hand(line, outcome)], "outcome").astype(int)
        assert np.abs(picture[299:302, 400] - colour).sum(axis=1).min() < 60


def test_heat_maps_colour_what_was_visited_and_nothing_else():
    track = by_hand([(300.0, 300.0)] * 50 + [(500.0, 300.0)], "died")
    plain = draw_visits([by_hand([(300.0, 300.0)])]).astype(int)
    picture = draw_visits([track]).astype(int)
    assert (picture[301, 501] != plain[301, 501]).any()
    ramp = colour_ramp("viridis", 256).astype(int)
    for place, colour in (((301, 301), ramp[255]), ((301, 501), ramp[0])):
        assert np.abs(picture[place] - colour).max() < 60
    changed = (picture[:600] != plain[:600]).any(axis=2)
    assert not changed[:, :490].any()
    deaths = draw_deaths([track]).astype(int)
    assert np.abs(deaths[301, 501] - colour_ramp("hot", 256)[255]).max() < 60
    assert np.abs(deaths[301, 301] - plain[250, 301]).max() < 30


def test_the_legend_has_a_scale_and_the_goals_are_marked():
    picture = draw_tracks([track_of(load_shipped_recording("doors/two_keys"))])
    strip = picture[600:].astype(int)
    line = strip[30:35, :, 0].max(axis=0) > 120
    assert SCALE_PX - 2 <= line[1056 - 14 - SCALE_PX : 1056 - 14].sum() <= SCALE_PX + 1
    level = load_shipped("doors/two_keys")
    without = draw_visits([track_of(load_shipped_recording("doors/two_keys"))])
    exit_record = next(record for record in level.records.tolist() if record[0] == 3)
    x, y = 6 * exit_record[1], 6 * exit_record[2]
    for shown in (picture, without):
        ring = shown[y, x + 16 : x + 19].astype(int)
        assert (np.abs(ring - (225, 35, 130)).sum(axis=1) < 80).any()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(NppError, match="no track"):
        draw_tracks([])
    with pytest.raises(NppError, match="2 levels"):
        draw_visits([track_of(load_shipped_recording(name)) for name in ("first_steps/walk", "mines/ring")])
    with pytest.raises(NppError, match="colour_by"):
        draw_tracks([by_hand([(0, 0)])], "luck")
    with pytest.raises(RecordingError, match="not in the recording"):
        track_of(Recording(None, "0" * 32, np.zeros(2, np.uint8)))


def test_draw_writes_pictures(tmp_path, capsys):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("mines/ring", "first_steps/walk"):
        save_recording(load_shipped_recording(name), folder / f"{name.replace('/', '-')}.npprec")
    out = tmp_path / "out.png"
    for arguments in ([], ["--colour", "speed"], ["--kind", "visits"], ["--kind", "deaths"]):
        assert main(["draw", "mines/ring", "-o", str(out), "-f", *arguments]) == 0
        assert out.stat().st_size > 3000
    assert main(["draw", str(folder), "-o", str(out), "-f"]) == 2
    assert "2 levels" in capsys.readouterr().err
    assert main(["draw", str(folder), "-o", str(tmp_path / "pictures")]) == 0
    assert len(list((tmp_path / "pictures").glob("*.png"))) == 2
    assert main(["draw", str(folder), "-o", str(tmp_path / "pictures")]) == 2
    assert "-f overwrites" in capsys.readouterr().err
    rows, _ = rollout(40, 1)
    np.save(tmp_path / "rows.npy", rows)
    assert main(["draw", str(tmp_path / "rows.npy"), "--levels", LEVELS, "-o", str(tmp_path / "rows")]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "-o", "{here}/x.png"], "no such file, and no shipped level"),
        (["mines/ring", "-o", "{here}/x.gif"], "use .png"),
        (["mines/ring", "-o", "{here}/no/x.png"], "there is no folder"),
        (["mines/ring", "-o", "{here}/no/folder"], "there is no folder"),
        (["mines/ring", "-o", "{here}/file"], "is a file"),
        (["{here}/rows.npy", "-o", "{here}/x.png"], "--levels"),
        (["{here}/rows.npy", "--levels", "shipped:mines", "-o", "{here}/x.png"], "rows.npy"),
    ],
)
def test_mistakes_are_explained(tmp_path, arguments, message, capsys):
    (tmp_path / "file").write_text("")
    np.save(tmp_path / "rows.npy", np.zeros((3, 100), np.uint8))
    assert main(["draw", *(word.replace("{here}", str(tmp_path)) for word in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_the_graph_shows_the_way_to_the_switch_first(tmp_path):
    from npp_env.graph.navigation import graph_of
    from npp_env.render.graph_legend import draw_graph_with_legend
    from npp_env.render.graph_picture import draw_graph

    level = load_shipped("first_steps/jump")
    graph = graph_of(level)
    picture = draw_graph_with_legend(level, graph)
    assert picture.shape == (600 + LEGEND_PX, 1056, 3)
    assert (picture[:600] == draw_graph(level, graph, goal="switch")).all()
    assert (picture[:600] != draw_graph(level, graph, goal="exit")).any()
    ends = draw_graph(level, graph, goal="end")
    assert (ends != draw_graph(level, graph, goal="exit")).any()
    with pytest.raises(NppError, match="goal"):
        draw_graph(level, graph, goal="gold")
    for goal in ("switch", "exit", "end"):
        out = tmp_path / f"{goal}.png"
        assert main(["levels", "show", "first_steps/jump", "--graph", "--goal", goal, "-o", str(out)]) == 0
    assert (tmp_path / "switch.png").read_bytes() != (tmp_path / "exit.png").read_bytes()


def test_a_single_environment_can_be_drawn():
    env = NppEnv(levels="shipped:first_steps/walk")
    env.reset(seed=0)
    for _ in range(10):
        env.step(1)
    assert draw_tracks([track_of(env.recording())]).any()
