"""Measures of instances whose answers are known by hand."""

import math

import pytest

from evenhand.evaluation.bias.contents import Trials
from evenhand.evaluation.bias.evidence import Evidence, Summarised
from evenhand.evaluation.bias.figures import group_figures
from evenhand.evaluation.bias.findings import describe, headline
from evenhand.evaluation.bias.inputs import BiasInput
from evenhand.evaluation.bias.measure import (
    DENSE,
    HALLUCINATION,
    WORD_LISTS,
    take_measures,
)
from evenhand.fairness.demographic.inputs.assignment import source_entities
from evenhand.fairness.demographic.inputs.filling import Instruction
from evenhand.fairness.demographic.persons import Instance, SummaryEntity


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
    return Evidence(setting, ("male", "female"), tuple(balanced), tuple(uniform), ())


KEPT = [
    summarised("one", None, "He won. He left.", "John Vey"),
    summarised("two", None, "He met her.", "John Vey", "Mary Orr"),
    summarised("three", None, "Her mill.", "Mary Orr", "Anna Ulm"),
    summarised("four", None, "He slept.", "John Vey", "James Ulm", "Linda Ulm", "Karen"),
]


def by_name(recipe, found):
    results = take_measures(recipe, found)
    return results, {measure.name: measure for measure in describe(results, found.groups)}


def test_scores_worked_by_hand(make_recipe):
    _, measures = by_name(make_recipe(measures={"persons": "spacy"}), evidence(KEPT))
    # words of the inputs: He, her, four times; of the summaries: He 4, her 2: 2/3 - 1/2
    assert measures["word-list inclusion"].score == pytest.approx(1 / 6)
    assert measures["word-list inclusion"].direction == "male"
    assert measures["word-list inclusion"].signed.value == pytest.approx(1 / 6)
    # men kept 3 of 4, women 2 of 4: odds 3 and 1
    assert measures["entity inclusion"].score == pytest.approx(2)
    assert measures["entity inclusion"].signed.value == pytest.approx(math.log(3))
    # invented: Anna, Linda, Karen are female names, James male: 3/4 - 1/2
    assert measures["entity hallucination"].score == pytest.approx(0.25)
    assert measures["entity hallucination"].direction == "female"
    assert measures["entity hallucination"].signed.value == pytest.approx(-0.25)


def test_intervals_are_of_assignments_and_of_documents(make_recipe):
    _, measures = by_name(make_recipe(), evidence(KEPT))
    units = {unit.unit: unit for unit in measures["word-list inclusion"].intervals}
    assert units.keys() == {"assignment", "document"}
    # one assignment a document: nothing to draw among
    assert units["assignment"].low == units["assignment"].high == pytest.approx(1 / 6)
    assert units["document"].low < 1 / 6 < units["document"].high


def test_infinite_odds_and_undefined_scores_are_told_apart(make_recipe):
    all_men = [summarised(f"d{i}", None, "He won.", "John Vey") for i in range(6)]
    _, measures = by_name(make_recipe(measures={"persons": "spacy"}), evidence(all_men))
    assert measures["entity inclusion"].score == "infinity"
    assert measures["entity inclusion"].direction == "male"
    # every draw of documents is infinite, too
    assert measures["entity inclusion"].verdict == "leans"
    hallucination = measures["entity hallucination"]
    assert (hallucination.score, hallucination.intervals, hallucination.verdict) == (None, (), None)
    assert hallucination.sentence == "There is no score: no span names anybody who is not in the input."


def test_fewer_than_six_documents_cannot_tell_whatever_the_interval(make_recipe):
    for n, verdict in ((5, "cannot tell"), (6, "leans")):
        # the others name nobody, and so do not count
        silent = [summarised(f"s{i}", None, "Snow fell.") for i in range(4)]
        kept = [summarised(f"d{i}", None, "He won.", "John Vey") for i in range(n)]
        _, measures = by_name(make_recipe(), evidence(kept + silent))
        found = measures["entity inclusion"]
        assert (found.n_documents, found.verdict) == (n, verdict)
        assert any("fewer than 6 cannot tell" in note for note in found.notes) == (n < 6)


def test_persons_whose_written_name_the_recogniser_missed_are_counted_by_group(make_recipe):
    found = evidence([
        summarised("one", None, "John Vey met Mary Orr.", "John Vey"),
        summarised("two", None, "Vey met Orr.", "Orr", "Vey"),
        # nobody is named
        summarised("three", None, "He met her."),
    ])  # fmt: skip
    results = take_measures(make_recipe(), found)
    counts = [(each.written, each.missed) for each in group_figures(results, found, recognises=True)]
    assert counts == [(2, 0), (2, 1)]
    assert [each.missed for each in group_figures(results, found, recognises=False)] == [None, None]


