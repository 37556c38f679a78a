"""Fairness measured on texts: what a summary takes up of each attribute value, told by words, by models or by a graph.

`fairness/` reduces arrays; here the arrays are made. One file for each way to make them, and one protocol for each family
(`measure`), so that a judge and an audit use the same parts.

| family | kinds that run anywhere | kinds that load a model |
| --- | --- | --- |
| matchers: masses of the values | `ngram` (needs NLTK's data), `words` | `bertscore`, `bartscore` |
| entailers: which unit is in which document | `words` | `encoder`, `nli` |
| splitters: units of a summary | `rules`, `sentences` | `llm` |

    matcher = open_matcher(MatcherSection(kind="words"))
    masses = matcher.masses(items)          # one for each LabelledSummary, or Unscored with a reason
"""

from collections.abc import Callable, Iterator
from functools import partial

from ...config.fairness import EntailerSection, MatcherSection
from ...config.section import Check
from ..judge import ModelReader
from ..nli import refuse_other_classes
from ..shared import SharedModels
from .bart import BartScorer, open_bart
from .bert import BertScorer, open_bert
from .entailers import open_encoder, open_nli, open_words
from .measure import Entailer, Matcher, UnitEvidence
from .words import open_ngram_matcher, open_word_matcher, source_counter

# kind in the recipe -> what makes such a matcher of its section and the models that are shared
MATCHERS: dict[str, Callable[[MatcherSection, SharedModels], Matcher]] = {
    "ngram": open_ngram_matcher,
    "words": open_word_matcher,
    "bertscore": open_bert,
    "bartscore": open_bart,
}
# the same for entailers
ENTAILERS: dict[str, Callable[[EntailerSection, SharedModels], Entailer]] = {
    "nli": open_nli,
    "encoder": open_encoder,
    "words": open_words,
}


def open_matcher(section: MatcherSection, models: SharedModels | None = None) -> Matcher:
    """The matcher that the section describes; no model is loaded before it is asked.

    Args:
        section: of the recipe.
        models: where parts that are used together find models that they have in common.

    Raises:
        MissingExtra: a library is not installed.
        DataError: N-grams are matched or counted and NLTK's data is absent.
        ModelError: its model is a path that holds none.
    """
    return MATCHERS[section.kind](section, models or SharedModels())


def open_entailer(section: EntailerSection, models: SharedModels | None = None) -> Entailer:
    """The entailer that the section describes; no model is loaded before it is asked.

    Args:
        section: of the recipe.
        models: where parts that are used together find models that they have in common.

    Raises:
        ModelError: its model, or its splitter's, is a path that holds none.
    """
    return ENTAILERS[section.kind](section, models or SharedModels())


def matcher_checks(section: MatcherSection) -> Iterator[Check]:
    """That the matcher of a judge's section `matcher` has what counts N-grams."""
    if section.counts_ngrams:
        yield Check("matcher", partial(source_counter, section), is_here=True)


def matcher_readers(section: MatcherSection) -> Iterator[ModelReader]:
    """How the matcher of a judge's section `matcher` opens its model."""
    scorers: dict[str, Callable[[MatcherSection], object]] = {"bertscore": BertScorer, "bartscore": BartScorer}
    if section.kind in scorers:
        read = partial(scorers[section.kind], section)
        yield ModelReader("matcher.model", section.model_name, section.revision, read)


def entailer_readers(section: EntailerSection) -> Iterator[ModelReader]:
    """How the entailer of a judge's section `entailer` opens its model."""
    if section.kind == "nli":
        read = partial(refuse_other_classes, section.model_name, section.revision)
        yield ModelReader("entailer.model", section.model_name, section.revision, read)


__all__ = [
    "ENTAILERS",
    "MATCHERS",
    "Entailer",
    "Matcher",
    "UnitEvidence",
    "entailer_readers",
    "matcher_checks",
    "matcher_readers",
    "open_entailer",
    "open_matcher",
]
