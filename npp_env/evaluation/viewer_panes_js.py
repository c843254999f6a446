"""The part of the viewer's script that paints: runs over each other, or each in a pane of its own."""

from __future__ import annotations

SCRIPT = r"""
const MOST_ZOOM = 2.5, MOST_PANES = 16, MOST_OF_SCREEN = 0.7;

function isSplit() { return $("split").checked && shownRuns().length > 1; }

function panes() {
  // Which run is followed in each pane, and which are ghosts there.
  const runs = shownRuns();
  if (!isSplit()) return [{run: now.run, ghosts: runs.filter(k => k !== now.run && $("ghosts").checked), runs}];
  const first = runs.slice(0, MOST_PANES);
  if (!first.includes(now.run)) first[MOST_PANES - 1] = now.run;
  return first.map(k => ({run: k, ghosts: [], runs: [k]}));
}

function grid(count) {
  // As few columns as leave the player on the screen: the panes are as large as can be.
  const height = view.clientWidth * HEIGHT / WIDTH;
  let columns = 1;
  while (columns < count && Math.ceil(count / columns) * height / columns > MOST_OF_SCREEN * innerHeight) columns++;
  return [columns, Math.ceil(count / columns)];
}

function resize() {
  const ratio = devicePixelRatio || 1, [columns, rows] = grid(panes().length);
  view.style.aspectRatio = `${columns * WIDTH} / ${rows * HEIGHT}`;
  view.width = Math.round(view.clientWidth * ratio);
  view.height = Math.round(view.width * rows * HEIGHT / (columns * WIDTH));
  strip.width = Math.round(strip.clientWidth * ratio);
  strip.height = Math.round(40 * ratio);
}

function paneAt(event) {
  const box = view.getBoundingClientRect(), all = panes(), [columns, rows] = grid(all.length);
  const column = Math.floor((event.clientX - box.left) / box.width * columns);
  return all[Math.floor((event.clientY - box.top) / box.height * rows) * columns + column];
}

function paint(frame) {
  const ctx = view.getContext("2d"), all = panes(), [columns, rows] = grid(all.length);
  const width = view.width / columns, height = view.height / rows, heat = $("heat").checked;
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.fillStyle = data.wall;
  ctx.fillRect(0, 0, view.width, view.height);
  if (heat && !now.heat) now.heat = heatsOf(all.map(pane => pane.runs.map(k => data.runs[k].film)));
  all.forEach((pane, k) => {
    const left = k % columns * width, top = Math.floor(k / columns) * height;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    paintPane(ctx, pane, frame, [left, top, width, height], heat ? now.heat.pictures[k] : null);
    ctx.restore();
    if (isSplit()) paintFrame(ctx, pane.run, frame, [left, top, width, height]);
  });
  const more = shownRuns().length - all.length;
  $("more").hidden = !isSplit() || more <= 0;
  $("more").textContent = `${more} more runs are shown one over the other only; there are ${MOST_PANES} panes`;
  $("legend").hidden = !heat;
  if (heat) showHeatLegend();
}

function paintPane(ctx, pane, frame, [x, y, width, height], heat) {
  const [left, top, right, bottom] = $("whole").checked ? [0, 0, WIDTH, HEIGHT] : data.levels[now.level].box;
  const scale = Math.min(width / (right - left), height / (bottom - top), MOST_ZOOM * width / WIDTH);
  ctx.translate(x + (width - scale * (left + right)) / 2, y + (height - scale * (top + bottom)) / 2);
  ctx.scale(scale, scale);
  ctx.drawImage(backgrounds.get(now.level), 0, 0, WIDTH, HEIGHT);
  drawMarks(ctx, data.levels[now.level].marks, 0, 0);
  if (heat) {
    ctx.globalAlpha = 0.8;
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(heat, 0, 0, WIDTH, HEIGHT);
    ctx.imageSmoothingEnabled = true;
    ctx.globalAlpha = 1;
  }
  const main = data.runs[pane.run].film, at = film => Math.min(frame, film.frames);
  const [behind, among, above] = main.layers;
  drawEntities(ctx, main, at(main), 0, behind + among);
  if ($("trails").checked) {
    for (const k of [...pane.ghosts, pane.run]) {
      ctx.globalAlpha = 0.75;
      drawTrail(ctx, data.runs[k].film, at(data.runs[k].film), colourOf(k), k === pane.run ? 2.2 : 1.4);
      ctx.globalAlpha = 1;
    }
  }
  for (const k of pane.ghosts) {
    const film = data.runs[k].film;
    ctx.globalAlpha = 0.8;
    drawNinja(ctx, film, at(film), colourOf(k), colourOf(k));
    ctx.globalAlpha = 1;
  }
  drawNinja(ctx, main, at(main), "#1c1e24", shownRuns().length > 1 ? colourOf(pane.run) : "#d63c34");
  drawEntities(ctx, main, at(main), behind + among, behind + among + above);
  if (!heat) return;
  for (const k of pane.runs) {
    const film = data.runs[k].film;
    if (film.states[film.frames] === DEAD) drawCross(ctx, film.x[film.frames], film.y[film.frames], "#ff2020", 9);
  }
}

function paintFrame(ctx, k, frame, [x, y, width, height]) {
  const ratio = devicePixelRatio || 1, run = data.runs[k], edge = (k === now.run ? 3 : 1) * ratio;
  ctx.lineWidth = edge;
  ctx.strokeStyle = k === now.run ? colourOf(k) : "#14181e";
  ctx.strokeRect(x + edge / 2, y + edge / 2, width - edge, height - edge);
  const ended = frame < run.frames ? "" : ` · ${run.outcome === "alive" ? "end" : run.outcome} ${time(run.frames)}`;
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  let name = run.name;
  const room = width - 34 * ratio, wide = text => ctx.measureText(text).width > room;
  if (wide(name + ended)) while (name.length > 1 && wide(`${name}…${ended}`)) name = name.slice(0, -1);
  const text = (name === run.name ? name : `${name}…`) + ended;
  ctx.fillStyle = "rgba(20, 24, 30, 0.85)";
  ctx.fillRect(x + edge, y + edge, ctx.measureText(text).width + 28 * ratio, 22 * ratio);
  ctx.fillStyle = colourOf(k);
  ctx.beginPath();
  ctx.arc(x + edge + 11 * ratio, y + edge + 11 * ratio, 5 * ratio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.fillStyle = "#e8ecf0";
  ctx.fillText(text, x + edge + 21 * ratio, y + edge + 15 * ratio);
}

function showHeatLegend() {
  const colours = [0, 0.25, 0.5, 0.75, 1].map(share => `rgb(${heatColour(share).join()})`);
  $("ramp").style.background = `linear-gradient(to right, ${colours.join()})`;
  $("most").textContent = `${now.heat.most} ticks`;
}
"""
