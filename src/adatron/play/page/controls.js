// The form of one machine: algorithm, kernel and a row for each parameter.

import { parametersOf } from "./state.js";

const STEPS = 400; // of a slider

/** Build the form for `machine`, which it changes in place; `onChange` is called after each change. */
export function machineForm(choices, machine, title, onChange) {
  const form = document.querySelector("#machine").content.cloneNode(true).firstElementChild;
  const [algorithm, kernel] = ["algorithm", "kernel"].map((name) => {
    const select = form.querySelector(`.${name}`);
    fill(select, Object.entries(choices[`${name}s`]).map(([key, one]) => [key, one.title]), machine[name]);
    select.addEventListener("change", () => {
      machine[name] = select.value;
      show();
      onChange();
    });
    return select;
  });
  form.querySelector("legend").textContent = title;

  function show() {
    algorithm.value = machine.algorithm;
    kernel.value = machine.kernel;
    form.querySelector(".about").textContent = choices.algorithms[machine.algorithm].about;
    const rows = parametersOf(choices, machine).map((name) =>
      parameterRow(`${title.at(-1)}-${name}`, choices.parameters[name], machine.parameters[name], (value) => {
        machine.parameters[name] = value;
        onChange();
      }));
    form.querySelector(".parameters").replaceChildren(...rows);
  }

  form.querySelector("details").open = matchMedia("(min-width: 46rem)").matches; // a small screen is for the plane
  show();
  return form;
}

/** Options of a select, as pairs of value and text. */
export function fill(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

function parameterRow(id, parameter, value, onChange) {
  const row = element("div", { className: "parameter", title: parameter.about });
  if (typeof parameter.default === "boolean") {
    row.append(box(id, parameter.label, value, onChange));
    return row;
  }
  const start = parameter.default ?? Math.sqrt(parameter.low * parameter.high);
  const shown = value ?? start;
  const number = element("input", {
    type: "number", id, min: parameter.low, max: parameter.high, step: parameter.whole ? 1 : "any", value: tidy(shown),
  });
  const slider = element("input", { type: "range", min: 0, max: STEPS, value: toSlider(parameter, shown) });
  slider.setAttribute("aria-label", `${parameter.label}, slider`);
  slider.addEventListener("input", () => {
    number.value = tidy(fromSlider(parameter, Number(slider.value)));
    onChange(Number(number.value));
  });
  number.addEventListener("change", () => {
    const typed = Number.isFinite(number.valueAsNumber) ? number.valueAsNumber : start;
    const inside = Math.min(Math.max(typed, parameter.low), parameter.high);
    number.value = parameter.whole ? Math.round(inside) : inside;
    slider.value = toSlider(parameter, Number(number.value));
    onChange(Number(number.value));
  });
  row.append(element("label", { htmlFor: id, textContent: parameter.label }), slider, number);
  if (parameter.without) {
    const setDisabled = (isOn) => (number.disabled = slider.disabled = isOn);
    setDisabled(value === null);
    row.append(box(`${id}-none`, parameter.without, value === null, (isOn) => {
      setDisabled(isOn);
      onChange(isOn ? null : Number(number.value));
    }));
  }
  return row;
}

function box(id, text, isOn, onChange) {
  const input = element("input", { type: "checkbox", id, checked: isOn });
  input.addEventListener("change", () => onChange(input.checked));
  return element("label", { className: "box" }, input, text);
}

/** A new element with these properties and children. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const tidy = (value) => Number(value.toPrecision(3));

function toSlider({ low, high, log }, value) {
  const part = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.round(STEPS * part);
}

function fromSlider({ low, high, log, whole }, at) {
  const part = at / STEPS;
  const value = log ? low * (high / low) ** part : low + part * (high - low);
  return whole ? Math.round(value) : value;
}
