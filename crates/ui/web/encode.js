// The second step: letters.
import { change, lastEncoded, picture } from "/app.js";
import { noteWords } from "/data.js";
import { check, commandBox, count, formField, h, problemOf, select, state, text } from "/page.js";

/** Whether letters are made here. A cohort file already has them. */
export const isEncoded = (now) => now.files.some((file) => file.kind === "gaze" || file.kind === "unknown");

export function encodeStep(now) {
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
  return formField(id, [label, " ", output], input);
}

export const letters = (values) => change({ letters: { ...state.now.letters, ...values } });

export function letterForm(now) {
  const form = now.letters;
  const [columns, rows] = form.grid.split("x").map(Number);
  const raw = [...now.cohorts, ...lastEncoded].some((cohort) => cohort?.summary?.data?.gaze) || form.detect !== "runs";
  // A threshold in degrees needs the size and the distance of the screen.
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
    return formField(id, [label, " ", output], input, { field: "grid" });
  };
  const letterChoice = (value, label) => {
    const input = h("input", { type: "radio", name: "placing", id: `placing-${value}`, value, checked: form.placing === value, change: () => letters({ placing: value }) });
    return h("label", { class: "check", for: `placing-${value}` }, input, " ", label);
  };
  const now_grid = () => state.now.letters.grid.split("x").map(Number);
  const unit = (value, fallback) => (value.match(/(px|deg)$/)?.[1] ?? fallback) === "px" ? "px" : "deg";
  const number = (value, fallback) => Number(value.replace(/[a-z ]/g, "")) || fallback;
  const lengthUnit = (name, current, change_to) => formField(`unit-${name}`, "Unit", select(current, [["deg", "degrees"], ["px", "pixels"]], change_to), { field: name });
  return h("section", { id: "letters" }, h("h2", null, "From positions to letters"),
    h("fieldset", null, h("legend", null, "What a letter is"), letterChoice("grid", "A cell of a grid"), letterChoice("areas", "An area of interest, drawn on the picture"), letterChoice("column", "An area that the files name in a column")),
    form.placing === "grid" ? h("div", { class: "fields" },
      side("grid-columns", "Columns", columns, (value) => `${value}x${now_grid()[1]}`),
      side("grid-rows", "Rows", rows, (value) => `${now_grid()[0]}x${value}`),
      formField("outside", "Points outside", select(form.outside, [["drop", "are dropped"], ["clamp", "go to the nearest cell"]], (outside) => letters({ outside })))) : null,
    raw ? h("div", null, h("h3", null, "Raw gaze"),
      h("div", { class: "fields" },
        formField("detect", "Raw gaze becomes", select(form.detect, [["runs", "runs in the same cell or area"], ["ivt", "fixations by velocity (I-VT)"], ["idt", "fixations by dispersion (I-DT)"]], start), { field: "detect" }),
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
      h("div", { class: "fields" }, formField("bin", "One letter per … ms of fixation (ScanMatch)", text(form.bin, (bin) => letters({ bin }), { placeholder: "off", inputmode: "numeric" }), { field: "bin" })),
      check("drop-empty", "Leave out empty scanpaths", form.drop_empty, (drop_empty) => letters({ drop_empty })),
      check("keep-fixations", "Keep fixations, for metrics that compare positions or durations", form.keep_fixations, (keep_fixations) => letters({ keep_fixations }))));
}

function lettersTable(now) {
  const isOld = now.problem && !now.cohorts.some(Boolean);
  const parts = (isOld ? lastEncoded : now.cohorts).map((cohort, side) => cohort && h("div", null,
    h("p", null, h("strong", null, side ? "Second cohort: " : "First cohort: "), `${count(cohort.scanpaths, "scanpath")}, ${cohort.alphabet.match(/\d+/)?.[0] ?? cohort.alphabet} possible letters. `, isOld ? "These are the letters of the last settings that worked." : h("a", { href: `/api/cohorts/${side}`, download: "" }, "Save the cohort file")),
    h("div", { class: "scroll letters-box", tabindex: "0", role: "region", "aria-label": "Letters" }, h("table", { class: "letters-table" },
      h("thead", null, h("tr", null, ["Participant", "Stimulus", "Length", "Letters"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", null, cohort.entries.map((entry) => h("tr", null, h("th", { scope: "row" }, entry.participant), h("td", null, entry.stimulus ?? "–"), h("td", { class: "number" }, entry.length.toLocaleString("en")), h("td", null, h("code", null, entry.letters || "(empty)"))))))),
    cohort.scanpaths > cohort.entries.length ? h("p", { class: "note" }, `The first ${cohort.entries.length} are shown.`) : null,
    cohort.notes.length ? h("ul", { class: "notes" }, cohort.notes.map((note) => h("li", null, noteWords(note)))) : null));
  return parts.some(Boolean) ? h("section", null, h("h2", null, "Letters"), parts) : null;
}
