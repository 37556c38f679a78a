// What is selected in the texts, by mouse or by keyboard.

const asScope = (text) => (text === "document" ? text : Number(text));

/** UTF-16 units of an element's text before a place in it. */
function unitsBefore(element, node, offset) {
  const range = document.createRange();
  range.selectNodeContents(element);
  range.setEnd(node, offset);
  return range.toString().length;
}

/** The text node and offset so many UTF-16 units into an element. */
function placeOf(element, units) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (units <= node.length) return [node, units];
    units -= node.length;
  }
  return [element, element.childNodes.length];
}

/** The selection as {scope, spans}, a span for each passage that it touches; or {problem} when it cannot be marked. */
function selected() {
  const selection = getSelection();
  const range = selection.rangeCount ? selection.getRangeAt(0) : null;
  const found = [];
  for (const element of range && !range.collapsed ? document.querySelectorAll(".markable") : []) {
    if (!range.intersectsNode(element)) continue;
    const text = element.textContent;
    const start = element.contains(range.startContainer) ? unitsBefore(element, range.startContainer, range.startOffset) : 0;
    const end = element.contains(range.endContainer) ? unitsBefore(element, range.endContainer, range.endOffset) : text.length;
    const span = trimmedSpan(codePoints(text), pointOffset(text, start, false), pointOffset(text, end, true));
    const from = Number(element.dataset.start);
    if (span) found.push({ scope: element.dataset.scope, span: { ...span, start: span.start + from, end: span.end + from } });
  }
  if (!found.length) return { problem: "Select some text first." };
  const { scope } = found[0];
  if (found.some((each) => each.scope !== scope)) return { problem: "Select text of the document or of one summary, not of several." };
  return { scope: asScope(scope), spans: found.map(({ span }) => span) };
}

// the words chosen by the keyboard, in the text of that id
const cursor = { id: null, anchor: 0, head: 0 };
const forgetCursor = () => { cursor.id = null; };

/** Choose the next or the previous word of a text, or with `extend` one word more or less. */
function moveCursor(element, step, extend) {
  const words = [...element.textContent.matchAll(/\S+/g)];
  if (cursor.id !== element.id) Object.assign(cursor, { id: element.id, anchor: 0, head: step > 0 ? -1 : words.length });
  cursor.head = Math.min(Math.max(cursor.head + step, 0), words.length - 1);
  if (!extend) cursor.anchor = cursor.head;
  const first = words[Math.min(cursor.anchor, cursor.head)];
  const last = words[Math.max(cursor.anchor, cursor.head)];
  getSelection().setBaseAndExtent(...placeOf(element, first.index), ...placeOf(element, last.index + last[0].length));
}
