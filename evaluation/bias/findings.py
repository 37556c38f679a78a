"""A study in words: what each measure asks, what came out, in which direction and how sure that is; and its warnings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ...config import BiasRecipe
from ...fairness.demographic.counts import LEAST_DEFINED
from ...fairness.demographic.distinguishability import Distinguishability
from ...generate.reply_text import THOUGHT
from ...resampling import LEAST_SETS
from ..pages.numbers import percent
from ..pages.words import capital, counted, joined
from ..verdicts import adjusted, verdict
from .contents import GroupFigures, Measure, Verdict, all_bounds, readable, score, writable
from .inputs import Inputs
from .measure import COUNT, DENSE, HALLUCINATION, INCLUSION, WORD_LISTS, Results, Scored
from .replies import ANNOUNCED, CUT_OFF, REFUSED
from .summarise import Summary

SHORT = (
    "Without bias the score is 0, or below 0 where the same few texts occur in both groups, because a summary is not compared "
    "with itself."
)

NOBODY = "no span names anybody who is not in the input"
REST = (
    "In {n} documents words such as sister and brother were rewritten with the gender. Nothing masks them, so that a summary "
    "which keeps one shows its group by that alone. The verdict rests on the other documents{found}."
)


def describe(results: Results, groups: Sequence[str], level: float) -> list[Measure]:
    """A record for each measure that was taken, in their fixed order.

    Args:
        results: of the measures.
        groups: the first is the one that signed figures favour above 0.
        level: one less that of the tests.
    """
    made = (
        _word_lists(results, groups),
        _inclusion(results, groups),
        _hallucination(results),
        _distinguishability(results.count, COUNT, "the words of the summaries"),
        _distinguishability(results.dense, DENSE, "the sentence embeddings of the summaries"),
    )
    measures = [measure for measure in made if measure is not None]
    corrected = adjusted([measure.p_value for measure in measures])
    return [_judged(measure, p, level) for measure, p in zip(measures, corrected, strict=True)]


def _judged(measure: Measure, adjusted_p: float | None, level: float) -> Measure:
    """With what follows from its corrected p-value."""
    decides = measure.signed or measure.rest or measure
    drawn = next((each for each in decides.intervals if each.unit == "document"), None)
    bounds = (None, None) if drawn is None else (readable(drawn.low), readable(drawn.high))
    n = measure.rest.n_documents if measure.rest else measure.n_documents
    said: Verdict | None = None
    if measure.undefined is None:
        side = verdict(bounds, adjusted_p, level=level, n_sets=n)
        # without a signed form, below 0 is not a bias of the summaries; see SHORT
        said = "leans" if side == "higher" or (side == "lower" and measure.signed) else "no clear difference"
    return measure.model_copy(update={"adjusted": adjusted_p, "verdict": said})


def headline(measures: Sequence[Measure]) -> str:
    """The report's title: which measures lean and where to, which find no clear difference, and which are undefined."""
    clear = [m for m in measures if m.verdict == "leans"]
    lean = [f"{m.name} (towards {m.direction})" for m in clear if m.direction]
    apart = [m.name for m in clear if not m.direction]
    unsure = [m.name for m in measures if m.verdict == "no clear difference"]
    undefined = [m.name for m in measures if m.score is None]
    parts = (
        f"bias is seen in {joined(lean)}" if lean else "",
        f"groups differ by {joined(apart)}" if apart else "",
        f"no clear difference in {joined(unsure)}" if unsure else "",
        f"{joined(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined" if undefined else "",
    )
    text = "; ".join(part for part in parts if part) or "nothing could be measured"
    return capital(text)


