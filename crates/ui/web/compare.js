// The third step: a comparison on this machine. Results and their reports.
import { attempt, check, commandBox, count, formField, h, problemBox, request, showStatus, text } from "/page.js";
import { planBoxes } from "/plan.js";

export const reportBox = document.createElement("section");
let reportShown = "";

export function compareStep(now) {
  const split = now.files.every((file) => file.side === 0);
  if (!now.cohorts[0]) return [h("section", null, h("p", null, "There is no cohort to compare yet."), h("a", { class: "button primary", href: "#data" }, "Go to Data")), resultBox(now, false)];
  const save = (values) => attempt(() => request("/api/plan", { json: { plan: now.plan, compare: now.compare, ...values } }));
  const set = (name) => (value) => save({ compare: { ...now.compare, [name]: value } });
  const running = now.job?.running;
  return [
    h("section", { id: "comparison" }, h("h2", null, "Two cohorts on this machine"),
      h("p", null, split ? "All files are in the first cohort, so its participants are split into two halves at random. To compare two cohorts, move files to the second one under Data." : `The first cohort (${count(now.cohorts[0].participants, "participant")}) with the second (${now.cohorts[1] ? count(now.cohorts[1].participants, "participant") : "not read yet"}).`),
      planBoxes(now.plan, (plan) => save({ plan }), "plan", false),
      h("div", { class: "fields" },
        split ? formField("seed", "Seed of the random split", text(now.compare.seed, set("seed"), { inputmode: "numeric" }), { help: "The same number always gives the same random halves." }) : null,
        formField("first-name", "Name of the first cohort", text(now.compare.first, set("first"), { placeholder: split ? "half a" : "first" })),
        formField("second-name", "Name of the second cohort", text(now.compare.second, set("second"), { placeholder: split ? "half b" : "second" }))),
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
  // The last session's result would be mistaken for that of the running session.
  if (!result || (withPartner && now.session.running)) return null;
  const link = (kind, title) => h("a", { class: "button", href: `/api/exports/${result.id}/${kind}`, download: "" }, title);
  const title = !withPartner && result.outdated ? "Result of earlier settings" : withPartner && now.session.phase !== "finished" ? "Result of the last session" : "Result";
  const words = [result.answers, result.summary, result.statistics].join("\n");
  return h("section", { id: "result", class: result.outdated ? "outdated" : null }, h("h2", null, title),
    result.outdated ? h("p", { class: "warning" }, withPartner ? "Recordings have changed since this session." : "Recordings or settings have changed since: press Compare again.") : null,
    result.answers ? statisticsBox(result.answers.trim()) : null,
    h("pre", { class: "words", tabindex: "0" }, result.summary.trim()),
    result.statistics ? [h("h3", null, "Statistics"), statisticsBox(result.statistics.trim())] : null,
    words.includes("similarity") ? h("p", { class: "note" }, "Similarity is the score on a scale from 0 to 1; 1 means most alike.") : null,
    h("details", null, h("summary", null, "Time and traffic"), h("pre", { class: "words", tabindex: "0" }, result.details.trim())),
    result.notes.length ? h("ul", { class: "notes" }, result.notes.map((note) => h("li", null, note))) : null,
    h("div", { class: "row exports" }, h("span", null, "Save as"), link("csv", "CSV"), link("json", "JSON"), link("html", "HTML report"), !result.has_pairs ? null : [link("svg", "SVG"), link("png", "PNG")], result.statistics ? link("statistics", "Statistics (CSV)") : null));
}

export function showReport(now, step) {
  const wanted = { compare: now.result, partner: now.session.running ? null : now.partner_result }[step];
  reportBox.hidden = !wanted;
  if (!wanted) return;
  const title = !wanted.outdated ? "Report" : wanted.with_partner ? "Report of the last session" : "Report of earlier settings";
  if (`${wanted.id}` === reportShown) {
    reportBox.firstChild.textContent = title;
    return;
  }
  reportShown = `${wanted.id}`;
  const frame = h("iframe", { title: "Report", sandbox: "allow-scripts", src: `/report/${wanted.id}/plain` });
  const own = wanted.can_show_own ? check("own", "Also draw my own scanpaths (do not share such a page)", false, (show) => frame.setAttribute("src", `/report/${wanted.id}/${show ? "own" : "plain"}`)) : null;
  reportBox.replaceChildren(h("h2", null, title), own ?? "", frame);
}

/** Shows the progress of a comparison or session. */
export function progress({ done, total, seconds_left }) {
  const bar = document.getElementById("progress");
  if (!bar) return;
  bar.value = total ? done / total : 0;
  const left = seconds_left === null ? "" : seconds_left < 90 ? `, about ${Math.ceil(seconds_left)} s left` : `, about ${Math.ceil(seconds_left / 60)} min left`;
  document.getElementById("progress-text").textContent = `${Math.floor((total ? done / total : 0) * 100)} %${left}`;
}
