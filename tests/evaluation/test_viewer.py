"""The page in a real browser: it plays, scrubs, steps, races ghosts, and shows what the simulation did."""

from __future__ import annotations

import base64

import cv2
import numpy as np
import pytest

from npp_env.cli import main
from npp_env.evaluation.page import Run, page
from npp_env.recording import Recording, load_shipped_recording
from npp_env.recording.replay import replay
from npp_env.render.picture import draw_rgb
from npp_env.sim import Simulation
from tests.browser import BROWSER, DESKTOP, PHONE, Chromium

pytestmark = [pytest.mark.skipif(BROWSER is None, reason="no chromium on PATH"), pytest.mark.timeout(300)]
READY = "document.body?.dataset.ready === 'yes'"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="module")
def race(tmp_path_factory):
    """A page with a win, a slower start and a death on one level, and a run on another."""
    winning, other = load_shipped_recording("mines/ring"), load_shipped_recording("mixed/factory")
    late = np.concatenate([np.zeros(60, np.uint8), winning.inputs])
    runs = [
        Run("winner", winning),
        Run("later", Recording.of_level(winning.level, late)),
        Run("still", Recording.of_level(winning.level, np.zeros(50, np.uint8))),
        Run("factory", other),
    ]
    path = tmp_path_factory.mktemp("race") / "race.html"
    path.write_text(page(runs, "A race"))
    return path


