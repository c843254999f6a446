"""What a reader of report.html can tell apart."""

from __future__ import annotations

import re

from npp_env.profiling.charts import WIDTH, Series, line_chart
from npp_env.profiling.report_style import STYLE
from npp_env.profiling.run import profile_loop
from npp_env.runtime.memory import Holding, MemoryReport

SHOWN_PX = 470
"""Width of a chart in a window of 1,100 px, as measured in a browser."""


def test_text_at_the_axes_is_as_large_as_other_text():
    sizes = [int(size) for size in re.findall(r"svg text[.a-z]* { font-size: (\d+)px", STYLE)]
    assert len(sizes) == 2
    assert min(sizes) * SHOWN_PX / WIDTH > 10


def test_curves_that_coincide_are_told_apart():
    same = [1.0, 2.0, 3.0]
    chart = line_chart([Series(name, [0, 1, 2], same, "#000") for name in "abcd"], unit="MB")
    lines = re.findall(r"<polyline[^>]*>", chart)
    looks = [re.sub(r"points=\"[^\"]*\"", "", line) for line in lines]
    assert len(set(looks)) == 4
    widths = [float(re.search(r"stroke-width=\"([0-9.]+)\"", line)[1]) for line in lines]
    assert widths == sorted(widths, reverse=True)


def test_shared_levels_stand_apart_from_what_an_environment_holds(tmp_path):
    report = MemoryReport([Holding("levels", "graphs", 40 << 20, shared=True), Holding("states", "exact", 3000)])
    result = profile_loop(lambda: None, steps=60, snapshot_interval=5, owners=lambda: report, progress=False)
    page = next(path for path in result.write(tmp_path) if path.suffix == ".html").read_text()
    own, shared = (
        page.split(f"<h2>{title}</h2>")[1].split("</section>")[0]
        for title in ("Its own bytes, by owner", "Shared bytes, by owner")
    )
    assert "states" in own
    assert "levels" not in own
    assert ">KB</text>" in own
    assert "levels" in shared
    assert ">MB</text>" in shared
    cost = page.split("<h2>Cost of the tracker</h2>")[1].split("</section>")[0]
    assert "13 snapshots" in cost
    assert "below 2 %" in cost
