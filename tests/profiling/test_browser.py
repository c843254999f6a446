"""The HTML report in a real browser."""

from __future__ import annotations

import re
import subprocess

import pytest

from npp_env.profiling import Holding, MemoryReport, load_profile, profile_loop
from tests.browser import BROWSER, DESKTOP, PHONE, Chromium

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on PATH")

# Runs before the report's own script, and writes into the page what went wrong.
WATCH = """<script>
window.problems = [];
addEventListener("error", event => problems.push(String(event.message)));
console.error = (...words) => problems.push(words.join(" "));
addEventListener("load", () => setTimeout(() => {
  const svg = document.querySelector(".plot svg"), box = svg.getBoundingClientRect();
  svg.dispatchEvent(new MouseEvent("mousemove", {clientX: box.left + box.width / 2, clientY: box.top + 20}));
  const result = document.createElement("output");
  result.textContent = JSON.stringify({problems, tip: document.querySelector(".tip").textContent,
    charts: [...document.querySelectorAll("svg.chart")].filter(s => s.clientHeight > 50).length,
    wide: document.documentElement.scrollWidth, inner: innerWidth,
    requests: performance.getEntriesByType("resource").map(r => r.name)});
  result.id = "outcome"; document.body.append(result);
}, 50));
</script>"""


@pytest.mark.timeout(90)
def test_the_report_opens_without_errors_and_shows_its_charts(tmp_path):
    kept = []
    result = profile_loop(
        lambda: kept.append(bytearray(50)),
        steps=2000,
        snapshot_interval=20,
        progress=False,
        owners=lambda: MemoryReport([Holding("kept", "list", 50 * len(kept)), Holding("levels", "tiles", 4400, True)]),
    )
    result.write(tmp_path)
    result.write(tmp_path, result.compare_with(load_profile(tmp_path / "memory.json")))
    page = (tmp_path / "report.html").read_text()
    (tmp_path / "watched.html").write_text(page.replace("<head>", "<head>" + WATCH))
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1366,768",
        "--virtual-time-budget=2000",
        "--dump-dom",
        (tmp_path / "watched.html").as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=80).stdout
    match = re.search(r'<output id="outcome">(.*?)</output>', dom)
    assert match is not None
    outcome = match[1]
    assert '"problems":[]' in outcome
    assert '"charts":5' in outcome
    assert '"requests":[]' in outcome
    assert re.search(r"step (9\d\d|1,0\d\d)", outcome)
    wide, inner = re.search(r'"wide":(\d+),"inner":(\d+)', outcome).groups()
    assert int(wide) <= int(inner)


@pytest.mark.timeout(200)
def test_text_at_the_axes_can_be_read_at_every_width(tmp_path):
    owners = MemoryReport([Holding("kept", "list", 5000), Holding("levels", "tiles", 4400, True)])
    profile_loop(lambda: None, steps=400, snapshot_interval=20, progress=False, owners=lambda: owners, out_dir=tmp_path)
    with Chromium(tmp_path / "browser") as browser:
        for size in (DESKTOP, (1010, 800), (820, 1000), (570, 900), PHONE):
            browser.resize(size)
            browser.open((tmp_path / "report.html").as_uri(), "document.readyState === 'complete'")
            heights = browser.value(
                "[...document.querySelectorAll('svg.chart text')].map(text => text.getBoundingClientRect().height)"
            )
            assert len(heights) > 20
            assert min(heights) > 10
            wide, inner = browser.value("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= inner
