// The step with a partner: identity, invitation, plan, session, record.
import { refresh } from "/app.js";
import { progressBar, resultBox } from "/compare.js";
import { addFiles, chosen } from "/data.js";
import { attempt, check, commandBox, count, download, edit, formField, h, problemBox, request, showProblems, state, text, withFullStop } from "/page.js";
import { planBoxes, valueLabel } from "/plan.js";

let identity = null;
let peerWords = { of: "", words: [] };
let policy = { of: "", loaded: "", value: null };
let record = { of: "", lines: [] };
// The field that the last action needs, and the addresses that were entered for each role.
let needed = "";
const addresses = { host: "", join: "" };

export function partnerStep(now) {
  const session = now.session;
  const editable = !session.running && session.phase !== "finished";
  loadPolicy(now);
  return [
    introduction(),
    session.phase === "failed" ? sessionBox(now) : null,
    !editable ? null : now.cohorts[0] ? [identityBox(), whoBox(now), planBox(now), session.can_resume ? null : connectBox(now)] : missingBox(now),
    ["idle", "failed"].includes(session.phase) ? null : sessionBox(now),
    resultBox(now, true),
    recordBox(now),
    now.cohorts[0] ? commandBox(now.commands.partner) : null,
  ];
}

const introduction = () => h("p", { class: "under" }, "Compare with another institution without showing it your scanpaths. One side hosts, the other joins; both see the same plan before anything is computed.");

/** The partner in a sentence. A name alone could be any word. */
const partnerWords = (name) => (name ? `the partner (${name})` : "the partner");

/** Shown while this side's recordings are missing. */
function missingBox(now) {
  const { peer, peer_name: name, role } = now.partner;
  const file = role === "join" ? "invitation" : "answer";
  const data = now.files.filter((it) => ["gaze", "unknown", "cohort"].includes(it.kind));
  const words = !data.length ? "Your own recordings are missing: drop them under Data, then come back."
    : data.every((it) => it.side === 1) ? "Your files are all in the second cohort, and a partner compares with the first one: move them under Data."
    : now.problem ? "Your recordings cannot be read yet: Data says what is missing." : "Your recordings are being read.";
  return h("section", { id: "missing" }, peer ? h("p", null, `The ${file} of ${partnerWords(name)} is open.`) : null, h("p", null, words), h("a", { class: "button primary", href: "#data" }, "Go to Data"));
}

// One change at a time: a quick second one must not undo the first.
let saved = Promise.resolve();
function save(values) {
  const earlier = saved;
  saved = edit(() => attempt(async () => {
    await earlier;
    const form = { ...state.now.partner, ...values };
    await request("/api/partner", { json: form });
    state.now.partner = form;
  }));
  return saved;
}

function identityBox() {
  const load = () => attempt(async () => { identity = await request("/api/identity"); redraw(); document.getElementById("own-fingerprint")?.focus(); }, true);
  const section = h("section", { id: "identity" }, h("h2", null, "1. Who you are"));
  if (!identity) {
    section.append(h("p", null, "Your identity is a key that stays in a file on this machine. The partner needs its fingerprint."), h("button", { type: "button", id: "show-identity", click: load }, "Show my fingerprint"));
    return section;
  }
  const drawn = new DOMParser().parseFromString(identity.qr, "image/svg+xml").documentElement;
  section.append(h("div", { class: "identity" },
    h("div", null, h("p", null, "Your fingerprint:"), h("code", { class: "fingerprint", id: "own-fingerprint", tabindex: "-1" }, identity.fingerprint), h("p", null, "The same in words, to read out on the phone:"), wordList(identity.words)),
    h("div", { class: "qr" }, document.importNode(drawn, true))));
  return section;
}

const wordList = (words) => h("ol", { class: "words-list" }, words.map((word) => h("li", null, word)));

