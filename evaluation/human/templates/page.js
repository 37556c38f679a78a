// The page at work: state, its keeping in the browser, going back, files, and what mouse and keyboard do.

const SHEET = JSON.parse(document.getElementById("data").textContent);
const KEPT = `${SHEET.format}:${SHEET.page}`;
const $ = (id) => document.getElementById(id);

const state = { annotator: SHEET.annotator, at: 0, items: SHEET.items.map(marksOf), current: null };
const past = [];
const future = [];

const item = () => SHEET.items[state.at];
const marks = () => state.items[state.at];
const isFinished = (i) => openWork(SHEET.items[i], state.items[i]).length === 0;
const say = (text) => { $("status").textContent = text; };
const markedItems = () => SHEET.items.map((each, i) => withMarks(each, state.items[i]));
const sheet = () => ({ ...SHEET, annotator: state.annotator.trim(), items: markedItems() });

// ---- keeping: after every change, in this browser; what cannot be read is put aside, never thrown away

function keep() {
  try {
    localStorage.setItem(KEPT, JSON.stringify(sheet()));
    localStorage.setItem(`${KEPT}:at`, String(state.at));
  } catch {
    say("This browser does not keep your work. Export it before you close the page.");
  }
}

function recall() {
  try {
    const text = localStorage.getItem(KEPT);
    $("help").open = !text;
    if (!text) return;
    const problem = take(text);
    if (problem) localStorage.setItem(`${KEPT}:unreadable`, text);
    say(problem ? "What this browser kept of the page could not be read and was put aside." : "Your work was found in this browser.");
    state.at = Math.min(Math.max(Number(localStorage.getItem(`${KEPT}:at`)) || 0, 0), SHEET.items.length - 1);
  } catch {
    say("This browser does not keep your work. Export it before you close the page.");
  }
}

/** Take over the marks of a sheet; what is wrong with it, or "". */
function take(text) {
  let other;
  try {
    other = JSON.parse(text);
  } catch {
    return "The file is not JSON; choose one that this page exported.";
  }
  if (other?.format !== SHEET.format || other.version !== SHEET.version) {
    return "The file is no sheet of annotations; choose one that this page exported.";
  }
  if (other.page !== SHEET.page) return "The file belongs to another page: its documents or summaries differ.";
  if (!Array.isArray(other.items) || other.items.length !== SHEET.items.length) return "The file has not as many items as this page.";
  const wrong = SHEET.items.findIndex((each, i) => !isSound(each, other.items[i]));
  if (wrong >= 0) return `Item ${wrong + 1} of the file has marks that do not belong to its texts.`;
  state.items = other.items.map(marksOf);
  if (typeof other.annotator === "string" && other.annotator) state.annotator = other.annotator;
  return "";
}

// ---- changing and going back

function change(next) {
  if (next === marks()) return;
  past.push({ items: state.items, at: state.at });
  future.length = 0;
  state.items = state.items.map((old, i) => (i === state.at ? next : old));
  keep();
}

function travel(from, to, done) {
  const stop = from.pop();
  if (!stop) return say(`There is nothing to ${done}.`);
  to.push({ items: state.items, at: state.at });
  Object.assign(state, stop, { current: null });
  keep();
  render();
  return say(`${done === "undo" ? "Undone" : "Done again"}.`);
}

function go(at) {
  if (at < 0 || at >= SHEET.items.length || at === state.at) return;
  Object.assign(state, { at, current: null });
  forgetCursor();
  keep();
  render();
  window.scrollTo(0, 0);
  document.querySelector("main").scrollTop = 0;
  say(`Item ${at + 1} of ${SHEET.items.length}.`);
}

// ---- marking

const nameOf = (scope) => (scope === "document" ? "the document" : `summary ${item().summaries[scope].letter}`);

function markNew() {
  const found = selected();
  if (found.problem) return say(found.problem);
  const [next, k] = addPoint(item(), marks(), found.scope, found.spans);
  return finishMark(next, found.scope, k, `Key point ${k + 1} of ${nameOf(found.scope)} marked.`);
}

function markMore() {
  const found = selected();
  if (found.problem) return say(found.problem);
  const { scope, k } = state.current ?? {};
  if (scope !== found.scope) return say(`Choose a key point of ${nameOf(found.scope)} first.`);
  return finishMark(extendPoint(item(), marks(), scope, k, found.spans), scope, k, `Added to key point ${k + 1}.`);
}

function finishMark(next, scope, k, message) {
  change(next);
  state.current = { scope, k };
  getSelection().removeAllRanges();
  render();
  say(message);
}

function removeMark(scope, k) {
  change(removePoint(marks(), scope, k));
  state.current = null;
  render();
  say(`Key point ${k + 1} of ${nameOf(scope)} removed.`);
}

// ---- showing

