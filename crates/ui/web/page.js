// What all steps use: elements, requests, messages, and the boxes of forms.
import { inWords } from "/plan.js";

export const state = { now: null };
/** The largest file that the program takes. */
export const MAX_BYTES = 512 * 2 ** 20;
export const tooLarge = (name) => ({ file: name, message: `${name} is larger than 512 MB.`, advice: "Start “veilpath ui FOLDER”: files in that folder are read from disk." });

/** An element with attributes, listeners (functions) and children; texts are never parsed as markup. */
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

/** Sends a request; throws the problem of a refusal. `raw` returns the bytes of a file. */
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
  // What was said about an earlier action is over.
  if (!inBackground) showStatus("");
  try {
    await work();
    // What the user did stays on the page; work in the background takes back only its own words.
    if (!inBackground || alert.dataset.background) alert.replaceChildren();
  } catch (problem) {
    alert.dataset.background = inBackground ? "yes" : "";
    alert.replaceChildren(problemBox(problem));
    alert.scrollIntoView({ block: "nearest" });
  }
}

/** Shows what was refused; after many files, the first few of them. */
export function showProblems(problems) {
  const alert = document.getElementById("alert");
  const more = problems.length - 5;
  alert.dataset.background = "";
  alert.replaceChildren(...problems.slice(0, 5).map(problemBox), ...(more > 0 ? [h("p", { class: "warning" }, `${count(more, "more file")} cannot be used.`)] : []));
  if (problems.length) alert.scrollIntoView({ block: "nearest" });
}

/** Problems of another step are over; one with the program itself stays. */
export function forgetProblems() {
  const alert = document.getElementById("alert");
  if (!alert.dataset.background) alert.replaceChildren();
}

export function showStatus(text) {
  document.getElementById("status").textContent = text;
}

/** A text with a full stop; lists and questions have their own ends. */
export const stopped = (text) => (!text || /[.!?:;…]$/.test(text.trim()) || text.includes("\n") ? text ?? "" : `${text.trim()}.`);

/** A problem in words. Names of files keep their case. */
export function problemWords({ message, advice, file }) {
  const isName = file || /^\S+\.\w+:/.test(message);
  return [isName ? message : message.charAt(0).toUpperCase() + message.slice(1), advice ?? ""].map(stopped).filter(Boolean).join(" ");
}

/** Announces a text to screen readers. */
export function announce(text) {
  document.getElementById("announced").textContent = text;
}

/** Saves a file of the program, or says why there is none. */
export const download = (path, name) => attempt(async () => {
  const address = URL.createObjectURL(await request(path, { method: "GET", raw: true }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
});

/** What is wrong with the files or the options. Before the first area is drawn, nothing is. */
export function problemOf(now) {
  if (!now.problem) return null;
  if (now.problem.fields?.includes("aoi-file") && !now.letters.areas.length) return h("p", { class: "hint", id: "problem" }, "Draw an area on the picture: with the mouse, or by pressing Enter on it. Places in it then become its letter.");
  return problemBox(now.problem, "problem");
}

export function problemBox(problem, id) {
  if (!problem) return null;
  if (!problem.message) problem = { message: String(problem), advice: "" };
  return h("div", { class: "warning problem", id }, h("strong", { class: problem.file || /^\S+\.\w+:/.test(problem.message) ? null : "sentence" }, stopped(problem.message)), differenceTable(problem.differences), problem.advice ? h("p", null, stopped(problem.advice)) : null);
}

/** Two plans side by side, where they differ. */
const differenceTable = (differences) => !differences?.length ? null : h("div", { class: "scroll" }, h("table", null,
  h("thead", null, h("tr", null, ["Setting", "Here", "Partner"].map((title) => h("th", { scope: "col" }, title)))),
  h("tbody", null, differences.map(([name, ours, theirs]) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, inWords(name, ours)), h("td", null, inWords(name, theirs)))))));

/** Texts with a label above an input; `field` is the name that problems use, and `refused` says that the last action needs another value. */
export function box(id, label, input, { help, field, wide, double, refused } = {}) {
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
  // The browser reports no change of a text that was typed before the page was redrawn, so the value is compared.
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
