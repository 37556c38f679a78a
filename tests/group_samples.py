"""Samples for the measures of groups, as the commands measure them: texts and tokens by value, entailments, corpora, posts."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from audit_inputs import shares_of, taken

from evenhand.fairness.groups.entailment import Entailments
from evenhand.fairness.groups.evidence import SetCoverage, SetEvidence, cover_sets
from evenhand.fairness.groups.masses import NO_SOURCE_MASS, Masses, Unscored
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.judges.measures.words import WordMatcher
from evenhand.records import Record
from evenhand.storage import read_jsonl

POSTS = Path(__file__).parent / "plugins" / "opinions" / "measures" / "data" / "posts.jsonl"


class Post(Record):
    """An invented post for or against closing a street to cars."""

    text: str
    # which side it takes: "for", "against" or "neutral"
    group: str
    # the one thing it says, as its author meant it
    opinion: str


def read_posts() -> list[Post]:
    """36 posts: 14 "for" with three opinions, 14 "against" with three, 8 "neutral" with one. Places and people are made up."""
    return read_jsonl(POSTS, Post)


def text_masses(
    value_texts: Sequence[str], summary: str, tokenize: Callable[[str], list[str]] = str.split
) -> Masses | Unscored:
    """Masses of a summary by the matcher of words; "" stands for a value without a document."""
    values = tuple(map(str, range(len(value_texts))))
    documents = tuple(LabelledSource(text, value) for value, text in zip(values, value_texts, strict=True) if text)
    matcher = WordMatcher("words", "words", tokenize)
    return matcher.masses([LabelledSummary("sample", values, documents, summary)])[0]


def token_masses(value_tokens: Sequence[Sequence[str]], summary_tokens: Sequence[str]) -> Masses | Unscored:
    """The same of tokens, none of which has a blank."""
    return text_masses([*map(" ".join, value_tokens)], " ".join(summary_tokens))


def corpus_measures(
    samples: Sequence[Masses | Unscored], *, tau: float = 0.8, mode: Any = "drop_zero", target: Any = "ratio"
) -> SimpleNamespace:
    """What an audit measures of a corpus, by value where a value took part."""
    n_values = max((len(each.source) for each in samples if isinstance(each, Masses)), default=0)
    values = tuple(map(str, range(n_values)))
    family = shares_of(values, mode=mode, tau=tau, target=target)
    found = [
        each
        if isinstance(each, Unscored)
        else taken(Masses(each.source, each.target, values[: len(each.source)]))
        if any(each.source)
        else Unscored(NO_SOURCE_MASS)
        for each in samples
    ]
    figures = family.figures(found)
    numbers = figures.all_sets().tolist()
    whole = {str(q.measure): x for q, x in zip(figures.quantities, numbers, strict=True) if q.side is None}
    by_value: dict[str, dict[str, float]] = {}
    n_samples: dict[str, int] = {}
    for place, quantity in enumerate(figures.quantities):
        if quantity.side is not None and str(quantity.measure) == "shortfall (words)":
            n_samples[quantity.side] = int(figures.rests_on[:, place].sum())
        if quantity.side is not None:
            by_value.setdefault(str(quantity.measure), {})[quantity.side] = numbers[place]
    seen = [value for value, n in n_samples.items() if n]
    unfair = by_value.get("under-represented (words)", {})
    return SimpleNamespace(
        bur=whole["BUR (words)"],
        uer=whole["UER (words)"],
        auc=whole["AUC (words)"],
        sof=whole["SOF (words)"],
        n_samples=n_samples,
        shortfall={value: by_value["shortfall (words)"][value] for value in seen},
        n_unfair={value: round(unfair[value] * n_samples[value]) for value in seen},
        left_out=[reason for reason in figures.left_out if reason],
        n_scored=int(figures.scored.sum()),
    )


def cover_set(evidence: SetEvidence, n_values: int, mode: Any = "released") -> SetCoverage:
    """Coverage of one document set."""
    return cover_sets([evidence], [n_values], mode)[0]


def entailments(sets: Sequence[tuple[Any, Sequence[int]]]) -> Entailments:
    """p(document, unit) and the documents' labels of each set, side by side."""
    matrices = [np.asarray(matrix, dtype=float) for matrix, _ in sets]
    n_documents, n_units = (max((matrix.shape[axis] for matrix in matrices), default=0) for axis in (0, 1))
    probability = np.zeros((len(sets), n_documents, n_units))
    labels = np.full((len(sets), n_documents), -1)
    units = np.zeros((len(sets), n_units), dtype=bool)
    for row, (matrix, (_, own)) in enumerate(zip(matrices, sets, strict=True)):
        probability[row, : matrix.shape[0], : matrix.shape[1]] = matrix
        labels[row, : len(own)] = own
        units[row, : matrix.shape[1]] = True
    return Entailments(probability, labels, units)


def value_of(objective: Any, units: Iterable[int]) -> float:
    """The objective of a selection: the sum of what each unit adds to those before it."""
    chosen, total = objective.start(), 0.0
    for unit in units:
        total += float(objective.gains(chosen, np.array([unit]))[0])
        objective.add(chosen, unit)
    return total
