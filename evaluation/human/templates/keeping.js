// The state of the page, and its keeping in the browser: a sheet for each annotator of the page, after every change. What cannot be
// read is put aside, never thrown away.

const SHEET = JSON.parse(document.getElementById("data").textContent);
const KEPT = `${SHEET.format}:${SHEET.page}`;
const NO_KEEPING = "This browser does not keep your work. Export it before you close the page.";
const $ = (id) => document.getElementById(id);

const blank = () => ({ at: 0, items: SHEET.items.map(marksOf), current: null });
const state = { annotator: SHEET.annotator, ...blank() };
// what going back and going forward again bring; an import's entry also has the name
const past = [];
const future = [];

const item = () => SHEET.items[state.at];
const marks = () => state.items[state.at];
const isFinished = (i) => openWork(SHEET.items[i], state.items[i]).length === 0;
const say = (text) => { $("status").textContent = text; };
const markedItems = () => SHEET.items.map((each, i) => withMarks(each, state.items[i]));
const sheet = () => ({ ...SHEET, annotator: state.annotator.trim(), items: markedItems() });
const hasMarks = (items = state.items) => JSON.stringify(items) !== JSON.stringify(blank().items);
/** Where the browser keeps one thing of one annotator. */
const place = (what, name = state.annotator) => `${KEPT}:${what}:${name.trim()}`;
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

function keep() {
  const isKept = stored(() => {
    localStorage.setItem(place("sheet"), JSON.stringify(sheet()));
    localStorage.setItem(place("at"), String(state.at));
    localStorage.setItem(`${KEPT}:last`, state.annotator.trim());
  });
  if (isKept) $("unkept").textContent = "";
}

/** Go on where the last annotator of this browser stopped. */
function recall() {
  stored(() => {
    $("help").open = !resume(localStorage.getItem(`${KEPT}:last`) ?? state.annotator);
  });
}

/** Take over what the browser keeps of an annotator; whether there is anything. */
function resume(name) {
  const text = localStorage.getItem(place("sheet", name));
  if (!text) return false;
  const { problem, other } = readSheet(text);
  if (problem) {
    localStorage.setItem(place("unreadable", name), text);
    localStorage.removeItem(place("sheet", name));
    say(`What this browser kept of ${whose(name)} could not be read and was put aside.`);
    return true;
  }
  forgetSteps();
  adopt(other);
  const at = Number(localStorage.getItem(place("at", name))) || 0;
  Object.assign(state, { annotator: name, at: Math.min(Math.max(at, 0), SHEET.items.length - 1), current: null });
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
  return { other };
}

const nameIn = (other) => (typeof other.annotator === "string" ? other.annotator.trim() : "") || state.annotator;

function adopt(other) {
  state.items = other.items.map(marksOf);
  state.annotator = nameIn(other);
}

// ---- whose sheet it is

/** The name was changed: open that person's sheet, or go on with this one under the new name. */
function rename(name) {
  const old = state.annotator.trim();
  if (name.trim() === old) return;
  if (!name.trim() && hasMarks()) {
    renderFrame();
    return say("A sheet with marks keeps its name; begin a new sheet for somebody else.");
  }
  const inUse = old && hasMarks();
  let found = false;
  stored(() => { found = localStorage.getItem(place("sheet", name)) !== null; });
  if (found && hasMarks() && !old) {
    say(`This browser already has work of ${whose(name)}. Write another name, or export this sheet first.`);
  } else if (found) {
    stored(() => resume(name.trim()));
    keep();
    return render();
  } else if (!inUse || confirm(`The marks here were made as ${whose(old)}. Shall this sheet go on as that of ${whose(name)}? `
      + "If you are somebody else, cancel and begin a new sheet.")) {
    stored(() => ["sheet", "at"].forEach((what) => localStorage.removeItem(place(what, old))));
    state.annotator = name;
    keep();
  }
  // the texts stay as they are: the press that left the field may begin a selection in them
  return renderFrame();
}

function beginSheet() {
  if (hasMarks() && $("unkept").textContent) return say("Export first: this browser would not keep the marks that are here.");
  if (hasMarks() && !state.annotator.trim()) {
    $("annotator").focus();
    return say("Write a name first: the marks that are here are kept under it.");
  }
  const old = state.annotator;
  forgetSteps();
  Object.assign(state, { annotator: "", ...blank() });
  keep();
  render();
  $("annotator").focus();
  return say(`A new sheet; write your name. ${old.trim() ? `Write ${whose(old)} to go on with that one.` : ""}`);
}

// ---- files

function exportSheet() {
  if (!state.annotator.trim()) {
    $("annotator").focus();
    return say("Write your name first: it tells your sheet from others.");
  }
  const name = state.annotator.trim().replace(/[^\p{L}\p{N}]+/gu, "-");
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(sheet(), null, 1)}\n`], { type: "application/json" }));
  make("a", { href: url, download: `annotations-${name}-${SHEET.page}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  return say(`Exported; ${$("count").textContent}.`);
}

async function importSheet(file) {
  if (!file) return;
  const { problem, other } = readSheet(await file.text());
  if (problem) return say(problem);
  const name = nameIn(other);
  const question = `The file is the sheet of ${whose(name)}; this one has marks of ${whose(state.annotator)}. Replace them?`;
  if (hasMarks() && name.trim() !== state.annotator.trim() && !confirm(question)) return say("Nothing was imported.");
  stored(() => {
    localStorage.setItem(place("before-import"), JSON.stringify(sheet()));
    const kept = localStorage.getItem(place("sheet", name));
    if (name.trim() !== state.annotator.trim() && kept) localStorage.setItem(place("before-import", name), kept);
  });
  past.push({ items: state.items, at: state.at, annotator: state.annotator });
  future.length = 0;
  adopt(other);
  state.current = null;
  keep();
  render();
  return say("Imported. Undo brings back what was here before.");
}
