// Line charts against epochs, one or two machines in each.

import { css, line, prepared } from "./plane.js";

const sum = (values) => values.reduce((a, b) => a + b, 0);

/** The quantities: what a frame says of it as one number or several, and how it is written. */
export const QUANTITIES = {
  objective: { title: "objective", about: "What training maximises: Σα − ½ αᵀQα, added up over the classes.", of: (frame) => [known(frame.objective, sum)], digits: 6, clip: (low, high) => [-Math.abs(high), high] },
  margin: {
    title: "margin", about: "Half the way from the one class to the other in f; 1 at the optimum.", of: (frame) => [known(frame.margin, (values) => Math.min(...values))], digits: 4,
    bound: (about) => (about.has_margin ? 1 : null), clip: (low, high, ends) => [Math.min(-1.5, 1.5 * Math.min(...ends)), Math.max(1.5, 1.5 * Math.max(...ends))],
  },
  gap: { title: "duality gap", about: "How far from the optimum at most, relatively; computed apart from the algorithm.", of: (frame) => [frame.gap], digits: 3, log: true },
  wrong: { title: "wrong side", about: "Training points on the wrong side of the boundary.", of: (frame) => [frame.wrong.length], digits: 4, counts: true },
  support: { title: "support vectors", about: "Points with α above 0.", of: (frame) => [frame.support], digits: 4, counts: true },
  bias: { title: "bias", about: "The offset b of the boundary, one for each class if there are three.", of: (frame) => frame.bias, digits: 4, clip: (low, high, ends) => [Math.min(...ends) - 20, Math.max(...ends) + 20] },
  made: {
    title: "mistakes so far", about: "All that the perceptron has made while learning.", of: (frame) => (frame.made === undefined ? [] : [frame.made]), digits: 6,
    bound: (about) => about.novikoff, counts: true, boundName: "Novikoff",
  },
};

function known(values, function_) {
  return values.some((value) => value === null) ? null : function_(values);
}

