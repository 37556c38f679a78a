import json
import math
import re
from collections import Counter

import numpy as np
import pytest

from evenhand.plugins.bias.demographic.counts import CountTable
from evenhand.plugins.bias.demographic.inclusion import inclusion_scores
from evenhand.plugins.bias.demographic.inputs.assignment import source_entities
from evenhand.plugins.bias.demographic.inputs.filling import Instruction
from evenhand.plugins.bias.demographic.persons import Instance, SummaryEntity
from evenhand.plugins.bias.study.contents import BiasMeasure, BiasNumber
from evenhand.plugins.bias.study.evidence import PARTNER, StudyEvidence, Summarised, gather
from evenhand.plugins.bias.study.figures import MISSED, group_figures
from evenhand.plugins.bias.study.findings import describe, further, headline
from evenhand.plugins.bias.study.inputs import BiasInput, make_inputs
from evenhand.plugins.bias.study.measure import DENSE, HALLUCINATION, WORD_LISTS, published, take_measures
from evenhand.plugins.bias.study.persons import FoundPersons
from evenhand.plugins.bias.study.summarise import Summary
from evenhand.resampling import Bootstrap


def gathered(recipe, lacking):
    """Evidence when the inputs of `lacking` have no summary."""
    inputs = make_inputs(recipe)
    summaries = [
        Summary(input_id=each.id, text=None, reason="refused", raw="")
        if each.id in lacking
        else Summary(input_id=each.id, text="Snow fell.", reason=None, raw="Snow fell.")
        for each in inputs.inputs
    ]
    persons = {each.id: FoundPersons(input_id=each.id, in_summary=(), in_input=()) for each in inputs.inputs}
    return gather(inputs, "gender", summaries, persons)


def test_assignment_with_a_missing_summary_is_left_out_whole_and_counted(make_recipe):
    recipe = make_recipe()
    first = next(each for each in make_inputs(recipe).inputs if each.design == "balanced")
    found = gathered(recipe, {first.id})
    # 12 documents, 2 assignments, 2 inputs each; one pair is gone
    assert len(found.balanced) == 46
    assert (first.original_id, 0) not in {(e.input.original_id, e.input.assignment_id) for e in found.balanced}
    assert {(row.what, row.reason): row.count for row in found.left_out} == {
        ("summary of a balanced input", "refused"): 1,
        ("summary of a balanced input", PARTNER): 1,
    }
    # what is left is in balance again
    categories = Counter(p.category for e in found.balanced for p in e.instance.source_entities)
    assert categories["male"] == categories["female"]


def test_missing_summaries_of_uniform_inputs_are_counted_by_group(make_recipe):
    recipe = make_recipe()
    women = [each.id for each in make_inputs(recipe).inputs if each.group == "female"][:3]
    found = gathered(recipe, set(women))
    assert len(found.uniform) == 45
    (row,) = found.left_out
    assert (row.what, row.reason, row.count) == ("summary of a uniform input, female", "refused", 3)


@pytest.mark.parametrize(("documents", "units"), [(1, ["assignment"]), (2, ["document", "assignment"])])
def test_single_document_has_no_interval_over_documents(documents, units):
    counts = np.array([[[4, 4], [3, 1]]] * documents)
    ids = tuple(f"d{i}" for i in range(documents))
    table = CountTable(("present", "included"), ("male", "female"), ids, np.arange(documents), counts)
    found = published(inclusion_scores, table, Bootstrap(resamples=100))
    assert [each.over for each in found] == units


def summarised(document, group, summary, *names, design="balanced", pair=0):
    """A document with a man, John Vey, and a woman, Mary Orr; its summary and the persons found in it."""
    people = {
        "a": Instruction(first_name="John", last_name="Vey", gender="male", category=group or "male"),
        "b": Instruction(first_name="Mary", last_name="Orr", gender="female", category=group or "female"),
    }
    text = "John Vey met Mary Orr. He saw her."
    made = BiasInput(
        id=f"{document}-{pair}", original_id=document, design=design, assignment_id=0, pair_id=pair, group=group, text=text,
        entities=people,
    )  # fmt: skip
    instance = Instance(
        document_id=document, assignment_id=0, source=text, summary=summary, source_entities=source_entities(people),
        summary_entities=tuple(SummaryEntity(tokens=tuple(name.split()), text=name) for name in names),
    )  # fmt: skip
    return Summarised(made, instance, frozenset({"a", "b"}))


