"""Opinion bias of summaries: whether the opinions of a source get their share, and summaries biased on purpose to try it on.

Two measures (arXiv:2101.12406), both the Gini coefficient of what each opinion gets, 0 is fair:

- `perceived_opinion_bias`: people, or a judge in their place, label how well each opinion is represented;
- `opinion_graph(units).bias(summary)`: opinions are communities of keywords, found from the text alone; an opinion's exposure
  is the share of its units that the summary takes up. Every step is a function of its own: `content_tokens`, `textrank`,
  `key_graph`, `communities`, `attach_units`, `interaction_edges`, `exposure_extractive`, `exposure_abstractive`. A summary that
  is one text is cut by `summary_units(text, units)`.

Beside them what the paper sets them against: `approval` (shares of readers who call a summary fair), `rouge1_f1` (overlap with
gold summaries), `pearson` and `batch_agreement` (how these go together over a batch).

Summaries of chosen bias (Dash et al., CSCW 2019): `select_fair` takes whole units by a submodular objective under a quota for
each group, `group_quotas` makes equal or proportional quotas, and `biased_batch` with `select_batch` varies the mix of two
groups, so that the right order of the summaries is known. `read_sample` gives invented posts to run it on.

A score that is undefined is None with a reason, never 0: a summary that shows no opinion at all is not fair to all of them.
Nothing here needs a model. The graph needs networkx (`pip install 'evenhand[fairness]'`).

Source: Shandilya et al. 2020 (docs/papers.md#shandilya) and Dash et al. 2019 (docs/papers.md#dash).
"""

from .approval import FAIRNESS_LABELS, Approval, approval
from .attachment import DUMMY, Attacher, Attachment, Method, attach_units
from .clusters import cluster_units
from .communities import Communities, communities
from .correlation import BatchAgreement, Correlation, SummaryScores, batch_agreement, pearson
from .exposure import Exposure, exposure_abstractive, exposure_extractive
from .gini import gini
from .gold_overlap import GoldOverlap, rouge1_f1
from .graph_edges import interaction_edges
from .interaction import ExposureMode, GraphPlan, OpinionBias, OpinionGraph, opinion_graph
from .key_graph import KeyGraph, key_graph
from .keywords import TextRank, entity_keywords, textrank
from .objective import Coverage, Objective, ObjectivePlan, ObjectiveValue
from .perceived import LABELS, Negative, PerceivedOpinionBias, perceived_opinion_bias
from .quotas import Notion, biased_batch, check_quotas, group_quotas
from .sample import SampleUnit, read_sample
from .selection import Selection, select, select_batch, select_fair
from .summary_units import summary_units
from .tfidf import text_similarity
from .tokens import content_tokens

__all__ = [
    "DUMMY",
    "FAIRNESS_LABELS",
    "LABELS",
    "Approval",
    "Attacher",
    "Attachment",
    "BatchAgreement",
    "Communities",
    "Correlation",
    "Coverage",
    "Exposure",
    "ExposureMode",
    "GoldOverlap",
    "GraphPlan",
    "KeyGraph",
    "Method",
    "Negative",
    "Notion",
    "Objective",
    "ObjectivePlan",
    "ObjectiveValue",
    "OpinionBias",
    "OpinionGraph",
    "PerceivedOpinionBias",
    "SampleUnit",
    "Selection",
    "SummaryScores",
    "TextRank",
    "approval",
    "attach_units",
    "batch_agreement",
    "biased_batch",
    "check_quotas",
    "cluster_units",
    "communities",
    "content_tokens",
    "entity_keywords",
    "exposure_abstractive",
    "exposure_extractive",
    "gini",
    "group_quotas",
    "interaction_edges",
    "key_graph",
    "opinion_graph",
    "pearson",
    "perceived_opinion_bias",
    "read_sample",
    "rouge1_f1",
    "select",
    "select_batch",
    "select_fair",
    "summary_units",
    "text_similarity",
    "textrank",
]
