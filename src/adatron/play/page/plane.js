// The plane: regions, boundary and margins of a frame, the points, and the cross of the keyboard.

/** A colour of the style sheet. */
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

/** Make the canvas as sharp as the screen, and give its side in CSS pixels. */
export function prepared(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas, ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

export function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

export class Plane {
  constructor(canvas, extent) {
    this.canvas = canvas;
    this.extent = extent;
    this.cursor = null; // where the keyboard is, while the canvas has the focus
    this.surface = document.createElement("canvas");
  }

  /** Coordinates of the plane for a place in CSS pixels. */
  at(px, py) {
    const side = this.canvas.clientWidth, e = this.extent;
    return [(px / side) * 2 * e - e, e - (py / side) * 2 * e];
  }

  pixel(x, y) {
    const side = this.canvas.clientWidth, e = this.extent;
    return [((x + e) / (2 * e)) * side, ((e - y) / (2 * e)) * side];
  }

  draw(points, frame, about) {
    const { context, width } = prepared(this.canvas);
    const colours = [0, 1, 2].map((c) => css(`--c${c}`));
    context.fillStyle = css("--back");
    context.fillRect(0, 0, width, width);
    if (frame) this.drawMachine(context, frame, about, colours);
    this.drawPoints(context, points, frame, colours);
    if (this.cursor) this.drawCursor(context);
  }

  drawMachine(context, frame, { classes, grid, has_margin }, colours) {
    const f = frame.decisions, isBinary = f.length === 1;
    // for each class, by how much it is ahead of the others
    const leads = isBinary
      ? [f[0].map((v) => -v), f[0]]
      : f.map((own, c) => own.map((v, i) => v - Math.max(...f.filter((_, k) => k !== c).map((other) => other[i]))));
    const scale = has_margin ? 2 : Math.max(...leads.map((lead) => lead.reduce((a, b) => Math.max(a, b), 0))) || 1;
    this.drawSurface(context, leads, classes.map((c) => rgb(colours[c])), grid, scale);
    context.strokeStyle = css("--ink");
    context.lineWidth = 2;
    for (const lead of isBinary ? [f[0]] : leads) this.contour(context, lead, grid, 0);
    if (!has_margin) return;
    context.setLineDash([6, 4]);
    context.lineWidth = 1.3;
    if (isBinary) for (const level of [-1, 1]) this.contour(context, f[0], grid, level);
    else f.forEach((own, c) => {
      context.strokeStyle = colours[classes[c]];
      this.contour(context, own, grid, 1);
    });
    context.setLineDash([]);
  }

  drawSurface(context, leads, colours, grid, scale) {
    const image = new ImageData(grid, grid), back = rgb(css("--back"));
    for (let i = 0; i < grid * grid; i++) {
      let best = 0;
      for (let c = 1; c < leads.length; c++) if (leads[c][i] > leads[best][i]) best = c;
      const strength = 0.08 + 0.34 * Math.min(Math.max(leads[best][i], 0) / scale, 1);
      const to = 4 * ((grid - 1 - Math.floor(i / grid)) * grid + (i % grid)); // y points upwards
      for (let k = 0; k < 3; k++) image.data[to + k] = back[k] + strength * (colours[best][k] - back[k]);
      image.data[to + 3] = 255;
    }
    this.surface.width = this.surface.height = grid;
    this.surface.getContext("2d").putImageData(image, 0, 0);
    const side = this.canvas.clientWidth, cell = side / (grid - 1); // values are at the middles of pixels
    context.drawImage(this.surface, -cell / 2, -cell / 2, side + cell, side + cell);
  }

  /** The lines where the values pass a level. */
  contour(context, values, grid, level) {
    const cell = this.canvas.clientWidth / (grid - 1);
    context.beginPath();
    for (const chain of contourChains(values, grid, level)) {
      chain.forEach(([x, y], k) => context[k ? "lineTo" : "moveTo"](x * cell, (grid - 1 - y) * cell));
    }
    context.stroke();
  }

  drawPoints(context, points, frame, colours) {
    const alpha = frame?.alpha.length === points.length ? frame.alpha : null;
    const most = alpha ? alpha.reduce((a, b) => Math.max(a, b), 0) || 1 : 1;
    const wrong = new Set(alpha ? frame.wrong : []);
    const ink = css("--ink"), back = css("--back"), small = points.length > 250 ? 2.8 : 3.6;
    points.forEach(([x, y, c], i) => {
      const isSupport = alpha && alpha[i] > 0, [px, py] = this.pixel(x, y);
      const radius = isSupport ? small + 5.5 * Math.sqrt(alpha[i] / most) : small;
      mark(context, c, px, py, radius);
      context.fillStyle = colours[c];
      context.fill();
      context.lineWidth = isSupport ? 1.5 : 0.8;
      context.strokeStyle = isSupport ? ink : back;
      context.stroke();
      if (wrong.has(i)) cross(context, px, py, 3.2, ink, back);
    });
  }

  drawCursor(context) {
    const [px, py] = this.pixel(...this.cursor);
    context.strokeStyle = css("--ink");
    context.lineWidth = 1.5;
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]])
      line(context, px + 4 * dx, py + 4 * dy, px + 13 * dx, py + 13 * dy);
  }
}