function render() {
  const focused = document.activeElement?.id;
  $("document").replaceChildren(...documentView(item(), marks(), state.current));
  const summaries = item().summaries.map((_, s) => summaryView(item(), marks(), s, state.current));
  $("summaries").replaceChildren(...summaries, make("section", { id: "work" }));
  renderFrame();
  if (focused && document.activeElement?.id !== focused) $(focused)?.focus({ preventScroll: true });
}

/** Everything around the item: also after a decision, which needs no new elements. */
function renderFrame() {
  const finished = SHEET.items.filter((_, i) => isFinished(i)).length;
  $("work").replaceChildren(...workView(openWork(item(), marks()), state.at < SHEET.items.length - 1));
  const title = (each, i) => `${i + 1}${isFinished(i) ? " \u2713" : ""}  ${each.topic || each.id} (${each.side})`;
  const options = SHEET.items.map((each, i) => make("option", { value: i, selected: i === state.at }, title(each, i)));
  $("jump").replaceChildren(...options);
  $("progress").value = finished;
  $("count").textContent = `${finished} of ${SHEET.items.length} finished`;
  $("previous").disabled = state.at === 0;
  $("next").disabled = state.at === SHEET.items.length - 1;
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
  const { current } = state;
  $("more").disabled = !current;
  $("more-text").textContent = current ? `Add to key point ${current.k + 1}` : "Add to key point";
  if ($("annotator").value !== state.annotator) $("annotator").value = state.annotator;
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
  const before = { items: state.items, at: state.at };
  const problem = take(await file.text());
  if (!problem) {
    past.push(before);
    future.length = 0;
    state.current = null;
    keep();
    render();
  }
  say(problem || "Imported. Undo brings back what was here before.");
}

// ---- what mouse and keyboard do

const ACTIONS = {
  new: markNew,
  more: markMore,
  undo: () => travel(past, future, "undo"),
  redo: () => travel(future, past, "redo"),
  previous: () => go(state.at - 1),
  next: () => go(state.at + 1),
  export: exportSheet,
  import: () => $("file").click(),
};
for (const [id, act] of Object.entries(ACTIONS)) $(id).addEventListener("click", act);
// a press on these must not take the selection away
for (const id of ["new", "more"]) $(id).addEventListener("mousedown", (event) => event.preventDefault());
$("jump").addEventListener("change", (event) => go(Number(event.target.value)));
$("file").addEventListener("change", async (event) => {
  await importSheet(event.target.files[0]);
  event.target.value = "";
});
$("annotator").addEventListener("input", (event) => {
  state.annotator = event.target.value;
  keep();
});

document.querySelector("main").addEventListener("click", (event) => {
  const { choose, remove, target, k, next } = event.target.closest("button")?.dataset ?? {};
  if (choose !== undefined) {
    state.current = { scope: asScope(choose), k: Number(k) };
    render();
  } else if (remove !== undefined) removeMark(asScope(remove), Number(k));
  else if (next !== undefined) go(state.at + 1);
  else if (target) {
    $(target).focus();
    $(target).scrollIntoView({ block: "center" });
  }
});

document.querySelector("main").addEventListener("change", ({ target }) => {
  const { without, none, decision: name, value } = target.dataset;
  if (without !== undefined) change(setWithout(marks(), passagesOf(item().document)[Number(without)], target.checked));
  else if (none !== undefined) change(setNone(marks(), Number(none), target.checked));
  else if (name) {
    const [kind, s, k] = name.split("-");
    change(decide(marks(), Number(s), kind, Number(k), value === "true"));
    target.closest("fieldset").classList.remove("open");
    return renderFrame();
  }
  return render();
});

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  const act = keyAction(event, target.closest?.(".markable"), target.closest?.(".choose"), key.toLowerCase());
  if (!act || target.matches?.("input:not([type=radio], [type=checkbox]), select")) return;
  event.preventDefault();
  act();
});

function keyAction(event, text, chosen, key) {
  if (event.altKey) return { KeyN: ACTIONS.next, KeyP: ACTIONS.previous }[event.code];
  if (event.ctrlKey || event.metaKey) {
    if (key === "y" || (key === "z" && event.shiftKey)) return ACTIONS.redo;
    return key === "z" ? ACTIONS.undo : undefined;
  }
  const { current } = state;
  if (["delete", "backspace"].includes(key) && current && (text || chosen)) return () => removeMark(current.scope, current.k);
  if (!text) return undefined;
  if (key === "enter") return markNew;
  if (key === "+") return markMore;
  const step = { arrowright: 1, arrowleft: -1 }[key];
  return step && (() => moveCursor(text, step, event.shiftKey));
}

// the same page in another window
window.addEventListener("storage", (event) => {
  if (event.key !== KEPT || !event.newValue || take(event.newValue)) return;
  state.current = null;
  render();
  say("Changed in another window of this page.");
});

$("progress").max = SHEET.items.length;
recall();
render();
