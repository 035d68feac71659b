// The page of Veilpath: loads the state of the program, shows one step, and sends changes back.
import { compareStep, progress, reportBox, showReport } from "/compare.js";
import { addFiles, dataStep, dropped, guess } from "/data.js";
import { encodeStep, isEncoded, letterForm, letters } from "/encode.js";
import { announce, attempt, count, forgetProblems, h, problemBox, problemOf, problemWords, request, showStatus, state } from "/page.js";
import { badges, partnerStep, phases } from "/partner.js";
import { Picture } from "/picture.js";

const body = document.createElement("div");
// Sliders that change the picture stay beside it, or above it in a narrow window.
const controls = document.createElement("div");
export const pictureBox = document.createElement("section");
export const main = document.getElementById("step");
const titles = { data: "Data", encode: "Encode", compare: "Compare here", partner: "With a partner" };
let shown = "";
let lostFocus = null;
let announced = "";
let events = null;
// The slider that is being dragged, and whether the controls around it still have to be redrawn.
let held = null;
let outdated = false;
// The last encoding that worked, so that a wrong option does not empty the page.
export let lastEncoded = [null, null];

// Option changes: one request at a time, and the newest values win.
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

const steps = { data: dataStep, encode: encodeStep, compare: compareStep, partner: partnerStep };
export const picture = new Picture(pictureBox, { h, request, attempt, letters, state, guess, count });

function current() {
  const name = location.hash.slice(1);
  return Object.hasOwn(steps, name) ? name : "data";
}

/** Shows the letter options, unless one of their sliders is being dragged: replacing it would end the drag. */
function placeControls(now, step) {
  const parts = step === "encode" && isEncoded(now) ? [problemOf(now), letterForm(now)] : [];
  main.classList.toggle("with-controls", parts.length > 0);
  if (parts.length && held && controls.contains(held)) outdated = true;
  else controls.replaceChildren(...parts.filter(Boolean));
}

// The session phase that was shown last.
let phaseShown = null;
/** Marks the partner step, and scrolls to a new phase of the session, because the window may be at an earlier result. */
function showPhase({ phase }, step) {
  document.getElementById("session-state")?.remove();
  if (badges[phase]) document.getElementById("to-partner").append(h("span", { id: "session-state" }, " ", h("span", { class: "badge" }, badges[phase])));
  // Without animation.
  if (step === "partner" && phaseShown !== null && phase !== phaseShown) document.getElementById("session")?.scrollIntoView({ block: "start" });
  phaseShown = phase;
}

/** Goes to the partner step if the page is opened during or after a session. */
function openSession({ phase }) {
  const [entry] = performance.getEntriesByType("navigation");
  if (phase !== "idle" && (entry?.type !== "reload" || !location.hash)) history.replaceState(null, "", "#partner");
}

/** The focused element and its value. */
function currentFocus() {
  const active = document.activeElement;
  // A button may be disabled or gone for a while after it was used.
  if (lostFocus && (active === document.body || active?.dataset.fallback)) return lostFocus;
  lostFocus = null;
  if (!active?.id || !(body.contains(active) || controls.contains(active))) return null;
  const isText = active.type === "text";
  return { id: active.id, section: active.closest("section")?.id, value: isText || active.type === "range" ? active.value : null, start: isText ? active.selectionStart : null };
}

/** Restores the focus, or moves it to the heading of its section. */
function restoreFocus(previous) {
  if (!previous) return;
  const target = document.getElementById(previous.id);
  if (target === document.activeElement) return;
  if (target && !target.disabled) {
    lostFocus = null;
    if (previous.value !== null && target.value !== previous.value) target.value = previous.value;
    target.focus({ preventScroll: true });
    if (previous.start !== null) target.setSelectionRange?.(previous.start, previous.start);
    return;
  }
  lostFocus = { ...previous, value: null, start: null };
  const heading = document.getElementById(previous.section)?.querySelector("h2") ?? main.querySelector("h2") ?? main;
  if (heading !== main) {
    heading.tabIndex = -1;
    heading.dataset.fallback = "yes";
  }
  heading.focus({ preventScroll: true });
}

