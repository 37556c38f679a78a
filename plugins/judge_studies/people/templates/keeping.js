// The state of the page, and its keeping in the browser: a sheet for each annotator of the page, after every change. What cannot be
// read is put aside, never thrown away.

const SHEET = JSON.parse(document.getElementById("data").textContent);
const KEPT = `${SHEET.format}:${SHEET.page}`;
const NO_KEEPING = "This browser does not keep your work. Export it before you close the page.";
const $ = (id) => document.getElementById(id);

const blank = () => ({
  at: 0, items: SHEET.items.map(marksOf), current: null, revision: SHEET.revision, time: SHEET.time, exports: SHEET.exports,
});
const state = { annotator: SHEET.annotator, ...blank() };
// what going back and going forward again bring; an entry of a whole sheet has `whole`
const past = [];
const future = [];

const item = () => SHEET.items[state.at];
const marks = () => state.items[state.at];
const isFinished = (i) => openWork(SHEET.items[i], state.items[i]).length === 0;
const say = (text) => { $("status").textContent = text; };
const markedItems = (items) => SHEET.items.map((each, i) => withMarks(each, items[i]));
const sheet = () => {
  const { revision, time, exports } = state;
  return { ...SHEET, annotator: state.annotator.trim(), revision, time, exports, items: markedItems(state.items) };
};
const hasMarks = (items = state.items) => JSON.stringify(items) !== JSON.stringify(blank().items);
/** Where the browser keeps one thing of one annotator. */
const place = (what, name = state.annotator) => `${KEPT}:${what}:${name.trim()}`;
const isOurs = (name) => name.trim() === state.annotator.trim();
const whose = (name) => (name.trim() ? `\u201c${name.trim()}\u201d` : "somebody without a name");

/** Try to use the browser's storage; whether it let itself be used. The alert stands until something can be kept again. */
function stored(work) {
  try {
    work();
    return true;
  } catch {
    $("unkept").textContent = NO_KEEPING;
    return false;
  }
}

/** The sheet was changed. */
function touch() {
  state.revision += 1;
  state.time = new Date().toISOString();
}

function keep() {
  const isKept = stored(() => {
    const body = JSON.stringify(sheet());
    if (body !== latest().body) share(body);
    localStorage.setItem(place("at"), String(state.at));
    localStorage.setItem(`${KEPT}:last`, state.annotator.trim());
  });
  if (isKept) $("unkept").textContent = "";
}

/** Go on where the last annotator of this browser stopped. */
function recall() {
  stored(() => {
    const name = localStorage.getItem(`${KEPT}:last`) ?? state.annotator;
    // marks that a window without a name left: nobody would find them by one
    const { other } = name ? keptSheet("") : {};
    if (other && archive(other, "had no name")) localStorage.removeItem(place("sheet", ""));
    $("help").open = !resume(name);
  });
}

/** The sheet that the browser keeps of an annotator: {other, text}; {} without, and where it cannot be read and is put aside. */
function keptSheet(name) {
  let text = null;
  stored(() => { text = localStorage.getItem(place("sheet", name)); });
  if (!text) return {};
  const { problem, other } = readSheet(text);
  if (!problem) return { other, text };
  stored(() => {
    const aside = place("unreadable", name);
    localStorage.setItem(localStorage.getItem(aside) ? `${aside}:${Date.now()}` : aside, text);
    localStorage.removeItem(place("sheet", name));
  });
  return { problem };
}

/** Take over what the browser keeps of an annotator; whether there is anything. */
function resume(name) {
  const { problem, other, text } = keptSheet(name);
  if (problem) say(`What this browser kept of ${whose(name)} could not be read and was put aside.`);
  if (!other) return Boolean(problem);
  forgetSteps();
  const at = Number(localStorage.getItem(place("at", name))) || 0;
  adopt({ ...other, annotator: name });
  Object.assign(state, { annotator: name, at: Math.min(Math.max(at, 0), SHEET.items.length - 1), current: null });
  startLine(other, text);
  say(`Work of ${whose(name)} was found in this browser. If that is not you, begin a new sheet.`);
  return true;
}

function forgetSteps() {
  past.length = 0;
  future.length = 0;
}

/** The sheet in a text: {other}, or {problem} when it does not belong to this page. */
function readSheet(text) {
  let other;
  try {
    other = JSON.parse(text);
  } catch {
    return { problem: "The file is not JSON; choose one that this page exported." };
  }
  if (other?.format !== SHEET.format || other.version !== SHEET.version) {
    return { problem: "The file is no sheet of annotations; choose one that this page exported." };
  }
  if (other.page !== SHEET.page) return { problem: "The file belongs to another page: its documents or summaries differ." };
  if (!Array.isArray(other.items) || other.items.length !== SHEET.items.length) {
    return { problem: "The file has not as many items as this page." };
  }
  const wrong = SHEET.items.findIndex((each, i) => !isSound(each, other.items[i]));
  if (wrong >= 0) return { problem: `Item ${wrong + 1} of the file has marks that do not belong to its texts.` };
  // sheets had no revision at first
  const { revision = 0, time = null, exports = [] } = other;
  const isStamp = (each) => Number.isInteger(each?.revision) && each.revision >= 0 && !Number.isNaN(Date.parse(each.time));
  if (!isStamp({ revision, time: time ?? SOME_TIME }) || !Array.isArray(exports) || !exports.every(isStamp)) {
    return { problem: "The file\u2019s revision or time is none that this page writes; choose the file as it was exported." };
  }
  return { other: { ...other, revision, time, exports } };
}

const SOME_TIME = "2000-01-01T00:00:00Z";
const nameIn = (other) => (typeof other.annotator === "string" ? other.annotator.trim() : "") || state.annotator;

function adopt(other) {
  const { revision, time, exports } = other;
  Object.assign(state, { items: other.items.map(marksOf), annotator: nameIn(other), revision, time, exports });
}
