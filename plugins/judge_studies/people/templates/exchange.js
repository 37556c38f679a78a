// Whose sheet is open, and sheets as files.

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
  } else if (found && hasMarks() && $("unkept").textContent) {
    say("Export first: this browser would not keep the marks that are here.");
  } else if (found) {
    resume(name.trim());
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
  // another window's sheet without a name
  const { other } = state.annotator.trim() ? keptSheet("") : {};
  if (other && !isSafeToReplace([other], "had no name")) return say("No new sheet was begun.");
  const old = state.annotator;
  forgetSteps();
  Object.assign(state, { annotator: "", ...blank() });
  startAnew();
  keep();
  render();
  $("annotator").focus();
  return say(`A new sheet; write your name. ${old.trim() ? `Write ${whose(old)} to go on with that one.` : ""}`);
}

function exportSheet() {
  if (!state.annotator.trim()) {
    $("annotator").focus();
    return say("Write your name first: it tells your sheet from others.");
  }
  catchUp();
  state.exports = joinedStamps(state.exports, [stampOf(state)]);
  keep();
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
  catchUp();
  const name = nameIn(other).trim();
  const question = `The file is the sheet of ${whose(name)}; this one has marks of ${whose(state.annotator)}, which stay in this browser. `
    + "Open the file?";
  if (!isOurs(name) && hasMarks() && !confirm(question)) return say("Nothing was imported.");
  const here = isOurs(name) ? sheet() : keptSheet(name).other;
  const how = here ? relation(other, here) : "newer";
  const states = here && `the file has ${describe(other)}; here ${whose(name)} has ${describe(here)}`;
  const isWanted = how === "newer" || (how === "apart" && confirm(`Neither came of the other: ${states}. `
    + "Shall the file stand in its place? Whichever you do not choose is kept under Earlier sheets."));
  if (!isWanted) return stay(how, name, other, states);
  if (!takeSheet(name, other, how === "newer", "replaced by a file")) return say("Nothing was imported.");
  return say("Imported. Undo brings back what was here before.");
}

/** The file does not replace what the browser has of that name, which is opened if it is not. */
function stay(how, name, other, states) {
  if (!isOurs(name)) {
    if (!isSafeToReplace(unfindable(), "left for another one")) return say("Nothing was imported.");
    resume(name);
    keep();
    render();
  }
  if (how === "same") return say("The file has the same marks as the sheet that is here: nothing to import.");
  const isKept = archive({ ...other, annotator: name }, "a file that was not taken");
  const where = isKept ? "The file is under Earlier sheets, should you want it." : "";
  const why = how === "older" ? "The file is older and replaces nothing" : "What is here stays";
  return say(`${why}: ${states}. ${where}`);
}