def canvas(browser: Chromium) -> np.ndarray:
    """What the canvas shows, as RGB."""
    address = browser.value("document.getElementById('view').toDataURL()")
    data = np.frombuffer(base64.b64decode(address.partition(",")[2]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[:, :, ::-1]


def frame(browser: Chromium) -> int:
    return int(browser.value("document.getElementById('scrub').value"))


def text(browser: Chromium, name: str) -> str:
    return browser.value(f"document.getElementById('{name}').textContent")


def scrub(browser: Chromium, share: float) -> None:
    """Drag along the strip of inputs, from its start to a share of its length."""
    box = browser.value(
        "(() => { const box = document.getElementById('strip').getBoundingClientRect();"
        " return [box.left, box.top, box.width, box.height]; })()"
    )
    middle = box[1] + box[3] / 2
    browser.drag([box[0] + 2, middle], [box[0] + share * box[2], middle])


def test_scrubbing_shows_what_the_simulation_did(chromium, race):
    chromium.resize(DESKTOP)
    chromium.open(race.as_uri() + "#run=3", READY)
    recording = load_shipped_recording("mixed/factory")
    trace = replay(recording, trace=True)
    for share in (0.25, 0.6):
        scrub(chromium, share)
        tick = frame(chromium)
        assert abs(tick - share * trace.frames) <= 2
        place = chromium.value(f"[data.runs[3].film.x[{tick}], data.runs[3].film.y[{tick}]]")
        assert np.abs(np.array(place) - trace.trace.ninja[tick - 1, :2]).max() <= 1 / 32
        assert text(chromium, "clock") == f"{tick} / {trace.frames}"
        assert text(chromium, "seconds") == f"{tick / 60:.2f} s"
        byte = int(recording.inputs[tick - 1])
        down = chromium.value("[...document.querySelectorAll('.keys .down')].map(key => key.id)")
        expected = [name for name, bit in (("key-left", 4), ("key-jump", 1), ("key-right", 2)) if byte & bit]
        assert sorted(down) == sorted(expected)
    scrub(chromium, 1.0)
    assert text(chromium, "goal") == "won"
    assert chromium.problems == []
    fetched = chromium.value("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []


@pytest.mark.parametrize("tick", [0, 150, 400])
def test_the_canvas_shows_the_picture(chromium, race, tick):
    """A canvas of the size of the world, against the picture that Python draws."""
    chromium.resize((1700, 1000))
    chromium.open(race.as_uri() + f"#run=3&frame={tick}", READY)
    chromium.value(
        "(() => { document.getElementById('whole').checked = true; document.getElementById('trails').checked = false;"
        f" view.width = 1056; view.height = 600; paint({tick}); }})()"
    )
    recording = load_shipped_recording("mixed/factory")
    simulation = Simulation(recording.level)
    for byte in recording.inputs[:tick].tolist():
        simulation.advance(byte)
    expected = draw_rgb(recording.level, simulation.geometry, simulation.state, hud=False).astype(int)
    shown = canvas(chromium).astype(int)
    differs = np.abs(cv2.blur(shown.astype(np.float32), (5, 5)) - cv2.blur(expected.astype(np.float32), (5, 5)))
    assert (differs.max(axis=2) > 40).mean() < 4e-4
    ninja = simulation.ninja
    x, y = int(ninja["x"]), int(ninja["y"])
    around = shown[y - 9 : y + 9, x - 9 : x + 9]
    assert (around.max(axis=2) < 70).sum() > 15  # ink


def test_play_pause_step_and_speed(chromium, race):
    chromium.resize(DESKTOP)
    chromium.open(race.as_uri(), READY)
    assert frame(chromium) == 0
    chromium.click("#forward")
    chromium.click("#forward")
    chromium.click("#back")
    assert frame(chromium) == 1
    chromium.press("ArrowRight", modifiers=8)
    assert frame(chromium) == 11
    chromium.value("document.getElementById('speed').value = '8'")
    chromium.click("#play")
    chromium.wait_for("Number(document.getElementById('scrub').value) > 30")
    chromium.press(" ")
    stopped = frame(chromium)
    chromium.value("new Promise(done => setTimeout(done, 150))")
    assert frame(chromium) == stopped
    chromium.press("End")
    assert frame(chromium) == chromium.value("Number(document.getElementById('scrub').max)")
    chromium.click("#start")
    assert frame(chromium) == 0
    assert chromium.problems == []


def test_time_passes_as_in_the_game(chromium, race):
    """The clock of the page against the clock of the browser, within one run: a ratio, whatever the machine does."""
    chromium.open(race.as_uri(), READY)
    script = (
        "new Promise(done => { play(true); let first = null; const look = stamp => {"
        " if (first === null) first = [stamp, now.tick]; else if (now.tick > 40)"
        " { play(false); done((now.tick - first[1]) / (stamp - first[0])); return; }"
        " requestAnimationFrame(look); }; requestAnimationFrame(look); })"
    )
    assert chromium.value(script) == pytest.approx(0.06, rel=0.25)


def coloured(browser: Chromium, colour: tuple[int, int, int]) -> int:
    """Pixels of about a colour."""
    return int((np.abs(canvas(browser).astype(int) - colour).max(axis=2) < 40).sum())


def test_ghosts_race_beside_the_run_that_is_followed(chromium, race):
    chromium.resize(DESKTOP)
    chromium.open(race.as_uri() + "#run=0&frame=100", READY)
    chromium.click("#trails")
    names = chromium.value("[...document.querySelectorAll('#runs b')].map(node => node.textContent)")
    assert names == ["winner", "later", "still"]
    orange = (255, 138, 61)  # the second colour, of the later run
    with_ghosts = coloured(chromium, orange)
    assert with_ghosts > 30
    chromium.click("#ghosts")
    assert coloured(chromium, orange) < with_ghosts / 3
    chromium.click("#ghosts")
    chromium.click("[data-ghost='1']")
    assert coloured(chromium, orange) < with_ghosts / 3
    chromium.click("[data-ghost='1']")
    assert abs(coloured(chromium, orange) - with_ghosts) < with_ghosts / 3
    winning = load_shipped_recording("mines/ring")
    late = Recording.of_level(winning.level, np.concatenate([np.zeros(60, np.uint8), winning.inputs]))
    expected = replay(late, trace=True).trace.ninja[159, 0]
    assert abs(chromium.value("data.runs[1].film.x[160]") - expected) <= 1 / 32
    # Whoever has ended stays there.
    chromium.click("[data-run='2']")
    assert text(chromium, "clock") == "50 / 50"
    assert text(chromium, "goal") == "end of the recording"
    assert chromium.problems == []


def expected_picture(recording: Recording, tick: int) -> np.ndarray:
    """What Python draws after so many inputs, or at their end."""
    simulation = Simulation(recording.level)
    for byte in recording.inputs[:tick].tolist():
        simulation.advance(byte)
    return draw_rgb(recording.level, simulation.geometry, simulation.state, hud=False).astype(np.float32)


@pytest.mark.parametrize("tick", [40, 160])
def test_panes_side_by_side_show_each_run_at_the_same_moment(chromium, race, tick):
    chromium.resize(DESKTOP)
    chromium.open(race.as_uri() + f"#run=0&frame={tick}", READY)
    chromium.click("label:has(#split)")
    assert chromium.value("panes().map(pane => data.runs[pane.run].name)") == ["winner", "later", "still"]
    assert chromium.value("grid(3)") == [2, 2]
    chromium.value(
        "(() => { document.getElementById('whole').checked = true; document.getElementById('trails').checked = false;"
        f" view.width = 2112; view.height = 1200; paint({tick}); }})()"
    )
    shown, winning = canvas(chromium).astype(np.float32), load_shipped_recording("mines/ring")
    waiting = [winning.inputs, np.concatenate([np.zeros(60, np.uint8), winning.inputs]), np.zeros(50, np.uint8)]
    for number, inputs in enumerate(waiting):
        top, left = 600 * (number // 2), 1056 * (number % 2)
        pane = shown[top : top + 600, left : left + 1056]
        expected = expected_picture(Recording.of_level(winning.level, inputs), tick)
        differs = np.abs(cv2.blur(pane, (5, 5)) - cv2.blur(expected, (5, 5))).max(axis=2)
        differs[:32, :200] = 0  # the name
        differs[:6] = differs[-6:] = differs[:, :6] = differs[:, -6:] = 0  # the frame
        assert (differs > 40).mean() < 4e-4
    assert chromium.problems == []


def test_panes_follow_clicks_keys_and_the_list_of_runs(chromium, race):
    chromium.resize(DESKTOP)
    chromium.open(race.as_uri() + "#run=0&frame=100&split", READY)
    assert chromium.value("document.getElementById('ghosts').disabled")
    left, top, width, height = chromium.value(
        "(() => { const box = view.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
    )
    second = [left + 0.75 * width, top + 0.25 * height]
    chromium.drag(second, second)
    assert text(chromium, "clock").endswith(f" / {chromium.value('data.runs[1].frames')}")
    assert not chromium.value("now.playing")
    chromium.drag(second, second)
    assert chromium.value("now.playing")
    chromium.press(" ")
    chromium.click("[data-ghost='2']")
    assert chromium.value("panes().map(pane => pane.run)") == [0, 1]
    assert chromium.value("view.height / view.width") == pytest.approx(600 / 2112, abs=0.01)
    chromium.press("s")
    assert chromium.value("panes().length") == 1
    assert chromium.value("view.height / view.width") == pytest.approx(600 / 1056, abs=0.01)
    assert not chromium.value("document.getElementById('ghosts').disabled")
    chromium.click("[data-level='1']")
    chromium.wait_for("document.getElementById('title').textContent === 'Factory'")
    assert chromium.value("document.getElementById('modes').hidden")
    assert chromium.problems == []


def test_panes_have_a_limit_and_say_so(chromium, tmp_path):
    level = load_shipped_recording("mines/ring").level
    runs = [Run(f"run {k}", Recording.of_level(level, np.zeros(5 + k, np.uint8))) for k in range(18)]
    path = tmp_path / "many.html"
    path.write_text(page(runs))
    chromium.open(path.as_uri() + "#run=17&split", READY)
    assert chromium.value("panes().map(pane => pane.run)") == [*range(15), 17]
    assert text(chromium, "more").startswith("2 more runs")
    assert chromium.value("!document.getElementById('more').hidden")
    chromium.press("s")
    assert chromium.value("document.getElementById('more').hidden")


def test_heat_map_and_level_list(chromium, race):
    chromium.resize(DESKTOP)
    chromium.open(race.as_uri() + "#frame=1", READY)
    plain = canvas(chromium)
    chromium.click("#heat")
    assert chromium.value("!document.getElementById('legend').hidden")
    visits = chromium.value("now.heat.most")
    cells: dict[tuple[int, int], int] = {}
    for waiting, inputs in ((0, True), (60, True), (50, False)):
        track = [load_shipped_recording("mines/ring").level.spawn] * (1 + waiting)
        if inputs:
            track += replay(load_shipped_recording("mines/ring"), trace=True).trace.ninja[:, :2].tolist()
        for x, y in track:
            cells[int(x // 12), int(y // 12)] = cells.get((int(x // 12), int(y // 12)), 0) + 1
    # Counted by hand; who waits may be put down by a fraction of a pixel.
    assert visits == pytest.approx(max(cells.values()), rel=0.1)
    assert (np.abs(canvas(chromium).astype(int) - plain).max(axis=2) > 30).mean() > 0.005
    chromium.click("[data-level='1']")
    chromium.wait_for("document.getElementById('title').textContent === 'Factory'")
    assert chromium.value("[...document.querySelectorAll('#runs b')].length") == 1
    assert chromium.problems == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (768, 1024)])
def test_nothing_overflows_and_everything_can_be_reached(chromium, race, tmp_path, size):
    out = tmp_path / "page.html"
    arguments = ["evaluate", "baseline:path", "--levels", "shipped:first_steps", "--episodes", "2"]
    assert main([*arguments, "--html", str(out)]) == 0
    chromium.resize(size, 2 if size == PHONE else 1)
    for address in (race.as_uri(), race.as_uri() + "#split", out.as_uri()):
        chromium.open(address, READY)
        wide, inner = chromium.value("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= inner
        for name in ("play", "back", "forward", "scrub", "strip", "speed", "heat"):
            left, right, height = chromium.value(
                f"(() => {{ const box = document.getElementById('{name}').getBoundingClientRect();"
                " return [box.left, box.right, box.height]; })()"
            )
            assert 0 <= left < right <= size[0] + 1
            assert height > 10
        share = chromium.value("view.getBoundingClientRect().width / innerWidth")
        assert share > (0.9 if size == PHONE else 0.4)
        menu = chromium.value("getComputedStyle(document.getElementById('level-menu')).display !== 'none'")
        assert menu is (size[0] < 1180)
    # Two panes stand below each other on a phone.
    assert chromium.value("grid(2)") == ([1, 2] if size == PHONE else [2, 1])
    rows = chromium.value("document.querySelectorAll('#scores tbody tr').length")
    assert rows == 7
    chromium.screenshot(tmp_path / "screen.png")
    picture = cv2.imread(str(tmp_path / "screen.png"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    assert chromium.problems == []
