// What all steps use: elements, requests, messages, and form fields.
import { valueLabel } from "/plan.js";

/** The state of the program as the page knows it, and the changes that the page sends: how many began, and how many have not ended. */
export const state = { now: null, edits: 0, sending: 0 };

/** Sends a change. A state that was requested before its end does not replace the page’s. */
export async function edit(work) {
  state.edits += 1;
  state.sending += 1;
  try {
    await work();
  } finally {
    state.sending -= 1;
    if (!state.sending) dispatchEvent(new Event("edits-sent"));
  }
}
/** The size of the largest file that the program accepts. */
export const MAX_BYTES = 512 * 2 ** 20;
export const tooLarge = (name) => ({ file: name, message: `${name} is larger than 512 MiB.`, advice: "Start “veilpath ui FOLDER”: files in that folder are read from disk." });

/** An element with attributes, listeners (functions) and children. Text is never parsed as markup. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Sends a request; throws a problem if it is refused. `raw` returns the bytes of a file. */
export async function request(path, { method = "POST", json, bytes, raw } = {}) {
  const options = { method, headers: {} };
  if (json !== undefined) {
    options.body = JSON.stringify(json);
    options.headers["content-type"] = "application/json";
  } else if (bytes !== undefined) options.body = bytes;
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw { message: "The program has ended.", advice: "Start Veilpath again, and drop your files again.", ended: true };
  }
  if (answer.status === 413) throw bytes ? tooLarge(bytes.name ?? "This file") : { message: "This is too much for one request.", advice: "" };
  if (answer.status === 401) throw { message: "This page belongs to a program that has ended.", advice: "Start Veilpath again: it opens a new page." };
  if (raw && answer.ok) return answer.blob();
  const type = answer.headers.get("content-type") ?? "";
  const value = type.startsWith("application/json") ? await answer.json() : await answer.arrayBuffer();
  if (!answer.ok) throw value.problem ?? { message: `The program answered ${answer.status}.`, advice: "" };
  return value;
}

/** Runs something that may be refused, and shows the problem. */
export async function attempt(work, inBackground = false) {
  const alert = document.getElementById("alert");
  // Clear the status of an earlier action.
  if (!inBackground) showStatus("");
  try {
    await work();
    // Work in the background clears only its own messages, not those about the user's actions.
    if (!inBackground || alert.dataset.background) alert.replaceChildren();
  } catch (problem) {
    alert.dataset.background = inBackground ? "yes" : "";
    alert.replaceChildren(problemBox(problem));
    alert.scrollIntoView({ block: "nearest" });
  }
}

/** Shows the first few problems, and how many more there are. */
export function showProblems(problems) {
  const alert = document.getElementById("alert");
  const more = problems.length - 5;
  alert.dataset.background = "";
  alert.replaceChildren(...problems.slice(0, 5).map(problemBox), ...(more > 0 ? [h("p", { class: "warning" }, `${count(more, "more file")} cannot be used.`)] : []));
  if (problems.length) alert.scrollIntoView({ block: "nearest" });
}

/** Clears the problems of another step. A problem with the program itself stays. */
export function forgetProblems() {
  const alert = document.getElementById("alert");
  if (!alert.dataset.background) alert.replaceChildren();
}

export function showStatus(text) {
  document.getElementById("status").textContent = text;
}

/** Adds a full stop, except to lists and to text that already ends with punctuation. */
export const withFullStop = (text) => (!text || /[.!?:;…]$/.test(text.trim()) || text.includes("\n") ? text ?? "" : `${text.trim()}.`);

/** A problem in words. File names keep their case. */
export function problemWords({ message, advice, file }) {
  const isName = file || /^\S+\.\w+:/.test(message);
  return [isName ? message : message.charAt(0).toUpperCase() + message.slice(1), advice ?? ""].map(withFullStop).filter(Boolean).join(" ");
}

