// Whatever sheet is replaced is kept under "Earlier sheets", each by itself and only its marks, until somebody agrees that the oldest
// goes; and the replacing.

const EARLIER = `${KEPT}:earlier:`;
const MOST_EARLIER = 20;
// a browser keeps some five million characters of all pages of a place
const MOST_CHARACTERS = 1500000;

/** The earlier sheet that the browser keeps in a place: {key, size, saved, why} and a sheet; null when it cannot be read. */
function earlierSheet(key) {
  try {
    const text = localStorage.getItem(key);
    const { saved, why, items, ...rest } = JSON.parse(text);
    const { other } = readSheet(JSON.stringify({ ...SHEET, ...rest, items: markedItems(items) }));
    return other ? { ...other, items, key, size: text.length, saved, why } : null;
  } catch {
    return null;
  }
}

/** The earlier sheets that the browser keeps, the latest first. */
function earlierSheets() {
  let keys = [];
  stored(() => { keys = Object.keys(localStorage).filter((key) => key.startsWith(EARLIER)); });
  const sheets = keys.map(earlierSheet).filter(Boolean);
  const once = sheets.filter((each, i) => sheets.findIndex((other) => isSameSheet(other, each)) === i);
  return once.sort((a, b) => b.saved - a.saved);
}

const isSameSheet = (a, b) => a.annotator === b.annotator && alike(a.items.map(marksOf), b.items.map(marksOf));

function describe({ items, revision, time }) {
  const n = countMarks(items);
  const when = time ? `, ${new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" })}` : "";
  return `${n} ${n === 1 ? "mark" : "marks"}, revision ${revision}${when}`;
}

/** Keep a sheet under "Earlier sheets"; whether nothing of it is lost. */
function archive({ annotator, revision, time, exports, items }, why) {
  const entry = { annotator: annotator.trim(), revision, time, exports, items: items.map(marksOf), saved: Date.now(), why };
  let isSafe = !hasMarks(entry.items) || earlierSheets().some((each) => isSameSheet(each, entry));
  while (!isSafe) {
    const text = JSON.stringify(entry);
    const others = earlierSheets();
    const hasRoom = others.length < MOST_EARLIER && others.reduce((sum, { size }) => sum + size, text.length) <= MOST_CHARACTERS;
    isSafe = hasRoom && stored(() => localStorage.setItem(`${EARLIER}${entry.saved}:${randomId()}`, text));
    const oldest = others.at(-1);
    if (isSafe || !oldest) break;
    const words = `that of ${whose(oldest.annotator)} with ${describe(oldest)}`;
    if (!confirm(`There is no room for another earlier sheet. Shall the oldest go, ${words}?`)) break;
    stored(() => localStorage.removeItem(oldest.key));
  }
  renderEarlier();
  return isSafe;
}

/** The sheet that is here, if it could not be found again by its name. */
const unfindable = () => (state.annotator.trim() && !$("unkept").textContent ? [] : [sheet()]);

/** Archive what a replacement would destroy; whether to go on. */
function isSafeToReplace(sheets, why) {
  const lost = sheets.filter((each) => !archive(each, why));
  const names = lost.map(({ annotator, ...rest }) => `${whose(annotator)} (${describe(rest)})`).join(", ");
  const question = `The sheet of ${names} cannot be kept in this browser. Shall it be replaced for good? Cancel to export it first.`;
  return !lost.length || confirm(question);
}

/** Open `other` as the sheet of `name`, in place of what is here of that name; whether it was done. */
function takeSheet(name, other, isNewer, why) {
  const isSwitch = !isOurs(name);
  const kept = isSwitch ? keptSheet(name) : { other: sheet() };
  if (!isSafeToReplace([...(isSwitch ? unfindable() : []), kept.other].filter(Boolean), why)) return false;
  past.push(wholeStep(name));
  future.length = 0;
  state.annotator = name;
  if (isSwitch) openLine(kept);
  adopt({ ...other, annotator: name });
  state.exports = joinedStamps(kept.other?.exports ?? [], other.exports);
  if (!isNewer) {
    state.revision = Math.max(kept.other?.revision ?? 0, other.revision);
    touch();
  }
  state.current = null;
  keep();
  render();
  return true;
}

/** Let the sheet that is opened go on from what was kept of its name, if anything was. */
function openLine({ other, text }) {
  if (!other) return startAnew();
  adopt({ ...other, annotator: state.annotator });
  return startLine(other, text);
}

/** What going back to the sheet that is open needs, when that of `name` is opened or replaced. */
function wholeStep(name) {
  let text = null;
  stored(() => { text = localStorage.getItem(place("sheet", name)); });
  return { whole: { ...state }, writings: { ...writings }, name, text };
}

/** Go back to a whole sheet, and bring back what the browser kept of the name that was opened then. */
function restoreSheet({ whole, writings: theirs, name, text }) {
  if (!isSafeToReplace([sheet()], "gone back from")) return false;
  if (isOurs(whole.annotator)) {
    Object.assign(state, { items: whole.items, at: whole.at, current: null });
    touch();
    return true;
  }
  stored(() => (text === null ? localStorage.removeItem(place("sheet", name)) : localStorage.setItem(place("sheet", name), text)));
  Object.assign(state, whole, { current: null });
  Object.assign(writings, theirs);
  return true;
}

function bringBack(key) {
  const entry = earlierSheets().find((each) => each.key === key);
  if (!entry) return say("That earlier sheet is not in this browser any more.");
  catchUp();
  const { annotator: name, ...rest } = entry;
  if (isOurs(name) && alike(entry.items, state.items)) return say("That is what is here: nothing to bring back.");
  if (!takeSheet(name, { ...rest, annotator: name }, false, "replaced by an earlier one")) return say("Nothing was brought back.");
  return say(`The sheet of ${whose(name)} with ${describe(entry)} is back. Undo takes it away again.`);
}

function renderEarlier() {
  const sheets = earlierSheets();
  const isOpen = $("earlier").querySelector("details")?.open ?? false;
  const rows = sheets.map((each) => {
    const words = `${whose(each.annotator)}: ${describe(each)}`;
    const button = { type: "button", id: each.key, "aria-label": `Bring back ${words}`, data: { earlier: each.key } };
    return make("li", {}, make("span", {}, `${words} (${each.why})`), make("button", button, "Bring back"));
  });
  const title = make("summary", {}, `Earlier sheets (${rows.length})`);
  const about = make("p", {}, "Sheets that were replaced, and files that were older than what was here. They stay in this browser.");
  const list = make("details", { open: isOpen }, title, about, make("ul", {}, ...rows));
  $("earlier").replaceChildren(...(rows.length ? [list] : []));
}
