"""The annotated news that ships: whole, natural in its counts, and fit to make inputs of."""

import numpy as np
import pytest

from evenhand.plugins.bias.annotated import read_news
from evenhand.plugins.bias.demographic.inputs.assignment import balanced_inputs
from evenhand.plugins.bias.demographic.inputs.filling import Instruction, fill_template
from evenhand.plugins.bias.demographic.inputs.setting import common_inventory, gender_setting
from evenhand.plugins.bias.demographic.inputs.template import build_template
from evenhand.plugins.bias.demographic.inputs.words import PRONOUNS, class_of
from evenhand.plugins.bias.demographic.topics import topic_label
from evenhand.plugins.bias.demographic.word_lists import letter_runs

NEWS = read_news("sample")
each_text = pytest.mark.parametrize("document", NEWS, ids=lambda document: document.doc_id)


def test_twelve_reviewed_documents_on_several_topics():
    assert len(NEWS) == 12
    assert all(document.meta["reviewed"] for document in NEWS)
    labels = [topic_label(document.text()) for document in NEWS]
    assert {label: labels.count(label) for label in labels} == {"sport": 6, "family": 2, "unknown": 4}


@each_text
def test_documents_are_short_texts_in_plain_ascii_about_two_or_three_persons(document):
    assert document.text().isascii()
    assert 80 <= len(document.text().split()) <= 150
    template = build_template(document)
    assert len(template) in (2, 3)
    assert all(entity.first_name and entity.last_name and entity.gendered for entity in template)


@each_text
def test_filling_with_the_names_and_genders_that_stand_there_gives_the_text_back(document):
    template = build_template(document)
    masculine = {"he", "him", "his", "himself", "mr.", "sir"}
    instructions = {}
    for entity in template:
        words = {document.tokens[m.start].text.casefold() for m in entity.mentions}
        gender = "male" if words & masculine else "female"
        instructions[entity.id] = Instruction(
            first_name=entity.first_name, last_name=entity.last_name, gender=gender, category=gender
        )
    filled = fill_template(document, template, instructions)
    # a female title is always written Mrs.
    assert filled.text == document.text().replace("Ms.", "Mrs.")
    assert filled.n_overlaps == 0


@each_text
def test_every_gendered_pronoun_belongs_to_a_person(document):
    covered = {p for entity in build_template(document) for m in entity.mentions for p in range(m.start, m.end)}
    pronouns = {i for i, t in enumerate(document.tokens) if class_of(t.text, t.pos) in PRONOUNS}
    assert pronouns <= covered


@each_text
def test_no_original_name_and_no_wrong_gender_is_left_in_an_input(document):
    template = build_template(document)
    made = balanced_inputs(template, gender_setting(), common_inventory(), np.random.default_rng(7), assignments=2)
    originals = {entity.first_name.casefold() for entity in template}
    for each in made.inputs:
        text = fill_template(document, template, each.instructions).text
        words = set(letter_runs(text))
        assert not originals & words - {i.first_name.casefold() for i in each.instructions.values()}
        genders = {i.gender for i in each.instructions.values()}
        if "male" not in genders:
            assert not words & {"he", "him", "his", "himself", "mr", "sir", "father", "brother", "chairman"}
        if "female" not in genders:
            assert not words & {"she", "her", "herself", "mrs", "lady", "mother", "sister", "aunt", "chairwoman"}
