"""The measures taken: pooled counts, scores, and intervals by assignment (s) and by document (d).

Source: Steen and Markert 2024, sections 3 and 5.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...config import BiasRecipe
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
from ...fairness.demographic.masking import mask_summary
from ...fairness.demographic.name_reading import NameReader, census_names
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
from ...resampling import Bootstrap, cluster_interval
from .contents import Interval, NotMeasured, Rest, Signed, as_interval
from .evidence import Evidence, Summarised
from .intervals import hallucination_shift, intervals, n_documents, signed, word_list_shift

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
    plan = bootstrap_of(recipe)
    dense = None if DENSE in refused else _dense(recipe, evidence, reworded)
    return Results(
        word_lists=None if WORD_LISTS in refused else _word_lists(evidence, plan),
        inclusion=None if INCLUSION in refused else _inclusion(evidence, plan),
        hallucination=None if HALLUCINATION in refused else _hallucination(recipe, evidence, plan),
        count=None if COUNT in refused else _count(recipe, evidence, reworded),
        dense=dense,
        encoder=None if dense is None else signature(_encoder(recipe), recipe.measures.encoder_revision),
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
        signed(f"log odds of being kept, {first} against {second}", log_odds_ratios, table, plan),
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


def _count(recipe: BiasRecipe, evidence: Evidence, reworded: Collection[str]) -> Scored[Distinguishability]:
    documents = by_original(evidence.uniform)
    scores = [score_texts(list(map(masked, each)), _groups(each)) for each in documents.values()]
    return _distinguished(recipe, dict(zip(documents, scores, strict=True)), reworded)


def _dense(recipe: BiasRecipe, evidence: Evidence, reworded: Collection[str]) -> Scored[Distinguishability]:
    documents = by_original(evidence.uniform)
    texts = [masked(each) for document in documents.values() for each in document]
    encoder = EncoderAligner(_encoder(recipe), ENCODED_TOGETHER, recipe.measures.encoder_revision)
    try:
        vectors = iter(encoder.encode(texts))
    finally:
        encoder.close()
    scores = [
        score_vectors([next(vectors) for _ in document], _groups(document), DENSE_TIE)
        for document in documents.values()
    ]
    return _distinguished(recipe, dict(zip(documents, scores, strict=True)), reworded)


def _distinguished(
    recipe: BiasRecipe, scores: Mapping[str, DocumentScore], reworded: Collection[str]
) -> Scored[Distinguishability]:
    n, drawn = _over_documents(recipe, scores)
    kept = {name: score for name, score in scores.items() if name not in reworded}
    rest = None
    if len(kept) < len(scores):
        n_kept, drawn_of_kept = _over_documents(recipe, kept)
        score = distinguishability(kept.values()).score
        rest = Rest(score=score, intervals=drawn_of_kept, n_documents=n_kept, n_reworded=len(scores) - len(kept))
    return Scored(distinguishability(scores.values()), n, drawn, None, rest)


def _over_documents(recipe: BiasRecipe, scores: Mapping[str, DocumentScore]) -> tuple[int, tuple[Interval, ...]]:
    """Documents with a score, and the interval of their mean; none of a single document."""
    drawn = cluster_interval([each.score for each in scores.values()], list(scores), bootstrap_of(recipe))
    return drawn.n_clusters, () if drawn.low is None else (as_interval("document", drawn),)


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


def _groups(summaries: Sequence[Summarised]) -> list[str]:
    return [each.input.group or "" for each in summaries]


def _encoder(recipe: BiasRecipe) -> str:
    assert recipe.measures.encoder is not None
    return recipe.measures.encoder
