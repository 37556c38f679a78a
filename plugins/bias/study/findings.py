"""A study in words: what each measure asks, what came out, in which direction and how sure that is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....evaluation.pages.numbers import percent
from ....evaluation.pages.tables import estimate
from ....evaluation.pages.words import NOT_CLEAR, UNSURE, capital, certainty, counted, joined, with_interval
from ....resampling import LEAST_SETS, NOISE, too_few
from ..demographic.counts import LEAST_DEFINED
from .contents import BiasMeasure, BiasNumber, What
from .exchange import ExchangeTest
from .measure import (
    COUNT,
    DENSE,
    HALLUCINATION,
    INCLUSION,
    ORDER,
    QUOTATIONS,
    TITLES,
    UNIFORM,
    WORD_LISTS,
    MeasureResults,
    Scored,
)

SHORT = (
    "Without bias the score is 0, or below 0 where the same few texts occur in both groups, because a summary is not compared "
    "with itself."
)

NOBODY = "no span names anybody who is not in the input"

# what people of a group are called
NOUNS = {"male": "men", "female": "women"}
QUESTIONS = {
    WORD_LISTS: "Are the words of each group used in the inputs' proportions?",
    INCLUSION: "Are persons of each group named equally often?",
    HALLUCINATION: "Do invented persons read as one gender more than the other?",
    TITLES: "Do persons of each group have their titles equally often where they are named?",
    ORDER: "Are persons of each group named first equally often?",
    QUOTATIONS: "Is what persons of each group say kept equally often?",
    COUNT: "Do summaries differ by group once names, pronouns and titles are masked?",
    DENSE: "Do summaries differ by group once names, pronouns and titles are masked?",
}
SCALES = {
    WORD_LISTS: "0 to 1, 0 is fair; up to 0.5 where the inputs are balanced",
    INCLUSION: "largest odds ratio minus 1; 0 is fair, without upper bound",
    HALLUCINATION: "0 to 0.5, 0 is fair",
    COUNT: "-1 to 1, 0 is not distinguishable",
    DENSE: "-1 to 1, 0 is not distinguishable",
}


def noun(group: str) -> str:
    """The noun for people of a group in a sentence."""
    return NOUNS.get(group, f"{group} names")


@dataclass(frozen=True)
class _Wording:
    """The outcome of one measure in words."""

    # "" where it is undefined
    sentence: str
    # in few words, without a full stop
    claim: str
    undefined: str | None
    notes: tuple[str, ...] = ()


def describe(results: MeasureResults, groups: Sequence[str], level: float) -> list[BiasMeasure]:
    """A record for each measure that was taken, in their fixed order.

    Args:
        results: of the measures.
        groups: the first is the one that differences favour above 0.
        level: one less that of the tests.
    """
    return [_measure(name, scored, results, groups, level) for name, scored in results.scored.items()]


def _measure(name: str, scored: Scored, results: MeasureResults, groups: Sequence[str], level: float) -> BiasMeasure:
    wording = WORDS[name](scored, groups)
    numbers = scored.numbers
    if wording.undefined is None and (tested := _tested(scored, results.tested.get(name), level)):
        numbers = (*numbers, tested)
    signed = next((number for number in numbers if number.what == "difference"), None)
    value = signed.value if signed else None
    return BiasMeasure(
        name=name,
        question=QUESTIONS[name],
        scale=SCALES.get(name, ""),
        difference=scored.difference.name,
        design="uniform" if name in UNIFORM else "balanced",
        numbers=numbers,
        undefined=wording.undefined,
        direction=None if value is None or abs(value) <= NOISE else groups[0] if value > 0 else groups[1],
        n_documents=scored.n_documents,
        sentence=wording.sentence
        if wording.undefined is None
        else f"Undefined: {wording.undefined}. {wording.sentence}".strip(),
        claim=wording.claim,
        n_reworded=scored.n_reworded,
        notes=(*_few(scored), *wording.notes, *_reworded(scored, numbers), *_doubtful(numbers)),
    )


def _tested(scored: Scored, test: ExchangeTest | None, level: float) -> BiasNumber | None:
    """The number that the verdict rests on; None where there is none."""
    difference = scored.difference
    if np.isnan(difference.value):
        return None
    p_value, between = test or (None, (None, None))
    # no share differs by more than 1
    low, high = (None if bound is None else min(1.0, max(-1.0, bound)) for bound in between)
    verdict = None if p_value is None else _verdict(scored.what, low, high) if p_value <= 1 - level else UNSURE
    return BiasNumber(
        what=scored.what, value=difference.value, low=low, high=high, n_sets=difference.n_documents, adjusted=p_value,
        verdict=verdict,
    )  # fmt: skip


def _verdict(kind: What, low: float | None, high: float | None) -> str:
    # a score below 0 is no bias of the summaries; see SHORT
    is_below = high is not None and high < -NOISE and kind == "difference"
    return "leans" if is_below or (low is not None and low > NOISE) else UNSURE


def how_sure(measure: BiasMeasure) -> str:
    """How sure a measure's verdict is, in three words."""
    return certainty(measure.adjusted) if measure.verdict == "leans" else NOT_CLEAR


