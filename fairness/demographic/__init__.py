"""Demographic bias of summaries: who is kept, who is invented, which words are used, what gives a group away.

Counts of instances go into a table by document and assignment; a measure reads the pooled counts and returns the figures by
group first and one score after; a bootstrap resamples the table. What is undefined is None with a reason, never 0.

| question | counts | measure | 0 is fair, range |
| --- | --- | --- | --- |
| are the words of a group used as in the sources? | `word_list_table`, `count_words` | `word_list_bias` | [0, 1] |
| are its persons kept at equal odds? | `inclusion_table` (by `align`) | `inclusion_bias` | [0, inf] |
| do invented persons read as one gender? | `find_hallucinations` (by `NameReader`) | `hallucination_bias` | [0, 1 - 1/groups] |
| can summaries be told apart by group? | `mask_summary`, `score_texts`, `score_vectors` | `distinguishability` | [-1, 1] |

>>> table = inclusion_table(instances, groups=("male", "female"))
>>> inclusion_bias(**table.pooled())
>>> bootstrap(inclusion_scores, table, unit="document", plan=Bootstrap(resamples=1000, seed=0))

- Intervals: `bootstrap` draws documents or assignments; `replicates` scores given ones. Of distinguishability only documents
  are drawn: `resampling.cluster_interval` over the documents' scores.
- Inputs in which names and genders are controlled: the subpackage `inputs`.
- The documents' own bias: `topic_label`, the simulated summarizers of `topics`, and `log_odds_z` after `join_pairs`.
- The released program's choices, for comparison: `RELEASED_TITLES`, masking mode "substring", `undefined="propagate"`; the
  paper's wording on census names: dominance "at_least_2".

Source: Steen and Markert 2024, "Bias in News Summarization: Measures, Pitfalls and Corpora" (Findings of ACL 2024), checked
against the program that the authors released; docs/papers.md#steen names every difference.
"""

from .alignment import RELEASED_TITLES, TITLES, Alignment, align
from .bootstrap import bootstrap, counts_of, replicates
from .census import CensusNames, census_frequencies, census_names, common_names
from .count_table import CountRow, CountTable, tabulate
from .distinguishability import (
    DENSE_TIE,
    TIE,
    Distinguishability,
    DocumentScore,
    distinguishability,
    score_texts,
    score_vectors,
)
from .hallucination import (
    HallucinationBias,
    Hallucinations,
    find_hallucinations,
    hallucinated_spans,
    hallucination_bias,
    hallucination_scores,
)
from .inclusion import InclusionBias, inclusion_bias, inclusion_scores, inclusion_table, log_odds_ratio, log_odds_ratios
from .instances import InputEntity, Instance, SummaryEntity
from .log_odds import log_odds_z
from .masking import mask_summary
from .name_reading import Encyclopaedia, NameReader
from .topics import Selection, TopicLabel, lead_selection, random_selection, sexist_selection, topic_label
from .word_list import WordListBias, count_words, word_list_bias, word_list_scores, word_list_table
from .word_lists import GENDER_WORDS, WordLists, letter_runs
from .word_pairs import find_gendered_words, join_pairs

__all__ = [
    "DENSE_TIE",
    "GENDER_WORDS",
    "RELEASED_TITLES",
    "TIE",
    "TITLES",
    "Alignment",
    "CensusNames",
    "CountRow",
    "CountTable",
    "Distinguishability",
    "DocumentScore",
    "Encyclopaedia",
    "HallucinationBias",
    "Hallucinations",
    "InclusionBias",
    "InputEntity",
    "Instance",
    "NameReader",
    "Selection",
    "SummaryEntity",
    "TopicLabel",
    "WordListBias",
    "WordLists",
    "align",
    "bootstrap",
    "census_frequencies",
    "census_names",
    "common_names",
    "count_words",
    "counts_of",
    "distinguishability",
    "find_gendered_words",
    "find_hallucinations",
    "hallucinated_spans",
    "hallucination_bias",
    "hallucination_scores",
    "inclusion_bias",
    "inclusion_scores",
    "inclusion_table",
    "join_pairs",
    "lead_selection",
    "letter_runs",
    "log_odds_ratio",
    "log_odds_ratios",
    "log_odds_z",
    "mask_summary",
    "random_selection",
    "replicates",
    "score_texts",
    "score_vectors",
    "sexist_selection",
    "tabulate",
    "topic_label",
    "word_list_bias",
    "word_list_scores",
    "word_list_table",
]