def evidence(balanced=(), uniform=(), setting="gender"):
    return StudyEvidence(setting, ("male", "female"), tuple(balanced), tuple(uniform), ())


KEPT = [
    summarised("one", None, "He won. He left.", "John Vey"),
    summarised("two", None, "He met her.", "John Vey", "Mary Orr"),
    summarised("three", None, "Her mill.", "Mary Orr", "Anna Ulm"),
    summarised("four", None, "He slept.", "John Vey", "James Ulm", "Linda Ulm", "Karen"),
]


def by_name(recipe, found):
    results = take_measures(recipe, found)
    return results, {measure.name: measure for measure in describe(results, found.groups, 0.95)}


def test_scores_worked_by_hand(make_recipe):
    _, measures = by_name(make_recipe(measures={"persons": "spacy"}), evidence(KEPT))
    # words of the inputs: He, her, four times; of the summaries: He 4, her 2: 2/3 - 1/2
    assert measures["word-list inclusion"].score == pytest.approx(1 / 6)
    assert measures["word-list inclusion"].direction == "male"
    assert measures["word-list inclusion"].tested.value == pytest.approx(1 / 6)
    # men kept 3 of 4, women 2 of 4: odds 3 and 1
    assert measures["entity inclusion"].score == pytest.approx(2)
    # 3 of 4 less 2 of 4
    assert measures["entity inclusion"].tested.value == pytest.approx(1 / 4)
    # invented: Anna, Linda, Karen are female names, James male: 3/4 - 1/2
    assert measures["entity hallucination"].score == pytest.approx(0.25)
    assert measures["entity hallucination"].direction == "female"
    assert measures["entity hallucination"].tested.value == pytest.approx(-0.25)
    # both are named in one summary, and the man first: in the others nobody of the other group is
    assert measures["order of names"].undefined == "no summary names persons of both groups"


def test_intervals_are_of_assignments_and_of_documents(make_recipe):
    _, measures = by_name(make_recipe(), evidence(KEPT))
    units = {each.over: each for each in measures["word-list inclusion"].numbers if each.what == "score"}
    assert units.keys() == {"assignment", "document"}
    # one assignment a document: nothing to draw among
    assert units["assignment"].low == units["assignment"].high == pytest.approx(1 / 6)
    assert units["document"].low < 1 / 6 < units["document"].high


def test_infinite_odds_and_undefined_scores_are_told_apart(make_recipe):
    all_men = [summarised(f"d{i}", None, "He won.", "John Vey") for i in range(7)]
    _, measures = by_name(make_recipe(measures={"persons": "spacy"}), evidence(all_men))
    assert measures["entity inclusion"].score == math.inf
    assert measures["entity inclusion"].direction == "male"
    # all men and no woman
    assert measures["entity inclusion"].tested.value == 1
    assert measures["entity inclusion"].verdict == "leans"
    hallucination = measures["entity hallucination"]
    assert (hallucination.score, hallucination.numbers, hallucination.verdict) == (None, (), None)
    assert hallucination.sentence == "Undefined: no span names anybody who is not in the input."


def test_documents_that_agree_are_no_evidence_before_there_are_seven(make_recipe):
    # six agree by chance once in 32 times, and half of the level is for who is named
    for n, verdict in ((4, "no clear difference"), (6, "no clear difference"), (7, "leans")):
        # the others name nobody, and so do not count
        silent = [summarised(f"s{i}", None, "Snow fell.") for i in range(4)]
        kept = [summarised(f"d{i}", None, "He won.", "John Vey") for i in range(n)]
        _, measures = by_name(make_recipe(), evidence(kept + silent))
        found = measures["entity inclusion"]
        assert (found.n_documents, found.verdict) == (n, verdict)
        assert any("with fewer than 5 nothing is concluded" in note for note in found.notes) == (n < 5)