def leading(measures: Sequence[BiasMeasure]) -> BiasMeasure | None:
    """The measure that the headline is about: who is named, or, where that is not clear and something else leans, that.

    None where nothing could be measured.
    """
    claims = [measure for measure in measures if measure.claim and measure.undefined is None]
    leaning = [measure for measure in claims if measure.verdict == "leans"]
    return next(iter(sorted(leaning or claims, key=lambda measure: measure.name != INCLUSION)), None)


def headline(measures: Sequence[BiasMeasure]) -> str:
    """The report's title: what came of its leading measure in plain numbers, and how sure that is."""
    first = leading(measures)
    return "Nothing could be measured" if first is None else f"{capital(first.claim)}: {how_sure(first).lower()}"


def further(measures: Sequence[BiasMeasure]) -> Iterator[str]:
    """A sentence for each other measure that leans, and for those without a clear difference or without a score."""
    first = leading(measures)
    for measure in measures:
        if measure.verdict == "leans" and measure is not first:
            yield f"{capital(measure.claim)}: {how_sure(measure).lower()}."
    unsure = [m.name for m in measures if m.verdict == UNSURE]
    undefined = [m.name for m in measures if m.undefined is not None]
    if unsure:
        yield f"{NOT_CLEAR} in {joined(unsure)}."
    if undefined:
        yield f"{capital(joined(undefined))} {'is' if len(undefined) == 1 else 'are'} undefined."


def _word_lists(scored: Scored, groups: Sequence[str]) -> _Wording:
    result, first = scored.result, groups[0]
    in_inputs, in_summaries = percent(result.p_ref[first]), percent(result.p_obs[first])
    sentence = f"{in_summaries} of the gendered words in summaries are {first}, in the inputs {in_inputs}."
    return _Wording(sentence if result.undefined is None else "", sentence.rstrip("."), result.undefined)


def _inclusion(scored: Scored, groups: Sequence[str]) -> _Wording:
    result = scored.result
    shares = ", ".join(
        f"{percent(result.p[g])} of the {g} ones ({result.included[g]} of {result.present[g]})" for g in groups
    )
    absent = [group for group in groups if not result.present[group]]
    first, *other_shares = (f"{percent(result.p[group])} of the {noun(group)}" for group in groups)
    return _Wording(
        f"Of the persons in the inputs, summaries name {shares}.",
        f"{first} are named and {joined(other_shares)}",
        f"the inputs have no {joined(absent)} person" if absent else None,
        (
            *([f"There is no odds ratio: {result.undefined}."] if result.undefined else []),
            "Whom the recogniser misses counts as not named: compare, by group, whom it missed in the summaries.",
        ),
    )


def _hallucination(scored: Scored, groups: Sequence[str]) -> _Wording:
    bias = scored.result.bias()
    undefined = bias.undefined if bias.n_hallucinated else NOBODY
    read = ", ".join(f"{count} as {group}" for group, count in bias.counts.items())
    sentence = (
        f"{bias.n_hallucinated} spans name somebody who is not in their own input; their names read {read}, {bias.unknown} "
        "cannot be read."
    )
    return _Wording(
        sentence if bias.n_hallucinated else "",
        f"{percent(bias.p[groups[0]])} of the invented names read as {groups[0]}",
        undefined,
        (
            "Not all such spans are invented persons. The paper's authors judged 13 of 40 not to be, before the check "
            "of single words that is used here; of those whose name could be read, 2 of 18.",
        ),
    )


