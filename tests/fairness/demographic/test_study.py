"""A study from annotated document to scores, with summarizers whose bias is known."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.plugins.bias.demographic.counts import bootstrap
from evenhand.plugins.bias.demographic.distinguishability import distinguishability, score_texts
from evenhand.plugins.bias.demographic.hallucination import find_hallucinations
from evenhand.plugins.bias.demographic.inclusion import inclusion_bias, inclusion_scores, inclusion_table
from evenhand.plugins.bias.demographic.inputs.assignment import (
    balanced_inputs,
    source_entities,
    uniform_inputs,
)
from evenhand.plugins.bias.demographic.inputs.document import AnnotatedDocument
from evenhand.plugins.bias.demographic.inputs.filling import fill_template
from evenhand.plugins.bias.demographic.inputs.setting import common_inventory, gender_setting
from evenhand.plugins.bias.demographic.inputs.template import build_template
from evenhand.plugins.bias.demographic.masking import mask_summary
from evenhand.plugins.bias.demographic.persons import InputEntity, Instance, SummaryEntity
from evenhand.plugins.bias.demographic.word_lists import word_list_bias, word_list_table

# chain -> its mentions; the names are PERSON spans
CHAINS = {"ida": [(0, 3), (4, 5), (6, 7)], "rolf": [(9, 11), (14, 15)], "kai": [(17, 19)]}
DOCUMENT = AnnotatedDocument.model_validate({
    "doc_id": "mill",
    "tokens": [
        {"text": text}
        for text in "Ms. Ida Vey said she sold her mill ; Rolf Orr , who praised him , met Kai Lund .".split()
    ],
    "chains": [{"id": i, "mentions": [{"start": s, "end": e} for s, e in spans]} for i, spans in CHAINS.items()],
    "named_entities": [{"start": s, "end": e, "label": "PERSON"} for s, e in [(1, 3), (9, 11), (17, 19)]],
})  # fmt: skip
TEMPLATE = build_template(DOCUMENT)


def instances(keep: Callable[[int, InputEntity], bool]) -> Iterator[Instance]:
    """Balanced inputs whose summaries name the persons that `keep` chooses by position and record."""
    made = balanced_inputs(TEMPLATE, gender_setting(), common_inventory(), np.random.default_rng(0))
    for each in made.inputs:
        persons = source_entities(each.instructions)
        kept = [f"{p.first_name} {p.last_name}" for i, p in enumerate(persons) if keep(i, p)]
        yield Instance(
            document_id=DOCUMENT.doc_id,
            assignment_id=each.assignment_id,
            source=fill_template(DOCUMENT, TEMPLATE, each.instructions).text,
            summary="; ".join(kept),
            source_entities=persons,
            summary_entities=tuple(SummaryEntity(tokens=tuple(name.split()), text=name) for name in kept),
        )


@given(st.sets(st.sampled_from([0, 1, 2]), min_size=1, max_size=2))
def test_summarizer_that_chooses_by_position_is_fair(positions):
    # both inputs of a pair have the same persons at swapped genders
    table = inclusion_table(instances(lambda i, _: i in positions), ("male", "female"))
    found = inclusion_bias(**table.pooled())
    assert found.present == {"male": 30, "female": 30}
    assert found.score == 0
    assert bootstrap(inclusion_scores, table, "assignment").high == 0


def test_summarizer_that_keeps_one_group_only_is_as_unfair_as_can_be():
    table = inclusion_table(instances(lambda _, person: person.category == "female"), ("male", "female"))
    found = inclusion_bias(**table.pooled())
    assert (found.score, found.p) == (math.inf, {"male": 0.0, "female": 1.0})


def test_summarizer_that_drops_some_of_a_group_is_seen_in_size_and_direction():
    # of the persons at position 0, women are dropped: 10 of 30 women are lost
    table = inclusion_table(
        instances(lambda i, person: i == 1 or (i == 0 and person.category == "male")), ("male", "female")
    )
    found = inclusion_bias(**table.pooled())
    # p: men 20/30, women 10/30; odds 2 and 1/2
    assert found.score == pytest.approx(3.0)
    assert found.p["male"] > found.p["female"]


def test_sources_of_balanced_inputs_are_balanced_in_their_words():
    pooled = word_list_table(instances(lambda *_: True)).pooled()
    assert pooled["source"]["male"] == pooled["source"]["female"] > 0
    assert word_list_bias(**pooled).undefined == "no identifier in any summary"


def test_persons_of_the_input_are_never_hallucinated():
    assert find_hallucinations(instances(lambda *_: True)).bias().n_hallucinated == 0


def test_masked_inputs_of_all_groups_are_the_same_text():
    made = uniform_inputs(TEMPLATE, gender_setting(), common_inventory(), np.random.default_rng(0)).inputs
    texts = [fill_template(DOCUMENT, TEMPLATE, each.instructions).text for each in made]
    masked = [mask_summary(text, source_entities(each.instructions)) for text, each in zip(texts, made, strict=True)]
    assert len(set(texts)) == 20
    assert set(masked) == {
        "M. FIRST_NAME LAST_NAME said they sold their mill; FIRST_NAME LAST_NAME, who praised their, met FIRST_NAME LAST_NAME."
    }
    found = distinguishability([score_texts(masked, [each.group for each in made])])
    assert found.score == 0
    assert {trial for each in found.documents for trial in each.trials} == {0.5}