/** A number as the page writes it. */
export function written(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(2).replaceAll("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** Draw one quantity of all fits up to the frame that is shown. */
export function drawChart(canvas, quantity, fits, index) {
  const { context, width, height } = prepared(canvas);
  const lines = fits.flatMap((fit, number) => linesOf(fit, quantity, number));
  const bounds = fits.map((fit) => (fit.about && quantity.bound ? quantity.bound(fit.about) : null));
  const epochs = Math.max(2, ...fits.map((fit) => fit.last?.epoch ?? 0));
  const scale = scaleOf(lines, quantity, bounds);
  if (!scale) return;
  const left = 46, right = 16, top = 8, bottom = 20;
  const px = (epoch) => left + ((epoch - 1) / (epochs - 1)) * (width - left - right);
  const py = (value) => top + (1 - scale.place(value)) * (height - top - bottom);
  context.font = "11px system-ui, sans-serif";
  drawAxes(context, { left, right, bottom, width, height, epochs, px, py }, scale);
  context.save();
  context.beginPath();
  context.rect(left - 4, top - 4, width - left - right + 8, height - top - bottom + 8);
  context.clip();
  bounds.forEach((bound) => {
    if (bound !== null && scale.isInside(bound)) drawBound(context, left, width - right, py(bound));
  });
  for (const { values, number } of lines) drawLine(context, values, index, px, py, number);
  context.restore();
}

function linesOf(fit, quantity, number) {
  const rows = fit.frames.map((frame) => [frame.epoch, quantity.of(frame)]);
  const count = rows[0]?.[1].length ?? 0;
  return Array.from({ length: count }, (_, k) => ({ number, values: rows.map(([epoch, values]) => [epoch, values[k]]) }));
}

function scaleOf(lines, { log, counts, clip }, bounds) {
  const isUsable = (value) => value !== null && (!log || value > 0);
  const values = lines.flatMap((line) => line.values.map((pair) => pair[1])).filter(isUsable);
  if (!values.length) return null;
  const f = log ? (value) => Math.log10(Math.max(value, 1e-16)) : (value) => value;
  let low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
  if (clip) { // what diverges must not flatten the rest
    const [least, most] = clip(low, high, lines.map((line) => line.values.at(-1)[1] ?? 0));
    [low, high] = [Math.max(low, least), Math.min(high, most)];
  }
  if (counts) low = 0;
  // a bound far above says so in words; drawing it would flatten the curve
  for (const bound of bounds) if (bound !== null && bound < 3 * high + 1) high = Math.max(high, bound);
  let [a, b] = [f(low), f(high)];
  if (log) [a, b] = [Math.max(Math.floor(a), -16), Math.ceil(b)];
  if (b - a < 1e-12) [a, b] = counts ? [0, 1] : [a - 0.5, b + 0.5];
  const room = log ? 0 : 0.05 * (b - a);
  [a, b] = [counts ? a : a - room, b + room];
  return { a, b, log, counts, place: (value) => (f(value) - a) / (b - a), isInside: (value) => f(value) >= a && f(value) <= b };
}

function drawAxes(context, box, scale) {
  const { left, right, bottom, width, height, epochs, px, py } = box;
  const [grid, soft] = [css("--grid"), css("--soft")];
  context.lineWidth = 1;
  context.strokeStyle = grid;
  context.fillStyle = soft;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of ticksOf(scale)) {
    const y = Math.round(py(value)) + 0.5;
    line(context, left, y, width - right, y);
    context.fillText(tickText(value, scale), left - 5, y);
  }
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  for (const epoch of niceTicks(0, epochs, Math.max(2, width / 80)).filter(Number.isInteger).map((e) => e || 1))
    context.fillText(epoch.toLocaleString("en"), px(epoch), height - 5);
  context.strokeStyle = soft;
  line(context, left, height - bottom + 0.5, width - right, height - bottom + 0.5);
}

function ticksOf({ a, b, log, counts }) {
  if (!log) return niceTicks(a, b, 4).filter((value) => !counts || Number.isInteger(value));
  const step = Math.max(1, Math.ceil((b - a) / 4)), ticks = [];
  for (let power = Math.ceil(a); power <= b; power += step) ticks.push(10 ** power);
  return ticks;
}

function tickText(value, { log }) {
  if (log) return value >= 0.01 && value <= 100 ? String(value) : `1e${Math.round(Math.log10(value))}`.replace("-", "−");
  if (Math.abs(value) >= 1e5) return value.toExponential(0).replace("-", "−").replace("+", "");
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

function niceTicks(low, high, about) {
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough) ?? rough;
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) ticks.push(k * step + 0);
  return ticks;
}

function drawBound(context, x0, x1, y) {
  context.strokeStyle = css("--ink");
  context.lineWidth = 1.2;
  context.setLineDash([2, 3]);
  line(context, x0, y, x1, y);
  context.setLineDash([]);
}

/** The whole curve faintly, up to the frame that is shown strongly, and a dot there. */
function drawLine(context, values, index, px, py, number) {
  const colour = css(`--series-${"ab"[number]}`);
  context.strokeStyle = context.fillStyle = colour;
  context.setLineDash(number ? [7, 3] : []);
  for (const [end, opacity, width] of [[values.length, 0.25, 1.2], [index + 1, 1, 1.8]]) {
    context.globalAlpha = opacity;
    context.lineWidth = width;
    context.beginPath();
    let isDrawing = false;
    for (const [epoch, value] of values.slice(0, end)) {
      if (value === null) isDrawing = false;
      else {
        context[isDrawing ? "lineTo" : "moveTo"](px(epoch), py(value));
        isDrawing = true;
      }
    }
    context.stroke();
  }
  context.setLineDash([]);
  const [epoch, value] = values[Math.min(index, values.length - 1)];
  if (value === null) return;
  context.beginPath();
  context.arc(px(epoch), py(value), 3.2, 0, 2 * Math.PI);
  context.fill();
}