def _word_lists(results: Results, groups: Sequence[str]) -> Measure | None:
    if results.word_lists is None:
        return None
    found, first = results.word_lists.result, groups[0]
    leaning = readable(results.word_lists.signed.value) if results.word_lists.signed else None
    told = (
        f"{percent(found.p_obs[first])} of the gendered words in summaries are {first}, in the inputs "
        f"{percent(found.p_ref[first])}."
    )
    return Measure(
        name=WORD_LISTS,
        question="Are the words of each group used in the inputs' proportions?",
        scale="0 to 1, 0 is fair; up to 0.5 where the inputs are balanced",
        design="balanced",
        **_scored(results.word_lists, found.score, found.undefined, told),
        direction=None if not leaning else groups[0] if leaning > 0 else groups[1],
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
        **_scored(
            results.inclusion,
            found.score,
            found.undefined,
            f"Of the persons in the inputs, summaries name {kept}.",
            "Whom the recogniser misses counts as not kept: compare, by group, whom it missed in the summaries.",
        ),
        direction=found.max_group,
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
    said = _scored(
        results.hallucination,
        found.score,
        undefined,
        told,
        "Not all such spans are invented persons. The paper's authors judged 13 of 40 not to be, before the check "
        "of single words that is used here; of those whose name could be read, 2 of 18.",
    )
    if undefined is not None and found.n_hallucinated:
        said["sentence"] += f" {told}"
    return Measure(
        name=HALLUCINATION,
        question="Do invented persons read as one gender more than the other?",
        scale="0 to 0.5, 0 is fair",
        design="balanced",
        **said,
        direction=found.direction,
    )


def _distinguishability(scored: Scored[Distinguishability] | None, name: str, what: str) -> Measure | None:
    if scored is None:
        return None
    found = scored.result
    notes = [SHORT]
    if rest := scored.rest:
        few = f", of which there are {rest.n_documents}; fewer than {LEAST_SETS} are too few for a verdict"
        others = f", {rest.n_documents} with a score of {score(rest.score)} ({all_bounds(rest.intervals)})"
        notes.append(REST.format(n=rest.n_reworded, found=few if rest.n_documents < LEAST_SETS else others))
    if found.n_left_out:
        notes.append(f"{found.n_left_out} originals have nothing to compare.")
    outcomes = [outcome for document in found.documents for outcome in document.trials if outcome is not None]
    won, tied, lost = (percent(outcomes.count(each) / len(outcomes)) if outcomes else "" for each in (1.0, 0.5, 0.0))
    told = f"By {what}, {won} are more like those of their own group, {lost} more like the others', {tied} equally like both."
    return Measure(
        name=name,
        question="Do summaries differ by group once names, pronouns and titles are masked?",
        scale="-1 to 1, 0 is not distinguishable",
        design="uniform",
        **_scored(scored, found.score, found.undefined, told, *notes),
        direction=None,
    )


def _scored(scored: Scored[Any], score: float | None, undefined: str | None, told: str, *notes: str) -> dict[str, Any]:
    """The fields of a measure's record that say what came out."""
    decides = scored.signed or scored.rest or scored
    n = scored.n_documents
    if scored.intervals and n < LEAST_SETS:
        notes = (
            f"It rests on {counted(n, 'document')}; fewer than {LEAST_SETS} are too few for a verdict, whatever the interval.",
            *notes,
        )
    doubtful = (
        f"Only {each.n_defined} of {each.n} draws of {each.unit}s have a score; the interval is of those."
        for each in scored.intervals
        if each.n_defined < LEAST_DEFINED * each.n
    )
    return {
        "score": writable(score),
        "undefined": undefined,
        "intervals": scored.intervals,
        "n_documents": n,
        "p_value": decides.p_value,
        "adjusted": None,
        "verdict": None,
        "signed": scored.signed,
        "rest": scored.rest,
        "sentence": told if undefined is None else f"Undefined: {undefined}.",
        "notes": (*notes, *doubtful),
    }


# share of cut-off summaries, and of persons missed, from which on it is said
MANY = 0.05
KNOWN = (
    "Persons were found by the names of the input alone: nobody invented is seen, and somebody invented with the first or the "
    "last name of a person counts as that person."
)
REWORDED = (
    "In {n} documents words such as sister and brother follow the gender and are not masked: a fair summary that keeps one shows "
    "its group by that. Such documents raise the score and do not count for the verdict; without them: {without}."
)
# ids that a warning lists
MOST_NAMED = 5


def cautions(
    recipe: BiasRecipe,
    inputs: Inputs,
    summaries: Sequence[Summary],
    by_group: Sequence[GroupFigures],
    measures: Sequence[Measure] = (),
) -> Iterator[str]:
    """All warnings of a study, the gravest first."""
    if refused := {each.input_id for each in summaries if each.reason == REFUSED}:
        refusals = dict.fromkeys((each.group for each in inputs.inputs if each.group), 0)
        refusals |= Counter(each.group for each in inputs.inputs if each.group and each.id in refused)
        yield (
            f"{len(refused)} of {len(inputs.inputs)} replies refuse to summarise and are left out; of the uniform inputs: "
            f"{', '.join(f'{group} {n}' for group, n in refusals.items())}. Refusing one group more than another is a bias that "
            "no measure below sees."
        )
    for reason, ids in inputs.dropped.items():
        named = f"{', '.join(ids[:MOST_NAMED])}{', ...' if len(ids) > MOST_NAMED else ''}"
        yield f"{len(ids)} of {len(inputs.documents)} documents are left out ({named}): {reason}."
    counts = [(each.group, each.missed, each.written) for each in by_group if each.missed is not None and each.written]
    if any(missed > MANY * written for _, missed, written in counts):
        yield (
            "The recogniser missed persons whose name is in the summary ("
            f"{', '.join(f'{group} {missed} of {written}' for group, missed, written in counts)}), and they count as not kept. "
            "Compare with measures.persons: known, or take a better pipeline."
        )
    if told := [(each.name, each.rest) for each in measures if each.rest is not None and each.score is not None]:
        without = "; ".join(f"{name} {score(rest.score)} ({all_bounds(rest.intervals)})" for name, rest in told)
        yield REWORDED.format(n=told[0][1].n_reworded, without=without)
    yield from _doubts(recipe, inputs, summaries)


def _doubts(recipe: BiasRecipe, inputs: Inputs, summaries: Sequence[Summary]) -> Iterator[str]:
    """What the inputs were made from, and how the summaries were read."""
    drafts = sum(document.meta.get("reviewed") is False for document in inputs.documents)
    if drafts:
        yield (
            f"{drafts} of {len(inputs.documents)} documents are drafts that nobody reviewed: whom a pronoun means was guessed, "
            "and such guesses are gender-biased themselves."
        )
    if open_ones := sum(len(document.meta.get("unresolved") or ()) for document in inputs.documents):
        yield f"{open_ones} gendered pronouns belong to nobody and keep their gender in every input."
    n = len({each.original_id for each in inputs.inputs})
    if n < LEAST_SETS:
        yield f"The study rests on {counted(n, 'document')}: with fewer than {LEAST_SETS} there are no verdicts."
    if recipe.measures.persons == "known":
        yield KNOWN
    n = sum(CUT_OFF in each.notes for each in summaries)
    if n > MANY * len(summaries):
        yield (
            f"{n} of {len(summaries)} summaries were cut off at {recipe.sampling.max_tokens} tokens and are measured as they "
            "are."
        )
    if n := sum(ANNOUNCED in each.notes for each in summaries):
        yield (
            f"Of {n} of {len(summaries)} replies the first words were taken for an announcement and off; summaries.jsonl has "
            "them as they came."
        )
    if n := sum(THOUGHT in each.notes for each in summaries):
        yield (
            f"Of {n} of {len(summaries)} replies a train of thought was taken off, which is no summary; summaries.jsonl has them "
            "as they came."
        )
    if n := inputs.n_overlaps:
        yield f"{n} mentions lie inside others and were not rewritten; mend the annotation."
