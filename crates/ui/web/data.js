// The first step: files, and what they do not say.
import { change, lastEncoded, main, pictureBox } from "/app.js";
import { isEncoded } from "/encode.js";
import { attempt, bytes, check, commandBox, count, formField, h, MAX_BYTES, problemOf, request, select, showProblems, showStatus, state, text, tooLarge } from "/page.js";

export function dataStep(now) {
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

/** Adds files. A folder may also contain other files than recordings. */
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
  // In a folder with recordings, other files are left out. In a folder without recordings, the page shows what is wrong with them.
  const hasData = [...kinds.values()].some((kind) => kind === "gaze" || kind === "cohort");
  const others = isFolder && hasData ? [...kinds].filter(([, kind]) => kind === "unknown").map(([id]) => id) : [];
  const left = isFolder && hasData ? others.length + refused.splice(0).length : 0;
  // Several files are encoded once, after all of them have arrived.
  if (files.length > 1) await attempt(() => request("/api/options", { json: { leave_out: others } }));
  const taken = files.length - refused.length - left;
  if (invitations) location.hash = "#partner";
  // Wait for the new step, which clears the status.
  await new Promise((done) => setTimeout(done));
  showStatus(!taken ? "" : taken === invitations ? "The partner’s file was opened." : `${left ? `${count(left, "other file")} of the folder left out. ` : ""}${count(taken, "file")} read.`);
  showProblems(refused);
}

/** The dropped files, and whether they come from a folder. */
export async function dropped(transfer) {
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
      // The order is the same on every machine.
      inside.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const inner of inside) await walk(inner);
    }
  };
  for (const entry of entries) await walk(entry);
  return [files.filter((file) => !file.name.startsWith(".")), true];
}

/** The files of an input. The input is cleared, so that the same files can be chosen again. */
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
  const fromFolder = now.folder && now.folder.files.length ? formField("folder-file", `From the folder “${now.folder.name}”`, select("", [["", "Choose a file…"], ...now.folder.files.map((name) => [name, name])], (name) => name && open(name)), { help }) : null;
  return h("section", { class: "drop", id: "drop" },
    h("h2", null, "Drop your recordings here"),
    h("p", null, "Fixations or gaze from EyeLink, Tobii, SMI, Pupil Labs, Gazepoint and others, tables, or cohort files; pictures of the stimuli as PNG or JPEG; a partner’s invitation. Nothing is uploaded: the files go to the program on this machine."),
    h("div", { class: "row" },
      input, h("label", { class: now.files.length ? "button" : "button primary", for: "files" }, "Choose files"),
      folder, h("label", { class: "button", for: "folder" }, "Choose a folder")),
    now.files.length ? null : h("div", { class: "row" },
      h("button", { type: "button", id: "example", click: () => example(false) }, "Try it with synthetic data"),
      h("button", { type: "button", id: "example-partner", click: () => example(true) }, "Synthetic partner data")),
    now.files.length ? null : h("p", { class: "note" }, "Both have two groups of six participants. To try a private comparison, take one on each page."),
    fromFolder);
}

/** Twelve synthetic participants in two groups who look at two pictures, for a first try. A partner has twelve others. */
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
        const point = [x + (random() + random() - 1) * 260, y + (random() + random() - 1) * 180];
        lines.push(`${group}-${person},${group},${scene},${point.map((part) => part.toFixed(1)).join(",")},${Math.round(150 + random() * 300)}`);
      }
    }
  }
  change({ read: { ...state.now.read, screen: "1280x720" } });
  await addFiles([new File([lines.join("\n") + "\n"], isPartner ? "synthetic-partner.csv" : "synthetic.csv")]);
  // The button that had the focus is gone.
  main.focus({ preventScroll: true });
}