// What was announced to screen readers.
const announcedState = { problem: "", phase: "" };
function announceChanges(now) {
  const problem = now.problem ? problemWords(now.problem) : "";
  // This also clears a problem whose file was fixed or removed.
  if (problem !== announcedState.problem) announce(problem);
  const phase = phases[now.session.phase] ?? "";
  if (phase !== announcedState.phase) {
    showStatus("");
    announce(phase && `${phase}. ${now.session.problem ? problemWords(now.session.problem) : ""}`);
  }
  Object.assign(announcedState, { problem, phase });
}

function show(force) {
  const now = state.now;
  if (!now.problem) lastEncoded = now.cohorts;
  const step = current();
  for (const name of Object.keys(steps)) {
    const link = document.getElementById(`to-${name}`);
    if (name === step) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  // While waiting for a partner, the user may look at another tab.
  document.title = now.session.phase === "agreed" ? "The partner is ready – Veilpath" : `${titles[step]} – Veilpath`;
  const signature = step + JSON.stringify({ ...now, folder: null });
  if (force || signature !== shown) {
    shown = signature;
    const previous = currentFocus();
    const open = new Set([...main.querySelectorAll("details[open]")].map((it) => it.firstChild?.textContent));
    const scrolled = body.querySelector(".many")?.scrollTop ?? 0;
    // The picture is below the files in the data step, and above the body in other steps.
    if (step !== "data" && body.contains(pictureBox)) body.before(pictureBox);
    placeControls(now, step);
    body.replaceChildren(...[steps[step](now)].flat(9).filter(Boolean));
    for (const details of main.querySelectorAll("details")) if (open.has(details.firstChild?.textContent)) details.open = true;
    const many = body.querySelector(".many");
    if (many) many.scrollTop = scrolled;
    restoreFocus(previous);
  }
  const traced = now.stimuli.some((it) => it.points > 0);
  pictureBox.hidden = !(["data", "encode"].includes(step) && traced);
  if (!pictureBox.hidden) picture.update(now, step === "encode");
  showReport(now, step);
  showPhase(now.session, step);
  announceChanges(now);
  main.setAttribute("aria-busy", "false");
  // For screen readers.
  const done = now.job?.running ? "" : now.result ? `result ${now.result.id}` : "";
  if (done && announced !== done && announced !== "" && step === "compare") showStatus("The comparison is finished: the result is below.");
  announced = done || "running";
}

let loading = null;
let refreshAgain = false;
/** Loads and shows the state; resolves when the newest state is shown. */
export async function refresh() {
  // The page has changes that the program does not have yet.
  if (pending) { missed = true; return; }
  missed = false;
  refreshAgain = true;
  loading ??= load();
  await loading;
}
async function load() {
  while (refreshAgain) {
    refreshAgain = false;
    await attempt(async () => {
      const { edits, sending } = state;
      const now = await request("/api/state", { method: "GET" });
      if (pending) return;
      // The answer may be older than what the user has just entered.
      if (sending || state.edits !== edits) {
        if (state.sending) missed = true;
        else refreshAgain = true;
        return;
      }
      if (!state.now) openSession(now.session);
      state.now = now;
      show();
    }, true);
  }
  loading = null;
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

/** Ends the program; asks first if something would be lost. */
async function quit() {
  const { files, job, session } = state.now ?? { files: [] };
  const question = job?.running || session?.running ? "A comparison is running. End it, and Veilpath?" : files.length ? "End Veilpath? It forgets your files, areas and results. The signed record is kept." : "";
  if (question && !confirm(question)) return;
  await attempt(async () => {
    try {
      await request("/api/quit");
    } catch (problem) {
      // The program may end before it answers.
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
addEventListener("hashchange", () => { if (state.now) { showStatus(""); forgetProblems(); lostFocus = null; show(true); main.focus({ preventScroll: true }); scrollTo(0, 0); } });
addEventListener("edits-sent", () => { if (missed) refresh(); });
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