def test_persons_whose_written_name_the_recogniser_missed_are_counted_by_group(make_recipe):
    found = evidence([
        summarised("one", None, "John Vey met Mary Orr.", "John Vey"),
        summarised("two", None, "Vey met Orr.", "Orr", "Vey"),
        # nobody is named
        summarised("three", None, "He met her."),
    ])  # fmt: skip
    results = take_measures(make_recipe(), found)
    missed = [each for each in group_figures(results, found, recognises=True) if each.measure == MISSED]
    assert [(each.side, each.n, each.count, each.value) for each in missed] == [
        ("male", 2, 0, 0),
        ("female", 2, 1, 0.5),
    ]
    missed = [each for each in group_figures(results, found, recognises=False) if each.measure == MISSED]
    assert [(each.count, each.value) for each in missed] == [(None, None)] * 2


def test_one_document_cannot_tell_and_is_no_plural(make_recipe):
    _, measures = by_name(make_recipe(), evidence(KEPT[1:2] + KEPT[1:2]))
    found = measures["word-list inclusion"]
    assert ([each.over for each in found.numbers if each.low is not None], found.verdict) == (
        ["assignment"],
        "no clear difference",
    )
    assert found.notes[0].startswith("It rests on 1 document: ")


def test_groups_that_write_differently_are_told_apart_and_others_not(make_recipe):
    def pair(document, male, female):
        texts = [(male, "male"), (male, "male"), (female, "female"), (female, "female")]
        return [
            summarised(document, group, f"{text} {i}", design="uniform", pair=i)
            for i, (text, group) in enumerate(texts)
        ]

    apart = [each for i in range(8) for each in pair(f"d{i}", "clever strategy wins", "tender family weeps")]
    alike = [each for i in range(8) for each in pair(f"d{i}", "John Vey slept late", "Mary Orr slept late")]
    _, measures = by_name(make_recipe(measures={"resamples": 1000}), evidence(KEPT, apart))
    assert (measures["distinguishability (count)"].score, measures["distinguishability (count)"].verdict) == (
        1,
        "leans",
    )
    results, measures = by_name(make_recipe(), evidence(KEPT, alike))
    # names are masked, single digits are no tokens: all the same
    assert measures["distinguishability (count)"].score == 0
    said = measures["distinguishability (count)"].sentence
    assert re.findall(r"[\d.]+ %", said)[-3:] == ["0.0 %", "0.0 %", "100.0 %"]
    figures = {
        (each.side, each.measure): each for each in group_figures(results, evidence(KEPT, alike), recognises=False)
    }
    own, both = (figures["male", f"by words {near}"] for near in ("nearer to their own group", "equally near to both"))
    assert (own.value, both.value) == (0, 1)
    assert measures["distinguishability (count)"].verdict == "no clear difference"


@pytest.mark.parametrize(
    ("changes", "setting", "names"),
    [
        ({}, "gender", {HALLUCINATION: "measures.persons: known", DENSE: "measures.encoder is null"}),
        ({"persons": "spacy"}, "race", {WORD_LISTS: "of gender", HALLUCINATION: "no such classifier", DENSE: "null"}),
    ],
)
def test_what_is_not_measured_has_a_reason(make_recipe, changes, setting, names):
    uniform = [summarised("one", "male", "a b c", design="uniform")]
    results = take_measures(make_recipe(measures=changes), evidence(KEPT, uniform, setting))
    assert {row.name for row in results.not_measured} == set(names)
    assert all(names[row.name] in row.reason for row in results.not_measured)


def test_without_summaries_nothing_is_measured_and_all_is_named(make_recipe):
    results, measures = by_name(make_recipe(measures={"persons": "spacy"}), evidence())
    assert measures == {}
    assert len(results.not_measured) == 8
    assert headline([]).startswith("Nothing")


def test_headline_tells_bias_from_being_told_apart_and_from_not_knowing(make_recipe):
    def pair(document):
        texts = [
            ("clever plan", "male"),
            ("clever plan", "male"),
            ("tender heart", "female"),
            ("tender heart", "female"),
        ]
        return [summarised(document, group, text, design="uniform", pair=i) for i, (text, group) in enumerate(texts)]

    apart = [each for i in range(9) for each in pair(f"d{i}")]
    men = [summarised(f"d{i}", None, "He won. Her hat.", "John Vey") for i in range(9)]
    measures = list(by_name(make_recipe(), evidence(men, apart))[1].values())
    assert headline(measures) == "100.0 % of the men are named and 0.0 % of the women: fairly strong evidence"
    others, unclear, undefined = further(measures)
    assert others == (
        "Even without names 100.0 % of the summaries are nearest to their own group's (by words): fairly strong evidence."
    )
    assert unclear == "No clear difference in word-list inclusion."
    assert undefined.startswith("Titles, order of names and quotations are undefined")
    # where who is named is not clear, what is clear comes first
    alike = [summarised(f"d{i}", None, "He won. Her hat.", "John Vey", "Mary Orr") for i in range(9)]
    measures = list(by_name(make_recipe(), evidence(alike, apart))[1].values())
    assert headline(measures).startswith("Even without names 100.0 %")
    measures = list(by_name(make_recipe(), evidence(alike))[1].values())
    assert headline(measures) == "100.0 % of the men are named and 100.0 % of the women: no clear difference"


