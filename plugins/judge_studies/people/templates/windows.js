// One sheet in several windows. Each writing to the browser's storage has an id and says from which ones it came (`line`), so that a
// window sees whether its own marks are in what another one wrote. What they are not in is put together with them, item by item.

const randomId = () => Math.random().toString(36).slice(2, 12);
const ROOT = "blank";

// the ids of everything that the sheet here came from, and the writings that this window made or read: {id, items}, the latest also
// with its text and the JSON of the sheet in it
const writings = { line: [ROOT], known: [{ id: ROOT, items: blank().items }] };

const latest = () => writings.known.at(-1);

function learn(id, text, items, body = null) {
  writings.line = [...writings.line.filter((each) => each !== id), id].slice(-STATES);
  const before = writings.known.map((each) => ({ id: each.id, items: each.items }));
  writings.known = [...before, { id, text, items, body }].slice(-STATES);
}

/** Write the sheet of this window, whose JSON is `body`. */
function share(body) {
  const id = randomId();
  const text = JSON.stringify({ ...sheet(), line: [...writings.line, id].slice(-STATES) });
  localStorage.setItem(place("sheet"), text);
  learn(id, text, state.items, body);
}

const lineOf = (other) => (Array.isArray(other.line) && other.line.length ? other.line : [ROOT, "first"]);

/** Begin with what was read from the storage. */
function startLine(other, text) {
  const line = lineOf(other);
  Object.assign(writings, { line: line.slice(0, -1), known: [] });
  learn(line.at(-1), text, state.items, JSON.stringify(sheet()));
}

/** Begin with a blank sheet that no other window has. */
function startAnew() {
  const id = randomId();
  Object.assign(writings, { line: [id], known: [{ id, items: blank().items }] });
}

/** Take over what other windows have kept of this sheet since this one last looked; whether that changed anything here. */
function catchUp() {
  let text = null;
  stored(() => { text = localStorage.getItem(place("sheet")); });
  if (text === null || text === latest().text) return false;
  const { other } = keptSheet(state.annotator);
  return Boolean(other) && takeOver(other, text);
}

/** Take over another window's writing; whether that changed anything here. */
function takeOver(other, text) {
  const line = lineOf(other);
  // what is older than what is here; and nobody's sheet that was begun by itself
  if (writings.line.includes(line.at(-1))) return false;
  const common = writings.known.filter(({ id }) => line.includes(id)).reverse();
  if (!common.length && !state.annotator.trim()) return false;
  const mine = sheet();
  const isAhead = common[0] === latest() && alike(latest().items, state.items);
  const bases = common.map(({ items }) => items);
  const clashes = isAhead ? followWindow(other, line, text) : joinWindow(bases, other, line, text);
  if (!clashes) return false;
  forgetSteps();
  if (clashes.length) {
    const loser = isLater(mine, other) ? mine : other;
    const isKept = archive({ ...loser, items: loser.items.map(marksOf) }, "changed in two windows");
    const rest = isKept ? "the others are under Earlier sheets" : "the others could not be kept";
    say(`Item ${clashes.join(", ")} was changed in two windows at once: the newer marks stand, ${rest}.`);
  } else say("Changed in another window of this page.");
  state.current = null;
  render();
  return true;
}

/** The other window went on from what is here; null when that changes no mark, else no clashes. */
function followWindow(other, line, text) {
  const before = state.items;
  adopt({ ...other, annotator: state.annotator });
  if (alike(before, state.items)) state.items = before;
  writings.line = [...new Set([...writings.line, ...line])];
  learn(line.at(-1), text, state.items, JSON.stringify(sheet()));
  return before === state.items ? null : [];
}

/** Both windows went on from the same: put their marks together; null when that changes no mark here, else the clashes. */
function joinWindow(bases, other, line, text) {
  const before = sheet();
  const theirs = other.items.map(marksOf);
  const isTheirsLater = isLater(before, other);
  const [older, newer] = isTheirsLater ? [state.items, theirs] : [theirs, state.items];
  const { items, clashes } = mergedItems(bases, older, newer);
  const later = isTheirsLater ? other : before;
  const isSame = alike(items, state.items);
  Object.assign(state, {
    items: isSame ? state.items : items, exports: joinedStamps(before.exports, other.exports),
    revision: later.revision, time: later.time,
  });
  writings.line = [...new Set([...writings.line, ...line])];
  learn(line.at(-1), text, theirs);
  if (!alike(items, newer)) touch();
  if (!alike(items, theirs)) keep();
  return isSame && !clashes.length ? null : clashes;
}

window.addEventListener("storage", ({ key, newValue }) => {
  const { other } = key === place("sheet") && newValue ? readSheet(newValue) : {};
  if (other) takeOver(other, newValue);
  else if (key?.startsWith(EARLIER)) renderEarlier();
});
