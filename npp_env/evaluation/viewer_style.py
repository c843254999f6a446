"""Layout and style of the viewer's page."""

from __future__ import annotations

STYLE = """
:root { --ink: #e8ecf0; --soft: #97a3b0; --line: #2b323c; --paper: #14181e; --panel: #1b2028; --hot: #4aa3ff; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--paper); color: var(--ink); min-width: 320px;
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
button, select { font: inherit; color: inherit; background: #252c36; border: 1px solid var(--line);
  border-radius: 7px; cursor: pointer; }
button:hover, select:hover { background: #303946; }
:focus-visible { outline: 2px solid var(--hot); outline-offset: 1px; }
header { display: flex; align-items: baseline; gap: 6px 18px; flex-wrap: wrap; padding: 12px 18px 8px; }
h1 { font-size: 17px; margin: 0; } header p { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
.app { display: grid; grid-template-columns: 236px minmax(0, 1fr) 262px; gap: 14px; padding: 0 18px 18px;
  max-width: 1780px; margin: 0 auto; align-items: start; }
.single .app { grid-template-columns: minmax(0, 1fr) 262px; } .single #side { display: none; }
aside, .player, #scores { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
aside { padding: 8px; max-height: calc(100vh - 70px); overflow: auto; }
h2, h3 { font-size: 11px; letter-spacing: .07em; text-transform: uppercase; color: var(--soft); margin: 8px 6px 4px; }
#levels button { display: flex; justify-content: space-between; gap: 8px; width: 100%; padding: 5px 8px; border: 0;
  background: none; text-align: left; } #levels button:hover { background: #252c36; }
#levels .chosen, #runs .chosen { background: #26384d; border-radius: 7px; }
.badge { color: var(--soft); font-variant-numeric: tabular-nums; white-space: nowrap; }
#level-menu { display: none; width: 100%; padding: 7px; }
.player { overflow: hidden; min-width: 0; }
canvas { display: block; width: 100%; } #view { cursor: pointer; background: #70797f; }
#strip { height: 40px; cursor: ew-resize; touch-action: none; }
.lanes { display: grid; grid-template-columns: 46px minmax(0, 1fr); align-items: stretch;
  border-top: 1px solid var(--line); }
.lanes ol { list-style: none; margin: 0; padding: 2px 6px 0; font-size: 10px; line-height: 12px; color: var(--soft); }
#scrub { width: 100%; margin: 6px 0 0; min-width: 0; accent-color: var(--hot); }
#legend { margin: 8px 0 0; font-size: 12px; color: var(--soft); }
#ramp { display: inline-block; width: 110px; height: 9px; border-radius: 3px; vertical-align: middle; margin: 0 4px; }
#most { margin-right: 14px; }
.bottom { padding: 0 12px 12px; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin-top: 6px; }
.controls button { min-width: 40px; height: 36px; } #play { min-width: 54px; background: #2a5f96;
  border-color: #3a78b8; }
#modes { display: inline-flex; border: 1px solid var(--line); border-radius: 7px; overflow: hidden; }
#modes label { height: 34px; padding: 0 10px; color: var(--soft); } #modes input { position: absolute; opacity: 0; }
#modes label:has(:checked) { background: #26384d; color: var(--ink); }
#modes label:has(:focus-visible) { outline: 2px solid var(--hot); outline-offset: -2px; }
label:has(:disabled) { opacity: .45; cursor: default; }
#speed { height: 36px; padding: 0 6px; } label { display: inline-flex; gap: 5px; align-items: center;
  cursor: pointer; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 22px; padding: 8px 12px; border-bottom: 1px solid var(--line);
  align-items: center; font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); } .facts b { font-weight: 600; } #title { margin-right: auto; font-size: 15px; }
.keys { display: inline-flex; gap: 5px; }
.keys kbd { font: 600 12px/1 system-ui, sans-serif; padding: 7px 10px; border: 1px solid #3a4350; border-radius: 6px;
  background: #222933; color: #6d7986; } .keys .down { color: #0d1116; background: #e8ecf0; border-color: #fff; }
#key-left.down { background: #4aa3ff; } #key-jump.down { background: #f4c430; }
  #key-right.down { background: #43c98a; }
.won { color: #57d693; } .died { color: #ff8078; } .alive { color: #e8c14a; }
#runs { list-style: none; margin: 0; padding: 0; }
#runs li { display: grid; grid-template-columns: 18px 12px minmax(0, 1fr); align-items: center; gap: 6px;
  padding: 0 6px; }
#runs button { display: grid; grid-template-columns: 1fr auto; text-align: left; border: 0; background: none;
  padding: 7px 0; }
#runs button b { overflow-wrap: anywhere; font-weight: 600; } #runs em { font-style: normal; }
#runs small { grid-column: 1 / -1; color: var(--soft); } .dot { width: 11px; height: 11px; border-radius: 50%; }
.help { color: var(--soft); font-size: 12px; margin: 10px 6px 4px; }
#scores { margin: 0 18px 26px; padding: 6px 12px 12px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 600; font-size: 12px; text-align: right; } td { text-align: right; }
th, td { padding: 4px 10px; border-bottom: 1px solid #262d36; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tbody tr:not(.total, .group):hover { background: #222933;
  cursor: pointer; }
.total td, .group td { font-weight: 600; } .group td:first-child { padding-left: 18px; }
tbody tr:not(.total, .group) td:first-child { padding-left: 26px; }
.bar { position: relative; width: 150px; height: 9px; border-radius: 5px; background: #2b323c; margin-left: auto; }
.bar::before { content: ""; position: absolute; inset: 0 auto 0 0; width: calc(100% * var(--share));
  border-radius: 5px;
  background: #3fae7a; }
.bar::after { content: ""; position: absolute; top: 3px; height: 3px; border-radius: 2px; background: #fff;
  opacity: .75;
  left: calc(100% * var(--low)); width: calc(100% * (var(--high) - var(--low))); }
@media (max-width: 1180px) { .app, .single .app { grid-template-columns: minmax(0, 1fr); }
  aside { max-height: none; } #side { padding: 8px; } #levels, #side h2 { display: none; }
  #level-menu { display: block; } }
@media (max-width: 560px) { header { padding: 10px 12px 6px; } .app { padding: 0 8px 10px; gap: 8px; }
  .facts { gap: 2px 14px; padding: 7px 9px; } #title { width: 100%; } body:not(.single) #title { display: none; }
  .keys { margin-left: auto; }
  .controls { gap: 8px; } #scores { margin: 0 8px 16px; padding: 4px; } th, td { padding: 4px 7px; }
  .bar { width: 80px; }
  .wide { display: none; } }
"""