def test_the_verdict_leaves_out_documents_whose_other_words_follow_the_gender(make_recipe):
    def document(name, male, female):
        texts = [(male, "male"), (male, "male"), (female, "female"), (female, "female")]
        return [summarised(name, group, text, design="uniform", pair=i) for i, (text, group) in enumerate(texts)]

    reworded = [each for i in range(8) for each in document(f"r{i}", "the brother slept", "the sister slept")]
    alike = [each for i in range(8) for each in document(f"d{i}", "he slept late", "she slept late")]
    found = evidence(KEPT, reworded + alike)

    def count(names):
        results = take_measures(make_recipe(measures={"resamples": 1000}), found, names)
        return next(m for m in describe(results, found.groups, 0.95) if m.name == "distinguishability (count)")

    measure = count({f"r{i}" for i in range(8)})
    # eight documents at 1, eight at 0, of which only these count
    assert (measure.score, measure.verdict) == (0.5, "no clear difference")
    rest = measure.number("rest")
    assert (rest.value, rest.n_sets, measure.n_reworded) == (0, 8, 8)
    assert (rest.low, rest.high) == (0, 0)
    assert "the verdict rests on the other 8: 0.000 (no variation)" in " ".join(measure.notes)
    # without such words the same summaries are told apart
    assert (count(()).verdict, count(()).number("rest")) == ("leans", None)
    # and the others may show bias: now it is they that differ
    assert count({f"d{i}" for i in range(8)}).verdict == "leans"
    few = count({f"r{i}" for i in range(8)} | {"d0", "d1", "d2", "d3"})
    assert few.verdict == "no clear difference"
    assert "the verdict rests on the other 4; fewer than 5 are too few" in " ".join(few.notes)


def test_invented_people_whose_names_cannot_be_read_are_told_from_nobody(make_recipe):
    found = evidence([summarised("one", None, "Zqx came.", "Zqx")])
    _, measures = by_name(make_recipe(measures={"persons": "spacy"}), found)
    said = measures["entity hallucination"].sentence
    assert said.startswith("Undefined: ") and " 1 spans " in said


def test_what_cannot_be_tested_is_no_clear_difference_and_in_the_headline(make_recipe):
    one = [summarised("d", None, "He won.", "John Vey")]
    _, measures = by_name(make_recipe(), evidence(one))
    assert measures["entity inclusion"].tested is None
    assert measures["entity inclusion"].verdict == "no clear difference"
    assert headline([measures["entity inclusion"]]).endswith("0.0 % of the women: no clear difference")
    assert headline([measures["titles"]]) == "Nothing could be measured"


def test_infinite_numbers_come_back_from_json_and_a_measure_finds_its_numbers():
    score = BiasNumber(what="score", value=math.inf, low=-math.inf, high=math.nan, n_sets=7)
    tested = BiasNumber(what="difference", value=0.2, low=0.1, high=0.3, n_sets=7, adjusted=0.01, verdict="leans")
    measure = BiasMeasure(
        name="entity inclusion", question="?", scale="", difference="", design="balanced", undefined=None,
        direction="male", n_documents=7, sentence="", claim="", notes=(), numbers=(score, tested),
    )  # fmt: skip
    assert (measure.score, measure.tested, measure.verdict) == (math.inf, tested, "leans")
    assert measure.number("rest") is None
    # JSON has neither infinities nor nan
    written = measure.model_dump_json()
    assert json.loads(written) == measure.model_dump(mode="json")
    first = json.loads(written)["numbers"][0]
    assert [first[key] for key in ("value", "low", "high")] == ["infinity", "-infinity", None]
    assert BiasMeasure.model_validate_json(written) == measure
