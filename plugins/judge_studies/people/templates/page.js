// The page at work: going back, marking, showing, and what mouse and keyboard do.

// ---- changing and going back

/** Change the marks of the item, after what other windows did; `k`, if any, is the key point of `scope` that is meant. */
function change(edit, scope, k) {
  const before = marks();
  catchUp();
  if (k !== undefined && !alike(pointsOf(before, scope)[k], pointsOf(marks(), scope)[k])) {
    say("Changed in another window meanwhile: that key point is another one now. Look at it again.");
    return false;
  }
  const next = edit(marks());
  if (next === marks()) return true;
  past.push({ items: state.items, at: state.at });
  future.length = 0;
  state.items = state.items.map((old, i) => (i === state.at ? next : old));
  touch();
  keep();
  return true;
}

function travel(from, to, done) {
  catchUp();
  const stop = from.at(-1);
  if (!stop) return say(`There is nothing to ${done}.`);
  const back = stop.whole ? wholeStep(stop.name) : { items: state.items, at: state.at };
  if (stop.whole && !restoreSheet(stop)) return say("Nothing was changed.");
  from.pop();
  to.push(back);
  if (!stop.whole) {
    Object.assign(state, stop, { current: null });
    touch();
  }
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
  const { scope, spans } = found;
  let k;
  change((old) => {
    const [next, place] = addPoint(item(), old, scope, spans);
    k = place;
    return next;
  });
  return finishMark(scope, k, `Key point ${k + 1} of ${nameOf(scope)} marked.`);
}

function markMore() {
  const found = selected();
  if (found.problem) return say(found.problem);
  const { scope, k } = state.current ?? {};
  if (scope !== found.scope) return say(`Choose a key point of ${nameOf(found.scope)} first.`);
  if (!change((old) => extendPoint(item(), old, scope, k, found.spans), scope, k)) return undefined;
  return finishMark(scope, k, `Added to key point ${k + 1}.`);
}

function finishMark(scope, k, message) {
  state.current = { scope, k };
  getSelection().removeAllRanges();
  render();
  say(message);
}

function removeMark(scope, k) {
  if (!change((old) => removePoint(old, scope, k), scope, k)) return;
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
  // not while the name is being written
  if (document.activeElement !== $("annotator")) $("annotator").value = state.annotator;
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
  begin: beginSheet,
};
for (const [id, act] of Object.entries(ACTIONS)) $(id).addEventListener("click", act);
// a press on these must not take the selection away
for (const id of ["new", "more"]) $(id).addEventListener("mousedown", (event) => event.preventDefault());
$("jump").addEventListener("change", (event) => go(Number(event.target.value)));
$("file").addEventListener("change", async (event) => {
  await importSheet(event.target.files[0]);
  event.target.value = "";
});
// once the name is written whole: each letter on the way could be somebody else's
$("annotator").addEventListener("change", ({ target }) => {
  rename(target.value);
  target.value = state.annotator;
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
  if (without !== undefined) change((old) => setWithout(old, passagesOf(item().document)[Number(without)], target.checked));
  else if (none !== undefined) change((old) => setNone(old, Number(none), target.checked));
  else if (name) {
    const [kind, s, k] = name.split("-").map((part, i) => (i ? Number(part) : part));
    const isDone = change((old) => decide(old, s, kind, k, value === "true"), kind === "omitted" ? "document" : s, k);
    // its element is another one where another window's marks were taken over meanwhile
    if (isDone && target.isConnected) {
      target.closest("fieldset").classList.remove("open");
      return renderFrame();
    }
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
  if (["delete", "backspace"].includes(key)) return isCurrent(text, chosen) ? () => removeMark(current.scope, current.k) : undefined;
  if (!text) return undefined;
  if (key === "enter") return markNew;
  if (key === "+") return markMore;
  const step = { arrowright: 1, arrowleft: -1 }[key];
  return step && (() => moveCursor(text, step, event.shiftKey));
}

/** Whether the chosen key point belongs to the text, or is the one on the button, that has the focus. */
function isCurrent(text, chosen) {
  const { scope, k } = state.current ?? {};
  if (text) return asScope(text.dataset.scope) === scope;
  return Boolean(chosen) && asScope(chosen.dataset.choose) === scope && Number(chosen.dataset.k) === k;
}

$("earlier").addEventListener("click", ({ target }) => {
  if (target.dataset.earlier) bringBack(target.dataset.earlier);
});

window.addEventListener("beforeunload", (event) => {
  if ($("unkept").textContent && hasMarks()) event.preventDefault();
});

$("progress").max = SHEET.items.length;
recall();
render();
renderEarlier();
