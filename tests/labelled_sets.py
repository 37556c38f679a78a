"""Labelled documents for tests: written as (value, text) pairs."""

from evenhand.fairness.labelled import LabelledDocuments, LabelledSource, LabelledSummary
from evenhand.judges.judge import JudgeInput
from evenhand.text.digests import canonical_json

# each side has its own things to say
FERRY = (
    ("left", "The ferry is cheap. Nurses need it at night."),
    ("left", "The ferry helps poor families. It keeps the harbour alive."),
    ("right", "The ferry wastes taxes. A bridge pays for itself."),
    ("right", "Drivers want the bridge. Companies lose hours every day."),
)
BALANCED = "The ferry is cheap. Nurses need it at night. The ferry wastes taxes. A bridge pays for itself."
ONE_SIDED = "The ferry is cheap. Nurses need it at night. The ferry helps poor families. It keeps the harbour alive."


def texts(pairs):
    return tuple(LabelledSource(text, value) for value, text in pairs)


def item(summary, pairs=FERRY, values=None, name="s"):
    documents = texts(pairs)
    return LabelledSummary(name, values or tuple(dict.fromkeys(value for value, _ in pairs)), documents, summary)


def judge_input(summary, pairs=FERRY, values=None, side=None, name="c"):
    each = item(summary, pairs, values)
    reference = canonical_json([each.values, side, pairs])
    sources = tuple(text for value, text in pairs if side in (None, value))
    labelled = LabelledDocuments(each.documents, each.values, side)
    return JudgeInput(name, "r", summary, True, reference, labelled=labelled, sources=sources)
