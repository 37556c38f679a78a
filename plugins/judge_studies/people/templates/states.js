// How two states of one person's sheet stand to each other. A sheet says its `revision`, which grows with every change, the `time`
// of the last one, and `exports`: the revisions and times of those of its states that left as files.

const STATES = 200;

const alike = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const stampOf = ({ revision, time }) => ({ revision, time });
// a state without a time equals none: NaN is not NaN
const sameStamp = (a, b) => a.revision === b.revision && Date.parse(a.time) === Date.parse(b.time);
const descendsFrom = (later, earlier) => later.exports.some((stamp) => sameStamp(stamp, earlier));

/** The stamps of several lists, each once, the last ones of many. */
function joinedStamps(...lists) {
  const stamps = lists.flat().filter((stamp) => stamp.time);
  return stamps.filter((stamp, i) => stamps.findIndex((other) => sameStamp(other, stamp)) === i).slice(-STATES);
}

/** Whether the second of two states is the newer one, in the same way whichever window asks. */
function isLater(a, b) {
  if (a.revision !== b.revision) return b.revision > a.revision;
  return (b.time ?? "") === (a.time ?? "") ? JSON.stringify(b.items) > JSON.stringify(a.items) : (b.time ?? "") > (a.time ?? "");
}

/** How many marks and decisions there are. */
function countMarks(items) {
  const decided = (flags) => flags.filter((flag) => flag !== null).length;
  const inSummary = ({ points, none, omitted, hallucinated }) => points.length + Number(none) + decided(omitted) + decided(hallucinated);
  const inItem = ({ key_points: points, without, summaries }) =>
    summaries.reduce((sum, summary) => sum + inSummary(summary), points.length + without.length);
  return items.reduce((sum, marks) => sum + inItem(marks), 0);
}

/** Whether an item's marks have all that other marks of it have. */
function containsMarks(marks, other) {
  const places = (points, wanted) => wanted.map((spans) => points.findIndex((each) => sameSpans(each, spans)));
  const decided = (flags, wanted, at) => wanted.every((flag, k) => flag === null || flags[at[k]] === flag);
  const at = places(marks.key_points, other.key_points);
  const inSummary = (theirs, s) => {
    const mine = marks.summaries[s];
    const own = places(mine.points, theirs.points);
    const isDecided = decided(mine.omitted, theirs.omitted, at) && decided(mine.hallucinated, theirs.hallucinated, own);
    return !own.includes(-1) && (mine.none || !theirs.none) && isDecided;
  };
  return (
    !at.includes(-1) &&
    other.without.every((passage) => marks.without.some((each) => sameSpans([each], [passage]))) &&
    other.summaries.every(inSummary)
  );
}

/** What a file is to the state that is here: "same", "older", "newer", or "apart" when nothing shows that one came of the other. */
function relation(file, here) {
  const [theirs, mine] = [file, here].map(({ items }) => items.map(marksOf));
  if (alike(theirs, mine)) return "same";
  if (!hasMarks(mine)) return "newer";
  if (sameStamp(file, here)) return "apart";
  if (descendsFrom(here, file)) return "older";
  if (descendsFrom(file, here)) return "newer";
  // what has more marks but fewer changes had others taken back
  const mayFollow = (later, earlier) => !later.revision || !earlier.revision || later.revision > earlier.revision;
  if (mayFollow(here, file) && mine.every((marks, i) => containsMarks(marks, theirs[i]))) return "older";
  return mayFollow(file, here) && theirs.every((marks, i) => containsMarks(marks, mine[i])) ? "newer" : "apart";
}

/** One value of two that came of `base`, where one of them is still that or their parts can be put together; else undefined. */
function mergedValue(base, a, b, name) {
  if (alike(a, b) || alike(b, base)) return a;
  if (alike(a, base)) return b;
  if (name === "without") {
    const isIn = (spans) => (span) => spans.some((each) => sameSpans([each], [span]));
    const stays = (span) => [a, b].every((spans) => isIn(spans)(span)) || !isIn(base)(span);
    return [...a, ...b.filter((span) => !isIn(a)(span))].filter(stays).sort((x, y) => x.start - y.start);
  }
  const keys = [a, b, base].map((value) => (value && typeof value === "object" ? Object.keys(value) : null));
  if (!keys[2] || !alike(keys[0], keys[2]) || !alike(keys[1], keys[2])) return undefined;
  const parts = keys[2].map((key) => [key, mergedValue(base[key], a[key], b[key], key)]);
  if (parts.some(([, part]) => part === undefined)) return undefined;
  return Array.isArray(base) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

/** The items of two states put together, and the numbers of those that cannot be: there the newer state's stands.
 * `bases` are states that both came of, the latest first. */
function mergedItems(bases, older, newer) {
  const clashes = [];
  const items = newer.map((marks, i) => {
    const base = bases.find((each) => alike(each[i], marks) || alike(each[i], older[i]))?.[i] ?? bases[0]?.[i] ?? null;
    const merged = mergedValue(base, marks, older[i]);
    if (merged && isSound(SHEET.items[i], withMarks(SHEET.items[i], merged))) return merged;
    clashes.push(i + 1);
    return marks;
  });
  return { items, clashes };
}