function whoBox(now) {
  const form = now.partner;
  const file = h("input", { type: "file", id: "invitation-file", class: "visually-hidden", change: async () => {
    const [picked] = chosen(file);
    if (!picked) return;
    const start = await picked.slice(0, 200).text();
    if (start.includes("veilpath invitation")) await addFiles([picked]);
    else showProblems([{ file: picked.name, message: `${picked.name} is not an invitation or an answer.`, advice: "Open the file that the partner sent; recordings belong under Data." }]);
  } });
  const role = (value, label) => {
    const input = h("input", { type: "radio", name: "role", id: `role-${value}`, checked: form.role === value, change: () => {
      // Each role has its own address: a joining side's is that of its host.
      addresses[form.role] = document.getElementById("address")?.value ?? form.address;
      needed = "";
      save({ role: value, address: addresses[value] });
    } });
    return h("label", { class: "check", for: `role-${value}` }, input, " ", label);
  };
  const meetingPlace = (via_relay, label) => {
    const id = via_relay ? "via-relay" : "via-host";
    const input = h("input", { type: "radio", name: "place", id, checked: form.via_relay === via_relay, change: () => save({ via_relay }) });
    return h("label", { class: "check", for: id }, input, " ", label);
  };
  if (form.peer && peerWords.of !== form.peer) {
    const of = form.peer;
    request(`/api/words?name=${encodeURIComponent(of)}`, { method: "GET" }).then(({ words }) => { peerWords = { of, words }; redraw(); }, () => { peerWords = { of, words: [] }; });
  }
  return h("section", { id: "who" }, h("h2", null, "2. Who the partner is"),
    h("p", null, "If the partner has sent you an invitation or an answer, drop it on this page or choose it here."),
    h("div", { class: "row" }, file, h("label", { class: "button", for: "invitation-file" }, "Open an invitation or answer")),
    h("fieldset", null, h("legend", null, "Your role"), role("host", "I host"), role("join", "I join")),
    h("fieldset", null, h("legend", null, "Where you meet"),
      meetingPlace(false, form.role === "host" ? "Here: the partner connects to this machine, which must be reachable from outside" : "At the host: this machine connects to it"),
      meetingPlace(true, "At a relay: both connect to a third machine, because neither may open a port")),
    h("div", { class: "fields" },
      formField("own-name", "Your institution", text(form.name, (name) => save({ name }), { placeholder: "your name in results" })),
      formField("peer-name", "The partner", text(form.peer_name, (peer_name) => save({ peer_name }), { placeholder: "its name in results" })),
      form.via_relay ? formField("relay", fields.relay, text(form.relay, (relay) => save({ relay }), { placeholder: "relay.example:7071" }), { refused: isRefused("relay"), help: "“veilpath relay” runs there. It has no key, and cannot read what passes through it." }) : null,
      form.role === "host" && !form.via_relay ? formField("listen", "Address on this machine", text(form.listen, (listen) => save({ listen })), { help: "0.0.0.0 means all networks of this machine; the number after the colon is the port." }) : null,
      form.via_relay ? null : formField("address", fields[form.role], text(form.address, (address) => save({ address }), { placeholder: "clinic.example:7070" }), { refused: isRefused("address"), help: form.role === "host" ? "The name of this machine as the partner reaches it, and the port that your firewall lets through. Your IT department knows both." : "It is in the invitation." }),
      formField("peer", fields.peer, text(form.peer, (peer) => save({ peer }), { placeholder: "as in 7d67-6f22-50dd-…" }), { wide: true, refused: isRefused("peer") })),
    form.peer && peerWords.of === form.peer && peerWords.words.length ? h("div", { class: "warning" }, h("p", null, h("strong", null, "Compare these words with the partner by phone"), " before you start. Somebody who changed the file on its way cannot change the words that the partner sees."), wordList(peerWords.words)) : null);
}

/** Whether the invitation suggests a smaller minimum than this side's, and this side may use it. The larger of the two applies. */
function suggestsMinimum({ suggested_minimum: suggested, minimum_group: own }) {
  return suggested && policy.value?.limits?.kind === "groups" && suggested >= policy.value.least && suggested < Number(own || policy.value.minimum);
}

/** The smallest group that this side accepts: the user’s choice or the default, and what the policy requires. */
const minimumGroup = ({ minimum_group: chosen }) => Math.max(Number(chosen) || policy.value?.minimum || 0, policy.value?.least ?? 0);

