"""Phrases that several families of results use."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...config.recipe_file import JUDGE_KINDS
from ...number import Number
from ..lengths import LONGER
from ..report.systems.contents import Difference, JudgeNote
from ..report.systems.lengths import share_by_length
from ..report.systems.planes import PlanePlot
from .blocks import Details, Facts, Heading, Legend, NumberCell, Prose, Text, Tone, bounds
from .numbers import number, places_for

ALL = "all"
NOTHING_LEFT_OUT = "Nothing was left out."
UNSURE = "no clear difference"
# names of a sentence, of which more are counted
MOST_NAMED = 3
# said aloud in place of a mark
MARK_NAMES = {"better": "better", "worse": "worse", "neutral": "differs", "unsure": UNSURE}
DIRECTIONS = {
    "higher": "Higher is better.",
    "lower": "Lower is better.",
    None: "Neither more nor less is better.",
}
# the text, where it is not the documents of the summary's side
TEXTS = {
    "opposing": "The text is the other sides' documents.",
    "key_points": "The text is the side's listed key points.",
}
ROLES = {"report": "report judge", "reward": "reward", "both": "report and reward"}


def legend(remark: str = "") -> Legend:
    """What the marks of differences mean; `remark` stands after them."""
    return Legend((("better", "better"), ("worse", "worse"), ("unsure", f"{UNSURE}{remark}")))


def tone(difference: Difference, judge: JudgeNote) -> Tone:
    """What a difference says of the first of two systems, by what the judge calls better."""
    if difference.verdict == "no clear difference":
        return "unsure"
    if judge.better is None:
        return "neutral"
    return "better" if difference.verdict == judge.better else "worse"


def verdict(difference: Difference, judge: JudgeNote) -> Text:
    """The same in words."""
    found = tone(difference, judge)
    said = {"unsure": UNSURE, "neutral": difference.verdict}.get(found, found)
    own = difference.own_report and tone(difference.model_copy(update={"verdict": difference.own_report}), judge)
    note = f"{MARK_NAMES[own]} in the run's own report, which asks less" if own else ""
    return Text(said, tone=found, note=note)


def with_direction(judge: JudgeNote) -> str:
    """A judge's name; with these words of one of which less is better, which nobody expects, or that the reward goes by, too."""
    notes = ["lower is better"] * (judge.better == "lower") + ["of its own reward"] * (judge.role != "report")
    return f"{judge.name} ({', '.join(notes)})" if notes else judge.name


def change(difference: Difference, judge: JudgeNote, places: int) -> NumberCell:
    """A difference with its sign and its mark, and its interval where it is of all requests."""
    drawn = None if difference.side else bounds(difference)
    return NumberCell(difference.mean, drawn, places, sign=True, tone=tone(difference, judge))


def slope_words(slopes: Sequence[Number], judge: str) -> str:
    """How a judge's scores go with length, in a sentence."""
    found = next((slope for slope in slopes if slope.measure == judge), None)
    if found is None:
        return "No request has two scored candidates of different length, so how scores go with length is unknown."
    shown = with_interval(NumberCell(found.value, bounds(found), 4, sign=True))
    return f"{100 * (LONGER - 1):.0f} % more words go with {shown} among candidates of a request."


def gone_with_length(difference: Difference, judge: JudgeNote, words: tuple[float | None, float | None]) -> str:
    """That half of a clear difference or more goes with length, as a sentence; "" where it is less, or not known.

    Args:
        difference: over all requests.
        judge: whose scores they are.
        words: of a summary of the second and of the first system, on average.
    """
    share, found, (before, after) = share_by_length(difference), difference.at_equal_length, words
    if share is None or found is None or before is None or after is None:
        return ""
    what = {"better": "gain", "worse": "loss"}.get(tone(difference, judge), "difference")
    part = "All" if share >= 1 else f"About {100 * share:.0f} %"
    shown = with_interval(NumberCell(found.mean, bounds(found), places_for([difference.mean]), sign=True))
    return (
        f"{part} of the {what} by {with_direction(judge)} goes with {'shorter' if after < before else 'longer'} summaries "
        f"({number(before, 1)} \u2192 {number(after, 1)} words): at equal length it is {shown}."
    )


def with_interval(found: NumberCell) -> str:
    """A number and its interval, as text."""
    return f"{found.shown} ({found.interval})"


def judge_blocks(judge: JudgeNote, *said: str) -> tuple[Heading | Prose, ...]:
    """Heading of what a judge says: its name, what its scores are used for, which are better, and what they depend on.

    `said` are sentences on its scores that stand between; empty ones are left out.
    """
    return (
        Heading(judge.name, 3, ROLES[judge.role]),
        Prose(" ".join(filter(None, (DIRECTIONS[judge.better], *said))), "small"),
        Prose(judge.signature, "code"),
    )


