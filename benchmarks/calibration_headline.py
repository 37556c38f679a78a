"""How often the headline of an audit names somebody falsely: the whole page of one system, with all families that name.

    python -m evenhand.benchmarks.calibration_headline --trials 40

makes the table of docs/fairness.md#headline. Documents and manners of writing are those of `calibration`, with words of HELM's
lists as in `calibration_word_lists`; the documents of a set stand in a random order. An audit measures shares, coverage, places
and word lists, which is what `evenhand audit` does where nothing else is asked for, but for opinions, which name nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import get_args

import numpy as np

from ..evaluation.audit.build import build_audit
from ..evaluation.audit.contents import Audit
from ..evaluation.audit.figures import Family
from ..evaluation.audit.findings import FAMILIES, speaking
from ..evaluation.audit.input import AuditInput, System
from ..evaluation.audit.plan import AuditPlan
from ..evaluation.audit.word_lists import ListedWords
from ..evaluation.pages.words import UNSURE
from ..fairness.demographic.word_lists import WordLists
from ..fairness.labelled import LabelledText
from ..records import Document, DocumentSet
from ..resampling import Bootstrap, adjusted, verdict
from .calibration import LEVEL, OWN, Corpus, Counts, Manner, coverage, generators, kind, shares, summary
from .calibration_order import ORDER
from .calibration_word_lists import gendered_sets
from .simulate import asked, print_heads, print_row

# documents of each value
ALL_SIZES = ((4, 4), (7, 1), (5, 2, 1))
ATTRIBUTE, SYSTEM = "side", "system"
# intervals of numbers beside the gaps, which name nobody, need few draws
PLAN = AuditPlan(bootstrap=Bootstrap(level=LEVEL, resamples=20), n_examples=0)
HEADS = (
    "documents", "own words", "summaries", "sets", "headline names falsely", "some family does, each at 5 %",
    "smallest halved: found", "largest halved: found",
)  # fmt: skip


@dataclass(frozen=True)
class Headlines(Counts):
    """The same of headlines."""

    # fair corpora in which some family names somebody where nothing is corrected over families
    apart: int = 0


def families(values: tuple[str, ...]) -> list[Family]:
    """All that name somebody where an audit is asked for nothing else."""
    return [shares(values), coverage(values), ORDER, ListedWords(WordLists())]


def sets_of(corpus: Corpus, generator: np.random.Generator) -> list[tuple[LabelledText, ...]]:
    """Documents of every set, in a random order."""
    drawn = gendered_sets(corpus, generator)
    return [tuple(its[int(k)] for k in generator.permutation(len(its))) for its in drawn]


def audit_of(
    corpus: Corpus,
    documents: Sequence[Sequence[LabelledText]],
    generator: np.random.Generator,
    halved: str | None = None,
    only: Sequence[Family] | None = None,
) -> Audit:
    """An audit of a summary of every set.

    Args:
        corpus: values, and the manner of writing.
        documents: of every set.
        generator: of the summaries.
        halved: a value of whose sentences only half are read.
        only: families; None: all.
    """
    sets = tuple(
        DocumentSet(
            id=f"s{place}",
            documents=tuple(
                Document(id=f"s{place}/{k}", text=each.text, attributes={ATTRIBUTE: each.value})
                for k, each in enumerate(its)
            ),
            notes={"sentences": "lines"},
        )
        for place, its in enumerate(documents)
    )
    texts = {each.id: summary(its, corpus.manner, generator, halved) for each, its in zip(sets, documents, strict=True)}
    given = AuditInput(
        sets=sets, attribute=ATTRIBUTE, values=corpus.values, declared=(corpus.values,) * len(sets),
        systems=(System(SYSTEM, "", "", texts),), documents="", documents_digest="", n_not_drawn=0,
    )  # fmt: skip
    return build_audit(given, PLAN, families(corpus.values) if only is None else only)


def count_headed(corpus: Corpus, trials: int, *, planted: bool = True) -> Headlines:
    """How often headlines name somebody of summaries that take no side, and the value of whose sentences half are not read.

    The latter is found where shares or coverage name it as represented less.
    """
    false = apart = smallest = largest = 0
    for generator in generators(corpus, trials):
        documents = sets_of(corpus, generator)
        found = audit_of(corpus, documents, generator)
        false += bool(speaking(found.represented))
        apart += _names_apart(found)
        if planted:
            smallest += _is_told(audit_of(corpus, documents, generator, corpus.values[-1]), corpus.values[-1])
            largest += _is_told(audit_of(corpus, documents, generator, corpus.values[0]), corpus.values[0])
    return Headlines(trials, false, smallest, largest, apart=apart)


def _names_apart(found: Audit) -> bool:
    """Whether some family would name somebody if each had the whole level for itself."""
    for family in {each.family for each in found.by_value}:
        levels = [
            each.chance for each in found.by_value if each.family == family and each.chance and each.measure.kind.names
        ]
        p_values = adjusted([each.p_value for each in levels])
        said = [
            verdict((each.low, each.high), p, level=LEVEL, n_sets=found.n_sets)
            for each, p in zip(levels, p_values, strict=True)
        ]
        if set(said) - {UNSURE}:
            return True
    return False


def _is_told(found: Audit, value: str) -> bool:
    return any(value in each.under for each in found.represented if each.family in FAMILIES)


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (40, "corpora of each kind"), ([12, 30, 200], "document sets of a corpus"))
    print_heads(*HEADS)
    manners: tuple[Manner, ...] = get_args(Manner)
    for n_sets, sizes, own, manner in product(given.sets, ALL_SIZES, OWN, manners):
        corpus = Corpus(sizes, n_sets, own, manner)
        found = count_headed(corpus, given.trials)
        names = (f"{n} of {found.trials}" for n in (found.false, found.apart))
        print_row(*kind(corpus), *names, found.smallest, found.largest)


if __name__ == "__main__":
    main()