function planBox(now) {
  const form = now.partner;
  const joins = form.role === "join";
  const encoding = Object.entries(form.encoding);
  const own = now.cohorts[0].encoding;
  const differs = encoding.filter(([name, value]) => own[name] !== undefined && own[name] !== value);
  const limits = policy.value?.limits;
  const usual = !form.limit && limits?.kind === "pairs" && limits.limit !== null ? String(limits.limit) : "default limit";
  return h("section", { id: "partner-plan" }, h("h2", null, "3. What to compute"),
    joins && (form.via_relay ? form.relay : form.address) ? h("p", { class: "note" }, "From the invitation. Both sides must have the same plan; if you change it, tell the partner.") : null,
    joins && suggestsMinimum(form) ? h("p", { class: "warning", id: "suggested-minimum" }, `The partner suggests a minimum of ${form.suggested_minimum} participants for each part of the answer; yours is ${form.minimum_group || policy.value.minimum}. A smaller number protects your participants less. `, h("button", { type: "button", click: () => save({ minimum_group: String(form.suggested_minimum) }) }, `Use ${form.suggested_minimum}`)) : null,
    differs.length ? h("div", { class: "warning" }, h("strong", null, "The partner encoded its recordings differently: "), differs.map(([name, value]) => `${name} ${value} (here ${own[name]})`).join(", "), ". Change it under ", h("a", { href: "#encode" }, "Encode"), ".") : null,
    planBoxes(form.plan, (plan) => save({ plan }), "partner", true, minimumGroup(form)),
    h("details", { open: Boolean(form.limit || form.minimum_group || form.pseudonyms) }, h("summary", null, "More"),
      h("div", { class: "fields" },
        formField("limit", "Maximum comparisons per scanpath", text(form.limit, (limit) => save({ limit }), { placeholder: usual, inputmode: "numeric" }), { help: "Many scores of one scanpath reveal it. Allow more only for a partner that you trust." }),
        formField("minimum-group", "Minimum number of participants in a group answer", text(form.minimum_group, (minimum_group) => save({ minimum_group }), { placeholder: String(policy.value?.minimum ?? ""), inputmode: "numeric" }), { help: "The invitation suggests it to the partner. Each side enforces its own." })),
      check("pseudonyms", "Hide participant ids and stimulus names from the partner", form.pseudonyms, (pseudonyms) => save({ pseudonyms }))),
    policyBox(),
    limitsBox(now));
}

/** Answers that this side's limits allow instead, and smaller groups if they would be enough and the groups are what is small. */
function otherAnswers() {
  const { limits, least } = policy.value ?? {};
  const reveal = (value) => h("button", { type: "button", id: `reveal-${value}`, click: () => save({ plan: { ...state.now.partner.plan, reveal: value } }) }, `${valueLabel("What is revealed", value)}${value === "score" ? ", which says more about each person" : ""}`);
  const others = (limits?.others ?? []).filter((value) => value !== "score");
  // Scores reveal more than all other answers, so they come last.
  const scores = limits?.others?.includes("score") ? reveal("score") : null;
  const smaller = limits?.kind === "groups" && !limits.fits && !limits.few_nearest && limits.smallest >= least ? h("button", { type: "button", id: "smaller-groups", click: allowSmaller }, `allow groups of ${limits.smallest}, if the partner agrees`) : null;
  if (!others.length && !smaller && !scores) return null;
  return h("div", { class: "row", id: "instead" }, h("span", null, "Instead:"), others.map(reveal), smaller, scores);
}

/** Allows smaller groups, and shows the field that says so. */
async function allowSmaller() {
  await save({ minimum_group: String(policy.value.limits.smallest) });
  await refresh();
  const input = document.getElementById("minimum-group");
  input?.focus({ preventScroll: true });
  input?.scrollIntoView({ block: "center" });
}

/** Whether this side's limits allow the plan, before anybody connects. */
function limitsBox(now) {
  const limits = policy.value?.limits;
  if (!limits) return null;
  if (limits.kind === "problem") return problemBox(limits.problem);
  // After a refusal, the session section offers other answers.
  const offered = () => (now.session.problem?.other_answer ? null : otherAnswers());
  if (limits.kind === "no-groups") return h("div", { class: "warning", id: "limits" }, h("p", null, "This answer needs a group for every participant, and your recordings name none."), offered());
  if (limits.kind === "groups") {
    if (limits.fits) return null;
    const { few_nearest: k, others, smallest } = limits;
    const reason = k ? `the majority of ${count(k, "nearest neighbour")} covers at most ${k}. Choose more neighbours or another answer.` : `the smallest here covers ${smallest}. Add recordings${others?.length ? ", or choose another answer" : ""}.`;
    return h("div", { class: "warning", id: "limits" }, h("p", null, `This answer would be refused: no part of it may cover fewer than ${count(limits.minimum, "participant")} of a side, and ${reason}`), offered());
  }
  if (limits.limit === null) return null;
  const each = now.partner.plan.pairs === "all" ? "scanpath" : "scanpath of a stimulus";
  const sentence = `Each of your scanpaths may be compared ${limits.limit === 1 ? "once" : `${limits.limit.toLocaleString("en")} times`} with this partner, because many scores of one scanpath reveal it.`;
  if (limits.fits) return h("p", { class: "note", id: "limits" }, `${sentence} The partner may have up to ${limits.limit.toLocaleString("en")} ${each.replace("scanpath", limits.limit === 1 ? "scanpath" : "scanpaths")}.`);
  return h("div", { class: "warning", id: "limits" }, h("p", null, `${sentence} A partner with as many participants as you needs ${limits.needed.toLocaleString("en")} comparisons, so this plan would be refused. If you trust the partner, allow more under “More”.`), offered());
}