/** Marching squares: pieces of the line in each cell, joined to chains so that dashes run through. */
function contourChains(values, grid, level) {
  const places = new Map(), neighbours = new Map(); // of each edge of the grid that the line crosses
  const crossing = (i, j) => { // between the places i and j of the grid
    const [a, b] = [values[i] - level, values[j] - level];
    if (a > 0 === b > 0) return null;
    const part = a / (a - b), at = (from, to) => from + part * (to - from), key = `${i},${j}`;
    places.set(key, [at(i % grid, j % grid), at(Math.floor(i / grid), Math.floor(j / grid))]);
    return key;
  };
  for (let row = 0; row + 1 < grid; row++) {
    for (let column = 0; column + 1 < grid; column++) {
      const i = row * grid + column;
      const edges = [[i, i + 1], [i + 1, i + grid + 1], [i + grid, i + grid + 1], [i, i + grid]];
      const crossed = edges.map(([from, to]) => crossing(from, to)).filter(Boolean);
      for (let k = 0; k + 1 < crossed.length; k += 2)
        for (const [one, other] of [[crossed[k], crossed[k + 1]], [crossed[k + 1], crossed[k]]])
          neighbours.set(one, [...(neighbours.get(one) ?? []), other]);
    }
  }
  const chains = [], seen = new Set();
  const follow = (start) => {
    const chain = [];
    for (let key = start; key; key = neighbours.get(key).find((next) => !seen.has(next))) {
      seen.add(key);
      chain.push(key);
    }
    if (neighbours.get(chain.at(-1)).includes(start) && chain.length > 2) chain.push(start); // it is closed
    chains.push(chain.map((key) => places.get(key)));
  };
  const keys = [...neighbours.keys()];
  for (const isEnd of [true, false]) // open lines from their ends first, then closed ones
    for (const key of keys) if (!seen.has(key) && (!isEnd || neighbours.get(key).length === 1)) follow(key);
  return chains;
}

/** The path of a class's mark: circle, triangle, square. */
function mark(context, c, x, y, r) {
  context.beginPath();
  if (c === 0) context.arc(x, y, r, 0, 2 * Math.PI);
  else if (c === 1) {
    context.moveTo(x, y - 1.25 * r);
    context.lineTo(x + 1.1 * r, y + 0.75 * r);
    context.lineTo(x - 1.1 * r, y + 0.75 * r);
    context.closePath();
  } else context.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
}

function cross(context, x, y, r, ink, back) {
  for (const [colour, width] of [[back, 4], [ink, 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    line(context, x - r, y - r, x + r, y + r);
    line(context, x - r, y + r, x + r, y - r);
  }
}
