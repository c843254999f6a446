"""Style and script of the HTML report."""

from __future__ import annotations

STYLE = """
:root { --ink: #1d2733; --soft: #5d6b7a; --line: #dde3ea; --paper: #f5f7f9; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1320px; margin: 0 auto; padding: 14px 20px 40px; }
header { display: flex; justify-content: space-between; align-items: center; gap: 16px; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 14px; margin: 0 0 6px; }
.sub, .note { color: var(--soft); font-size: 12px; margin: 2px 0 0; }
.chip { padding: 6px 14px; border-radius: 8px; font-size: 13px; border: 1px solid; }
.chip b { text-transform: uppercase; letter-spacing: .04em; margin-right: 8px; }
.chip.flat { background: #e4f4ea; color: #14592f; border-color: #b4dcc3; }
.chip.growing { background: #fde8e7; color: #8d1a16; border-color: #f0bcb9; }
.chip.undecided { background: #fdf3dc; color: #6f4d05; border-color: #ecd9a6; }
.cards { display: grid; grid-template-columns: repeat(5, 1fr); gap: 12px; margin: 12px 0; }
.card, section, details { background: #fff; border: 1px solid var(--line); border-radius: 8px; }
.card { padding: 8px 12px; } .card span, .card small { display: block; color: var(--soft); font-size: 12px; }
.card b { font-size: 20px; font-variant-numeric: tabular-nums; }
section { padding: 10px 14px 12px; margin-bottom: 12px; min-width: 0; }
.grid2 { display: grid; grid-template-columns: 1fr 1fr; gap: 0 12px; } .grid2.inner { align-items: start; }
.plot { position: relative; } svg.chart { width: 100%; height: auto; display: block; }
svg text { font-size: 19px; fill: #3f4b58; } svg text.small { font-size: 17px; }
svg .grid { stroke: #e8edf2; } svg .axis { stroke: #93a1b0; } svg .cursor { stroke: #93a1b0; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 12px; color: var(--soft); }
.legend i { display: inline-block; width: 14px; height: 4px; margin-right: 5px; vertical-align: middle; }
.tip { position: absolute; top: 8px; background: rgba(255,255,255,.96); border: 1px solid var(--line);
  border-radius: 6px; padding: 4px 8px; font-size: 12px; pointer-events: none; white-space: pre; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; font-variant-numeric: tabular-nums; }
th { text-align: right; color: var(--soft); font-weight: 600; position: sticky; top: 0; background: #fff; }
td { text-align: right; } th, td { padding: 3px 8px; border-bottom: 1px solid #eef1f4; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
.scroll { max-height: 300px; overflow: auto; } .scroll.tall { max-height: 480px; }
details { padding: 10px 14px; } summary { cursor: pointer; font-weight: 600; }
pre { font-size: 11.5px; overflow-x: auto; margin: 0; } .empty { color: var(--soft); padding: 30px 0;
text-align: center; } @media (max-width: 1000px) { .grid2, .cards { grid-template-columns: 1fr; } }
@media (max-width: 560px) { .plot { overflow-x: auto; } svg.chart { min-width: 520px; } }
"""

SCRIPT = """
for (const plot of document.querySelectorAll(".plot")) {
  const chart = JSON.parse(plot.dataset.chart), svg = plot.querySelector("svg");
  const tip = plot.querySelector(".tip"), cursor = plot.querySelector(".cursor");
  const [low, high, left, right] = chart.x, width = svg.viewBox.baseVal.width;
  svg.addEventListener("mousemove", event => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * width;
    const step = low + (at - left) / (right - left) * (high - low);
    let nearest = null;
    for (const s of chart.series) for (const x of s.steps)
      if (nearest === null || Math.abs(x - step) < Math.abs(nearest - step)) nearest = x;
    const lines = ["step " + nearest.toLocaleString()];
    for (const s of chart.series) {
      const i = s.steps.indexOf(nearest);
      if (i >= 0 && s.values[i] !== null)
        lines.push(s.name + ": " + s.values[i].toLocaleString(undefined, {maximumFractionDigits: 3}) + " " +
        chart.unit);
    }
    tip.textContent = lines.join("\\n"); tip.hidden = false;
    const x = left + (nearest - low) / (high - low) * (right - left);
    cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.setAttribute("visibility", "visible");
    const half = at > width / 2;
    tip.style.left = half ? "70px" : "auto"; tip.style.right = half ? "auto" : "12px";
  });
  svg.addEventListener("mouseleave", () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); });
}
"""
