// What a person has marked in one item, and what may be done to it. Every function returns new marks and leaves the old ones, so
// that going back is keeping the old ones. A scope is "document", or the place of a summary.

const BREAK = "\n\n";

/** The passages of a document: [{start, end, label}]. */
function passagesOf(text) {
  let start = 0;
  return text.split(BREAK).map((label) => {
    const passage = { start, end: start + codePoints(label).length, label };
    start = passage.end + BREAK.length;
    return passage;
  });
}

/** The marks in an item of a sheet, in one form whoever wrote them. */
function marksOf(item) {
  const span = ({ start, end, label }) => ({ start, end, label });
  const points = (list) => list.map((spans) => spans.map(span));
  return {
    key_points: points(item.key_points),
    without: item.without.map(span),
    summaries: item.summaries.map((summary) => ({
      points: points(summary.points), none: summary.none, omitted: [...summary.omitted], hallucinated: [...summary.hallucinated],
    })),
  };
}

/** The item of a sheet with these marks. */
const withMarks = (item, marks) => ({
  ...item,
  ...marks,
  summaries: item.summaries.map((summary, s) => ({ ...summary, ...marks.summaries[s] })),
});

const textOf = (item, scope) => (scope === "document" ? item.document : item.summaries[scope].text);
const pointsOf = (marks, scope) => (scope === "document" ? marks.key_points : marks.summaries[scope].points);
const sameSpans = (a, b) => a.length === b.length && a.every((span, i) => span.start === b[i].start && span.end === b[i].end);

/** Marks with a new key point, and its place; a key point of the very same spans is not made twice. */
function addPoint(item, old, scope, spans) {
  const marks = structuredClone(old);
  const points = pointsOf(marks, scope);
  const merged = mergedSpans(codePoints(textOf(item, scope)), spans);
  const same = points.findIndex((point) => sameSpans(point, merged));
  if (same >= 0) return [old, same];
  points.push(merged);
  if (scope === "document") for (const summary of marks.summaries) summary.omitted.push(null);
  else Object.assign(marks.summaries[scope], { none: false, hallucinated: [...marks.summaries[scope].hallucinated, null] });
  return [clearedWithout(marks), points.length - 1];
}

/** Marks with more text in key point `k`. */
function extendPoint(item, old, scope, k, spans) {
  const marks = structuredClone(old);
  const points = pointsOf(marks, scope);
  points[k] = mergedSpans(codePoints(textOf(item, scope)), [...points[k], ...spans]);
  return clearedWithout(marks);
}

/** Marks without key point `k` and without the decisions on it. */
function removePoint(old, scope, k) {
  const marks = structuredClone(old);
  pointsOf(marks, scope).splice(k, 1);
  if (scope === "document") for (const summary of marks.summaries) summary.omitted.splice(k, 1);
  else marks.summaries[scope].hallucinated.splice(k, 1);
  return marks;
}

/** Marks in which no passage that has a key point is said to have none. */
function clearedWithout(marks) {
  marks.without = marks.without.filter((passage) => !marks.key_points.flat().some((span) => overlap(span, passage)));
  return marks;
}

/** Marks in which the passage is, or is not, said to have no key point. */
function setWithout(old, passage, value) {
  const marks = structuredClone(old);
  marks.without = marks.without.filter((other) => !overlap(other, passage));
  if (value) marks.without.push(passage);
  marks.without.sort((a, b) => a.start - b.start);
  return clearedWithout(marks);
}

/** Marks in which the summary is, or is not, said to have no key point. */
function setNone(old, scope, value) {
  const marks = structuredClone(old);
  marks.summaries[scope].none = value && !marks.summaries[scope].points.length;
  return marks;
}

/** Marks with one match decided; `kind` is "omitted" or "hallucinated". */
function decide(old, scope, kind, k, value) {
  const marks = structuredClone(old);
  marks.summaries[scope][kind][k] = value;
  return marks;
}

/** What is still to be done in an item: [{text, target}], target being the id of the element where it is done. */
function openWork(item, marks) {
  const done = [...marks.key_points.flat(), ...marks.without];
  const work = [];
  const unmarked = (name, target) => work.push({ text: `${name}: mark its key points, or say that it has none`, target });
  passagesOf(item.document).forEach((passage, i) => {
    if (!done.some((span) => overlap(span, passage))) unmarked(`Passage ${i + 1}`, `passage-${i}`);
  });
  marks.summaries.forEach((summary, s) => {
    const name = `Summary ${item.summaries[s].letter}`;
    if (!summary.points.length && !summary.none) unmarked(name, `summary-text-${s}`);
    for (const kind of ["hallucinated", "omitted"]) {
      const left = summary[kind].filter((value) => value === null).length;
      const first = summary[kind].indexOf(null);
      const what = `key ${left === 1 ? "point" : "points"} of the ${kind === "omitted" ? "document" : "summary"}`;
      if (left) work.push({ text: `${name}: ${left} ${what} to decide`, target: `${kind}-${s}-${first}-no` });
    }
  });
  return work;
}

/** Whether a sheet's item has the texts of `item`, and marks that belong to them. */
function isSound(item, other) {
  const isFlag = (flag) => [true, false, null].includes(flag);
  const isFlags = (flags, n) => Array.isArray(flags) && flags.length === n && flags.every(isFlag);
  const stands = ({ start, end, label }, points) => points.slice(start, end).join("") === label;
  const isSpan = (span, points) => Number.isInteger(span?.start) && 0 <= span.start && span.start < span.end && stands(span, points);
  const isSpans = (spans, points) => Array.isArray(spans) && spans.every((span) => isSpan(span, points));
  const isPoints = (list, text) => Array.isArray(list) && list.every((spans) => isSpans(spans, codePoints(text)) && spans.length > 0);
  return (
    other?.id === item.id &&
    isPoints(other.key_points, item.document) &&
    isSpans(other.without, codePoints(item.document)) &&
    Array.isArray(other.summaries) &&
    other.summaries.length === item.summaries.length &&
    other.summaries.every(
      (summary, s) =>
        summary?.letter === item.summaries[s].letter &&
        isPoints(summary.points, item.summaries[s].text) &&
        typeof summary.none === "boolean" &&
        !(summary.none && summary.points.length) &&
        isFlags(summary.omitted, other.key_points.length) &&
        isFlags(summary.hallucinated, summary.points.length),
    )
  );
}