/** Loads what the policy and the limits say about the current plan. */
function loadPolicy(now) {
  const key = JSON.stringify([now.partner.plan, now.partner.role, now.partner.peer, now.partner.limit, now.partner.minimum_group, now.session.problem?.other_answer, now.cohorts[0]?.scanpaths, now.cohorts[0]?.encoding, now.files.map((file) => file.id)]);
  if (policy.of !== key) {
    policy = { ...policy, of: key };
    const loaded = (value) => {
      if (policy.of !== key) return;
      policy = { of: key, loaded: key, value };
      redraw();
    };
    request("/api/policy", { method: "GET" }).then(loaded, (problem) => loaded({ exists: true, allowed: false, reason: problem.message }));
  }
}

const isPolicyLoaded = () => policy.loaded !== "" && policy.loaded === policy.of;

function policyWords() {
  if (!isPolicyLoaded()) return "…";
  const { exists, allowed, expires } = policy.value;
  return !exists ? "none; this institution sets no rules." : allowed ? `allows this plan until ${expires}.` : "does not allow this plan.";
}

function policyBox() {
  const value = policy.value;
  if (!value) return null;
  if (!value.exists) return h("p", { class: "note" }, "Your institution has no policy file (policy.toml) that says what may leave it.");
  return h("p", { class: value.allowed ? "note" : "warning" }, value.allowed ? `Policy: this plan is allowed (${value.file}, valid until ${value.expires}).` : `Policy: this plan is not allowed. ${value.reason.split("\n").slice(value.reason.includes("\n") ? 1 : 0).map((line) => line.trim().replace(`${value.file}, `, "")).map((line, at, all) => (at === all.length - 1 ? withFullStop(line) : line)).join("; ")}`);
}

/** Why it is useless to connect with this plan. */
function refusal() {
  const { exists, allowed, limits } = policy.value ?? {};
  if (exists && !allowed) return "Your policy does not allow the plan above: change it first.";
  if (limits?.kind === "problem" || limits?.kind === "no-groups") return "The plan above does not fit your recordings: change it first.";
  return limits?.fits === false ? `The plan above would ${limits.kind === "pairs" ? "probably " : ""}be refused: change it first.` : null;
}

function connectBox(now) {
  const form = now.partner;
  const refused = refusal();
  return h("section", { id: "connect-box" }, h("h2", null, "4. Connect"),
    h("p", null, form.role === "host" ? form.peer ? "Send the invitation to the partner, by e-mail for example. It contains no secret." : "Send the invitation to the partner, by e-mail for example. It contains no secret. The partner sends an answer back: open it on this page, then wait for the partner." : "Send your answer to the host, so that it knows your fingerprint. It contains no secret."),
    h("div", { class: "row" },
      h("button", { type: "button", id: "save-invitation", click: saveInvitation }, form.role === "host" ? "Save the invitation" : "Save my answer"),
      h("button", { type: "button", class: refused ? null : "primary", id: "connect", click: connect }, form.role === "host" ? "Wait for the partner" : form.via_relay ? "Connect to the relay" : "Connect to the host")),
    h("p", { class: refused ? "warning" : "note", id: "before-connecting" }, refused ?? "Nothing is computed yet: first both sides see the plan."));
}

/** The labels of fields that an action may need. */
const fields = { relay: "The relay’s address", host: "Address for the partner", join: "The host’s address", peer: "The partner’s fingerprint" };

/** Whether the message on the page is about this field, and the field is unchanged. */
const isRefused = (id) => needed === `${id} ${state.now.partner[id]}` && document.querySelector("#alert .problem") !== null;

/** Says which field an action needs, and marks the field until it changes. */
async function refuse(problem) {
  needed = `${problem.inputId} ${state.now.partner[problem.inputId]}`;
  await attempt(() => { throw problem; });
  redraw();
  document.getElementById(problem.inputId)?.focus({ preventScroll: true });
}

