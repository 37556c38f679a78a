"""The measures taken of a study's evidence: scores as published, and differences of the groups that are tested.

A distance from fairness has no direction, and is above 0 by chance alone. Its difference is centred on 0: above 0 it favours the
first group, below 0 the second. Whether that is more than chance is said of all measures together; see `exchange`.

Source: Steen and Markert 2024, sections 3 and 5; titles, order and quotations are ours.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....judges.encoder import EncoderAligner
from ....models import signature
from ....resampling import Bootstrap, Interval, cluster_interval
from ..demographic.counts import CountTable, Statistic, Unit, bootstrap
from ..demographic.distinguishability import DENSE_TIE, distinguishability, score_texts, score_vectors
from ..demographic.hallucination import find_hallucinations, hallucination_scores
from ..demographic.inclusion import inclusion_bias, inclusion_scores, inclusion_table
from ..demographic.mentions import (
    RATE,
    SHARE,
    Counting,
    MentionInput,
    first_named,
    mention_table,
    quotations,
    titles,
)
from ..demographic.name_reading import NameReader, census_names
from ..demographic.word_lists import (
    GENDER_WORDS,
    WordLists,
    word_list_bias,
    word_list_scores,
    word_list_table,
)
from ..recipe import BiasRecipe
from .contents import BiasNumber, NotMeasured, What
from .evidence import StudyEvidence, by_original, masked
from .exchange import ExchangeTest, GroupDifference, exchange_tests, of_halves, of_rates, of_scores, of_shares

WORD_LISTS = "word-list inclusion"
INCLUSION = "entity inclusion"
HALLUCINATION = "entity hallucination"
TITLES = "titles"
ORDER = "order of names"
QUOTATIONS = "quotations"
COUNT = "distinguishability (count)"
DENSE = "distinguishability (dense)"

BALANCED, UNIFORM = (WORD_LISTS, INCLUSION, HALLUCINATION, TITLES, ORDER, QUOTATIONS), (COUNT, DENSE)
# what the study asks first
FIRST = (INCLUSION,)

# texts that the encoder reads at once
ENCODED_TOGETHER = 32


@dataclass(frozen=True)
class Scored:
    """A measure's result with its published intervals, and the difference that its verdict rests on."""

    # of the functions of `plugins.bias.demographic`: a bias, or a table of counts
    result: Any
    # documents whose summaries say something of it
    n_documents: int
    difference: GroupDifference
    # of the score as published
    numbers: tuple[BiasNumber, ...] = ()
    # what the difference is: itself, or the score, of all documents or without those of which words were rewritten
    what: What = "difference"
    n_reworded: int = 0


@dataclass(frozen=True)
class MeasureResults:
    """All measures that were taken, by name, in their fixed order."""

    scored: Mapping[str, Scored]
    encoder: str | None
    not_measured: tuple[NotMeasured, ...]
    # those that could be tested
    tested: Mapping[str, ExchangeTest] = field(default_factory=dict)

    def result(self, name: str) -> Any | None:
        """What a measure found; None where it was not taken."""
        return self.scored[name].result if name in self.scored else None


def take_measures(recipe: BiasRecipe, evidence: StudyEvidence, reworded: Collection[str] = ()) -> MeasureResults:
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
    take: dict[str, Callable[[], Scored]] = {
        WORD_LISTS: lambda: _word_lists(evidence, plan),
        INCLUSION: lambda: _inclusion(evidence, plan),
        HALLUCINATION: lambda: _hallucination(recipe, evidence, plan),
        TITLES: lambda: _mentions(evidence, titles),
        ORDER: lambda: _mentions(evidence, first_named),
        QUOTATIONS: lambda: _mentions(evidence, quotations),
        COUNT: lambda: _distinguishability(recipe, evidence, reworded),
        DENSE: lambda: _distinguishability(recipe, evidence, reworded, encoder),
    }
    scored = {name: measured() for name, measured in take.items() if name not in refused}
    first, secondary = (
        {name: measure.difference for name, measure in scored.items() if (name in FIRST) == is_first}
        for is_first in (True, False)
    )
    return MeasureResults(
        scored=scored,
        encoder=None if encoder is None else signature(encoder, recipe.measures.encoder_revision),
        not_measured=tuple(NotMeasured(name=name, reason=reason) for name, reason in refused.items()),
        tested=exchange_tests(first, secondary, plan),
    )


def _refusals(recipe: BiasRecipe, evidence: StudyEvidence) -> list[tuple[str, str]]:
    refusals = []
    if evidence.setting == "race":
        refusals.append((WORD_LISTS, "the word lists are of gender"))
        refusals.append((HALLUCINATION, "it would need names read by race, and no such classifier is to be built"))
    elif recipe.measures.persons == "known":
        refusals.append(
            (HALLUCINATION, "measures.persons: known finds the names of the input alone, so it sees nobody invented")
        )
    if recipe.measures.encoder is None:
        refusals.append((DENSE, "measures.encoder is null"))
    refused = {name for name, _ in refusals}
    for names, summaries in ((BALANCED, evidence.balanced), (UNIFORM, evidence.uniform)):
        refusals += [
            (name, "there is no summary to measure") for name in names if not summaries and name not in refused
        ]
    return refusals


