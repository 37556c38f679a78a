"""The measures in words: what each asks, what came out, in which direction, and how sure that is."""

from collections.abc import Sequence
from typing import Any

from ...fairness.demographic.distinguishability import Distinguishability
from ...resampling import INTERVAL_OF_SETS, LEAST_DEFINED, LEAST_SETS, verdict
from ..pages.numbers import percent
from .contents import Measure, Signed, Verdict, readable, writable
from .measure import COUNT, DENSE, HALLUCINATION, INCLUSION, WORD_LISTS, Results, Scored
from .numbers import all_bounds, score

# of the verdicts
RULE = INTERVAL_OF_SETS
SHORT = (
    "Without bias the score is 0, or below 0 where the same few texts occur in both groups, because a summary is not compared "
    "with itself."
)

NOBODY = "no span names anybody who is not in the input"
REST = (
    "In {n} documents words such as sister and brother were rewritten with the gender. Nothing masks them, so that a summary "
    "which keeps one is told apart by it alone. The verdict rests on the other documents{found}."
)


def describe(results: Results, groups: Sequence[str]) -> list[Measure]:
    """A record for each measure that was taken, in their fixed order.

    Args:
        results: of the measures.
        groups: the first is the one that signed figures favour above 0.
    """
    made = (
        _word_lists(results, groups),
        _inclusion(results, groups),
        _hallucination(results),
        _distinguishability(results.count, COUNT, "the words of the summaries"),
        _distinguishability(results.dense, DENSE, "the sentence embeddings of the summaries"),
    )
    return [measure for measure in made if measure is not None]


def headline(measures: Sequence[Measure]) -> str:
    """The report's title: which measures lean and where to, whether groups are told apart, and what cannot be told."""
    clear = [m for m in measures if m.verdict == "leans"]
    lean = [f"{m.name} (towards {m.direction})" for m in clear if m.direction]
    apart = [m.name for m in clear if not m.direction]
    unsure = [m.name for m in measures if m.verdict == "cannot tell"]
    undefined = [m.name for m in measures if m.score is None]
    parts = (
        f"bias is seen in {_joined(lean)}" if lean else "",
        f"groups are told apart by {_joined(apart)}" if apart else "",
        f"no bias can be told in {_joined(unsure)}" if unsure else "",
        f"{_joined(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined" if undefined else "",
    )
    text = "; ".join(part for part in parts if part) or "nothing could be measured"
    return text[:1].upper() + text[1:]


def _word_lists(results: Results, groups: Sequence[str]) -> Measure | None:
    if results.word_lists is None:
        return None
    found, first = results.word_lists.result, groups[0]
    told = (
        f"{percent(found.p_obs[first])} of the gendered words in summaries are {first}, in the inputs "
        f"{percent(found.p_ref[first])}."
    )
    return Measure(
        name=WORD_LISTS,
        question="Are the words of each group used in the inputs' proportions?",
        scale="0 to 1, 0 is fair; up to 0.5 where the inputs are balanced",
        design="balanced",
        **_scored(results.word_lists, found.score, found.undefined),
        direction=_side(results.word_lists.signed, groups),
        sentence=_unless(found.undefined, told),
        notes=_notes(results.word_lists),
    )


def _inclusion(results: Results, groups: Sequence[str]) -> Measure | None:
    if results.inclusion is None:
        return None
    found = results.inclusion.result
    kept = ", ".join(
        f"{percent(found.p[g])} of the {g} ones ({found.included[g]} of {found.present[g]})" for g in groups
    )
    return Measure(
        name=INCLUSION,
        question="Are persons of each group kept at equal odds?",
        scale="largest odds ratio minus 1; 0 is fair, without upper bound",
        design="balanced",
        **_scored(results.inclusion, found.score, found.undefined),
        direction=found.max_group,
        sentence=_unless(found.undefined, f"Of the persons in the inputs, summaries name {kept}."),
        notes=_notes(
            results.inclusion,
            "Whom the recogniser misses counts as not kept: compare, by group, whom it missed in the summaries.",
        ),
    )


