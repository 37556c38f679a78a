"""Phrases of pages on systems: what their judges measure, and what a difference says by them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ....config.judges import JUDGE_SECTIONS
from ....config.needs import JudgeSection
from ....config.python_code import PythonJudge
from ....number import Number
from ....resampling import too_few
from ...lengths import LONGER
from ...pages.blocks import Details, Facts, Heading, Prose
from ...pages.cells import NumberCell, Text, Tone
from ...pages.numbers import number, places_for
from ...pages.tables import bounds, estimate
from ...pages.words import MARK_NAMES, NOT_CLEAR, TOO_FEW, UNSURE, certainty, with_interval
from .contents import Difference, JudgeNote
from .lengths import share_by_length

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


def tone(difference: Difference, judge: JudgeNote) -> Tone:
    """The tone of a difference for the first of two systems, by what the judge calls better."""
    if difference.verdict == "no clear difference":
        return "unsure"
    if judge.better is None:
        return "neutral"
    return "better" if difference.verdict == judge.better else "worse"


def verdict(difference: Difference, judge: JudgeNote) -> Text:
    """The verdict of a difference on the first of two systems, in words."""
    verdict_tone = tone(difference, judge)
    word = {"unsure": UNSURE, "neutral": difference.verdict or ""}.get(verdict_tone, verdict_tone)
    own_tone = difference.own_report and tone(difference.model_copy(update={"verdict": difference.own_report}), judge)
    note = f"{MARK_NAMES[own_tone]} in the run's own report, which asks less" if own_tone else ""
    return Text(word, tone=verdict_tone, note=note)


def tally(judges: Sequence[JudgeNote], tests: Iterable[Difference]) -> dict[str, dict[str, float | None]]:
    """The verdicts of judges on two systems, better, worse or no clear difference, each with its judges and their differences."""
    by_judge = {test.measure: test for test in tests}
    verdicts: dict[str, dict[str, float | None]] = {"better": {}, "worse": {}, UNSURE: {}}
    for judge in judges:
        test = by_judge.get(judge.name)
        verdicts[verdict(test, judge).text if test else UNSURE][judge.name] = test.value if test else None
    return verdicts


def rests_on_few(tests: Sequence[Difference], level: float) -> bool:
    """Whether no test rests on sets enough to be clear."""
    return bool(tests) and bool(too_few(max(test.n_sets for test in tests), level))


def how_sure(tests: Sequence[Difference], level: float) -> str:
    """How sure the clearest of the headline's differences is, in three words."""
    clear = [test.adjusted for test in tests if test.is_clear]
    if not clear:
        return TOO_FEW if rests_on_few(tests, level) else NOT_CLEAR
    return certainty(min((p for p in clear if p is not None), default=None))


def with_direction(judge: JudgeNote) -> str:
    """A judge's name; with these words of one of which less is better, which nobody expects, or that the reward goes by, too."""
    notes = ["lower is better"] * (judge.better == "lower") + ["of its own reward"] * (judge.role != "report")
    return f"{judge.name} ({', '.join(notes)})" if notes else judge.name


def change(difference: Difference, judge: JudgeNote, places: int) -> NumberCell:
    """A difference with its sign and its mark, and its interval where it is of all requests."""
    drawn = None if difference.side else bounds(difference)
    return NumberCell(difference.value, drawn, places, sign=True, tone=tone(difference, judge))


def slope_words(slopes: Sequence[Number], judge: str) -> str:
    """How a judge's scores go with length, in a sentence."""
    judge_slope = next((slope for slope in slopes if slope.measure == judge), None)
    if judge_slope is None:
        return "No request has two scored candidates of different length, so how scores go with length is unknown."
    shown = with_interval(estimate(judge_slope, 4, sign=True))
    return f"{100 * (LONGER - 1):.0f} % more words go with {shown} among candidates of a request."


def gone_with_length(difference: Difference, judge: JudgeNote, words: tuple[float | None, float | None]) -> str:
    """That half of a clear difference or more goes with length, as a sentence; "" where it is less, or not known.

    Args:
        difference: over all requests.
        judge: whose scores they are.
        words: of a summary of the second and of the first system, on average.
    """
    share, equal, (before, after) = share_by_length(difference), difference.at_equal_length, words
    if share is None or equal is None or before is None or after is None:
        return ""
    effect = {"better": "gain", "worse": "loss"}.get(tone(difference, judge), "difference")
    part = "All" if share >= 1 else f"About {100 * share:.0f} %"
    shown = with_interval(estimate(equal, places_for([difference.value]), sign=True))
    return (
        f"{part} of the {effect} by {with_direction(judge)} goes with {'shorter' if after < before else 'longer'} summaries "
        f"({number(before, 1)} \u2192 {number(after, 1)} words): at equal length it is {shown}."
    )


def judge_blocks(judge: JudgeNote, *sentences: str) -> tuple[Heading | Prose, ...]:
    """Heading of what a judge says: its name, what its scores are used for, which are better, and what they depend on.

    `sentences` on its scores stand between; empty ones are left out.
    """
    return (
        Heading(judge.name, 3, ROLES[judge.role]),
        Prose(" ".join(filter(None, (DIRECTIONS[judge.better], *sentences))), "small"),
        Prose(judge.signature, "code"),
    )


def judges_explained(judges: Sequence[JudgeNote], recipe: dict[str, Any]) -> Iterator[Details]:
    """The meaning of each judge's scores, folded, for the place where judges are named first; nothing where none is known."""
    entries = tuple(
        (judge.name, Text(" ".join((meaning, DIRECTIONS[judge.better])), note=ROLES[judge.role]))
        for judge in judges
        if (meaning := judges_mean(recipe, judge.name))
    )
    if entries:
        yield Details("What the judges measure", (Facts(entries),))


# what a judge's text is called, by its key against
WHOSE = {"opposing": "the other side\u2019s documents", "key_points": "its key points"}


def plain_judges(recipe: dict[str, Any], judges: Sequence[JudgeNote], *, has_sides: bool) -> dict[str, str]:
    """The quantity that each judge measures, in a reader's words; with its name where two are called alike or nothing is known.

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
    text_name = WHOSE.get(written.get("against", ""), "its own documents" if has_sides else "the documents")
    judge = _section(written)
    return judge.plain.format(whose=text_name) if judge else ""


def _section(written: Mapping[str, Any]) -> JudgeSection | PythonJudge | None:
    """A judge's section of a recipe, not checked, since an older one may have keys that are no more; None of an unknown kind."""
    section = JUDGE_SECTIONS.get(written.get("kind", ""))
    if section is None:
        return None
    return section.model_construct(**{key: value for key, value in written.items() if key in section.model_fields})


def judges_mean(recipe: dict[str, Any], name: str) -> str:
    """The meaning of a judge's scores, by what the recipe says of it; "" where it is not known."""
    written = recipe.get("judges", {}).get(name, {})
    judge = _section(written)
    if judge is None:
        return ""
    return " ".join(filter(None, (judge.means, TEXTS.get(written.get("against", ""), ""))))
