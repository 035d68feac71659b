// The page of Veilpath: loads the state of the program, shows one step of it, and sends back what is changed.
import { Picture } from "/picture.js";
import { partnerStep, phases } from "/partner.js";

export const state = { now: null };
const body = document.createElement("div");
// Sliders that change the picture stay beside it, or above it in a narrow window.
const controls = document.createElement("div");
const pictureBox = document.createElement("section");
const reportBox = document.createElement("section");
const main = document.getElementById("step");
const titles = { data: "Data", encode: "Encode", compare: "Compare here", partner: "With a partner" };
/** The largest file that the program takes. */
const MAX_BYTES = 512 * 2 ** 20;
const tooLarge = (name) => ({ message: `${name} is larger than 512 MB.`, advice: "Start “veilpath ui FOLDER”: files in that folder are read from disk." });
let shown = "";
let lost = null;
let announced = "";
let reportShown = "";
let events = null;
// A slider that is being dragged, and whether the part of the page around it was not redrawn.
let held = null;
let outdated = false;
// The last encoding that worked, so that a wrong option does not empty the page.
let worked = [null, null];

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
function forgetProblems() {
  const alert = document.getElementById("alert");
  if (!alert.dataset.background) alert.replaceChildren();
}

export function showStatus(text) {
  document.getElementById("status").textContent = text;
}

/** Announces a text to screen readers. */
function announce(text) {
  document.getElementById("announced").textContent = text;
}

/** Saves a file of the program, or says why there is none. */
export const download = (path, name) => attempt(async () => {
  const address = URL.createObjectURL(await request(path, { method: "GET", raw: true }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
});

/** What is wrong with the files or the options. Before the first area is drawn, nothing is. */
function problemOf(now) {
  if (!now.problem) return null;
  if (now.problem.fields?.includes("aoi-file") && !now.letters.areas.length) return h("p", { class: "hint", id: "problem" }, "Draw an area on the picture: with the mouse, or by pressing Enter on it. Places in it then become its letter.");
  return problemBox(now.problem, "problem");
}

export function problemBox(problem, id) {
  if (!problem) return null;
  if (!problem.message) problem = { message: String(problem), advice: "" };
  return h("div", { class: "warning problem", id }, h("strong", { class: problem.file || /^\S+\.\w+:/.test(problem.message) ? null : "sentence" }, problem.message), differenceTable(problem.differences), problem.advice ? h("p", null, problem.advice) : null);
}

/** Two plans side by side, where they differ. */
const differenceTable = (differences) => !differences?.length ? null : h("div", { class: "scroll" }, h("table", null,
  h("thead", null, h("tr", null, ["Setting", "Here", "Partner"].map((title) => h("th", { scope: "col" }, title)))),
  h("tbody", null, differences.map(([name, ours, theirs]) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, inWords(name, ours)), h("td", null, inWords(name, theirs)))))));

