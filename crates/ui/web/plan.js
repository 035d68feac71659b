// The form fields of a plan, and the words for its values.
import { attempt, formField, h, select, text } from "/page.js";

export const metrics = {
  levenshtein: ["Levenshtein distance", "How many letters have to be inserted, deleted or replaced to turn one scanpath into the other.", []],
  scanmatch: ["ScanMatch", "Aligns two scanpaths so that nearby grid cells match, and gives a similarity up to 1.", [["gap", "Gap value"], ["threshold", "Threshold in cells"]]],
  "needleman-wunsch": ["Needleman–Wunsch", "The cost of the best alignment of the whole scanpaths, with costs of your choice.", [["gap", "Cost of a gap"], ["mismatch", "Cost of a replacement"]]],
  "smith-waterman": ["Smith–Waterman", "The best score of an alignment of parts of the two scanpaths: finds what they have in common.", [["reward", "Equal letters"], ["mismatch", "Different letters"], ["gap", "Cost of a gap"]]],
  "sequence-score": ["Sequence score", "The longest common subsequence of letters, as a fraction of the longer scanpath.", []],
  dtw: ["Dynamic time warping", "How far apart two paths are in total, if one may wait for the other.", []],
  frechet: ["Discrete Fréchet distance", "The shortest leash with which two walkers can follow the two paths.", []],
  hausdorff: ["Hausdorff distance", "How far the most remote place of either path is from the other path.", []],
  crqa: ["Cross-recurrence", "How often, and in which order, both look at the same places.", [["radius", "Radius in cells"], ["line", "Shortest line"]]],
  scasim: ["ScaSim", "Differences in the positions and durations of fixations, in visual angle. Needs fixations.", []],
  multimatch: ["MultiMatch", "Five similarities: shape, length, direction, position and duration. Needs fixations.", []],
  subsmatch: ["SubsMatch", "How similar the frequencies of short sequences of letters are.", [["window", "Letters in a sequence"]]],
};

/** The majority group of this many nearest neighbours. */
function nearest(k) {
  return `nearest:${k},rate`;
}

/** What a plan can reveal, and its other choices, by form field. */
const choices = {
  "What is revealed": [["score", "the score of each pair"], ["mean", "the mean of each stimulus"], ["mean:overall", "one mean"], ["groups", "the mean of each pair of groups"],
    ["test:groups", "a test: do groups differ?"], ["test:sites", "a test: do the two sites differ?"], [nearest(5), "how often the 5 nearest neighbours are in the same group"], ["histogram:20", "a histogram"]],
  "Pairs of scanpaths": [["same-stimulus", "of the same stimulus"], ["all", "all"]],
  "Who learns it": [["both", "both sides"], ["host", "only the host"], ["join", "only the joining side"]],
  Engine: [["auto", "automatic"], ["garbled", "garbled circuits"], ["shares", "secret sharing"]],
};

/** The menu's words for a value of a plan. */
export function valueLabel(name, value) {
  if (name === "Metric") return metrics[value]?.[0] ?? value;
  const [, k] = /^nearest:(\d+),rate$/.exec(value) ?? [];
  if (name === "What is revealed" && k) return `how often the ${k} nearest neighbours are in the same group`;
  return choices[name]?.find(([choice]) => choice === value)?.[1] ?? value;
}

/** The form fields of a plan. `set` gets the changed plan. With a partner, no part of an answer is about fewer participants than `minimum`. */
export function planBoxes(plan, set, id, withPartner, minimum = 0) {
  const [, sentence, fields] = metrics[plan.metric] ?? ["", "", []];
  const number = (name, label) => formField(`${id}-${name}`, label, text(plan.parameters[name] ?? "", (value) => {
    const parameters = { ...plan.parameters };
    if (value.trim() === "") delete parameters[name];
    else if (Number.isFinite(Number(value))) parameters[name] = Number(value);
    else return attempt(() => { throw { message: `“${value}” is not a number.`, advice: "" }; });
    set({ ...plan, parameters });
  }, { placeholder: "default", inputmode: "decimal" }));
  return h("div", { class: "fields" },
    formField(`${id}-metric`, "Metric", select(plan.metric, Object.entries(metrics).map(([name, [title]]) => [name, title]), (metric) => set({ ...plan, metric, parameters: {}, substitution: null })), { help: sentence }),
    plan.metric === "needleman-wunsch" ? formField(`${id}-substitution`, "Cost of a replacement grows with", select(plan.substitution ?? "", [["", "nothing: one cost"], ["manhattan", "the distance between cells, in steps"], ["euclidean", "the distance between cells"]], (value) => set({ ...plan, substitution: value || null, parameters: {} }))) : null,
    fields.filter(([name]) => !(name === "mismatch" && plan.substitution)).map(([name, label]) => number(name, label)),
    formField(`${id}-pairs`, "Pairs of scanpaths", menu("Pairs of scanpaths", plan.pairs, (pairs) => set({ ...plan, pairs }))),
    withPartner ? formField(`${id}-reveal`, "What is revealed", menu("What is revealed", plan.reveal, (reveal) => set({ ...plan, reveal }), Math.max(5, minimum)), { help: revealHelp(plan.reveal), double: true }) : null,
    withPartner ? formField(`${id}-reveal-to`, "Who learns it", menu("Who learns it", plan.reveal_to, (reveal_to) => set({ ...plan, reveal_to }))) : null,
    withPartner ? formField(`${id}-engine`, "Engine", menu("Engine", plan.engine, (engine) => set({ ...plan, engine })), { help: "How the two programs compute. Automatic chooses what suits the connection." }) : null);
}

/** The choices of a field, with `k` nearest neighbours. An invitation may contain others. */
function menu(name, value, change, k = 5) {
  const listed = choices[name].map(([it]) => (it === nearest(5) ? nearest(k) : it));
  return select(value, (listed.includes(value) ? listed : [...listed, value]).map((it) => [it, valueLabel(name, it)]), change);
}

function revealHelp(reveal) {
  if (reveal === "score") return "Reveals a number for every pair of scanpaths. Many scores of one scanpath reveal it, so only a few comparisons of each are allowed: with more participants, choose a mean or a test.";
  return reveal.startsWith("threshold") ? "Reveals one bit for every pair of scanpaths." : "Reveals nothing about single pairs.";
}