def published(statistic: Statistic, table: CountTable, plan: Bootstrap) -> tuple[BiasNumber, ...]:
    """A score of the pooled counts with its intervals over documents and over assignments; none over a single document.

    None of a score that is undefined. A bound that no draw defines is None.
    """
    if np.isnan(statistic(table.counts.sum(axis=0).astype(float))):
        return ()
    units: list[Unit] = ["document", "assignment"] if len(table.document_ids) > 1 else ["assignment"]
    return tuple(_score(bootstrap(statistic, table, unit, plan), n_documents(table), unit) for unit in units)


def _score(drawn: Interval, n_sets: int, over: Unit = "document") -> BiasNumber:
    return BiasNumber(
        what="score", over=over, value=drawn.estimate, low=drawn.low, high=drawn.high, n_sets=n_sets, n_draws=drawn.n_draws,
        n_defined=drawn.n_defined,
    )  # fmt: skip


def n_documents(table: CountTable) -> int:
    """Documents with a count in the last field, which is that of the summaries."""
    return len(np.unique(table.document[table.counts[:, -1].any(axis=-1)]))


def _word_lists(evidence: StudyEvidence, plan: Bootstrap) -> Scored:
    lists = WordLists({group: GENDER_WORDS[group] for group in evidence.groups})
    table = word_list_table((summary.instance for summary in evidence.balanced), lists)
    pooled = table.pooled()
    return Scored(
        word_list_bias(pooled["source"], pooled["summary"], groups=evidence.groups),
        n_documents(table),
        of_shares(f"share of {evidence.groups[0]} words, summaries minus inputs", table),
        published(word_list_scores, table, plan),
    )


def _inclusion(evidence: StudyEvidence, plan: Bootstrap) -> Scored:
    table = inclusion_table((summary.instance for summary in evidence.balanced), evidence.groups)
    pooled = table.pooled()
    first, second = evidence.groups
    return Scored(
        inclusion_bias(pooled["present"], pooled["included"], groups=evidence.groups),
        n_documents(table),
        of_rates(f"share of persons named, {first} minus {second}", table),
        published(inclusion_scores, table, plan),
    )


def _hallucination(recipe: BiasRecipe, evidence: StudyEvidence, plan: Bootstrap) -> Scored:
    reader = NameReader(census_names(recipe.measures.dominance))
    hallucinations = find_hallucinations(
        (summary.instance for summary in evidence.balanced),
        groups=evidence.groups,
        classify=lambda span: reader.read(span.tokens, span.text),
        containment=recipe.measures.containment,
    )
    return Scored(
        hallucinations,
        n_documents(hallucinations.table),
        of_halves(f"share of {evidence.groups[0]} names among the invented, minus a half", hallucinations.table),
        published(hallucination_scores, hallucinations.table, plan),
    )


def _mentions(evidence: StudyEvidence, counting: Counting) -> Scored:
    """Titles, order of names or quotations, of which no score was published."""
    inputs = [
        MentionInput(
            summary.instance.document_id, summary.input.assignment_id, summary.input.entities, summary.input.text,
            summary.instance.summary or "",
        )
        for summary in evidence.balanced
    ]  # fmt: skip
    first, second = evidence.groups
    if counting is first_named:
        table = mention_table(inputs, evidence.groups, counting, SHARE)
        difference = of_halves(f"share of summaries that name {first} persons first, minus a half", table)
    else:
        label = "mentions with the title" if counting is titles else "quotations kept"
        table = mention_table(inputs, evidence.groups, counting, RATE)
        difference = of_rates(f"share of {label}, {first} minus {second}", table)
    return Scored(table, difference.n_documents, difference)


def _distinguishability(
    recipe: BiasRecipe, evidence: StudyEvidence, reworded: Collection[str], encoder: str | None = None
) -> Scored:
    """Distinguishability by the words of the summaries, or by the vectors of an encoder."""
    documents = by_original(evidence.uniform)
    texts = {name: list(map(masked, summaries)) for name, summaries in documents.items()}
    groups = {name: [summary.input.group or "" for summary in summaries] for name, summaries in documents.items()}
    if encoder is None:
        scores = {name: score_texts(document_texts, groups[name]) for name, document_texts in texts.items()}
    else:
        opened = EncoderAligner(encoder, ENCODED_TOGETHER, recipe.measures.encoder_revision)
        with closing(opened):
            vectors = iter(opened.encode([text for document_texts in texts.values() for text in document_texts]))
        scores = {
            name: score_vectors([next(vectors) for _ in document_texts], groups[name], DENSE_TIE)
            for name, document_texts in texts.items()
        }
    tested_scores = {name: score for name, score in scores.items() if name not in reworded}
    result, n_reworded = distinguishability(scores.values()), len(scores) - len(tested_scores)
    difference = of_scores("", {name: score.score for name, score in tested_scores.items()})
    numbers: tuple[BiasNumber, ...] = ()
    if n_reworded and result.score is not None:
        # the mean of all documents, where the verdict rests on some of them
        drawn = cluster_interval([score.score for score in scores.values()], list(scores), bootstrap_of(recipe))
        numbers = (_score(drawn, drawn.n_clusters),)
    n = sum(score.score is not None for score in scores.values())
    return Scored(result, n, difference, numbers, "rest" if n_reworded else "score", n_reworded)


def bootstrap_of(recipe: BiasRecipe) -> Bootstrap:
    """The bootstrap that the recipe asks for."""
    return Bootstrap(recipe.measures.level, recipe.measures.resamples, recipe.seed)
