"""The evidence of a study and the measures taken of it: scores, with intervals by assignment (s) and by document (d).

Evidence is inputs, summaries and persons put together. Balanced inputs of one assignment balance each other, so an assignment of
which one input has no summary is left out whole.

A distance from fairness has no direction, and is above 0 by chance alone. Its signed form is centred on 0: above 0 it favours the
first group, below 0 the second. Whether that is more than chance is said of all measures together, corrected for their number.

Source: Steen and Markert 2024, sections 3 and 5.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...config import BiasRecipe
from ...fairness.demographic.counts import CountTable, Statistic, Unit, bootstrap, counts_of, shares
from ...fairness.demographic.distinguishability import (
    DENSE_TIE,
    Distinguishability,
    DocumentScore,
    distinguishability,
    score_texts,
    score_vectors,
)
from ...fairness.demographic.hallucination import Hallucinations, find_hallucinations, hallucination_scores
from ...fairness.demographic.inclusion import (
    InclusionBias,
    inclusion_bias,
    inclusion_scores,
    inclusion_table,
    log_odds_ratios,
)
from ...fairness.demographic.inputs.assignment import source_entities
from ...fairness.demographic.masking import mask_summary
from ...fairness.demographic.name_reading import NameReader, census_names
from ...fairness.demographic.persons import Instance, align
from ...fairness.demographic.word_lists import (
    GENDER_WORDS,
    WordListBias,
    WordLists,
    word_list_bias,
    word_list_scores,
    word_list_table,
)
from ...judges.encoder import EncoderAligner
from ...models import signature
from ...records import LeftOut
from ...resampling import Bootstrap, cluster_interval, largest_p_value, sign_flip_p_value, t_interval
from ...resampling import Interval as Drawn
from .contents import Interval, NotMeasured, Rest, Signed, as_interval, writable
from .inputs import BiasInput, Inputs
from .persons import FoundPersons
from .summarise import Summary

PARTNER = "another input of its assignment has no summary"


@dataclass(frozen=True)
class Summarised:
    """An input with its summary, and both as the measures read them."""

    input: BiasInput
    instance: Instance
    # persons of the input whom the recogniser finds in the input itself; of balanced inputs only
    recognised: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """What is measured."""

    setting: str
    groups: tuple[str, ...]
    balanced: tuple[Summarised, ...]
    uniform: tuple[Summarised, ...]
    left_out: tuple[LeftOut, ...]


def gather(inputs: Inputs, setting: str, summaries: Sequence[Summary], persons: Mapping[str, FoundPersons]) -> Evidence:
    """The instances of both designs; summaries that are not there are counted by design and reason."""
    text_of = {each.input_id: each.text for each in summaries}
    reasons: Counter[tuple[str, str]] = Counter()
    for each, summary in zip(inputs.inputs, summaries, strict=True):
        if summary.reason is not None:
            what = "summary of a balanced input" if each.group is None else f"summary of a uniform input, {each.group}"
            reasons[what, summary.reason] += 1
    kept = []
    for each in inputs.inputs:
        text = text_of[each.id]
        if text is not None:
            found, entities = persons[each.id], source_entities(each.entities)
            instance = Instance(
                document_id=each.original_id,
                assignment_id=each.assignment_id,
                source=each.text,
                summary=text,
                source_entities=entities,
                summary_entities=found.in_summary,
            )
            partners = align(found.in_input, entities).by_entity
            kept.append(Summarised(each, instance, frozenset(person for person, spans in partners.items() if spans)))
    balanced = [each for each in kept if each.input.design == "balanced"]
    # those whose assignment has a summary for each of its inputs
    made = Counter((each.original_id, each.assignment_id) for each in inputs.inputs if each.design == "balanced")
    have = Counter((each.input.original_id, each.input.assignment_id) for each in balanced)
    whole = [
        each
        for each in balanced
        if (key := (each.input.original_id, each.input.assignment_id)) and have[key] == made[key]
    ]
    if alone := len(balanced) - len(whole):
        reasons["summary of a balanced input", PARTNER] += alone
    return Evidence(
        setting=setting,
        groups=inputs.setting.categories,
        balanced=tuple(whole),
        uniform=tuple(each for each in kept if each.input.design == "uniform"),
        left_out=(
            *inputs.left_out,
            *LeftOut.rows(("what", "reason"), reasons, stage="summaries"),
        ),
    )


def intervals(statistic: Statistic, table: CountTable, plan: Bootstrap) -> tuple[Interval, ...]:
    """Over assignments and over documents; none for a score that is undefined, and none over a single document.

    A bound that no draw defines is None.
    """
    if np.isnan(_pooled(statistic, table)):
        return ()
    units: list[Unit] = ["assignment", "document"] if len(table.document_ids) > 1 else ["assignment"]
    return tuple(as_interval(unit, bootstrap(statistic, table, unit, plan)) for unit in units)


def signed(name: str, statistic: Statistic, table: CountTable, plan: Bootstrap) -> Signed:
    """A signed form of the pooled counts with its intervals and its test, over documents by Student's t with the jackknife."""
    columns = counts_of(table, "document")
    rests_on = np.asarray(columns.any(axis=(1, 2)))[:, None]

    def pooled(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return statistic(sums.reshape(*sums.shape[:-1], *columns.shape[1:]))[..., None]

    found = t_interval(pooled, columns.reshape(len(columns), -1), rests_on, plan.level)
    # of as many documents as say something
    p_value = largest_p_value(found.p_value, n_documents(table))
    estimate, low, high, _ = found.at(0)
    drawn = [each for each in intervals(statistic, table, plan) if each.unit == "assignment"]
    over = [] if low is None else [as_interval("document", Drawn(estimate, low, high, 0, 0))]
    return Signed(
        name=name,
        value=writable(_pooled(statistic, table)),
        intervals=(*drawn, *over),
        p_value=p_value,
    )


def log_odds(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """First group's log odds of being kept less the second's, (...); half a person is added to each count, so that it is finite
    where all of a group are kept (Haldane 1956). Counts as of `inclusion_scores`.
    """
    return log_odds_ratios(counts, "haldane")


def n_documents(table: CountTable) -> int:
    """Documents with a count in the last field, which is that of the summaries."""
    return len(np.unique(table.document[table.counts[:, -1].any(axis=-1)]))


def word_list_shift(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """First group's share in summaries minus that in sources, (...), in [-1, 1]; counts as of `word_list_scores`."""
    first = shares(counts)[..., 0]
    return first[..., 1] - first[..., 0]


def hallucination_shift(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """First group's share minus a half, (...), in [-0.5, 0.5]; counts as of `hallucination_scores`."""
    return shares(counts)[..., 0, 0] - 0.5


def _pooled(statistic: Statistic, table: CountTable) -> float:
    """The statistic of all counts together; nan when undefined."""
    return float(statistic(table.counts.sum(axis=0).astype(float)))


WORD_LISTS = "word-list inclusion"
INCLUSION = "entity inclusion"
HALLUCINATION = "entity hallucination"
COUNT = "distinguishability (count)"
DENSE = "distinguishability (dense)"

BALANCED, UNIFORM = (WORD_LISTS, INCLUSION, HALLUCINATION), (COUNT, DENSE)

# texts that the encoder reads at once
ENCODED_TOGETHER = 32

T = TypeVar("T")


@dataclass(frozen=True)
class Scored(Generic[T]):
    """A measure's result with the intervals of its score and of its signed form."""

    result: T
    # documents whose summaries say something of it
    n_documents: int
    intervals: tuple[Interval, ...]
    signed: Signed | None
    # of the score itself, where it has a sign
    p_value: float | None = None
    rest: Rest | None = None


@dataclass(frozen=True)
class Results:
    """All measures that were taken; None for one that was not."""

    word_lists: Scored[WordListBias] | None
    inclusion: Scored[InclusionBias] | None
    hallucination: Scored[Hallucinations] | None
    count: Scored[Distinguishability] | None
    dense: Scored[Distinguishability] | None
    encoder: str | None
    not_measured: tuple[NotMeasured, ...]


def take_measures(recipe: BiasRecipe, evidence: Evidence, reworded: Collection[str] = ()) -> Results:
    """Every measure that the setting and the recipe allow; the others with the reason.

    Args:
        recipe: of the study.
        evidence: the measured summaries.
        reworded: ids of the documents in which words such as "sister" were rewritten with the gender, which nothing masks.

    Raises:
        MissingExtra, ModelError: the sentence encoder is not there.
    """
    refused = dict(_refusals(recipe, evidence))
    plan, encoder = bootstrap_of(recipe), None if DENSE in refused else recipe.measures.encoder
    return Results(
        word_lists=None if WORD_LISTS in refused else _word_lists(evidence, plan),
        inclusion=None if INCLUSION in refused else _inclusion(evidence, plan),
        hallucination=None if HALLUCINATION in refused else _hallucination(recipe, evidence, plan),
        count=None if COUNT in refused else _distinguishability(recipe, evidence, reworded),
        dense=None if encoder is None else _distinguishability(recipe, evidence, reworded, encoder),
        encoder=None if encoder is None else signature(encoder, recipe.measures.encoder_revision),
        not_measured=tuple(NotMeasured(name=name, reason=reason) for name, reason in refused.items()),
    )


def _refusals(recipe: BiasRecipe, evidence: Evidence) -> list[tuple[str, str]]:
    found = []
    if evidence.setting == "race":
        found.append((WORD_LISTS, "the word lists are of gender"))
        found.append((HALLUCINATION, "it would need names read by race, and no such classifier is to be built"))
    elif recipe.measures.persons == "known":
        found.append(
            (HALLUCINATION, "measures.persons: known finds the names of the input alone, so it sees nobody invented")
        )
    if recipe.measures.encoder is None:
        found.append((DENSE, "measures.encoder is null"))
    named = {name for name, _ in found}
    for names, given in ((BALANCED, evidence.balanced), (UNIFORM, evidence.uniform)):
        found += [(name, "there is no summary to measure") for name in names if not given and name not in named]
    return found


def _word_lists(evidence: Evidence, plan: Bootstrap) -> Scored[WordListBias]:
    lists = WordLists({group: GENDER_WORDS[group] for group in evidence.groups})
    table = word_list_table((each.instance for each in evidence.balanced), lists)
    pooled = table.pooled()
    return Scored(
        word_list_bias(pooled["source"], pooled["summary"], groups=evidence.groups),
        n_documents(table),
        intervals(word_list_scores, table, plan),
        signed(f"share of {evidence.groups[0]} words, summaries minus inputs", word_list_shift, table, plan),
    )


def _inclusion(evidence: Evidence, plan: Bootstrap) -> Scored[InclusionBias]:
    table = inclusion_table((each.instance for each in evidence.balanced), evidence.groups)
    pooled = table.pooled()
    first, second = evidence.groups
    return Scored(
        inclusion_bias(pooled["present"], pooled["included"], groups=evidence.groups),
        n_documents(table),
        intervals(inclusion_scores, table, plan),
        signed(f"log odds of being kept, {first} against {second}", log_odds, table, plan),
    )


def _hallucination(recipe: BiasRecipe, evidence: Evidence, plan: Bootstrap) -> Scored[Hallucinations]:
    reader = NameReader(census_names(recipe.measures.dominance))
    found = find_hallucinations(
        (each.instance for each in evidence.balanced),
        groups=evidence.groups,
        classify=lambda span: reader.read(span.tokens, span.text),
        containment=recipe.measures.containment,
    )
    name = f"share of {evidence.groups[0]} names among the invented, minus a half"
    return Scored(
        found,
        n_documents(found.table),
        intervals(hallucination_scores, found.table, plan),
        signed(name, hallucination_shift, found.table, plan),
    )


def _distinguishability(
    recipe: BiasRecipe, evidence: Evidence, reworded: Collection[str], encoder: str | None = None
) -> Scored[Distinguishability]:
    """By the words of the summaries, or by the vectors of an encoder."""
    documents = by_original(evidence.uniform)
    texts = {name: list(map(masked, each)) for name, each in documents.items()}
    groups = {name: [each.input.group or "" for each in mine] for name, mine in documents.items()}
    if encoder is None:
        scores = {name: score_texts(mine, groups[name]) for name, mine in texts.items()}
    else:
        opened = EncoderAligner(encoder, ENCODED_TOGETHER, recipe.measures.encoder_revision)
        with closing(opened):
            vectors = iter(opened.encode([text for mine in texts.values() for text in mine]))
        scores = {
            name: score_vectors([next(vectors) for _ in mine], groups[name], DENSE_TIE) for name, mine in texts.items()
        }
    n, drawn, p_value = _over_documents(recipe, scores)
    kept = {name: score for name, score in scores.items() if name not in reworded}
    rest = None
    if len(kept) < len(scores):
        n_kept, drawn_of_kept, p_of_kept = _over_documents(recipe, kept)
        score = distinguishability(kept.values()).score
        n_reworded = len(scores) - len(kept)
        rest = Rest(score=score, intervals=drawn_of_kept, p_value=p_of_kept, n_documents=n_kept, n_reworded=n_reworded)
    return Scored(distinguishability(scores.values()), n, drawn, None, p_value, rest)


def _over_documents(
    recipe: BiasRecipe, scores: Mapping[str, DocumentScore]
) -> tuple[int, tuple[Interval, ...], float | None]:
    """Documents with a score, the interval of their mean, and p of "it is 0"; none of few documents."""
    values, names, plan = [each.score for each in scores.values()], list(scores), bootstrap_of(recipe)
    drawn = cluster_interval(values, names, plan)
    found = () if drawn.low is None else (as_interval("document", drawn),)
    return drawn.n_clusters, found, sign_flip_p_value(values, names, plan)


def bootstrap_of(recipe: BiasRecipe) -> Bootstrap:
    """How the recipe asks for intervals."""
    return Bootstrap(recipe.measures.level, recipe.measures.resamples, recipe.seed)


def by_original(summaries: Sequence[Summarised]) -> dict[str, list[Summarised]]:
    """The summaries of each original, originals in order of first appearance."""
    found: dict[str, list[Summarised]] = {}
    for each in summaries:
        found.setdefault(each.input.original_id, []).append(each)
    return found


def masked(each: Summarised) -> str:
    """The summary without the names, pronouns and titles that give its group away."""
    return mask_summary(each.instance.summary or "", each.instance.source_entities)