def judges_explained(judges: Sequence[JudgeNote], recipe: dict[str, Any]) -> Iterator[Details]:
    """What each judge measures, folded, for the place where judges are named first; nothing where none is known."""
    entries = tuple(
        (judge.name, Text(" ".join((said, DIRECTIONS[judge.better])), note=ROLES[judge.role]))
        for judge in judges
        if (said := judges_mean(recipe, judge.name))
    )
    if entries:
        yield Details("What the judges measure", (Facts(entries),))


# what a judge's text is called, by its key against
WHOSE = {"opposing": "the other side\u2019s documents", "key_points": "its key points"}
PLAIN = {
    ("rouge", "precision"): "words taken from {whose}",
    ("rouge", "recall"): "words of {whose} kept",
    ("alignment", "precision"): "claims borne out by {whose}",
    ("alignment", "recall"): "sentences of {whose} covered",
}


def plain_judges(recipe: dict[str, Any], judges: Sequence[JudgeNote], *, has_sides: bool) -> dict[str, str]:
    """What each judge measures, in the words of a reader; where two would be called alike, or nothing is known, with its name.

    Args:
        recipe: the run's.
        judges: of the page.
        has_sides: whether requests are of one side each.
    """
    named = {judge.name: _plain(recipe.get("judges", {}).get(judge.name, {}), has_sides) for judge in judges}
    known = list(named.values())
    return {
        name: name.replace("_", " ") if not plain else f"{plain} ({name})" if known.count(plain) > 1 else plain
        for name, plain in named.items()
    }


def _plain(written: Mapping[str, Any], has_sides: bool) -> str:
    kind = written.get("kind", "")
    whose = WHOSE.get(written.get("against", ""), "its own documents" if has_sides else "the documents")
    if kind in ("length", "contract"):
        return "words of the summary" if kind == "length" else "the asked form kept"
    measure = written.get("measure", "recall") if kind == "rouge" else written.get("direction", "precision")
    found = PLAIN.get((kind, str(measure)), "words shared with {whose}" if kind == "rouge" else "")
    if written.get("type", "rouge1") not in ("rouge1", "average"):
        found = found.replace("words", "word pairs" if written["type"] == "rouge2" else "word sequences", 1)
    section = JUDGE_KINDS.get(kind)
    if not found and section is not None:
        judge = section.model_construct(**{key: value for key, value in written.items() if key in section.model_fields})
        found = {"coverage": "coverage of {whose}", "faithfulness": "faithfulness to {whose}"}.get(
            judge.purpose or "", ""
        )
    return found.format(whose=whose)


def judges_mean(recipe: dict[str, Any], name: str) -> str:
    """What a judge's scores mean, by what the recipe says of it; "" where it is not known."""
    written = recipe.get("judges", {}).get(name, {})
    section = JUDGE_KINDS.get(written.get("kind", ""))
    if section is None:
        return ""
    # not checked, since an older recipe may have keys that are no more
    judge = section.model_construct(**{key: value for key, value in written.items() if key in section.model_fields})
    return " ".join(filter(None, (judge.means, TEXTS.get(written.get("against", ""), ""))))


def on_front(plot: PlanePlot) -> str:
    """Names of the systems that no other beats."""
    return "; ".join(point.name for point in plot.points if point.standing == "on the front") or "none"


# p after correction, at most -> how sure that is, in three words
CERTAINTY = ((0.001, "Very strong evidence"), (0.01, "Fairly strong evidence"), (1.0, "Clear, not strongly"))
TOO_FEW, NOT_CLEAR = "Too few sets", "No clear difference"
# words of a headline
MOST_WORDS = 15


def certainty(adjusted_p: float | None) -> str:
    """How sure a verdict is, in three words; one that rests on an interval alone is clear."""
    return next(said for most, said in CERTAINTY if (1.0 if adjusted_p is None else adjusted_p) <= most)


def headline(*forms: str) -> str:
    """The first of these forms that has few enough words for a headline, with a capital; else the last one, cut."""
    fitting = next((form for form in forms if len(form.split()) <= MOST_WORDS), None)
    return capital(fitting or f"{' '.join(forms[-1].split()[: MOST_WORDS - 1])} \u2026")


def counted(n: int, what: str, plural: str = "") -> str:
    """ "1 document", "2 documents"."""
    return f"{n:,} {what if n == 1 else plural or what + 's'}"


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def joined(names: Sequence[str], most: int | None = None) -> str:
    """ "a, b and c"; of more names than `most` the last are counted: "a, b and 2 others"."""
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
