// What the page is about (points and machines), as a link and back; and points from a CSV file.

export const CLASSES = 3;
const UNIT = 1000; // coordinates are thousandths, so that a link reproduces them exactly

/** A machine with the default parameters. */
export function machine(choices, algorithm = "adatron", kernel = "rbf", parameters = {}) {
  const defaults = Object.entries(choices.parameters).map(([name, p]) => [name, p.default]);
  return { algorithm, kernel, parameters: { ...Object.fromEntries(defaults), ...parameters } };
}

/** Names of the parameters that a machine has. */
export function parametersOf(choices, { algorithm, kernel }) {
  return [...choices.kernels[kernel].parameters, ...choices.algorithms[algorithm].parameters];
}

/** In what a machine differs from another one of the same algorithm, to be put behind its title. */
export function differences(choices, one, machines) {
  const other = machines.find((another) => another !== one);
  if (other?.algorithm !== one.algorithm) return "";
  const kernel = other.kernel !== one.kernel ? [`${choices.kernels[one.kernel].title} kernel`] : [];
  const names = parametersOf(choices, one).filter((name) => one.parameters[name] !== other.parameters[name]);
  const told = names.map((name) => {
    const { label, without } = choices.parameters[name], value = one.parameters[name];
    if (typeof value === "boolean") return `${value ? "with" : "without"} ${label}`;
    return value === null ? without : `${label.split(",")[0]} = ${value}`;
  });
  return [...kernel, ...told].map((text) => `, ${text}`).join("");
}

const has = (table, key) => key !== null && Object.hasOwn(table, key);

export const rounded = (value) => Math.round(value * UNIT) / UNIT + 0;

/** The part of a link behind #. */
export function toFragment(choices, state) {
  const query = new URLSearchParams();
  if (state.preset) query.set("data", state.preset);
  else {
    const rows = state.points.map(([x, y, c]) => [Math.round(x * UNIT), Math.round(y * UNIT), c].join("."));
    query.set("points", rows.join("_"));
  }
  state.machines.forEach((one, number) => {
    const letter = "ab"[number];
    query.set(letter, one.algorithm);
    query.set(`${letter}.kernel`, one.kernel);
    for (const name of parametersOf(choices, one)) query.set(`${letter}.${name}`, one.parameters[name] ?? "none");
  });
  return query.toString();
}

/** What a link asks for; whatever makes no sense in it is left at its default. */
export function fromFragment(choices, fragment) {
  const query = new URLSearchParams(fragment);
  const machines = ["a", "b"].filter((letter) => has(choices.algorithms, query.get(letter))).map((letter) => {
    const kernel = query.get(`${letter}.kernel`);
    const one = machine(choices, query.get(letter), has(choices.kernels, kernel) ? kernel : "rbf");
    for (const [name, parameter] of Object.entries(choices.parameters)) {
      const text = query.get(`${letter}.${name}`);
      if (text !== null) one.parameters[name] = fromText(parameter, text);
    }
    return one;
  });
  const known = has(choices.presets, query.get("data")) ? query.get("data") : null;
  const points = query.has("points") ? pointsFrom(query.get("points"), choices) : [];
  return { preset: known, points, machines };
}

function fromText(parameter, text) {
  if (typeof parameter.default === "boolean") return text === "true";
  if (text === "none" && parameter.without) return null;
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return parameter.default;
  const inside = Math.min(Math.max(value, parameter.low), parameter.high);
  return parameter.whole ? Math.round(inside) : inside;
}

function pointsFrom(text, choices) {
  const rows = text.split("_").slice(0, choices.most_points).map((row) => row.split(".").map(Number));
  const isPoint = ([x, y, c]) => [x, y].every((v) => Math.abs(v) <= choices.extent * UNIT) && [0, 1, 2].includes(c);
  return rows.filter(isPoint).map(([x, y, c]) => [rounded(x / UNIT), rounded(y / UNIT), c]);
}

/** Points from a CSV file: two columns of numbers and a class, scaled into the plane; throws what is wrong. */
export function readCsv(text, choices) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/).filter((line) => line.trim() !== "");
  const separator = [";", "\t", ","].find((mark) => lines[0]?.includes(mark));
  if (!separator) throw new Error("The file has no columns separated by commas, semicolons or tabs.");
  const number = (cell) => Number(separator === ";" ? cell.replace(",", ".") : cell);
  const rows = lines.map((line) => line.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
  const isNumber = (cell) => cell !== undefined && cell !== "" && Number.isFinite(number(cell));
  if (!isNumber(rows[0][0]) || !isNumber(rows[0][1])) rows.shift(); // names of the columns
  rows.forEach((row, i) => {
    if (row.length !== 3) throw new Error(`Row ${i + 1} has ${row.length} columns; it needs two numbers and a class.`);
    if (!isNumber(row[0]) || !isNumber(row[1]))
      throw new Error(`Row ${i + 1} has “${row[0]}” and “${row[1]}” where two finite numbers should be.`);
  });
  if (rows.length < 2) throw new Error("The file has fewer than two rows.");
  if (rows.length > choices.most_points)
    throw new Error(`The file has ${rows.length.toLocaleString("en")} rows; the playground takes ${choices.most_points.toLocaleString("en")} at most.`);
  const classes = [...new Set(rows.map((row) => row[2]))].sort();
  if (classes.length < 2 || classes.length > CLASSES)
    throw new Error(`The third column has ${classes.length} different values; it needs two or three classes.`);
  const [xs, ys] = [0, 1].map((column) => scaled(rows.map((row) => number(row[column]))));
  return { points: rows.map((row, i) => [xs[i], ys[i], classes.indexOf(row[2])]), classes };
}

function scaled(values) {
  const low = Math.min(...values), high = Math.max(...values);
  const half = (high - low) / 2 || 1;
  return values.map((value) => rounded((value - (low + high) / 2) / half));
}
