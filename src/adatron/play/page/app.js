// The playground: points and machines in, fits on the server, frames on the planes and charts.

import { QUANTITIES, drawChart, written } from "./charts.js";
import { element, fill, machineForm } from "./controls.js";
import { Fit } from "./fit.js";
import { Plane } from "./plane.js";
import { Player } from "./player.js";
import { differences, fromFragment, machine, readCsv, rounded, toFragment } from "./state.js";

const $ = (selector) => document.querySelector(selector);
const WAIT = 250; // milliseconds after a change before the fit begins
const NEAR = 0.06; // how near a click must be to erase a point
const STEP = 0.04; // of the cross by one arrow key

const SUGGESTED = {
  moons: { gamma: 4, C: 10 }, spirals: { gamma: 60, C: null }, xor: { gamma: 4, C: 10 }, circles: { gamma: 4, C: 10 },
  blobs: { gamma: 2, C: 10 }, lines: { gamma: 1, C: 10 }, overlap: { gamma: 4, C: 1 }, sonar: { gamma: 10, C: 10 },
};

// what each comparison shows: [algorithm, kernel, parameters] of both machines, and perhaps points
const COMPARISONS = {
  none: { title: "one algorithm" },
  own: { title: "a second one of your choice", second: ["multiplicative"] },
  gradient: { title: "gradient against multiplicative steps", first: ["adatron"], second: ["multiplicative"] },
  munk: { title: "M³ against MUNK", first: ["m3"], second: ["munk"] },
  overshoot: {
    title: "a fixed η that overshoots",
    first: ["multiplicative"], second: ["multiplicative", "rbf", { learning_rate: 1 }],
  },
  bias: {
    title: "with and without a bias",
    first: ["adatron", "linear"], second: ["adatron", "linear", { fit_intercept: false }], preset: "lines",
  },
  perceptron: {
    title: "perceptron against largest margin",
    first: ["perceptron", "linear"], second: ["adatron", "linear", { C: null }], preset: "lines",
  },
  ensemble: { title: "ρ-SVM against its ensemble", first: ["rho"], second: ["ensemble"], preset: "overlap" },
};

const choices = await (await fetch("choices")).json();
const state = { preset: "moons", points: [], machines: [machine(choices)] };
let fits = [], planes = [], brush = 0, timer = 0, changes = 0;
const earlier = []; // points and presets that Undo goes back to
const player = new Player(
  () => Math.max(0, ...fits.map((fit) => fit.frames.length)), () => fits.every((fit) => fit.ended), show);

// ---------------------------------------------------------------- fits

/** Points or machines have changed: new link, and a new fit in a moment. */
function changed() {
  history.replaceState(null, "", "#" + toFragment(choices, state));
  document.body.dataset.state = "waiting";
  $("#preset").value = state.preset ?? "";
  clearTimeout(timer);
  timer = setTimeout(refit, WAIT);
  show();
}

function refit() {
  fits.forEach((fit) => fit.cancel());
  fits = [];
  if (new Set(state.points.map((point) => point[2])).size < 2) {
    document.body.dataset.state = "ended";
    planes.forEach(({ said }) => say(said, "Place points of two classes at least."));
    show();
    return;
  }
  document.body.dataset.state = "training";
  planes.forEach(({ said }) => say(said, "training… (the first fit of an algorithm is compiled, which takes a few seconds)"));
  fits = state.machines.map((one) => new Fit(one, state.points, news));
  player.start();
}

function news() {
  if (fits.every((fit) => fit.ended)) {
    document.body.dataset.state = "ended";
    player.complete();
  }
  if (player.index >= player.length() - 1 || !player.isPlaying) show();
  player.showControls();
}

// ---------------------------------------------------------------- drawing

function show() {
  const index = player.index;
  planes.forEach((view, number) => showPlane(view, fits[number], index));
  const shown = fits.filter((fit) => fit.frames.length);
  for (const [name, { figure, canvas, values }] of Object.entries(charts)) {
    const quantity = QUANTITIES[name];
    figure.hidden = !shown.some((fit) => quantity.of(fit.frames[0]).length);
    if (figure.hidden) continue;
    drawChart(canvas, quantity, fits, index);
    values.textContent = fits.map((fit) => numberAt(fit, quantity, index)).join(" · ");
    const bound = quantity.boundName && fits.map((fit) => fit.about && quantity.bound(fit.about)).find(Boolean);
    if (bound) values.textContent += ` (${quantity.boundName}: ≤ ${Math.floor(bound).toLocaleString("en")})`;
  }
  const epoch = Math.max(0, ...fits.map((fit) => frameAt(fit, index)?.epoch ?? 0));
  $("#at").textContent = epoch || "–";
}

const frameAt = (fit, index) => fit?.frames[Math.min(index, fit.frames.length - 1)];

function numberAt(fit, quantity, index) {
  const frame = frameAt(fit, index);
  const values = frame ? quantity.of(frame) : [];
  return values.map((value) => written(value, quantity.digits)).join(", ") || "–";
}

