"""The part of the viewer's script that plays films: level list, clock, ghosts, inputs, keys."""

from __future__ import annotations

SCRIPT = r"""
const $ = id => document.getElementById(id);
const view = $("view"), strip = $("strip"), scrub = $("scrub");
const now = {level: 0, run: 0, tick: 0, playing: false, shown: new Set(), last: 0, heat: null};
const backgrounds = new Map();

function runsOf(level) { return data.runs.map((run, k) => k).filter(k => data.runs[k].level === level); }
function colourOf(k) { return COLOURS[runsOf(data.runs[k].level).indexOf(k) % COLOURS.length]; }
function shownRuns() { return runsOf(now.level).filter(k => now.shown.has(k) || k === now.run); }
function length() { return Math.max(1, ...shownRuns().map(k => data.runs[k].frames)); }
function time(frames) { return (frames / 60).toFixed(2) + " s"; }
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
function percent(share) { return share === null ? "–" : Math.round(100 * share) + " %"; }

async function choose(level, run, tick) {
  now.level = level;
  now.run = run === undefined ? runsOf(level)[0] : run;
  now.shown = new Set(runsOf(level));
  await Promise.all(runsOf(level).map(k => unpack(data.runs[k])));
  if (!backgrounds.has(level)) {
    const image = new Image();
    image.src = data.levels[level].background;
    await image.decode();
    backgrounds.set(level, image);
  }
  now.tick = tick === undefined ? 0 : tick;
  $("modes").hidden = runsOf(level).length < 2;
  listLevels(); listRuns(); arrange();
}

function seek(tick) {
  now.tick = Math.min(Math.max(tick, 0), length());
  const frame = Math.floor(now.tick);
  scrub.max = length();
  scrub.value = frame;
  paint(frame); tell(frame); paintStrip(frame);
}

function play(on) {
  if (on && now.tick >= length()) now.tick = 0;
  now.playing = on;
  now.last = 0;
  $("play").textContent = on ? "❚❚" : "►";
  $("play").title = $("play").ariaLabel = on ? "Pause (space)" : "Play (space)";
  if (on) requestAnimationFrame(advance);
}

function advance(stamp) {
  if (!now.playing) return;
  if (now.last) {
    seek(now.tick + (stamp - now.last) * 0.06 * Number($("speed").value));
    if (now.tick >= length()) {
      if (!$("loop").checked) { play(false); return; }
      seek(0);
    }
  }
  now.last = stamp;
  requestAnimationFrame(advance);
}

function step(ticks) { play(false); seek(Math.floor(now.tick) + ticks); }

function tell(frame) {
  const run = data.runs[now.run], film = run.film, at = Math.min(frame, film.frames), level = data.levels[now.level];
  $("clock").textContent = `${at} / ${film.frames}`;
  $("seconds").textContent = time(at);
  $("gold").textContent = level.gold ? `${film.gold[at]} / ${level.gold}` : "none";
  $("goal").textContent = at === film.frames && run.outcome !== "alive" ? run.outcome
    : at === film.frames ? "end of the recording" : film.switches[at] ? "to the exit" : "to the switch";
  $("goal").className = at === film.frames ? run.outcome : "";
  // The input of a tick is what led to it.
  const input = at > 0 ? film.inputs[at - 1] : 0;
  for (const [key, bit] of [["jump", 1], ["right", 2], ["left", 4]]) {
    $("key-" + key).classList.toggle("down", Boolean(input & bit));
  }
}

function paintStrip(frame) {
  const ctx = strip.getContext("2d"), film = data.runs[now.run].film, total = length();
  const ratio = devicePixelRatio || 1, width = strip.width / ratio;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, 40);
  ctx.fillStyle = "#10141a"; ctx.fillRect(0, 0, width, 40);
  const lanes = [[4, "#4aa3ff"], [1, "#f4c430"], [2, "#43c98a"]];
  lanes.forEach(([bit, colour], lane) => {
    ctx.fillStyle = colour;
    for (let k = 0; k < film.frames; k++) {
      if (!(film.inputs[k] & bit)) continue;
      let last = k;
      while (last + 1 < film.frames && film.inputs[last + 1] & bit) last++;
      ctx.fillRect(k / total * width, 3 + 12 * lane, Math.max((last + 1 - k) / total * width, 1), 10);
      k = last;
    }
  });
  for (const k of shownRuns()) {
    ctx.fillStyle = colourOf(k);
    ctx.fillRect(Math.min(data.runs[k].frames / total * width, width - 2), 0, 2, 40);
  }
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(Math.min(frame / total * width, width - 2) - 0.5, 0, 2, 40);
}

function listLevels() {
  const list = $("levels"), menu = $("level-menu");
  if (!list.childElementCount) {
    let group = null;
    data.levels.forEach((level, k) => {
      if (level.group !== group && data.levels.length > 1) {
        group = level.group;
        list.append(make("h3", {}, (group || "others").replaceAll("_", " ")));
      }
      const score = level.score ? percent(level.score.success.mean) : `${runsOf(k).length}`;
      const badge = make("span", {class: "badge"}, score);
      const button = make("button", {"data-level": k, title: level.name}, make("span", {}, level.title), badge);
      if (level.score) badge.style.setProperty("--share", level.score.success.mean ?? 0);
      button.onclick = () => { play(false); choose(k); };
      list.append(button);
      menu.append(make("option", {value: k}, level.name));
    });
    menu.onchange = () => { play(false); choose(Number(menu.value)); };
    document.body.classList.toggle("single", data.levels.length < 2);
  }
  for (const button of list.querySelectorAll("button")) {
    button.classList.toggle("chosen", Number(button.dataset.level) === now.level);
  }
  menu.value = now.level;
  $("title").textContent = data.levels[now.level].name;
}

function arrange() {
  // Another number of runs or panes: everything has another size.
  now.heat = null;
  $("ghosts").disabled = isSplit();
  resize();
  seek(now.tick);
}

function followRun(k) { now.run = k; now.shown.add(k); listRuns(); arrange(); }

function listRuns() {
  const list = $("runs");
  list.replaceChildren();
  for (const k of runsOf(now.level)) {
    const run = data.runs[k], box = make("input", {type: "checkbox", "data-ghost": k, title: "show this run"});
    box.checked = now.shown.has(k);
    box.onchange = () => {
      if (box.checked) now.shown.add(k); else now.shown.delete(k);
      arrange();
    };
    const gold = data.levels[now.level].gold ? ` · gold ${run.gold}` : "";
    const facts = `${run.frames} frames · ${time(run.frames)}${gold}`;
    const follow = make("button", {"data-run": k, title: "follow this run"},
      make("b", {}, run.name), make("em", {class: run.outcome}, run.outcome), make("small", {}, facts));
    follow.onclick = () => followRun(k);
    const dot = make("i", {class: "dot"});
    dot.style.background = colourOf(k);
    list.append(make("li", {class: k === now.run ? "chosen" : ""}, box, dot, follow));
  }
}

function fillScores() {
  if (!data.evaluation) return;
  const body = $("scores").querySelector("tbody");
  const mean = (estimate, digits) => estimate.mean === null ? "–" : estimate.mean.toFixed(digits)
    + (estimate.low === null ? "" : ` ± ${((estimate.high - estimate.low) / 2).toFixed(digits)}`);
  const row = (name, score, kind, level) => {
    const share = score.success, bar = make("div", {class: "bar"});
    bar.style.cssText = `--share:${share.mean ?? 0};--low:${share.low ?? 0};--high:${share.high ?? 0}`;
    const outcome = `${score.won} / ${score.died} / ${score.out_of_time}`;
    const cells = [name, percent(share.mean), bar, outcome, mean(score.frames, 0), mean(score.gold, 1),
      mean(score.episode_return, 2)].map(cell => make("td", {}, cell));
    const line = make("tr", {class: kind}, ...cells);
    if (level !== undefined && runsOf(level).length) {
      line.onclick = () => { choose(level); scrollTo({top: 0, behavior: "smooth"}); };
    }
    body.append(line);
  };
  row("all levels", data.evaluation.total, "total");
  const groups = Object.entries(data.evaluation.groups);
  if (groups.length > 1) groups.forEach(([name, score]) => row(name, score, "group"));
  data.levels.forEach((level, k) => level.score && row(level.name, level.score, "", k));
  $("scores").hidden = false;
}

for (const name of ["ghosts", "trails", "heat", "whole"]) $(name).onchange = () => seek(now.tick);
$("play").onclick = () => play(!now.playing);
$("back").onclick = () => step(-1);
$("forward").onclick = () => step(1);
$("start").onclick = () => step(-1e9);
scrub.oninput = () => { play(false); seek(Number(scrub.value)); };
const point = event => {
  const box = strip.getBoundingClientRect();
  play(false); seek((event.clientX - box.left) / box.width * length());
};
strip.onpointerdown = event => { strip.setPointerCapture(event.pointerId); point(event); };
strip.onpointermove = event => { if (event.buttons) point(event); };
for (const name of ["overlay", "split"]) $(name).onchange = arrange;
view.onclick = event => {
  const pane = paneAt(event);
  if (isSplit() && pane && pane.run !== now.run) followRun(pane.run); else play(!now.playing);
};
addEventListener("resize", () => { if (document.body.dataset.ready) { resize(); seek(now.tick); } });
addEventListener("keydown", event => {
  if (!document.body.dataset.ready || event.target.matches("select")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const toggles = {g: "ghosts", t: "trails", h: "heat", l: "loop", w: "whole"}, stride = event.shiftKey ? 10 : 1;
  if (event.key === " ") play(!now.playing);
  else if (event.key === "ArrowLeft") step(-stride);
  else if (event.key === "ArrowRight") step(stride);
  else if (event.key === "Home") step(-1e9);
  else if (event.key === "End") step(1e9);
  else if (event.key === "s") $($("split").checked ? "overlay" : "split").click();
  else if (toggles[event.key]) $(toggles[event.key]).click();
  else return;
  event.preventDefault();
});

(async () => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const run = data.runs[wanted.get("run")] ? Number(wanted.get("run")) : 0;
  for (const name of ["heat", "split"]) if (wanted.has(name)) $(name).checked = true;
  fillScores();
  await choose(data.runs[run].level, run, Number(wanted.get("frame")) || 0);
  document.body.dataset.ready = "yes";
})().catch(error => { $("title").textContent = `This page cannot be shown: ${error}`; console.error(error); });
"""
