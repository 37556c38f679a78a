"""Opinion bias of summaries: whether the opinions of a source get their share, and summaries biased on purpose to try it on.

Two measures (arXiv:2101.12406), both the Gini coefficient of what each opinion gets, 0 is fair:

- `perceived.perceived_opinion_bias`: people, or a judge in their place, label how well each opinion is represented;
- `interaction.opinion_graph(units).bias(summary)`: opinions are communities of keywords, found from the text alone; an opinion's
  exposure is the share of its units that the summary takes up. Every step is a function of its own, in `tokens`, `communities`,
  `attachment` and `exposure`. A summary that is one text is cut by `summary_units`.

Beside them what the paper sets them against: `perceived.approval` (shares of readers who call a summary fair), and in
`correlation` the overlap with gold summaries and how these go together over a batch.

Summaries of chosen bias (Dash et al., CSCW 2019), in `selection`: `select_fair` takes whole units by a submodular objective under
a quota for each group (`fairness.groups.quotas` makes equal or proportional ones), and `biased_batch` with `select_batch` varies
the mix of two groups, so that the right order of the summaries is known.

A score that is undefined is None with a reason, never 0: a summary that shows no opinion at all is not fair to all of them.
Nothing here needs a model. The graph needs networkx (`pip install 'evenhand[fairness]'`).

Source: Shandilya et al. 2020 (docs/papers.md#shandilya) and Dash et al. 2019 (docs/papers.md#dash).
"""
