"""Fairness between the attribute values of a document set: who is in the summary, and how much.

Two families of measures, both "table by value first, one number after":

Value distributions (Zhang et al. 2024, arXiv:2311.07884): each value's share in the summary against its share in the sources.

    NgramTokenizer, text_masses     masses by matching words; needs the extra `fairness` and NLTK's data (see `nltk_data`)
    softmax, bart_scores,           masses from a model's log-probabilities or token vectors, which the caller brings
    bert_precision, rescale
    compare                         shares of one or many samples; unfair, unfair_error_rate, second_order_fairness reduce them
    group_fairness                  a corpus: rows by value, then BUR, UER, AUC, SOF; what was left out, by reason
    proportional_representation     the baseline of the other family

Coverage (Li et al. 2025, arXiv:2412.08795): how much of each document is in the summary's units, value against value.

    make_windows, parse_units       what a classifier is asked about
    cover_sets, cover_set           Equal Coverage of each set, or of one, from a classifier's probabilities
    entailments_of, coverage,       the same for many sets as arrays
    equal_coverage
    coverage_fairness               a corpus: mean differences by value, Equal Coverage, Coverage Parity; parity_significance
    normalised_overall              one number for a system over several data sets
    greedy_equal_coverage,          how low or high the measures can get
    greedy_coverage_parity

`fairpo` trains with these measures. Modes `paper` and `released` reproduce what was printed and what the published code does;
the default departs from both only where they are unsound (`rules`, `coverage`). Everything is a fraction, lower is fairer.
Undefined is None (nan inside arrays) and counted, never 0.

    tokenize = NgramTokenizer()
    samples = (text_masses(texts, summary, tokenize) for texts, summary in corpus)
    result = group_fairness(samples)          # result.bur, result.uer, result.by_value, result.left_out
"""

from .bounds import GreedyBound, greedy_coverage_parity, greedy_equal_coverage
from .corpus import GroupFairness, ValueRow, group_fairness
from .coverage import CoverageMode, CoverageRule, CoverageTable, coverage, equal_coverage
from .dialogue import SpokenTurn, segment_dialogue, word_counter
from .entailment import Entailments, document_entailment, merge_units, pack_entailments
from .evidence import SetCoverage, SetEvidence, cover_set, cover_sets, entailments_of
from .masses import Masses, MassTable, Unscored, pack
from .matching import bart_scores, bert_precision, rescale, softmax
from .ngram import ngram_masses, text_masses
from .overall import normalised_overall
from .parity import CoverageFairness, coverage_fairness, deviations, parity_significance
from .proportional import ProportionalRepresentation, proportional_representation
from .rules import Mode, Rule
from .sentiment import Sentiment, SentimentLabeller, sentiment_label
from .shares import Shares, compare, second_order_fairness, under_represented, unfair, unfair_error_rate
from .tokens import NgramTokenizer
from .tolerance import TAU_GRID, AucVariant, area, unfair_by_cutoff, unfair_by_tolerance
from .units import parse_units
from .windows import Windows, make_windows

__all__ = [
    "TAU_GRID",
    "AucVariant",
    "CoverageFairness",
    "CoverageMode",
    "CoverageRule",
    "CoverageTable",
    "Entailments",
    "GreedyBound",
    "GroupFairness",
    "MassTable",
    "Masses",
    "Mode",
    "NgramTokenizer",
    "ProportionalRepresentation",
    "Rule",
    "Sentiment",
    "SentimentLabeller",
    "SetCoverage",
    "SetEvidence",
    "Shares",
    "SpokenTurn",
    "Unscored",
    "ValueRow",
    "Windows",
    "area",
    "bart_scores",
    "bert_precision",
    "compare",
    "cover_set",
    "cover_sets",
    "coverage",
    "coverage_fairness",
    "deviations",
    "document_entailment",
    "entailments_of",
    "equal_coverage",
    "greedy_coverage_parity",
    "greedy_equal_coverage",
    "group_fairness",
    "make_windows",
    "merge_units",
    "ngram_masses",
    "normalised_overall",
    "pack",
    "pack_entailments",
    "parity_significance",
    "parse_units",
    "proportional_representation",
    "rescale",
    "second_order_fairness",
    "segment_dialogue",
    "sentiment_label",
    "softmax",
    "text_masses",
    "under_represented",
    "unfair",
    "unfair_by_cutoff",
    "unfair_by_tolerance",
    "unfair_error_rate",
    "word_counter",
]