/** What is wrong with the address where the two sides meet. */
function addressProblem(form, missing) {
  const [inputId, example] = form.via_relay ? ["relay", "relay.example:7071"] : ["address", "clinic.example:7070"];
  const address = form[inputId].trim();
  if (/:\d+$/.test(address)) return null;
  return { inputId, message: address ? `“${address}” has no port.` : missing, advice: `Enter it in “${fields[form.via_relay ? "relay" : form.role]}”, with a port, as in ${example}.` };
}

async function connect() {
  await saved;
  const form = state.now.partner;
  const problem = !form.peer.trim() ? { inputId: "peer", message: "The partner’s fingerprint is missing.", advice: `Open the file that the partner sent, or enter what its page shows in “${fields.peer}”.` }
    : form.via_relay || form.role === "join" ? addressProblem(form, "The address to connect to is missing.") : null;
  return problem ? refuse(problem) : attempt(() => request("/api/session/connect"));
}

async function saveInvitation() {
  await saved;
  const form = state.now.partner;
  if (form.role !== "host") return download("/api/invitation", "veilpath-answer.invitation");
  const problem = addressProblem(form, form.via_relay ? "The invitation needs the address of the relay." : "The invitation needs an address at which the partner reaches this machine.");
  return problem ? refuse(problem) : download("/api/invitation", "veilpath.invitation");
}

/** The badge of the partner step in each phase. */
export const badges = { waiting: "waiting", connected: "waiting", agreed: "ready to start", approved: "waiting", computing: "computing", finished: "finished", failed: "stopped" };
export const phases = { waiting: "Waiting for the partner", connected: "Connected: comparing the plans", agreed: "Both sides agree on this plan", approved: "Waiting for the partner to start", computing: "Computing", finished: "Finished", failed: "Stopped" };

function sessionBox(now) {
  const session = now.session;
  const host = now.partner.role === "host";
  return h("section", { id: "session", class: "learned" }, h("h2", null, phases[session.phase]),
    session.phase === "waiting" ? h("p", null, now.partner.via_relay ? `Waiting at the relay ${session.address}. Both sides must connect to it; you may close this page, and the program keeps running.` : host ? `Listening on ${session.address}. The partner can connect now; you may close this page, and the program keeps running.` : `Connecting to ${session.address}, for up to ten minutes. The host must press “Wait for the partner”.`) : null,
    session.phase === "approved" ? h("p", { id: "not-started" }, "You have started. The computation begins when the partner presses Start, too; you may close this page meanwhile.") : null,
    session.phase === "computing" ? [progressBar(session.progress), h("p", { class: "note" }, "You may close this page: the program keeps running, and keeps the result for a day. To open the page again, use the browser’s history or the address in the terminal.")] : null,
    session.agreed && ["agreed", "approved", "computing"].includes(session.phase) ? agreedBox(now, session.agreed) : null,
    session.phase === "finished" ? h("p", null, now.partner.plan.reveal_to === "both" ? "Both sides have the same result. It is below, with the signed record of what was disclosed." : "The signed record below says what was disclosed to whom.") : null,
    problemBox(session.problem),
    session.problem?.other_answer ? otherAnswers() : null,
    session.notes.length ? h("ul", { class: "notes" }, session.notes.map((note) => h("li", null, note))) : null,
    h("div", { class: "row" },
      session.phase === "agreed" ? h("button", { type: "button", class: "primary", id: "start", disabled: !isPolicyLoaded(), click: () => attempt(() => request("/api/session/start", { json: { agreement: session.agreed.agreement } })) }, "Start") : null,
      session.phase === "failed" && session.can_resume ? h("button", { type: "button", class: "primary", id: "resume", click: () => attempt(() => request("/api/session/resume")) }, "Resume") : null,
      session.phase === "failed" && session.can_resume ? h("button", { type: "button", id: "give-up", click: () => attempt(() => request("/api/session/reset")) }, "Do not resume") : null,
      session.running ? h("button", { type: "button", id: "stop", click: () => attempt(() => request("/api/session/stop")) }, ["approved", "computing"].includes(session.phase) ? "Pause" : "Cancel") : null,
      session.phase === "finished" ? h("button", { type: "button", id: "again", click: () => attempt(() => request("/api/session/reset")) }, "Another session") : null));
}

