"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from collections import Counter
from typing import Any

from evenhand.corpora.human.annotation import HumanUnit, read_annotation
from evenhand.plugins.people.matching import covered, multiset_overlap, n_matched
from evenhand.plugins.people.results import human_results
from evenhand.resampling import Bootstrap
from evenhand.text import words

Given = dict[str, Any]


def human_aggregate_of(given: Given) -> Given:
    annotations = [read_annotation(record) for record in given["records"]]
    units = [
        HumanUnit("anna", n, "topic", "left", "text", dict.fromkeys(each.summaries, "text"), each)
        for n, each in enumerate(annotations, start=1)
    ]
    said: dict[str, dict[str, Any]] = {}
    for each in human_results(units, {}, Bootstrap(resamples=100)).numbers:
        own = said.setdefault(each.system, {})
        own |= {"n": each.n} if each.measure == "coverage" else {}
        own |= {each.measure: each.value} if each.measure != "length" else {}
    return said


def highlights_of(a: list[Counter[Any]], b: list[Counter[Any]], threshold: float) -> Given:
    matched = n_matched(a, b, threshold)
    ratios = [(matched / len(each) if each else 0.0) if a or b else None for each in (a, b)]
    overlap = multiset_overlap(a, b, threshold)
    return {"matches": matched, "ratio_a": ratios[0], "ratio_b": ratios[1], "overlap": overlap}


def iaa_spans_of(given: Given) -> Given:
    return highlights_of(*(list(map(covered, given[side])) for side in "ab"), given["threshold"])


def iaa_strings_of(given: Given) -> Given:
    return highlights_of(*([Counter(words(text)) for text in given[side]] for side in "ab"), given["threshold"])


OPERATIONS = {"human_aggregate": human_aggregate_of, "iaa_spans": iaa_spans_of, "iaa_strings": iaa_strings_of}
