"use strict";

// Arithmetic on spans {start, end, label}. Offsets count Unicode code points, as Python does; the browser counts UTF-16 units.

/** The text as a list of code points: what every offset indexes. */
const codePoints = (text) => Array.from(text);

/** Code points before a UTF-16 offset; an offset within a surrogate pair is moved behind the pair if `up`, else before it. */
function pointOffset(text, units, up) {
  let points = 0;
  let seen = 0;
  for (const character of text) {
    if (seen >= units) break;
    seen += character.length;
    points += 1;
  }
  return seen > units && !up ? points - 1 : points;
}

/** The span without the white space at its ends, or null when nothing is left. */
function trimmedSpan(points, start, end) {
  const isSpace = (point) => /\s/u.test(point);
  while (start < end && isSpace(points[start])) start += 1;
  while (end > start && isSpace(points[end - 1])) end -= 1;
  return start < end ? { start, end, label: points.slice(start, end).join("") } : null;
}

/** The spans in their order, those that overlap or touch joined. */
function mergedSpans(points, spans) {
  const merged = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = merged.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ start: span.start, end: span.end });
  }
  return merged.map(({ start, end }) => ({ start, end, label: points.slice(start, end).join("") }));
}

const overlap = (a, b) => a.start < b.end && b.start < a.end;

/** The stretch from `start` to `end` cut wherever a highlight begins or ends: [{start, end, numbers of the highlights on it}]. */
function segments(start, end, highlights) {
  const inside = highlights.flat().filter((span) => overlap(span, { start, end }));
  const cuts = new Set([start, end, ...inside.flatMap((span) => [Math.max(span.start, start), Math.min(span.end, end)])]);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((from, i) => {
    const part = { start: from, end: places[i + 1] };
    const numbers = [...highlights.keys()].filter((number) => highlights[number].some((span) => overlap(span, part)));
    return { ...part, numbers };
  });
}