function fileTable(now, files) {
  // If one file cannot be read, what is known about the others still shows.
  const cohorts = now.cohorts.some(Boolean) ? now.cohorts : lastEncoded;
  const summaries = cohorts.flatMap((cohort) => cohort?.summary?.files ?? []);
  const reasons = cohorts.flatMap((cohort) => cohort?.dropped ?? []);
  const rows = files.map((file) => {
    const wrong = now.problem?.file === file.reader_name;
    const summary = wrong ? null : summaries.find((it) => it.file === file.reader_name);
    const drops = wrong ? [] : reasons[summaries.indexOf(summary)] ?? [];
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
  // A long list scrolls, so that the content below stays in reach.
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
  // A BIDS dataset has many metadata files.
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

/** The text of a note. A note about a field without effect names the field. */
export function noteWords({ text, fields }) {
  // On this page, areas are drawn instead of read from a file.
  if (!text.startsWith("has no effect") || !fields?.length) return text.replace(/check that the stimulus names in the AOI file .*/, "draw one on it, or tick “on all stimuli”");
  return `${fields.map((field) => `“${boxes[field] ?? field}”`).join(" and ")} ${text}`;
}

function cohortLines(now) {
  return now.cohorts.map((cohort, side) => cohort && h("div", { class: "cohort" },
    h("p", null, h("strong", null, side ? "Second cohort: " : "First cohort: "), `${count(cohort.scanpaths, "scanpath")} of ${count(cohort.participants, "participant")}`,
      Object.keys(cohort.groups).length ? `; groups: ${Object.entries(cohort.groups).map(([name, size]) => `${name} (${size})`).join(", ")}` : "", "."),
    cohort.notes.length || cohort.remarks.length ? h("ul", { class: "notes" }, cohort.notes.map((note) => h("li", null, noteWords(note))), cohort.remarks.map((note) => h("li", null, note))) : null));
}

const commonRoles = ["participant", "group", "stimulus", "x", "y", "duration", "start"];
const roleNames = { participant: "Participant", group: "Group", stimulus: "Stimulus", x: "Horizontal position (x)", y: "Vertical position (y)", duration: "Duration", start: "Start", time: "Time" };

function readForm(now) {
  const read = now.read;
  const set = (name) => (value) => change({ read: { ...state.now.read, [name]: value } });
  const files = now.cohorts.flatMap((cohort) => cohort?.summary?.files ?? []);
  const read_columns = [...new Set(files.flatMap((file) => [...(file.columns?.used ?? []).map((it) => it.column), ...(file.columns?.not_used ?? [])]))];
  // A table that cannot be read yet has column names, too.
  const columns = [...new Set([...read_columns, ...now.headers])];
  const used = new Map(files.flatMap((file) => (file.columns?.used ?? []).map((it) => [it.role, it.column])));
  const roles = [...new Set([...commonRoles, ...used.keys(), ...Object.keys(read.columns)])];
  const labels = [...new Set(files.flatMap((file) => Object.keys(file.unrequested_events)))];
  const column = (role) => {
    const value = read.columns[role] ?? "";
    const choose = (name) => change({ read: { ...state.now.read, columns: { ...state.now.read.columns, [role]: name } } });
    const automatic = used.has(role) && !value ? `automatic: ${used.get(role)}` : "automatic";
    const input = columns.length ? select(value, [["", automatic], ...columns.map((name) => [name, name])], choose) : text(value, choose, { placeholder: "automatic" });
    return formField(`column-${role}`, roleNames[role] ?? role, input, { field: { participant: "participant-column", stimulus: "stimulus-column", group: "group-column", x: "coordinate-columns", y: "coordinate-columns" }[role] });
  };
  const hasColumns = columns.length || now.problem?.fields?.some((field) => field.endsWith("columns"));
  return h("section", { id: "reading" }, h("h2", null, "What the files do not say"),
    h("p", { class: "note" }, "Veilpath guesses the rest from the files. Change what it got wrong."),
    h("div", { class: "fields" },
      formField("read-screen", "Screen or stimulus, in pixels", text(read.screen, set("screen"), { placeholder: now.found.screen ? `automatic: ${now.found.screen}` : "1280x720", inputmode: "text" }), { field: "screen" }),
      formField("read-units", "Unit of coordinates", select(read.units, [["", now.found.unit && !read.units ? `automatic: ${now.found.unit}` : "automatic"], ...now.units], set("units")), { field: "units" }),
      formField("read-time-unit", "Unit of times", select(read.time_unit, [["", "automatic"], ["s", "seconds"], ["ms", "milliseconds"], ["us", "microseconds"], ["ns", "nanoseconds"]], set("time_unit")), { field: "time-unit" }),
      formField("read-format", "Format", select(read.format, [["", "automatic"], ...now.formats.map((it) => [it.name, it.title])], set("format")), { field: "format" }),
      formField("read-events", "Events to use", text(read.events, set("events"), { placeholder: "automatic" }), { field: "events", help: labels.length ? `“all”, or labels: ${labels.join(", ")}` : "“all”, or labels of the file" }),
      formField("read-rows", "Rows to use", select(read.rows, [["", "automatic"], ["fixations", "fixations"], ["samples", "gaze samples"]], set("rows")), { field: "rows" })),
    hasColumns ? h("details", { open: Object.values(read.columns).some(Boolean) || now.problem?.fields?.some((field) => field.endsWith("columns") || field.endsWith("column")) }, h("summary", null, "Columns"), h("div", { class: "fields" }, roles.map(column))) : null,
    h("details", { open: [read.eye, read.screen_cm, read.distance, read.rate, read.name_pattern, read.participant, read.stimulus, read.flip_y].some(Boolean) || ["screen-cm", "distance", "rate", "eye", "flip-y", "name-pattern", "participant", "stimulus"].some((field) => now.problem?.fields?.includes(field)) }, h("summary", null, "More"),
      h("div", { class: "fields" },
        formField("read-eye", "Eye", select(read.eye, [["", "left if recorded"], ["left", "left"], ["right", "right"]], set("eye")), { field: "eye" }),
        formField("read-screen-cm", "Screen, in centimetres", text(read.screen_cm, set("screen_cm"), { placeholder: "52x29" }), { field: "screen-cm" }),
        formField("read-distance", "Eye to screen, in centimetres", text(read.distance, set("distance"), { placeholder: "60" }), { field: "distance" }),
        formField("read-rate", "Samples per second", text(read.rate, set("rate"), { placeholder: "from the times" }), { field: "rate" }),
        formField("read-name-pattern", "Pattern of file names", text(read.name_pattern, set("name_pattern"), { placeholder: "{stimulus}_p{participant}" }), { field: "name-pattern", help: "Where a file’s name says who looked at what." }),
        formField("read-participant", "Participant, if no file names one", text(read.participant, set("participant")), { field: "participant" }),
        formField("read-stimulus", "Stimulus, if no file names one", text(read.stimulus, set("stimulus")), { field: "stimulus" })),
      check("read-flip-y", "The vertical axis points the other way", read.flip_y, set("flip_y"))));
}
