// The page as elements. Texts only ever enter as text nodes, so that no document can bring elements or scripts.

const TINTS = 6;

/** An element with these properties; names with a dash are attributes. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else if (name === "data") Object.assign(element.dataset, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

const badge = (number) => make("span", { className: `badge tint-${number % TINTS}` }, String(number + 1));
const quoted = (spans) => spans.map((span) => span.label).join(" \u2026 ");

/** A text in which key points can be marked; what is marked stands in `mark` elements, whose numbers are no part of the text. */
function markable(id, scope, label, text, from, highlights, current) {
  const points = codePoints(text);
  const element = make("p", {
    id, className: "markable", tabIndex: 0, role: "group", "aria-label": label, "aria-describedby": "keys", data: { scope, start: from },
  });
  for (const { start, end, numbers } of segments(from, from + points.length, highlights)) {
    const part = points.slice(start - from, end - from).join("");
    if (!numbers.length) {
      element.append(part);
      continue;
    }
    const isCurrent = numbers.includes(current);
    const classes = [`tint-${(isCurrent ? current : numbers[0]) % TINTS}`];
    if (numbers.length > 1) classes.push("several");
    if (isCurrent) classes.push("current");
    // the numbers of the highlights that begin here stand before the words
    const begun = numbers.filter((number) => highlights[number].some((span) => span.start === start));
    const data = begun.length ? { numbers: begun.map((number) => number + 1).join(" ") } : {};
    element.append(make("mark", { className: classes.join(" "), data }, part));
  }
  return element;
}

/** Two radio buttons of which none is chosen until the match is decided. */
function decision(name, legend, value, yes, no) {
  const option = (key, flag, text) => {
    const properties = { type: "radio", id: `${name}-${key}`, name, checked: value === flag, data: { decision: name, value: flag } };
    return make("label", { className: "option" }, make("input", properties), text);
  };
  const classes = `decision${value === null ? " open" : ""}`;
  const hidden = make("legend", { className: "hidden" }, legend);
  return make("fieldset", { className: classes }, hidden, option("no", false, yes), option("yes", true, no));
}

/** One key point in a list: its number and text, which choose it, whatever is asked of it, and its removal. */
function pointRow(scope, k, spans, isCurrent, asked) {
  const choose = make(
    "button",
    { type: "button", id: `choose-${scope}-${k}`, className: "choose", "aria-pressed": String(isCurrent), data: { choose: scope, k } },
    badge(k),
    make("span", {}, quoted(spans)),
  );
  const name = `Remove key point ${k + 1}`;
  const remove = make(
    "button",
    { type: "button", id: `remove-${scope}-${k}`, className: "remove", title: name, "aria-label": name, data: { remove: scope, k } },
    "\u00d7",
  );
  return make("li", {}, choose, ...asked, remove);
}

function check(id, text, checked, disabled, data) {
  return make("label", { className: "none" }, make("input", { type: "checkbox", id, checked, disabled, data }), text);
}

const listed = (entries, none) =>
  entries.length ? make("ol", { className: "points" }, ...entries) : make("p", { className: "lead" }, none);

/** The document with its passages and its key points. */
function documentView(item, marks, current) {
  const mine = current?.scope === "document" ? current.k : -1;
  const passages = passagesOf(item.document).map((passage, i) => {
    const isMarked = marks.key_points.flat().some((span) => overlap(span, passage));
    const isWithout = marks.without.some((span) => overlap(span, passage));
    return make(
      "div",
      { className: `passage${isWithout ? " without" : ""}` },
      markable(`passage-${i}`, "document", `Passage ${i + 1}`, passage.label, passage.start, marks.key_points, mine),
      check(`without-${i}`, "No key point in this passage", isWithout, isMarked, { without: i }),
    );
  });
  const rows = marks.key_points.map((spans, k) => pointRow("document", k, spans, k === mine, []));
  return [
    make("h2", {}, item.topic || "Document"),
    make("p", { className: "lead" }, ...(item.side === "all" ? ["All sides"] : ["Side: ", make("strong", {}, item.side)])),
    ...passages,
    make("h3", {}, "Key points of the document"),
    listed(rows, "None yet. Select text above, then press Enter."),
  ];
}

/** One blind summary, its key points, and the matches to decide. */
function summaryView(item, marks, s, current) {
  const { letter, text } = item.summaries[s];
  const summary = marks.summaries[s];
  const mine = current?.scope === s ? current.k : -1;
  const rows = summary.points.map((spans, k) => {
    const legend = `Key point ${k + 1} of summary ${letter}`;
    const asked = decision(`hallucinated-${s}-${k}`, legend, summary.hallucinated[k], "in the document", "not in it");
    return pointRow(s, k, spans, k === mine, [asked]);
  });
  const matches = marks.key_points.map((spans, k) => {
    const legend = `Key point ${k + 1} of the document`;
    const asked = decision(`omitted-${s}-${k}`, legend, summary.omitted[k], "in the summary", "not in it");
    return make("li", {}, badge(k), make("span", { className: "quote" }, quoted(spans)), asked);
  });
  return make(
    "section",
    { className: "summary", "aria-label": `Summary ${letter}` },
    make("h2", {}, `Summary ${letter}`),
    markable(`summary-text-${s}`, s, `Text of summary ${letter}`, text, 0, summary.points, mine),
    check(`none-${s}`, "No key point in this summary", summary.none, summary.points.length > 0, { none: s }),
    make("h3", {}, "Its key points: does the document make them?"),
    listed(rows, "None marked."),
    make("h3", {}, "The document\u2019s key points: does the summary have them?"),
    listed(matches, "None marked in the document yet."),
  );
}

/** What is left to do in the item, each with a way there; when nothing is, the way to the next item. */
function workView(work, hasNext) {
  if (!work.length) {
    const next = hasNext ? [make("button", { type: "button", className: "main", data: { next: "" } }, "Next item")] : [];
    return [make("h2", {}, "This item is finished"), make("p", { className: "lead" }, "You can still change it."), ...next];
  }
  const way = (target, text) => make("button", { type: "button", className: "link", data: { target } }, text);
  const rows = work.map(({ text, target }) => make("li", {}, way(target, text)));
  return [make("h2", {}, "Still to do in this item"), make("ul", {}, ...rows)];
}
