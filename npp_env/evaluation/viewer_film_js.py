"""The part of the viewer's script that unpacks films and draws them; `npp_env.evaluation.film.Film.pack` packs them."""

from __future__ import annotations

SCRIPT = r"""
const COLOURS = ["#4aa3ff", "#ff8a3d", "#43c98a", "#e25bd0", "#e0b020", "#8b7bff", "#ff5c5c", "#35b8c0"];
const WIDTH = 1056, HEIGHT = 600, CELL = 12, PLACE_UNITS = 16, MARK_UNITS = 8;
const [DISC, RING, POLYGON, LINES, LOOP, TEXT] = [0, 1, 2, 3, 4, 5];
const DEAD = 6, CELEBRATING = 8;

async function unpack(run) {
  if (run.film) return run.film;
  const bytes = Uint8Array.from(atob(run.data), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  let at = 0;
  const take = (kind, count) => {
    const part = new kind(buffer, at, count);
    at += count * kind.BYTES_PER_ELEMENT;
    return part;
  };
  const [frames, entities, events, textBytes] = take(Int32Array, 4);
  const counts = take(Int32Array, entities), drawing = take(Int32Array, events);
  const ticks = take(Uint16Array, events), dx = take(Int16Array, events), dy = take(Int16Array, events);
  const x = summed(take(Int16Array, frames + 1)), y = summed(take(Int16Array, frames + 1));
  const gold = take(Uint16Array, frames + 1), states = take(Uint8Array, frames + 1);
  const switches = take(Uint8Array, frames + 1), inputs = take(Uint8Array, frames);
  const joints = data.figure.reduce((sum, line) => sum + line[0], 0);
  const figures = take(Int8Array, 2 * joints * (frames + 1));
  const drawings = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, textBytes)));
  const tracks = [];
  for (let entity = 0, first = 0; entity < entities; first += counts[entity++]) {
    const track = {ticks: [], drawings: [], x: [], y: []};
    let tick = 0, px = 0, py = 0;
    for (let k = first; k < first + counts[entity]; k++) {
      tick += ticks[k];
      px = (px + dx[k]) << 16 >> 16;
      py = (py + dy[k]) << 16 >> 16;
      track.ticks.push(tick); track.drawings.push(drawings[drawing[k]]);
      track.x.push(px / PLACE_UNITS); track.y.push(py / PLACE_UNITS);
    }
    tracks.push(track);
  }
  run.film = {frames, x, y, gold, states, switches, inputs, figures, tracks, layers: run.layers};
  delete run.data;
  return run.film;
}

function summed(moves) {
  const places = new Float32Array(moves.length);
  let place = 0;
  for (let k = 0; k < moves.length; k++) {
    place = (place + moves[k]) << 16 >> 16;
    places[k] = place / PLACE_UNITS;
  }
  return places;
}

function hex(colour) { return "#" + colour.toString(16).padStart(6, "0"); }

function drawMarks(ctx, marks, x, y) {
  ctx.save();
  ctx.translate(x, y);
  ctx.scale(1 / MARK_UNITS, 1 / MARK_UNITS);
  ctx.lineCap = ctx.lineJoin = "round";
  for (const mark of marks) {
    const kind = mark[0];
    ctx.fillStyle = ctx.strokeStyle = hex(mark[1]);
    ctx.beginPath();
    if (kind === DISC || kind === RING) {
      ctx.arc(mark[2], mark[3], mark[4], 0, 2 * Math.PI);
      if (kind === DISC) { ctx.fill(); continue; }
      ctx.lineWidth = mark[5];
      ctx.stroke();
    } else if (kind === TEXT) {
      ctx.font = `${11 * MARK_UNITS}px system-ui, sans-serif`;
      ctx.textAlign = mark[5] ? "right" : "left";
      ctx.fillText(mark[4], mark[2], mark[3]);
    } else {
      const first = kind === POLYGON ? 2 : 3;
      for (let k = first; k < mark.length; k += 2) ctx.lineTo(mark[k], mark[k + 1]);
      if (kind === POLYGON) { ctx.fill(); continue; }
      if (kind === LOOP) ctx.closePath();
      ctx.lineWidth = mark[2];
      ctx.stroke();
    }
  }
  ctx.restore();
}

function drawEntities(ctx, film, tick, first, last) {
  for (const track of film.tracks.slice(first, last)) {
    let low = 0, high = track.ticks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (track.ticks[middle] <= tick) low = middle; else high = middle;
    }
    if (track.ticks.length) drawMarks(ctx, track.drawings[low], track.x[low], track.y[low]);
  }
}

function drawNinja(ctx, film, tick, body, band) {
  const rows = film.frames + 1;
  ctx.save();
  ctx.translate(film.x[tick], film.y[tick]);
  ctx.scale(1 / MARK_UNITS, 1 / MARK_UNITS);
  ctx.lineCap = ctx.lineJoin = "round";
  let joint = 0;
  for (const [count, width, isBand] of data.figure) {
    ctx.strokeStyle = ctx.fillStyle = isBand ? band : body;
    ctx.lineWidth = width * MARK_UNITS;
    const points = [];
    for (let k = joint; k < joint + count; k++) {
      points.push([film.figures[2 * k * rows + tick], film.figures[(2 * k + 1) * rows + tick]]);
    }
    joint += count;
    ctx.beginPath();
    if (points.every(point => point[0] === points[0][0] && point[1] === points[0][1])) {
      ctx.arc(points[0][0], points[0][1], ctx.lineWidth / 2, 0, 2 * Math.PI);
      ctx.fill();
    } else {
      for (const point of points) ctx.lineTo(point[0], point[1]);
      ctx.stroke();
    }
  }
  ctx.restore();
  if (film.states[tick] === DEAD) drawCross(ctx, film.x[tick], film.y[tick], "#ce2e2e", 13);
}

function drawCross(ctx, x, y, colour, reach) {
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2.5;
  ctx.lineCap = "round";
  ctx.beginPath();
  for (const side of [-1, 1]) {
    ctx.moveTo(x - reach, y - side * reach);
    ctx.lineTo(x - 0.45 * reach, y - side * 0.45 * reach);
    ctx.moveTo(x + reach, y + side * reach);
    ctx.lineTo(x + 0.45 * reach, y + side * 0.45 * reach);
  }
  ctx.stroke();
  ctx.restore();
}

function drawTrail(ctx, film, tick, colour, width) {
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.lineJoin = ctx.lineCap = "round";
  ctx.beginPath();
  for (let k = 0; k <= tick; k++) ctx.lineTo(film.x[k], film.y[k]);
  ctx.stroke();
  ctx.restore();
}

function heatsOf(panes) {
  // All panes have one scale, so that they can be compared.
  const visits = panes.map(visitsOf), most = Math.max(1, ...visits.map(all => all.reduce((a, b) => Math.max(a, b))));
  return {pictures: visits.map(all => heatPicture(all, most)), most};
}

function visitsOf(films) {
  const columns = WIDTH / CELL, rows = HEIGHT / CELL, visits = new Float64Array(columns * rows);
  for (const film of films) {
    for (let k = 0; k <= film.frames; k++) {
      const column = Math.min(Math.max(Math.floor(film.x[k] / CELL), 0), columns - 1);
      const row = Math.min(Math.max(Math.floor(film.y[k] / CELL), 0), rows - 1);
      visits[row * columns + column] += 1;
    }
  }
  return visits;
}

function heatPicture(visits, most) {
  const columns = WIDTH / CELL, rows = HEIGHT / CELL;
  const picture = document.createElement("canvas");
  picture.width = columns; picture.height = rows;
  const ctx = picture.getContext("2d"), image = ctx.createImageData(columns, rows);
  for (let k = 0; k < visits.length; k++) {
    if (!visits[k]) continue;
    const [red, green, blue] = heatColour(Math.log1p(visits[k]) / Math.log1p(most));
    image.data.set([red, green, blue, 205], 4 * k);
  }
  ctx.putImageData(image, 0, 0);
  return picture;
}

const HEAT = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function heatColour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (HEAT.length - 1), k = Math.min(Math.floor(place), HEAT.length - 2);
  return HEAT[k].map((value, c) => Math.round(value + (HEAT[k + 1][c] - value) * (place - k)));
}
"""