function showPlane(view, fit, index) {
  const frame = frameAt(fit, index), isLast = Boolean(frame?.status);
  view.plane.draw(state.points, frame, fit?.about);
  if (fit?.error) say(view.said, `✕ ${fit.error}`);
  else if (isLast) say(view.said, ending(frame));
  else if (frame) say(view.said, "learning…");
  view.said.classList.toggle("bad", Boolean(fit?.error || (isLast && frame.status !== "converged")));
  for (const [name, cell] of Object.entries(view.numbers)) {
    const text = !frame ? "–" : name === "epoch" ? String(frame.epoch) : numberAt(fit, QUANTITIES[name], index);
    if (cell.textContent !== text) cell.textContent = text;
  }
  const bounds = isLast ? frame.bounds : [];
  if (view.bounds.childElementCount !== bounds.length)
    view.bounds.replaceChildren(...bounds.map((text) => element("li", {}, text)));
  view.showCode.disabled = !fit?.about;
}

/** How a fit has ended, in a sentence. */
function ending({ status, sentence, epoch, exact }) {
  const epochs = epoch === 1 ? "1 epoch" : `${epoch} epochs`;
  if (status === "converged") return `✓ Converged after ${epochs}${exact ? "; at the end the exact solution was computed" : ""}.`;
  if (status === "max_iter") return `! Stopped after ${epochs} without having converged; allow more epochs.`;
  if (status === "diverged") return `! Diverged after ${epochs}: the steps are too long.`;
  return `! Ended after ${epochs}: ${sentence}.`;
}

/** Text of a status line; screen readers hear it only when it changes. */
function say(line, text) {
  if (line.textContent !== text) line.textContent = text;
}

// ---------------------------------------------------------------- building the page

function buildMachines() {
  const letters = state.machines.length > 1 ? ["Algorithm A", "Algorithm B"] : ["Algorithm"];
  $("#machines").replaceChildren(...state.machines.map((one, number) =>
    machineForm(choices, one, letters[number], () => { nameMachines(); changed(); })));
  planes = state.machines.map((_, number) => buildPlane(number));
  $("#planes").replaceChildren(...planes.map((view) => view.article));
  $("#fits").classList.toggle("pair", state.machines.length > 1);
  nameMachines();
}

function nameMachines() {
  const titles = state.machines.map((one) => choices.algorithms[one.algorithm].title + differences(choices, one, state.machines));
  planes.forEach((view, number) => {
    const text = titles.length > 1 ? `${"AB"[number]}: ${titles[number]}` : titles[number];
    view.article.querySelector("h2").textContent = text;
    $(`#name-${"ab"[number]}`).textContent = text;
  });
  $("#legend-b").hidden = titles.length < 2;
}

function buildPlane(number) {
  const article = $("#plane").content.cloneNode(true).firstElementChild;
  const canvas = article.querySelector("canvas"), list = article.querySelector(".numbers");
  const numbers = {};
  for (const [name, title] of [["epoch", "epoch"], ...Object.entries(QUANTITIES).map(([key, q]) => [key, q.title])]) {
    if (name === "made") continue;
    numbers[name] = element("dd", {}, "–");
    numbers[name].dataset.name = name;
    list.append(element("div", {}, element("dt", { title: QUANTITIES[name]?.about ?? "" }, title), numbers[name]));
  }
  const view = {
    article, numbers, plane: new Plane(canvas, choices.extent), said: article.querySelector(".said"),
    bounds: article.querySelector(".bounds"), showCode: article.querySelector(".show-code"),
  };
  canvas.setAttribute("aria-label", "Plane of the points: click, or use arrow keys, Enter and Delete, to place and erase them");
  listen(canvas, view.plane);
  view.showCode.addEventListener("click", () => {
    $("#code-text").textContent = fits[number].about.code;
    $("#code").showModal();
  });
  return view;
}