/** Announces a text to screen readers. */
export function announce(text) {
  document.getElementById("announced").textContent = text;
}

/** Downloads a file from the program, or shows why there is none. */
export const download = (path, name) => attempt(async () => {
  const address = URL.createObjectURL(await request(path, { method: "GET", raw: true }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
});

/** Shows what is wrong with the files or options; before the first area is drawn, only a hint. */
export function problemOf(now) {
  if (!now.problem) return null;
  if (now.problem.fields?.includes("aoi-file") && !now.letters.areas.length) return h("p", { class: "hint", id: "problem" }, "Draw an area on the picture: with the mouse, or by pressing Enter on it. Places in it then become its letter.");
  return problemBox(now.problem, "problem");
}

export function problemBox(problem, id) {
  if (!problem) return null;
  if (!problem.message) problem = { message: String(problem), advice: "" };
  return h("div", { class: "warning problem", id }, h("strong", { class: problem.file || /^\S+\.\w+:/.test(problem.message) ? null : "sentence" }, withFullStop(problem.message)), differenceTable(problem.differences), problem.advice ? h("p", null, withFullStop(problem.advice)) : null);
}

/** Two plans side by side, where they differ. */
const differenceTable = (differences) => !differences?.length ? null : h("div", { class: "scroll" }, h("table", null,
  h("thead", null, h("tr", null, ["Setting", "Here", "Partner"].map((title) => h("th", { scope: "col" }, title)))),
  h("tbody", null, differences.map(([name, ours, theirs]) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, valueLabel(name, ours)), h("td", null, valueLabel(name, theirs)))))));

/** An input with its label and help. `field` is the name that problems use; `refused` means that the last action needs another value. */
export function formField(id, label, input, { help, field, wide, double, refused } = {}) {
  const wrong = refused || (field && state.now?.problem?.fields?.includes(field));
  input.id = id;
  if (wrong) input.setAttribute("aria-invalid", "true");
  if (help || wrong) input.setAttribute("aria-describedby", `${help ? `${id}-help` : ""}${refused ? " alert" : wrong ? " problem" : ""}`.trim());
  return h("div", { class: `field${wrong ? " wrong" : ""}${wide ? " wide" : ""}${double ? " double" : ""}` }, h("label", { for: id }, label), input, help ? h("small", { id: `${id}-help` }, help) : null);
}

export function select(value, choices, change) {
  const input = h("select", { change: () => change(input.value) }, choices.map(([name, title]) => h("option", { value: name, selected: name === (value ?? "") }, title)));
  return input;
}

export function text(value, change, attributes) {
  // The browser fires no change event for text that was typed before a redraw, so the values are compared.
  let sent = value ?? "";
  const commit = () => {
    if (!input.isConnected || input.value === sent) return;
    sent = input.value;
    change(input.value);
  };
  const input = h("input", { type: "text", value: value ?? "", autocomplete: "off", spellcheck: "false", ...attributes, change: commit, blur: commit, keydown: (event) => { if (event.key === "Enter") commit(); } });
  return input;
}

export function check(id, label, value, change) {
  const input = h("input", { type: "checkbox", id, checked: value, change: () => change(input.checked) });
  return h("label", { class: "check", for: id }, input, " ", label);
}

/** The command that does the same, to copy. */
export function commandBox(lines, note) {
  const code = lines.join("\n");
  if (!code) return null;
  const button = h("button", { type: "button", click: async () => {
    await navigator.clipboard?.writeText(code).then(() => showStatus("Copied."), () => showStatus("The browser does not allow copying: select the text and copy it yourself."));
  } }, "Copy");
  return h("details", { class: "command" }, h("summary", null, "The same on the command line"), h("div", { class: "scroll" }, h("pre", { tabindex: "0" }, code)), note ? h("p", { class: "note" }, note) : null, button);
}

export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
export const bytes = (size) => size < 1e3 ? `${size} B` : size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