/** Texts with a label above an input; `field` is the name that problems use. */
export function box(id, label, input, { help, field, wide, double } = {}) {
  const wrong = field && state.now?.problem?.fields?.includes(field);
  input.id = id;
  if (wrong) input.setAttribute("aria-invalid", "true");
  if (help || wrong) input.setAttribute("aria-describedby", `${help ? `${id}-help` : ""}${wrong ? " problem" : ""}`.trim());
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

// Changes of options: one request at a time, and the newest values win.
let pending = null;
let sending = false;
export function change(options) {
  pending = { ...pending, ...options };
  Object.assign(state.now, options);
  if (!sending) flush();
}
async function flush() {
  sending = true;
  while (pending) {
    const options = pending;
    pending = null;
    await attempt(() => request("/api/options", { json: options }));
  }
  sending = false;
  if (missed) refresh();
}
let missed = false;

// The steps.

function dataStep(now) {
  const gaze = now.files.filter((file) => ["gaze", "unknown", "cohort"].includes(file.kind));
  const others = now.files.filter((file) => !gaze.includes(file));
  return [
    dropZone(now),
    problemOf(now),
    gaze.length ? h("section", { id: "file-list" }, h("h2", null, "Files"), fileTable(now, gaze), others.length ? pictureTable(now, others) : null, cohortLines(now)) : null,
    pictureBox,
    !gaze.length && others.length ? h("section", null, h("h2", null, "Pictures"), pictureTable(now, others)) : null,
    isEncoded(now) ? readForm(now) : null,
    commandBox(now.commands.encode),
    gaze.length && !now.problem ? h("p", { class: "next" }, h("a", { class: "button primary", href: "#encode" }, "Next: encode")) : null,
  ];
}

/** Adds files; those of a folder need not all be recordings. */
export async function addFiles(files, isFolder = false) {
  if (!files.length) return;
  const refused = [];
  const kinds = new Map();
  let invitations = 0;
  for (const [at, file] of files.entries()) {
    showStatus(`Reading ${file.name} (${at + 1} of ${files.length})…`);
    try {
      // The program would close the connection, and the browser would not say why.
      if (file.size > MAX_BYTES) throw tooLarge(file.name);
      const { id, kind } = await request(`/api/files?name=${encodeURIComponent(file.name)}&more=${files.length > 1}`, { bytes: file });
      if (kind === "invitation") invitations += 1;
      else kinds.set(id, kind);
    } catch (problem) {
      refused.push(problem);
    }
  }
  // A folder with recordings may have other files, too; one without shows what is wrong with them.
  const hasData = [...kinds.values()].some((kind) => kind === "gaze" || kind === "cohort");
  const others = isFolder && hasData ? [...kinds].filter(([, kind]) => kind === "unknown").map(([id]) => id) : [];
  const left = isFolder && hasData ? others.length + refused.splice(0).length : 0;
  // Many files are encoded once, when all of them are there.
  if (files.length > 1) await attempt(() => request("/api/options", { json: { leave_out: others } }));
  const taken = files.length - refused.length - left;
  if (invitations) location.hash = "#partner";
  // The new step clears what was said before.
  await new Promise((done) => setTimeout(done));
  showStatus(!taken ? "" : taken === invitations ? "The partner’s file was opened." : `${left ? `${count(left, "other file")} of the folder left out. ` : ""}${count(taken, "file")} read.`);
  showProblems(refused);
}

/** The files that were dropped, and whether they come from a folder. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [[...transfer.files], false];
  const files = [];
  const walk = async (entry) => {
    if (entry.isFile) files.push(await new Promise((good, bad) => entry.file(good, bad)));
    else {
      const reader = entry.createReader();
      const inside = [];
      for (;;) {
        const part = await new Promise((good, bad) => reader.readEntries(good, bad));
        if (!part.length) break;
        inside.push(...part);
      }
      // In the same order on every machine.
      inside.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const inner of inside) await walk(inner);
    }
  };
  for (const entry of entries) await walk(entry);
  return [files.filter((file) => !file.name.startsWith(".")), true];
}

/** The files of an input, which can be chosen again afterwards. */
export function chosen(input) {
  const files = [...input.files];
  input.value = "";
  return files;
}

function dropZone(now) {
  const input = h("input", { type: "file", id: "files", multiple: true, class: "visually-hidden", change: () => addFiles(chosen(input)) });
  const folder = h("input", { type: "file", id: "folder", webkitdirectory: true, multiple: true, class: "visually-hidden", change: () => addFiles(chosen(folder).filter((file) => !file.name.startsWith(".")), true) });
  const open = (name) => attempt(async () => {
    const { kind } = await request("/api/folder", { json: { name } });
    if (kind === "invitation") location.hash = "#partner";
  });
  const help = now.folder?.left_out ? `The first ${now.folder.files.length} are listed; drop others on this page.` : null;
  const fromFolder = now.folder && now.folder.files.length ? box("folder-file", `From the folder “${now.folder.name}”`, select("", [["", "Choose a file…"], ...now.folder.files.map((name) => [name, name])], (name) => name && open(name)), { help }) : null;
  return h("section", { class: "drop", id: "drop" },
    h("h2", null, "Drop your recordings here"),
    h("p", null, "Fixations or gaze of EyeLink, Tobii, SMI, Pupil Labs, Gazepoint and others, tables, or cohort files; pictures of the stimuli as PNG or JPEG; a partner’s invitation. Nothing is uploaded: the files go to the program on this machine."),
    h("div", { class: "row" },
      input, h("label", { class: now.files.length ? "button" : "button primary", for: "files" }, "Choose files"),
      folder, h("label", { class: "button", for: "folder" }, "Choose a folder")),
    now.files.length ? null : h("div", { class: "row" },
      h("button", { type: "button", id: "example", click: () => example(false) }, "Try it with made-up data"),
      h("button", { type: "button", id: "example-partner", click: () => example(true) }, "Made-up data of a partner")),
    now.files.length ? null : h("p", { class: "note" }, "Both have two groups of six participants. To try a private comparison, take one on each page."),
    fromFolder);
}

/** Twelve made-up participants in two groups who look at two pictures, for a first try. A partner has twelve others. */
async function example(isPartner) {
  let seed = isPartner ? 11 : 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const lines = ["participant,group,stimulus,x,y,duration"];
  const first = isPartner ? 13 : 1;
  for (let person = first; person < first + 12; person += 1) {
    const group = person % 2 ? "expert" : "novice";
    for (const scene of ["scene-1", "scene-2"]) {
      const targets = group === "expert" ? [[300, 200], [980, 220], [640, 520]] : [[640, 360], [420, 420], [860, 300]];
      const steps = 10 + Math.floor(random() * 8);
      for (let step = 0; step < steps; step += 1) {
        const [x, y] = targets[(step + (scene === "scene-2" ? 1 : 0)) % 3];
        const place = [x + (random() + random() - 1) * 260, y + (random() + random() - 1) * 180];
        lines.push(`${group}-${person},${group},${scene},${place.map((part) => part.toFixed(1)).join(",")},${Math.round(150 + random() * 300)}`);
      }
    }
  }
  change({ read: { ...state.now.read, screen: "1280x720" } });
  await addFiles([new File([lines.join("\n") + "\n"], isPartner ? "made-up-partner.csv" : "made-up.csv")]);
  // The button is gone.
  main.focus({ preventScroll: true });
}

const reasons = {
  lost: "without coordinates", outside: "outside the stimulus", "no-aoi": "in no area", invalid: "marked invalid", "other-event": "of other events, such as saccades and blinks",
  "other-eye": "of the other eye", "same-fixation": "same fixation again", "negative-duration": "negative duration", "no-stimulus": "without a stimulus",
  "first-fixation": "first fixation", "too-short": "too short",
};

function fileTable(now, files) {
  // One file that cannot be read does not hide what is known about the others.
  const summaries = (now.cohorts.some(Boolean) ? now.cohorts : worked).flatMap((cohort) => cohort?.summary?.files ?? []);
  const rows = files.map((file) => {
    const wrong = now.problem?.file === file.reader_name;
    const summary = wrong ? null : summaries.find((it) => it.file === file.reader_name);
    const drops = Object.entries(summary?.dropped ?? {}).map(([reason, rows]) => `${rows.toLocaleString("en")} ${reasons[reason] ?? reason}`);
    const side = select(String(file.side), [["0", "first"], ["1", "second"]], (side) => attempt(() => request(`/api/files/${file.id}`, { json: { side: Number(side) } })));
    side.id = `side-${file.id}`;
    side.setAttribute("aria-label", `Cohort of ${file.name}`);
    return h("tr", { class: wrong ? "wrong" : null },
      h("th", { scope: "row" }, file.name, h("small", null, bytes(file.size))),
      h("td", { "data-label": "Format" }, summary?.title ?? file.title),
      h("td", { class: "number", "data-label": "Rows used" }, summary ? `${summary.rows_used.toLocaleString("en")} of ${summary.rows_read.toLocaleString("en")}` : "–"),
      h("td", { "data-label": "Rows dropped" }, drops.length ? drops.join(", ") : summary ? "none" : wrong ? "cannot be read yet" : "–"),
      h("td", { "data-label": "Assumed" }, summary?.assumed?.length ? h("ul", { class: "plain" }, summary.assumed.map((it) => h("li", null, it.text))) : "–"),
      h("td", { "data-label": "Cohort" }, side),
      h("td", null, removeButton(file)));
  });
  // What comes below has to stay in reach.
  const box = files.length > 12 ? { class: "scroll many", tabindex: "0", role: "region", "aria-label": "Files" } : { class: "scroll" };
  return h("div", box, h("table", { class: "files stacked" },
    h("caption", null, "What was read, and what was assumed"),
    h("thead", null, h("tr", null, ["File", "Format", "Rows used", "Rows dropped", "Assumed", "Cohort", ""].map((title, at) => h("th", { scope: "col", class: at === 2 ? "number" : null }, title || h("span", { class: "visually-hidden" }, "Remove"))))),
    h("tbody", null, rows)));
}

const removeButton = (file) => h("button", { type: "button", id: `remove-${file.id}`, "aria-label": `Remove ${file.name}`, click: () => attempt(() => request(`/api/files/${file.id}`, { method: "DELETE" })) }, "Remove");

function pictureTable(now, files) {
  const stimuli = now.stimuli.filter((it) => it.name !== null).map((it) => [it.name, it.name]);
  const line = (file) => {
    const choose = select(file.stimulus ?? guess(file, now), [["", "all stimuli"], ...stimuli], (stimulus) => attempt(() => request(`/api/files/${file.id}`, { json: { stimulus } })));
    choose.id = `stimulus-${file.id}`;
    choose.setAttribute("aria-label", `Stimulus of ${file.name}`);
    return h("li", { class: "row" }, h("strong", null, file.name), file.kind === "image" ? [" shows ", choose] : ` (${file.title})`, removeButton(file));
  };
  const list = (files) => h("ul", { class: "plain pictures" }, files.map(line));
  const metadata = files.filter((file) => file.kind === "metadata");
  // A BIDS dataset has many of them.
  return [list(files.filter((file) => !metadata.includes(file))), metadata.length ? h("details", null, h("summary", null, `Metadata of BIDS recordings: ${count(metadata.length, "file")}`), list(metadata)) : null];
}

/** The stimulus that a picture's name contains. */
export function guess(file, now) {
  const stem = file.name.replace(/\.[^.]*$/, "").toLowerCase();
  const found = now.stimuli.find((it) => it.name !== null && it.name.replace(/\.[^.]*$/, "").toLowerCase() === stem);
  return found?.name ?? "";
}

const boxes = {
  events: "Events to use", rows: "Rows to use", units: "Unit of coordinates", "time-unit": "Unit of times", rate: "Samples per second", "screen-cm": "Screen, in centimetres",
  distance: "Eye to screen, in centimetres", "min-dwell": "Shortest dwell", "max-gap": "Longest gap", "min-duration": "Shortest fixation", velocity: "Fastest fixation", dispersion: "Widest fixation", detect: "Raw gaze becomes",
};

/** A note; one about a box without effect names the box. */
function noteWords({ text, fields }) {
  // On this page, areas are drawn.
  if (!text.startsWith("has no effect") || !fields?.length) return text.replace(/check that the AOI file uses .*/, "draw one on it, or tick “on all stimuli”");
  return `${fields.map((field) => `“${boxes[field] ?? field}”`).join(" and ")} ${text}`;
}

function cohortLines(now) {
  return now.cohorts.map((cohort, side) => cohort && h("div", { class: "cohort" },
    h("p", null, h("strong", null, side ? "Second cohort: " : "First cohort: "), `${count(cohort.scanpaths, "scanpath")} of ${count(cohort.participants, "participant")}`,
      Object.keys(cohort.groups).length ? `; groups: ${Object.entries(cohort.groups).map(([name, size]) => `${name} (${size})`).join(", ")}` : "", "."),
    cohort.notes.length || cohort.remarks.length ? h("ul", { class: "notes" }, cohort.notes.map((note) => h("li", null, noteWords(note))), cohort.remarks.map((note) => h("li", null, note))) : null));
}

const known = ["participant", "group", "stimulus", "x", "y", "duration", "start"];
const roleNames = { participant: "Participant", group: "Group", stimulus: "Stimulus", x: "Horizontal place (x)", y: "Vertical place (y)", duration: "Duration", start: "Start", time: "Time" };

function readForm(now) {
  const read = now.read;
  const set = (name) => (value) => change({ read: { ...state.now.read, [name]: value } });
  const files = now.cohorts.flatMap((cohort) => cohort?.summary?.files ?? []);
  const read_columns = [...new Set(files.flatMap((file) => [...(file.columns?.used ?? []).map((it) => it.column), ...(file.columns?.not_used ?? [])]))];
  // A table that cannot be read yet has column names, too.
  const columns = [...new Set([...read_columns, ...now.headers])];
  const used = new Map(files.flatMap((file) => (file.columns?.used ?? []).map((it) => [it.role, it.column])));
  const roles = [...new Set([...known, ...used.keys(), ...Object.keys(read.columns)])];
  const labels = [...new Set(files.flatMap((file) => Object.keys(file.left_out)))];
  const column = (role) => {
    const value = read.columns[role] ?? "";
    const choose = (name) => change({ read: { ...state.now.read, columns: { ...state.now.read.columns, [role]: name } } });
    const automatic = used.has(role) && !value ? `automatic: ${used.get(role)}` : "automatic";
    const input = columns.length ? select(value, [["", automatic], ...columns.map((name) => [name, name])], choose) : text(value, choose, { placeholder: "automatic" });
    return box(`column-${role}`, roleNames[role] ?? role, input, { field: { participant: "participant-column", stimulus: "stimulus-column", group: "group-column", x: "place-columns", y: "place-columns" }[role] });
  };
  const hasColumns = columns.length || now.problem?.fields?.some((field) => field.endsWith("columns"));
  return h("section", { id: "reading" }, h("h2", null, "What the files do not say"),
    h("p", { class: "note" }, "Veilpath guesses the rest from the files. Change what it got wrong."),
    h("div", { class: "fields" },
      box("read-screen", "Screen or stimulus, in pixels", text(read.screen, set("screen"), { placeholder: now.found.screen ? `automatic: ${now.found.screen}` : "1280x720", inputmode: "text" }), { field: "screen" }),
      box("read-units", "Unit of coordinates", select(read.units, [["", now.found.unit && !read.units ? `automatic: ${now.found.unit}` : "automatic"], ...now.units], set("units")), { field: "units" }),
      box("read-time-unit", "Unit of times", select(read.time_unit, [["", "automatic"], ["s", "seconds"], ["ms", "milliseconds"], ["us", "microseconds"], ["ns", "nanoseconds"]], set("time_unit")), { field: "time-unit" }),
      box("read-format", "Format", select(read.format, [["", "automatic"], ...now.formats.map((it) => [it.name, it.title])], set("format")), { field: "format" }),
      box("read-events", "Events to use", text(read.events, set("events"), { placeholder: "fixations" }), { field: "events", help: labels.length ? `“all”, or labels: ${labels.join(", ")}` : "“all”, or labels of the file" }),
      box("read-rows", "Rows to use", select(read.rows, [["", "automatic"], ["fixations", "fixations"], ["samples", "gaze samples"]], set("rows")), { field: "rows" })),
    hasColumns ? h("details", { open: Object.values(read.columns).some(Boolean) || now.problem?.fields?.some((field) => field.endsWith("columns") || field.endsWith("column")) }, h("summary", null, "Columns"), h("div", { class: "fields" }, roles.map(column))) : null,
    h("details", { open: [read.eye, read.screen_cm, read.distance, read.rate, read.file_name, read.participant, read.stimulus, read.flip_y].some(Boolean) || ["screen-cm", "distance", "rate", "eye", "flip-y", "name-template", "participant", "stimulus"].some((field) => now.problem?.fields?.includes(field)) }, h("summary", null, "More"),
      h("div", { class: "fields" },
        box("read-eye", "Eye", select(read.eye, [["", "left if recorded"], ["left", "left"], ["right", "right"]], set("eye")), { field: "eye" }),
        box("read-screen-cm", "Screen, in centimetres", text(read.screen_cm, set("screen_cm"), { placeholder: "52x29" }), { field: "screen-cm" }),
        box("read-distance", "Eye to screen, in centimetres", text(read.distance, set("distance"), { placeholder: "60" }), { field: "distance" }),
        box("read-rate", "Samples per second", text(read.rate, set("rate"), { placeholder: "from the times" }), { field: "rate" }),
        box("read-file-name", "Pattern of file names", text(read.file_name, set("file_name"), { placeholder: "{stimulus}_p{participant}" }), { field: "name-template", help: "Where a file’s name says who looked at what." }),
        box("read-participant", "Participant, if no file names one", text(read.participant, set("participant")), { field: "participant" }),
        box("read-stimulus", "Stimulus, if no file names one", text(read.stimulus, set("stimulus")), { field: "stimulus" })),
      check("read-flip-y", "The vertical axis points the other way", read.flip_y, set("flip_y"))));
}

/** Whether letters are made here; a cohort file has them. */
const isEncoded = (now) => now.files.some((file) => file.kind === "gaze" || file.kind === "unknown");

function encodeStep(now) {
  const hasGaze = isEncoded(now);
  const ready = now.cohorts.some((cohort) => cohort);
  if (!hasGaze && !ready) return [h("section", null, h("p", null, "There are no recordings yet."), h("a", { class: "button primary", href: "#data" }, "Go to Data"))];
  return [
    hasGaze ? null : problemOf(now),
    now.problem?.file ? h("p", { class: "next" }, h("a", { class: "button", href: "#data" }, "Change it under Data")) : null,
    hasGaze ? null : h("section", null, h("p", null, "A cohort file is already encoded.")),
    lettersTable(now),
    commandBox(now.commands.encode, now.letters.placing === "areas" ? "areas.csv is the file that “Save the areas as a file” below the picture saves." : null),
    ready ? h("p", { class: "next" }, h("a", { class: "button primary", href: "#compare" }, "Next: compare here"), " ", h("a", { class: "button", href: "#partner" }, "or with a partner")) : null,
  ];
}

function slider(id, label, value, { min, max, step, unit }, name) {
  const output = h("output", { for: id }, `${value}${unit}`);
  const move = () => {
    output.textContent = `${input.value}${unit}`;
    letters({ [name]: name === "velocity" || name === "dispersion" ? `${input.value}${unit.trim().replace("°", "deg").replace("/s", "")}` : input.value });
  };
  const input = h("input", { type: "range", min, max, step, value, input: move });
  return box(id, [label, " ", output], input);
}

const letters = (values) => change({ letters: { ...state.now.letters, ...values } });

function letterForm(now) {
  const form = now.letters;
  const [columns, rows] = form.grid.split("x").map(Number);
  const raw = [...now.cohorts, ...worked].some((cohort) => cohort?.summary?.data?.gaze) || form.detect !== "runs";
  // A threshold in degrees needs to know how large the screen was, and how far away.
  const inDegrees = now.found.unit?.startsWith("degrees") || (now.read.screen_cm && now.read.distance);
  const start = (detect) => letters({ detect, ...(detect === "ivt" && !form.velocity && !inDegrees ? { velocity: "800px" } : {}), ...(detect === "idt" && !form.dispersion && !inDegrees ? { dispersion: "40px" } : {}) });
  const side = (id, label, value, make) => {
    const output = h("output", { for: id }, String(value));
    const input = h("input", { type: "range", min: 1, max: 30, value, input: () => {
      output.textContent = input.value;
      const grid = make(Number(input.value));
      picture.setGrid(grid);
      letters({ grid });
    } });
    return box(id, [label, " ", output], input, { field: "grid" });
  };
  const place = (value, label) => {
    const input = h("input", { type: "radio", name: "placing", id: `placing-${value}`, value, checked: form.placing === value, change: () => letters({ placing: value }) });
    return h("label", { class: "check", for: `placing-${value}` }, input, " ", label);
  };
  const now_grid = () => state.now.letters.grid.split("x").map(Number);
  const unit = (value, fallback) => (value.match(/(px|deg)$/)?.[1] ?? fallback) === "px" ? "px" : "deg";
  const number = (value, fallback) => Number(value.replace(/[a-z ]/g, "")) || fallback;
  const lengthUnit = (name, current, change_to) => box(`unit-${name}`, "Unit", select(current, [["deg", "degrees"], ["px", "pixels"]], change_to), { field: name });
  return h("section", { id: "letters" }, h("h2", null, "From places to letters"),
    h("fieldset", null, h("legend", null, "What a letter is"), place("grid", "A cell of a grid"), place("areas", "An area of interest, drawn on the picture"), place("column", "An area that the files name in a column")),
    form.placing === "grid" ? h("div", { class: "fields" },
      side("grid-columns", "Columns", columns, (value) => `${value}x${now_grid()[1]}`),
      side("grid-rows", "Rows", rows, (value) => `${now_grid()[0]}x${value}`),
      box("outside", "Points outside", select(form.outside, [["drop", "are dropped"], ["clamp", "go to the nearest cell"]], (outside) => letters({ outside })))) : null,
    raw ? h("div", null, h("h3", null, "Raw gaze"),
      h("div", { class: "fields" },
        box("detect", "Raw gaze becomes", select(form.detect, [["runs", "runs in the same cell or area"], ["ivt", "fixations by velocity (I-VT)"], ["idt", "fixations by dispersion (I-DT)"]], start), { field: "detect" }),
        form.detect === "runs" ? [
          slider("min-dwell", "Shortest dwell", form.min_dwell || 100, { min: 10, max: 500, step: 10, unit: " ms" }, "min_dwell"),
          slider("max-gap", "Longest gap", form.max_gap || 75, { min: 0, max: 300, step: 5, unit: " ms" }, "max_gap")] : null,
        form.detect === "ivt" ? [
          slider("velocity", "Fastest fixation", number(form.velocity, unit(form.velocity, "deg") === "px" ? 800 : 20), unit(form.velocity, "deg") === "px" ? { min: 50, max: 3000, step: 50, unit: " px/s" } : { min: 5, max: 150, step: 1, unit: " °/s" }, "velocity"),
          lengthUnit("velocity", unit(form.velocity, "deg"), (to) => letters({ velocity: to === "px" ? "800px" : "20deg" }))] : null,
        form.detect === "idt" ? [
          slider("dispersion", "Widest fixation", number(form.dispersion, unit(form.dispersion, "deg") === "px" ? 40 : 1), unit(form.dispersion, "deg") === "px" ? { min: 5, max: 200, step: 1, unit: " px" } : { min: 0.2, max: 5, step: 0.1, unit: " °" }, "dispersion"),
          lengthUnit("dispersion", unit(form.dispersion, "deg"), (to) => letters({ dispersion: to === "px" ? "40px" : "1deg" }))] : null,
        form.detect === "runs" ? null : slider("min-duration", "Shortest fixation", form.min_duration || 100, { min: 20, max: 500, step: 10, unit: " ms" }, "min_duration"))) : null,
    h("details", { open: Boolean(form.bin) || form.drop_empty || form.keep_fixations }, h("summary", null, "More"),
      h("div", { class: "fields" }, box("bin", "One letter per … ms of fixation (ScanMatch)", text(form.bin, (bin) => letters({ bin }), { placeholder: "off", inputmode: "numeric" }), { field: "bin" })),
      check("drop-empty", "Leave out empty scanpaths", form.drop_empty, (drop_empty) => letters({ drop_empty })),
      check("keep-fixations", "Keep fixations, for metrics that compare places or durations", form.keep_fixations, (keep_fixations) => letters({ keep_fixations }))));
}

function lettersTable(now) {
  const isOld = now.problem && !now.cohorts.some(Boolean);
  const parts = (isOld ? worked : now.cohorts).map((cohort, side) => cohort && h("div", null,
    h("p", null, h("strong", null, side ? "Second cohort: " : "First cohort: "), `${count(cohort.scanpaths, "scanpath")}, ${cohort.alphabet.match(/\d+/)?.[0] ?? cohort.alphabet} possible letters. `, isOld ? "These are the letters of the last settings that worked." : h("a", { href: `/api/cohorts/${side}`, download: "" }, "Save the cohort file")),
    h("div", { class: "scroll letters-box", tabindex: "0", role: "region", "aria-label": "Letters" }, h("table", { class: "letters-table" },
      h("thead", null, h("tr", null, ["Participant", "Stimulus", "Length", "Letters"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", null, cohort.entries.map((entry) => h("tr", null, h("th", { scope: "row" }, entry.participant), h("td", null, entry.stimulus ?? "–"), h("td", { class: "number" }, String(entry.length)), h("td", null, h("code", null, entry.letters || "(empty)"))))))),
    cohort.scanpaths > cohort.entries.length ? h("p", { class: "note" }, `The first ${cohort.entries.length} are shown.`) : null,
    cohort.notes.length ? h("ul", { class: "notes" }, cohort.notes.map((note) => h("li", null, noteWords(note)))) : null));
  return parts.some(Boolean) ? h("section", null, h("h2", null, "Letters"), parts) : null;
}

export const metrics = {
  levenshtein: ["Levenshtein distance", "How many letters have to be inserted, deleted or replaced to turn one scanpath into the other.", []],
  scanmatch: ["ScanMatch", "Aligns two scanpaths so that nearby grid cells match, and gives a similarity up to 1.", [["gap", "Gap value"], ["threshold", "Threshold in cells"]]],
  "needleman-wunsch": ["Needleman–Wunsch", "The cost of the best alignment of the whole scanpaths, with costs of your choice.", [["gap", "Cost of a gap"], ["mismatch", "Cost of a replacement"]]],
  "smith-waterman": ["Smith–Waterman", "The best score of an alignment of parts of the two scanpaths: finds what they have in common.", [["reward", "Equal letters"], ["mismatch", "Different letters"], ["gap", "Cost of a gap"]]],
  "sequence-score": ["Sequence score", "The longest common subsequence of letters, as a share of the longer scanpath.", []],
  dtw: ["Dynamic time warping", "How far apart two paths are in total, if one may wait for the other.", []],
  frechet: ["Discrete Fréchet distance", "The shortest leash with which two walkers can follow the two paths.", []],
  hausdorff: ["Hausdorff distance", "How far the most remote place of either path is from the other path.", []],
  crqa: ["Cross-recurrence", "How often, and in which order, both look at the same places.", [["radius", "Radius in cells"], ["line", "Shortest line"]]],
  scasim: ["ScaSim", "Differences in the places and durations of fixations, in visual angle. Needs fixations.", []],
  multimatch: ["MultiMatch", "Five similarities: shape, length, direction, position and duration. Needs fixations.", []],
  subsmatch: ["SubsMatch", "How similar the frequencies of short sequences of letters are.", [["window", "Letters in a sequence"]]],
};

/** What a plan can reveal, and its other choices, by their boxes. */
const choices = {
  "What is revealed": [["score", "the score of each pair"], ["mean", "the mean of each stimulus"], ["mean:overall", "one mean"], ["groups", "the mean of each pair of groups"],
    ["test:groups", "a test: do groups differ?"], ["test:sites", "a test: do the two sites differ?"], ["nearest:5,rate", "how often the nearest neighbours are in the same group"], ["histogram:20", "a histogram"]],
  "Pairs of scanpaths": [["same-stimulus", "of the same stimulus"], ["all", "all"]],
  "Who learns it": [["both", "both sides"], ["host", "only the host"], ["join", "only the joining side"]],
  Engine: [["auto", "automatic"], ["garbled", "garbled circuits"], ["shares", "secret sharing"]],
};

/** The menu's words for a value of a plan. */
export function inWords(name, value) {
  if (name === "Metric") return metrics[value]?.[0] ?? value;
  return choices[name]?.find(([known]) => known === value)?.[1] ?? value;
}

/** The boxes of a plan. `set` gets the changed plan. */
export function planBoxes(plan, set, id, withPartner) {
  const [, sentence, numbers] = metrics[plan.metric] ?? ["", "", []];
  const number = (name, label) => box(`${id}-${name}`, label, text(plan.numbers[name] ?? "", (value) => {
    const numbers = { ...plan.numbers };
    if (value.trim() === "") delete numbers[name];
    else if (Number.isFinite(Number(value))) numbers[name] = Number(value);
    else return attempt(() => { throw { message: `“${value}” is not a number.`, advice: "" }; });
    set({ ...plan, numbers });
  }, { placeholder: "default", inputmode: "decimal" }));
  return h("div", { class: "fields" },
    box(`${id}-metric`, "Metric", select(plan.metric, Object.entries(metrics).map(([name, [title]]) => [name, title]), (metric) => set({ ...plan, metric, numbers: {}, substitution: null })), { help: sentence }),
    plan.metric === "needleman-wunsch" ? box(`${id}-substitution`, "Cost of a replacement grows with", select(plan.substitution ?? "", [["", "nothing: one cost"], ["manhattan", "the distance between cells, in steps"], ["euclidean", "the distance between cells"]], (value) => set({ ...plan, substitution: value || null, numbers: {} }))) : null,
    numbers.filter(([name]) => !(name === "mismatch" && plan.substitution)).map(([name, label]) => number(name, label)),
    box(`${id}-pairs`, "Pairs of scanpaths", menu("Pairs of scanpaths", plan.pairs, (pairs) => set({ ...plan, pairs }))),
    withPartner ? box(`${id}-reveal`, "What is revealed", menu("What is revealed", plan.reveal, (reveal) => set({ ...plan, reveal })), { help: revealHelp(plan.reveal), double: true }) : null,
    withPartner ? box(`${id}-reveal-to`, "Who learns it", menu("Who learns it", plan.reveal_to, (reveal_to) => set({ ...plan, reveal_to }))) : null,
    withPartner ? box(`${id}-engine`, "Engine", menu("Engine", plan.engine, (engine) => set({ ...plan, engine })), { help: "How the two programs compute. Automatic chooses what suits the connection." }) : null);
}

/** The choices of a box; an invitation may have others. */
function menu(name, value, change) {
  const known = choices[name];
  return select(value, known.some(([it]) => it === value) ? known : [...known, [value, value]], change);
}

function revealHelp(reveal) {
  if (reveal === "score") return "Reveals a number for every pair of scanpaths. Many scores of one scanpath reveal it, so only a few comparisons of each are allowed: with more participants, choose a mean or a test.";
  return reveal.startsWith("threshold") ? "Reveals one bit for every pair of scanpaths." : "Reveals nothing about single pairs.";
}

function compareStep(now) {
  const split = now.files.every((file) => file.side === 0);
  if (!now.cohorts[0]) return [h("section", null, h("p", null, "There is no cohort to compare yet."), h("a", { class: "button primary", href: "#data" }, "Go to Data"))];
  const save = (values) => attempt(() => request("/api/plan", { json: { plan: now.plan, compare: now.compare, ...values } }));
  const set = (name) => (value) => save({ compare: { ...now.compare, [name]: value } });
  const running = now.job?.running;
  return [
    h("section", { id: "comparison" }, h("h2", null, "Two cohorts on this machine"),
      h("p", null, split ? "All files are in the first cohort, so its participants are split into two halves at random. To compare two cohorts, move files to the second one under Data." : `The first cohort (${count(now.cohorts[0].participants, "participant")}) with the second (${now.cohorts[1] ? count(now.cohorts[1].participants, "participant") : "not read yet"}).`),
      planBoxes(now.plan, (plan) => save({ plan }), "plan", false),
      h("div", { class: "fields" },
        split ? box("seed", "Seed of the random split", text(now.compare.seed, set("seed"), { inputmode: "numeric" }), { help: "The same number always gives the same random halves." }) : null,
        box("first-name", "Name of the first cohort", text(now.compare.first, set("first"), { placeholder: split ? "half a" : "first" })),
        box("second-name", "Name of the second cohort", text(now.compare.second, set("second"), { placeholder: split ? "half b" : "second" }))),
      check("sites", "Also test whether the two cohorts differ", now.compare.sites, set("sites")),
      h("p", null, h("button", { type: "button", class: "primary", id: "compare", disabled: running, click: () => attempt(() => request("/api/compare")) }, "Compare"),
        running ? [" ", h("button", { type: "button", id: "cancel", click: () => attempt(async () => { await request("/api/compare", { method: "DELETE" }); showStatus("The comparison was cancelled."); }) }, "Cancel")] : null),
      running ? progressBar() : null,
      problemBox(now.job?.problem)),
    resultBox(now, false),
    commandBox(now.commands.compare),
  ];
}

export function progressBar(last) {
  if (last) queueMicrotask(() => progress(last));
  return h("div", { class: "progress" }, h("progress", { id: "progress", max: "1", "aria-label": "Progress" }), h("span", { id: "progress-text" }, "Starting…"));
}

/** Sentences that wrap, and tables (lines with one space before them) that scroll. */
function statisticsBox(words) {
  const parts = [];
  for (const line of words.split("\n")) {
    const table = /^ \S/.test(line);
    if (parts.at(-1)?.table === table) parts.at(-1).lines.push(line);
    else parts.push({ table, lines: [line] });
  }
  return h("div", { class: "statistics" }, parts.map(({ table, lines }) => h("pre", table ? { tabindex: "0" } : { class: "words" }, lines.join("\n"))));
}

/** The result as text; the report is below. */
export function resultBox(now, withPartner) {
  const result = withPartner ? now.partner_result : now.result;
  if (!result) return null;
  const link = (kind, title) => h("a", { class: "button", href: `/api/exports/${result.id}/${kind}`, download: "" }, title);
  const title = withPartner && now.session.phase !== "finished" ? "Result of the last session" : result.outdated ? "Result of earlier settings" : "Result";
  const words = [result.answers, result.summary, result.statistics].join("\n");
  return h("section", { id: "result", class: result.outdated ? "outdated" : null }, h("h2", null, title),
    result.outdated ? h("p", { class: "warning" }, "Recordings or settings have changed since: press Compare again.") : null,
    result.answers ? h("pre", { class: "words", tabindex: "0" }, result.answers.trim()) : null,
    h("pre", { class: "words", tabindex: "0" }, result.summary.trim()),
    result.statistics ? [h("h3", null, "Statistics"), statisticsBox(result.statistics.trim())] : null,
    words.includes("similarity") ? h("p", { class: "note" }, "Similarity is the score on a scale from 0 to 1, which means most alike.") : null,
    h("details", null, h("summary", null, "Time and traffic"), h("pre", { class: "words", tabindex: "0" }, result.details.trim())),
    result.notes.length ? h("ul", { class: "notes" }, result.notes.map((note) => h("li", null, note))) : null,
    h("div", { class: "row exports" }, h("span", null, "Save as"), link("csv", "CSV"), link("json", "JSON"), link("html", "HTML report"), !result.has_pairs ? null : [link("svg", "SVG"), link("png", "PNG")], result.statistics ? link("statistics", "Statistics (CSV)") : null));
}

function showReport(now, step) {
  const wanted = { compare: now.result, partner: now.partner_result }[step];
  reportBox.hidden = !wanted;
  if (!wanted) return;
  const title = wanted.outdated ? "Report of earlier settings" : "Report";
  if (`${wanted.id}` === reportShown) {
    reportBox.firstChild.textContent = title;
    return;
  }
  reportShown = `${wanted.id}`;
  const frame = h("iframe", { title: "Report", sandbox: "allow-scripts", src: `/report/${wanted.id}/plain` });
  const own = wanted.can_show_own ? check("own", "Also draw my own scanpaths (do not share such a page)", false, (show) => frame.setAttribute("src", `/report/${wanted.id}/${show ? "own" : "plain"}`)) : null;
  reportBox.replaceChildren(h("h2", null, title), own ?? "", frame);
}

// Everything together.

const steps = { data: dataStep, encode: encodeStep, compare: compareStep, partner: partnerStep };
const picture = new Picture(pictureBox, { h, request, attempt, letters, state, guess, count });

function current() {
  const name = location.hash.slice(1);
  return Object.hasOwn(steps, name) ? name : "data";
}

/** Shows the options of letters, unless a slider among them is under the pointer: the drag would end with it. */
function placeControls(now, step) {
  const parts = step === "encode" && isEncoded(now) ? [problemOf(now), letterForm(now)] : [];
  main.classList.toggle("with-controls", parts.length > 0);
  if (parts.length && held && controls.contains(held)) outdated = true;
  else controls.replaceChildren(...parts.filter(Boolean));
}

/** The element that has the focus, and what is in it. */
function focused() {
  const active = document.activeElement;
  // A button that was used may be disabled or gone for a while.
  if (lost && (active === document.body || active?.dataset.fallback)) return lost;
  lost = null;
  if (!active?.id || !(body.contains(active) || controls.contains(active))) return null;
  const isText = active.type === "text";
  return { id: active.id, section: active.closest("section")?.id, value: isText || active.type === "range" ? active.value : null, start: isText ? active.selectionStart : null };
}

/** Gives the focus back, or to the heading of the part where it was. */
function focusAgain(kept) {
  if (!kept) return;
  const again = document.getElementById(kept.id);
  if (again === document.activeElement) return;
  if (again && !again.disabled) {
    lost = null;
    if (kept.value !== null && again.value !== kept.value) again.value = kept.value;
    again.focus({ preventScroll: true });
    if (kept.start !== null) again.setSelectionRange?.(kept.start, kept.start);
    return;
  }
  lost = { ...kept, value: null, start: null };
  const heading = document.getElementById(kept.section)?.querySelector("h2") ?? main.querySelector("h2") ?? main;
  if (heading !== main) {
    heading.tabIndex = -1;
    heading.dataset.fallback = "yes";
  }
  heading.focus({ preventScroll: true });
}

// What was announced to screen readers.
const told = { problem: "", phase: "" };
function tell(now) {
  const problem = now.problem ? `${now.problem.message} ${now.problem.advice}` : "";
  if (problem !== told.problem && problem) announce(problem);
  const phase = phases[now.session.phase] ?? "";
  if (phase !== told.phase) {
    showStatus("");
    if (phase) announce(`${phase}. ${now.session.problem?.message ?? ""}`);
  }
  Object.assign(told, { problem, phase });
}

function show(force) {
  const now = state.now;
  if (!now.problem) worked = now.cohorts;
  const step = current();
  for (const name of Object.keys(steps)) {
    const link = document.getElementById(`to-${name}`);
    if (name === step) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  // A user who waits for a partner may look at another tab meanwhile.
  document.title = now.session.phase === "agreed" ? "The partner is ready – Veilpath" : `${titles[step]} – Veilpath`;
  const signature = step + JSON.stringify({ ...now, folder: null });
  if (force || signature !== shown) {
    shown = signature;
    const kept = focused();
    const open = new Set([...main.querySelectorAll("details[open]")].map((it) => it.firstChild?.textContent));
    const scrolled = body.querySelector(".many")?.scrollTop ?? 0;
    // With recordings, the picture is below the files.
    if (step !== "data" && body.contains(pictureBox)) body.before(pictureBox);
    placeControls(now, step);
    body.replaceChildren(...[steps[step](now)].flat(9).filter(Boolean));
    for (const details of main.querySelectorAll("details")) if (open.has(details.firstChild?.textContent)) details.open = true;
    const many = body.querySelector(".many");
    if (many) many.scrollTop = scrolled;
    focusAgain(kept);
  }
  const traced = now.stimuli.some((it) => it.points > 0);
  pictureBox.hidden = !(["data", "encode"].includes(step) && traced);
  if (!pictureBox.hidden) picture.update(now, step === "encode");
  showReport(now, step);
  tell(now);
  main.setAttribute("aria-busy", "false");
  // For screen readers.
  const done = now.job?.running ? "" : now.result ? `result ${now.result.id}` : "";
  if (done && announced !== done && announced !== "" && step === "compare") showStatus("The comparison is finished: the result is below.");
  announced = done || "running";
}

let loading = false;
let again = false;
export async function refresh() {
  // A slider that is being moved is ahead of the program.
  if (pending) { missed = true; return; }
  missed = false;
  if (loading) { again = true; return; }
  loading = true;
  do {
    again = false;
    await attempt(async () => {
      const now = await request("/api/state", { method: "GET" });
      if (!pending) { state.now = now; show(); }
    }, true);
  } while (again);
  loading = false;
}

function progress({ done, total, seconds_left }) {
  const bar = document.getElementById("progress");
  if (!bar) return;
  bar.value = total ? done / total : 0;
  const left = seconds_left === null ? "" : seconds_left < 90 ? `, about ${Math.ceil(seconds_left)} s left` : `, about ${Math.ceil(seconds_left / 60)} min left`;
  document.getElementById("progress-text").textContent = `${Math.floor((total ? done / total : 0) * 100)} %${left}`;
}

function listen() {
  events = new EventSource("/api/events");
  let wasOpen = false;
  events.addEventListener("open", () => { if (wasOpen) { document.getElementById("alert").replaceChildren(); refresh(); } wasOpen = true; });
  events.addEventListener("message", (message) => {
    const event = JSON.parse(message.data);
    if (event.event === "changed") refresh();
    if (event.event === "progress") progress(event);
  });
  events.addEventListener("error", () => {
    const alert = document.getElementById("alert");
    alert.dataset.background = "yes";
    alert.replaceChildren(problemBox({ message: "The program does not respond.", advice: "If it has ended, start Veilpath again, and drop the files again. A session with a partner continues where it stopped: open the partner’s file again, and connect with the same recordings and the same plan." }));
  });
}

const root = document.documentElement;
const preferred = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : preferred.matches);
const showTheme = () => document.getElementById("theme").setAttribute("aria-pressed", String(isDark()));
function theme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
  picture.redraw();
}

/** Ends the program, after a question if something would be lost. */
async function quit() {
  const { files, job, session } = state.now ?? { files: [] };
  const question = job?.running || session?.running ? "A comparison is running. End it, and Veilpath?" : files.length ? "End Veilpath? It forgets your files, areas and results." : "";
  if (question && !confirm(question)) return;
  await attempt(async () => {
    try {
      await request("/api/quit");
    } catch (problem) {
      // It may end before it answers.
      if (!problem.ended) throw problem;
    }
    events?.close();
    state.now = null;
    for (const part of document.querySelectorAll(".top nav, .top .actions")) part.hidden = true;
    showStatus("");
    main.replaceChildren(h("section", null, h("p", null, "Veilpath has ended. You can close this page.")));
    main.focus();
  });
}

document.documentElement.classList.add("js");
pictureBox.id = "picture";
reportBox.id = "report";
pictureBox.hidden = reportBox.hidden = true;
main.replaceChildren(controls, pictureBox, body, reportBox);
controls.id = "controls";
document.getElementById("theme").addEventListener("click", theme);
showTheme();
preferred.addEventListener("change", showTheme);
document.getElementById("quit").addEventListener("click", quit);
// The part of the address after # names the step, so the link must not change it.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("pointerdown", (event) => { held = event.target.type === "range" ? event.target : null; }, true);
const release = () => {
  held = null;
  if (outdated && state.now) show(true);
  outdated = false;
};
addEventListener("pointerup", release, true);
addEventListener("pointercancel", release, true);
addEventListener("hashchange", () => { if (state.now) { showStatus(""); forgetProblems(); lost = null; show(true); main.focus({ preventScroll: true }); scrollTo(0, 0); } });
addEventListener("hashchange-soft", () => { if (state.now) show(true); });
addEventListener("dragover", (event) => { event.preventDefault(); document.getElementById("drop")?.classList.add("over"); });
addEventListener("dragleave", () => document.getElementById("drop")?.classList.remove("over"));
addEventListener("drop", async (event) => {
  event.preventDefault();
  document.getElementById("drop")?.classList.remove("over");
  addFiles(...(await dropped(event.dataTransfer)));
});
await refresh();
listen();