const charts = Object.fromEntries(Object.entries(QUANTITIES).map(([name, quantity]) => {
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${quantity.title} against epochs`);
  const values = element("b"), caption = element("figcaption", { title: quantity.about }, `${quantity.title} `, values);
  const figure = element("figure", { hidden: true }, caption, canvas);
  $("#charts").append(figure);
  return [name, { figure, canvas, values }];
}));

// ---------------------------------------------------------------- points

function setPoints(points, preset, text, { isUndo = false } = {}) {
  changes += 1;
  if (!isUndo && state.points.length) earlier.push([state.points, state.preset]);
  $("#undo").disabled = !earlier.length;
  state.points = points;
  state.preset = preset;
  say($("#points-said"), text ?? `${points.length} points`);
  changed();
}

function place(x, y, isErasing = brush === "erase") {
  if (Math.max(Math.abs(x), Math.abs(y)) > choices.extent) return;
  if (isErasing) {
    const near = state.points.map(([px, py]) => Math.hypot(px - x, py - y));
    const nearest = near.indexOf(Math.min(...near));
    if (near[nearest] > NEAR) return;
    setPoints(state.points.filter((_, i) => i !== nearest), null);
  } else if (state.points.length >= choices.most_points) say($("#points-said"), `${choices.most_points} points are the most.`);
  else setPoints([...state.points, [rounded(x), rounded(y), brush]], null);
}

function undo() {
  if (earlier.length) setPoints(...earlier.pop(), undefined, { isUndo: true });
}

function choose(value) {
  brush = value === "erase" ? value : Number(value);
  $(`input[name=brush][value="${value}"]`).checked = true;
}

function listen(canvas, plane) {
  let last = null; // where the previous point of a drag is
  const put = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    const here = [event.clientX - left, event.clientY - top];
    if (last && Math.hypot(here[0] - last[0], here[1] - last[1]) < 14) return;
    last = here;
    place(...plane.at(...here));
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return; // a finger may be about to scroll
    canvas.setPointerCapture(event.pointerId);
    plane.cursor = null;
    last = null;
    put(event);
  });
  canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1 && event.pointerType !== "touch") put(event); });
  canvas.addEventListener("click", (event) => {
    if (event.pointerType !== "touch") return;
    last = null;
    put(event);
  });
  canvas.addEventListener("blur", () => { plane.cursor = null; show(); });
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    plane.cursor ??= [0, 0];
    if (move) plane.cursor = plane.cursor.map((v, k) => {
      const step = event.shiftKey ? 4 * STEP : STEP;
      return Math.min(Math.max(v + step * move[k], -choices.extent), choices.extent);
    });
    else if (event.key === "Enter" || event.key === " ") place(...plane.cursor);
    else if (event.key === "Delete" || event.key === "Backspace") place(...plane.cursor, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
    show();
  });
}

async function loadPreset(name) {
  const before = changes;
  try {
    const points = await (await fetch(`presets/${name}`)).json();
    if (changes === before) setPoints(points, name); // else somebody was quicker
  } catch {
    say($("#points-said"), "The server does not answer; is adatron play still running?");
  }
}

// ---------------------------------------------------------------- wiring

$("#preset").addEventListener("change", async (event) => {
  const name = event.target.value;
  if (!name) return;
  for (const one of state.machines) Object.assign(one.parameters, SUGGESTED[name]);
  buildMachines();
  await loadPreset(name);
});
$("#comparison").addEventListener("change", async (event) => {
  const { first, second, preset } = COMPARISONS[event.target.value];
  const { gamma, C } = state.machines[0].parameters;
  const made = ([algorithm, kernel, more]) => machine(choices, algorithm, kernel, { gamma, C, ...more });
  state.machines = [first ? made(first) : state.machines[0], ...(second ? [made(second)] : [])];
  if (preset) for (const one of state.machines) one.parameters.gamma = SUGGESTED[preset].gamma;
  fits.forEach((fit) => fit.cancel());
  fits = [];
  buildMachines();
  if (preset) await loadPreset(preset);
  else changed();
});
for (const radio of document.querySelectorAll("input[name=brush]"))
  radio.addEventListener("change", () => choose(radio.value));
$("#undo").addEventListener("click", undo);
$("#clear").addEventListener("click", () => setPoints([], null, "No points: place some of two classes at least."));
$("#open-csv").addEventListener("click", () => $("#csv").click());
$("#csv").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  if (!file) return;
  try {
    if (file.size > 1e6) throw new Error("The file is larger than 1 MB.");
    const { points, classes } = readCsv(await file.text(), choices);
    const names = classes.map((name, c) => `${"●▲■"[c]} ${name}`).join(", ");
    setPoints(points, null, `${points.length} points of ${file.name}, columns scaled to −1 … 1: ${names}`);
  } catch (error) {
    say($("#points-said"), error.message);
  }
});
$("#copy-link").addEventListener("click", (event) => copy(location.href, event.target));
$("#copy-code").addEventListener("click", (event) => copy($("#code-text").textContent, event.target));
$("#close-code").addEventListener("click", () => $("#code").close());

async function copy(text, button) {
  const before = button.textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
}

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input:not([type=range], [type=radio], [type=checkbox]), select") || $("#code").open) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "z") undo();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "p") player.toggle();
  else if (event.key === ".") player.go(player.index + 1);
  else if (event.key === ",") player.go(player.index - 1);
  else if ("012".includes(event.key)) choose(event.key);
});
const narrow = matchMedia("(max-width: 46rem)");
const arrange = () => $(narrow.matches ? "#below" : "#controls").append($("#algorithms")); // the plane comes first
narrow.addEventListener("change", arrange);
arrange();
new ResizeObserver(show).observe($("#fits"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
window.addEventListener("hashchange", () => location.reload());

fill($("#preset"), [["", "your own points"], ...Object.entries(choices.presets)], "moons");
fill($("#comparison"), Object.entries(COMPARISONS).map(([key, { title }]) => [key, title]), "none");
const asked = fromFragment(choices, location.hash.slice(1));
if (asked.machines.length) state.machines = asked.machines;
$("#comparison").value = state.machines.length > 1 ? "own" : "none";
buildMachines();
if (asked.points.length && !asked.preset) setPoints(asked.points, null);
else await loadPreset(asked.preset ?? "moons");
window.playground = { state, player }; // for tests, and for the curious