/** The plan, what each side learns, and what it costs. */
function agreedBox(now, agreed) {
  const host = now.partner.role === "host";
  const you = host ? "host" : "join";
  const to = (side) => agreed.learns.filter((it) => it.to === "both" || it.to === side);
  const partner = partnerWords(now.partner.peer_name);
  const atStart = partner.replace("the", "The");
  // Each side reads about "your side" and its partner, not about the host and the joining side.
  const names = { "the host": host ? "your side" : partner, "the joining side": host ? partner : "your side" };
  const named = (words) => words.replace(/the host\b|the joining side\b/g, (side) => names[side]);
  const learned = (title, side) => h("div", { class: "box" }, h("h3", null, title), h("ul", null, to(side).map((it) => h("li", null, named(it.what)))));
  return h("div", null,
    h("dl", { class: "plan" },
      agreed.plan.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
      h("dt", null, "Scanpaths"), h("dd", null, `${count(host ? agreed.host_scanpaths : agreed.join_scanpaths, "scanpath")} of yours, ${agreed[host ? "join_scanpaths" : "host_scanpaths"].toLocaleString("en")} of the partner; ${count(agreed.pairs, "pair")}${agreed.from_journal ? `, ${agreed.from_journal.toLocaleString("en")} of them known from earlier sessions` : ""}.`),
      h("dt", null, "Estimate"), h("dd", { id: "estimate" }, `about ${agreed.time} and ${agreed.traffic} over the network.`),
      agreed.limit === null || agreed.groups ? null : [h("dt", null, "Limit"), h("dd", null, `Each of your scanpaths takes part in up to ${count(agreed.comparisons, "comparison")} with this partner; ${agreed.limit.toLocaleString("en")} are allowed.`)],
      agreed.groups ? [h("dt", null, "Groups"), h("dd", null, `No group, stimulus or count is about fewer than ${count(agreed.groups.minimum, "participant")} of a side.`)] : null,
      h("dt", null, "Ids and names"), h("dd", { id: "shown-ids" }, `${atStart} will see ${now.partner.pseudonyms ? "pseudonyms and hashes instead of your participant ids and stimulus names" : "your participant ids and stimulus names"}.`),
      h("dt", null, "Policy"), h("dd", { id: "agreed-policy" }, policyWords())),
    h("div", { class: "pair boxes" }, learned("You will learn", you), learned(`${atStart} will learn`, host ? "join" : "host")),
    agreed.same_scanpaths ? h("p", { class: "warning" }, "Both sides seem to use the same cohort: their ids, stimuli and lengths are the same.") : null,
    agreed.encoding_on_one_side ? h("p", { class: "warning" }, "Only one side says how its recordings were encoded, so Veilpath cannot check that both did the same.") : null,
    agreed.stimuli_on_one_side ? h("p", { class: "warning" }, "Only one side names stimuli, so every scanpath is compared with every scanpath of the other side.") : null);
}

function recordBox(now) {
  const key = `${now.session.phase}${now.partner_result?.id}`;
  if (record.of !== key) {
    record = { of: key, lines: record.lines };
    request("/api/record", { method: "GET" }).then(({ lines }) => { record = { of: key, lines }; redraw(); }, () => {});
  }
  if (record.lines.length < 2) return null;
  const [head, ...lines] = record.lines;
  const shown = ["time", "event", "peer", "role", "participants", "peer_participants", "pairs", "metric", "answer", "to"].map((name) => head.indexOf(name)).filter((at) => at >= 0);
  const events = { intent: "agreed", completion: "finished" };
  const cell = (name, value) => (name === "peer" ? `${value.slice(0, 9)}…` : name === "time" ? value.replace("T", " ").replace("Z", "") : name === "event" ? events[value] ?? value : name === "metric" ? valueLabel("Metric", value) : name === "answer" ? valueLabel("What is revealed", value) : value);
  const titles = { time: "time (UTC)", peer_participants: "partner’s participants", peer: "partner", to: "learned by" };
  const title = (name) => titles[name] ?? name;
  return h("section", { id: "record" }, h("h2", null, "Signed record"),
    h("p", { class: "note" }, "What was disclosed to whom, signed by both sides. The latest lines:"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Signed record" }, h("table", { class: "stacked" },
      h("thead", null, h("tr", null, shown.map((at) => h("th", { scope: "col" }, title(head[at]))))),
      h("tbody", null, lines.toReversed().map((line) => h("tr", null, shown.map((at) => h("td", { "data-label": title(head[at]) }, cell(head[at], line[at])))))))),
    h("p", null, h("a", { class: "button", href: "/api/record.csv", download: "" }, "Save the record (CSV)")));
}

/** Redraws the step with new data. */
function redraw() {
  dispatchEvent(new Event("hashchange-soft"));
}