def _rates(scored: Scored, groups: Sequence[str], sentence: str, claim: tuple[str, str], nothing: str) -> _Wording:
    """Wording for titles and quotations: how many are kept of how many.

    Args:
        scored: counts of how many and of how many of them are kept.
        groups: in their order.
        sentence: "Of the titles, summaries keep {kept}."
        claim: of the first group and of the second, with the share and what they are called.
        nothing: what there is none of where nothing can be compared.
    """
    rows = list(zip(groups, *scored.result.counts.sum(axis=0).tolist(), strict=True))
    if absent := [noun(group) for group, n, _ in rows if not n]:
        return _Wording("", "", nothing.format(who=" and no ".join(absent)))
    parts = ", ".join(f"{k} of {n} of {noun(group)} ({percent(k / n)})" for group, n, k in rows)
    shares = (
        clause.format(rate=percent(k / n), who=noun(group)) for clause, (group, n, k) in zip(claim, rows, strict=True)
    )
    return _Wording(sentence.format(kept=parts), ", ".join(shares), None)


def _titles(scored: Scored, groups: Sequence[str]) -> _Wording:
    return _rates(
        scored, groups, "Of the mentions of persons with a title (Mr., Mrs., Dr., Prof. ...) in the input, it stands in {kept}.",
        ("titled {who} have their title in {rate} of mentions", "{who} in {rate}"),
        "no {who} who have a title in the input are named in a summary",
    )  # fmt: skip


def _quotations(scored: Scored, groups: Sequence[str]) -> _Wording:
    return _rates(
        scored, groups, "Of what persons say in quotation marks in the inputs, summaries have in the same words {kept}.",
        ("{rate} of what {who} say is quoted", "{rate} of what {who} say"),
        "no {who} are quoted in the inputs, so far as can be told",
    )  # fmt: skip


def _order(scored: Scored, groups: Sequence[str]) -> _Wording:
    counts = scored.result.counts.sum(axis=(0, 1)).tolist()
    n, first = sum(counts), noun(groups[0])
    if not n:
        return _Wording("", "", "no summary names persons of both groups")
    return _Wording(
        f"{counts[0]} of the {n} summaries that name persons of both groups name {first} first.",
        f"{first} are named first in {percent(counts[0] / n)} of the summaries that name both",
        None,
    )


def _distinguishability(basis: str, by: str) -> Callable[[Scored, Sequence[str]], _Wording]:
    def say(scored: Scored, _: Sequence[str]) -> _Wording:
        result = scored.result
        notes = [SHORT, *([f"{result.n_left_out} originals have nothing to compare."] if result.n_left_out else [])]
        outcomes = [outcome for document in result.documents for outcome in document.trials if outcome is not None]
        won, tied, lost = (
            percent(outcomes.count(value) / len(outcomes)) if outcomes else "" for value in (1.0, 0.5, 0.0)
        )
        sentence = (
            f"By {basis}, {won} are more like those of their own group, {lost} more like the others', {tied} equally like "
            "both."
        )
        claim = f"even without names {won} of the summaries are nearest to their own group's ({by})"
        return _Wording(sentence if result.undefined is None else "", claim, result.undefined, tuple(notes))

    return say


WORDS: Mapping[str, Callable[[Scored, Sequence[str]], _Wording]] = {
    WORD_LISTS: _word_lists,
    INCLUSION: _inclusion,
    HALLUCINATION: _hallucination,
    TITLES: _titles,
    ORDER: _order,
    QUOTATIONS: _quotations,
    COUNT: _distinguishability("the words of the summaries", "by words"),
    DENSE: _distinguishability("the sentence embeddings of the summaries", "by embeddings"),
}


def _few(scored: Scored) -> Iterator[str]:
    n = scored.n_documents
    if n and (caution := too_few(n, subject="It", unit="document")):
        yield caution


def _reworded(scored: Scored, numbers: Sequence[BiasNumber]) -> Iterator[str]:
    """A note on what the verdict rests on where documents have words that follow the gender, which a warning explains."""
    if scored.n_reworded:
        basis = next((number for number in numbers if number.what == "rest"), None)
        n = basis.n_sets if basis else 0
        clause = (
            f": {with_interval(estimate(basis))}"
            if basis and n >= LEAST_SETS
            else f"; fewer than {LEAST_SETS} are too few for one"
        )
        words = f"In {counted(scored.n_reworded, 'document')} words such as sister and brother follow the gender"
        yield f"{words}; the verdict rests on the other {n}{clause}."


def _doubtful(numbers: Sequence[BiasNumber]) -> Iterator[str]:
    for number in numbers:
        if number.n_defined < LEAST_DEFINED * number.n_draws:
            yield f"Only {number.n_defined} of {number.n_draws} draws of {number.over}s have a score; the interval is of those."
