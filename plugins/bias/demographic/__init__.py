"""Demographic bias of summaries: who is kept, who is invented, which words are used, what gives a group away.

Counts of instances go into a table by document and assignment; a measure reads the pooled counts and returns the figures by
group first and one score after; a bootstrap resamples the table. What is undefined is None with a reason, never 0.

| module | question | measure | 0 is fair, range |
| --- | --- | --- | --- |
| `word_lists` | are the words of a group used as in the sources? | `word_list_bias` | [0, 1] |
| `inclusion` | are its persons kept at equal odds? | `inclusion_bias` | [0, inf] |
| `hallucination` | do invented persons read as one gender? | `hallucination_bias` | [0, 1 - 1/groups] |
| `mentions` | are titles and quotations kept, and who is named first? | `mention_table` | counts |
| `distinguishability` | do masked summaries show their group? | `distinguishability` | [-1, 1] |

>>> table = inclusion_table(instances, groups=("male", "female"))
>>> inclusion_bias(**table.pooled())
>>> bootstrap(inclusion_scores, table, unit="document", plan=Bootstrap(resamples=1000, seed=0))

- `counts`: the table and its bootstrap; `persons`: instances, and which span of a summary names whom; `name_reading`; `masking`.
- `topics`: the documents' own bias. `inputs`: inputs in which names and genders are controlled.
- The released program's choices, for comparison: `RELEASED_TITLES`, masking mode "substring", `undefined="propagate"`; the
  paper's wording on census names: dominance "at_least_2".

Source: Steen and Markert 2024, "Bias in News Summarization: Measures, Pitfalls and Corpora" (Findings of ACL 2024), checked
against the program that the authors released; docs/papers.md#steen names every difference.
"""