BODY = """
<header><h1>__TITLE__</h1><p>__SUBTITLE__</p></header>
<div class="app">
<aside id="side"><h2>Levels</h2><select id="level-menu" aria-label="Level"></select><nav id="levels"></nav></aside>
<section class="player">
<div class="facts"><b id="title"></b>
<div><span>frame</span> <b id="clock"></b></div><div><span>time</span> <b id="seconds"></b></div>
<div><span>gold</span> <b id="gold"></b></div><div><b id="goal"></b></div>
<div class="keys" aria-label="inputs"><kbd id="key-left">◄</kbd><kbd id="key-jump">jump</kbd>
<kbd id="key-right">►</kbd></div>
</div>
<canvas id="view" aria-label="the run"></canvas>
<div class="lanes"><ol><li>left</li><li>jump</li><li>right</li></ol>
<canvas id="strip" aria-label="inputs over time"></canvas>
<span></span><input id="scrub" type="range" min="0" value="0" step="1" aria-label="frame"></div>
<div class="bottom">
<p id="legend" hidden>visits by 12 px: 1 <i id="ramp"></i> <span id="most"></span>
<b class="died">✕</b> death</p>
<p id="more" class="help" hidden></p>
<div class="controls">
<button id="start" title="To the start (Home)" aria-label="To the start">|◄</button>
<button id="back" title="A tick back (left)" aria-label="A tick back">−1</button>
<button id="play" title="Play (space)" aria-label="Play">►</button>
<button id="forward" title="A tick on (right)" aria-label="A tick on">+1</button>
<select id="speed" title="Speed" aria-label="Speed"><option value="0.1">0.1 ×</option>
<option value="0.25">0.25 ×</option>
<option value="0.5">0.5 ×</option><option value="1" selected>1 ×</option><option value="2">2 ×</option>
<option value="4">4 ×</option><option value="8">8 ×</option></select>
<span id="modes" role="radiogroup" aria-label="runs"><label><input id="overlay" name="mode" type="radio" checked>
overlay</label><label><input id="split" name="mode" type="radio">side by side</label></span>
<label><input id="ghosts" type="checkbox" checked>ghosts</label>
<label><input id="trails" type="checkbox" checked>trails</label>
<label><input id="heat" type="checkbox">heat map</label>
<label><input id="loop" type="checkbox">loop</label>
<label><input id="whole" type="checkbox">whole map</label>
</div></div>
</section>
<aside><h2>Runs</h2><ul id="runs"></ul>
<p class="help wide">space plays, ← → step (shift: ten), s side by side, g ghosts, t trails, h heat map, l loop,
w whole map</p>
</aside>
</div>
<section id="scores" hidden><h2>Scores</h2><table><thead><tr><th>level</th><th>success</th><th></th>
<th>won / died / out of time</th><th>frames</th><th>gold</th><th>return</th></tr></thead><tbody></tbody></table>
<p class="help">Bars show success, the white lines their 95 % intervals; frames are those of the wins.</p></section>
"""