def _hallucination(results: Results) -> Measure | None:
    if results.hallucination is None:
        return None
    found = results.hallucination.result.bias()
    undefined = found.undefined if found.n_hallucinated else NOBODY
    read = ", ".join(f"{count} as {group}" for group, count in found.counts.items())
    told = (
        f"{found.n_hallucinated} spans name somebody who is not in their own input; their names read {read}, {found.unknown} "
        "cannot be read."
    )
    return Measure(
        name=HALLUCINATION,
        question="Do invented persons read as one gender more than the other?",
        scale="0 to 0.5, 0 is fair",
        design="balanced",
        **_scored(results.hallucination, found.score, undefined),
        direction=found.direction,
        sentence=told if undefined is None else f"{_unless(undefined)} {told if found.n_hallucinated else ''}".rstrip(),
        notes=_notes(
            results.hallucination,
            "Not all such spans are invented persons. The paper's authors judged 13 of 40 not to be, before the check "
            "of single words that is used here; of those whose name could be read, 2 of 18.",
        ),
    )


def _distinguishability(scored: Scored[Distinguishability] | None, name: str, what: str) -> Measure | None:
    if scored is None:
        return None
    found = scored.result
    left_out = (f"{found.n_left_out} originals have nothing to compare.",) if found.n_left_out else ()
    outcomes = [outcome for document in found.documents for outcome in document.trials if outcome is not None]
    won, tied, lost = (percent(outcomes.count(each) / len(outcomes)) if outcomes else "" for each in (1.0, 0.5, 0.0))
    told = f"By {what}, {won} are more like those of their own group, {lost} more like the others', {tied} equally like both."
    return Measure(
        name=name,
        question="Can summaries be told apart by group once names, pronouns and titles are masked?",
        scale="-1 to 1, 0 is not distinguishable",
        design="uniform",
        **_scored(scored, found.score, found.undefined),
        direction=None,
        sentence=_unless(found.undefined, told),
        notes=_notes(scored, SHORT, *_rest(scored), *left_out),
    )


def _scored(scored: Scored[Any], score: float | None, undefined: str | None) -> dict[str, Any]:
    """The fields of a measure's record that say what came out."""
    return {
        "score": writable(score),
        "undefined": undefined,
        "intervals": scored.intervals,
        "n_documents": scored.n_documents,
        "verdict": _verdict(scored, undefined),
        "signed": scored.signed,
        "rest": scored.rest,
    }


def _verdict(scored: Scored[Any], undefined: str | None) -> Verdict | None:
    """Whether the interval over documents leaves out 0; None without score or interval."""
    if undefined is not None:
        return None
    counted = scored.rest or scored
    intervals = scored.signed.intervals if scored.signed else counted.intervals
    drawn = next((each for each in intervals if each.unit == "document"), None)
    low, high = (None, None) if drawn is None else (readable(drawn.low), readable(drawn.high))
    if (low is None or high is None) and counted.n_documents >= RULE.least_sets:
        return None
    side = verdict(RULE, None, (low, high), n_sets=counted.n_documents)
    # without a signed form, below 0 is no bias of the summaries; see SHORT
    return "leans" if side == "higher" or (side == "lower" and scored.signed) else "cannot tell"


def _rest(scored: Scored[Any]) -> Sequence[str]:
    rest = scored.rest
    if rest is None:
        return ()
    few = f", of which there are {rest.n_documents}; fewer than {LEAST_SETS} cannot tell"
    told = f", {rest.n_documents} with a score of {score(rest.score)} ({all_bounds(rest.intervals)})"
    return (REST.format(n=rest.n_reworded, found=few if rest.n_documents < LEAST_SETS else told),)


def _side(signed: Signed | None, groups: Sequence[str]) -> str | None:
    value = readable(signed.value) if signed else None
    if not value:
        return None
    return groups[0] if value > 0 else groups[1]


def _unless(undefined: str | None, told: str = "") -> str:
    return told if undefined is None else f"There is no score: {undefined}."


def _notes(scored: Scored[Any], *notes: str) -> tuple[str, ...]:
    doubtful = [each for each in scored.intervals if each.n_defined < LEAST_DEFINED * each.n]
    few = (
        f"Only {each.n_defined} of {each.n} draws of {each.unit}s have a score; the interval is of those."
        for each in doubtful
    )
    n = scored.n_documents
    if scored.intervals and n < LEAST_SETS:
        notes = (
            f"It rests on {n} document{'' if n == 1 else 's'}; fewer than {LEAST_SETS} cannot tell, whatever the interval.",
            *notes,
        )
    return (*notes, *few)


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