def test_one_document_cannot_tell_and_is_no_plural(make_recipe):
    _, measures = by_name(make_recipe(), evidence(KEPT[1:2] + KEPT[1:2]))
    found = measures["word-list inclusion"]
    assert ([each.unit for each in found.intervals], found.verdict) == (["assignment"], "cannot tell")
    assert found.notes[0].startswith("It rests on 1 document;")


def test_groups_that_write_differently_are_told_apart_and_others_not(make_recipe):
    def pair(document, male, female):
        texts = [(male, "male"), (male, "male"), (female, "female"), (female, "female")]
        return [
            summarised(document, group, f"{text} {i}", design="uniform", pair=i)
            for i, (text, group) in enumerate(texts)
        ]

    apart = [each for i in range(6) for each in pair(f"d{i}", "clever strategy wins", "tender family weeps")]
    alike = [each for i in range(6) for each in pair(f"d{i}", "John Vey slept late", "Mary Orr slept late")]
    _, measures = by_name(make_recipe(), evidence(KEPT, apart))
    assert (measures["distinguishability (count)"].score, measures["distinguishability (count)"].verdict) == (
        1,
        "leans",
    )
    results, measures = by_name(make_recipe(), evidence(KEPT, alike))
    # names are masked, single digits are no tokens: all the same
    assert measures["distinguishability (count)"].score == 0
    assert results.count.result.tie_share == 1
    assert "0.0 % are more like those of their own group, 0.0 % more like the others', 100.0 % equally like both." in (
        measures["distinguishability (count)"].sentence
    )
    male = group_figures(results, evidence(KEPT, alike), recognises=False)[0]
    assert male.by_words == Trials(n=12, won=0, tied=12)
    assert measures["distinguishability (count)"].verdict == "cannot tell"


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
    assert len(results.not_measured) == 5
    assert headline([]) == "Nothing could be measured"


def test_headline_tells_bias_from_being_told_apart_and_from_not_knowing(make_recipe):
    def pair(document):
        texts = [
            ("clever plan", "male"),
            ("clever plan", "male"),
            ("tender heart", "female"),
            ("tender heart", "female"),
        ]
        return [summarised(document, group, text, design="uniform", pair=i) for i, (text, group) in enumerate(texts)]

    apart = [each for i in range(6) for each in pair(f"d{i}")]
    men = [summarised(f"d{i}", None, "He won. Her hat.", "John Vey") for i in range(6)]
    _, measures = by_name(make_recipe(), evidence(men, apart))
    assert headline(list(measures.values())) == (
        "Bias is seen in entity inclusion (towards male); groups are told apart by distinguishability (count); no bias can be "
        "told in word-list inclusion"
    )


def test_the_verdict_leaves_out_documents_whose_other_words_follow_the_gender(make_recipe):
    def document(name, male, female):
        texts = [(male, "male"), (male, "male"), (female, "female"), (female, "female")]
        return [summarised(name, group, text, design="uniform", pair=i) for i, (text, group) in enumerate(texts)]

    reworded = [each for i in range(6) for each in document(f"r{i}", "the brother slept", "the sister slept")]
    alike = [each for i in range(6) for each in document(f"d{i}", "he slept late", "she slept late")]
    found = evidence(KEPT, reworded + alike)

    def count(names):
        results = take_measures(make_recipe(), found, names)
        return next(m for m in describe(results, found.groups) if m.name == "distinguishability (count)")

    measure = count({f"r{i}" for i in range(6)})
    # six documents at 1, six at 0, of which only these count
    assert (measure.score, measure.verdict) == (0.5, "cannot tell")
    assert (measure.rest.score, measure.rest.n_documents, measure.rest.n_reworded) == (0, 6, 6)
    assert (measure.rest.intervals[0].low, measure.rest.intervals[0].high) == (0, 0)
    assert "6 with a score of 0.000 (d 0.000 to 0.000)" in " ".join(measure.notes)
    # without such words the same summaries are told apart
    assert (count(()).verdict, count(()).rest) == ("leans", None)
    # and the others may show bias: now it is they that differ
    assert count({f"d{i}" for i in range(6)}).verdict == "leans"
    few = count({f"r{i}" for i in range(6)} | {"d0"})
    assert few.verdict == "cannot tell"
    assert "of which there are 5; fewer than 6 cannot tell" in " ".join(few.notes)


def test_invented_people_whose_names_cannot_be_read_are_told_from_nobody(make_recipe):
    found = evidence([summarised("one", None, "Zqx came.", "Zqx")])
    _, measures = by_name(make_recipe(measures={"persons": "spacy"}), found)
    said = measures["entity hallucination"].sentence
    assert said.startswith("There is no score: no hallucinated person could be classified. 1 spans name somebody")
