"""What prompts say of length and fairness, and what they never say."""

import pytest

from evenhand.config import CorpusSection, TaskSection
from evenhand.errors import RecipeError
from evenhand.generate.instructions import fairness_asked, fairness_signature, length_asked
from evenhand.records import Document, DocumentSet

SENTIMENT = CorpusSection(attribute="sentiment")


def reviews(*values):
    return DocumentSet(
        id="kettle",
        topic="a kettle",
        documents=tuple(
            Document(id=str(i), text=f"Review number {i}.", attributes={"sentiment": value})
            for i, value in enumerate(values)
        ),
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "about 50 words"),
        ({"words": 100}, "about 100 words"),
        ({"sentences": 1}, "one sentence"),
        ({"sentences": 3}, "3 sentences"),
        ({"sentences": 3, "words": 60}, "3 sentences of about 60 words together"),
        ({"sentences": 1, "words": 20}, "one sentence of about 20 words"),
        ({"sentences": "natural"}, None),
    ],
)
def test_length_that_is_asked_for(given, said):
    assert length_asked(TaskSection.model_validate({"scope": "all"} | given)) == said


def test_no_instruction_unless_asked_for():
    assert fairness_asked(reviews("good", "bad"), SENTIMENT, TaskSection(scope="all")) == ""


def test_shares_are_those_of_the_set():
    task = TaskSection(scope="all", fairness="shares")
    # 5, 1 and 2 of 8
    said = fairness_asked(reviews(*["positive"] * 5, "neutral", *["negative"] * 2), SENTIMENT, task)
    assert "By sentiment, 25 % of the texts are negative, 12.5 % neutral and 62.5 % positive;" in said
    thirds = fairness_asked(reviews("positive", "negative", "negative"), SENTIMENT, task)
    assert "66.7 % of the texts are negative and 33.3 % positive" in thirds


def test_share_of_few_among_many_is_neither_nothing_nor_all():
    # 1 of 3,000 is 0.033 %, which one place would make 0; 2,999 of them are 99.967 %
    rare = reviews(*["bad"] * 2999, "good")
    said = fairness_asked(rare, SENTIMENT, TaskSection(scope="all", fairness="shares"))
    assert "99.97 % of the texts are bad and 0.03 % good" in said


def test_frequencies_have_the_set_as_their_reference_class():
    task = TaskSection(scope="all", fairness="frequencies")
    said = fairness_asked(reviews(*["positive"] * 5, "neutral", *["negative"] * 2), SENTIMENT, task)
    assert "2 of the 8 texts are negative, 1 of the 8 is neutral and 5 of the 8 are positive;" in said
    assert "as 8 equal parts" in said and "%" not in said


def test_who_is_to_count_is_told_how_many_there_are_and_no_value():
    said = fairness_asked(reviews("positive", "negative"), SENTIMENT, TaskSection(scope="all", fairness="count"))
    assert "how many of the 2 texts" in said and "sentiment" in said
    assert "positive" not in said


INSTRUCTIONS = ["generic", "shares", "frequencies", "count"]


@pytest.mark.parametrize("fairness", INSTRUCTIONS)
def test_set_of_one_value_has_nothing_to_be_fair_between(fairness):
    assert fairness_asked(reviews("good", "good"), SENTIMENT, TaskSection(scope="all", fairness=fairness)) == ""


def test_generic_instruction_has_no_number_and_no_value():
    said = fairness_asked(reviews("positive", "negative"), SENTIMENT, TaskSection(scope="all", fairness="generic"))
    assert not any(letter.isdigit() for letter in said)
    assert "positive" not in said
    assert "sentiment" in said


@pytest.mark.parametrize("fairness", INSTRUCTIONS)
def test_instruction_is_the_same_whoever_stands_first(fairness):
    task = TaskSection(scope="all", fairness=fairness)
    said = {
        fairness_asked(reviews(*order), SENTIMENT, task)
        for order in (("positive", "negative", "neutral"), ("neutral", "positive", "negative"))
    }
    assert len(said) == 1


def test_values_stand_in_the_order_of_the_recipes_sides():
    corpus = CorpusSection(attribute="sentiment", sides=("positive", "negative"))
    said = fairness_asked(reviews("negative", "mixed", "positive"), corpus, TaskSection(scope="all", fairness="shares"))
    assert said.index("positive") < said.index("negative") < said.index("mixed")


def own(tmp_path, text):
    (tmp_path / "own.txt").write_text(text)
    return TaskSection(scope="all", fairness=str(tmp_path / "own.txt"))


def test_instruction_of_the_users_own_has_numbers_in_its_own_words(tmp_path):
    task = own(tmp_path, "{percent_pos}% good and {percent_neg}% bad of {n}, {count_neu} neither, by {attribute}.")
    corpus = CorpusSection(attribute="sentiment", sides=("pos", "neu", "neg"))
    # 3 and 1 of 4; nobody is neutral, which the corpus knows of
    found = fairness_asked(reviews("pos", "neg", "pos", "pos"), corpus, task)
    assert found == "75% good and 25% bad of 4, 0 neither, by sentiment."
    assert fairness_signature(task).startswith("own:")


@pytest.mark.parametrize(
    ("value", "field"),
    [("Pro-Republican", "pro_republican"), ("very bad", "very_bad"), ("5 stars", "stars"), ("neg.", "neg")],
)
def test_fields_of_numbers_are_values_in_small_letters(tmp_path, value, field):
    task = own(tmp_path, f"{{count_{field}}} of {{n}}")
    assert fairness_asked(reviews(value, "other", value), SENTIMENT, task) == "2 of 3"


def test_instruction_that_asks_for_an_unknown_value_is_refused(tmp_path):
    with pytest.raises(
        RecipeError, match=r"key 'task\.fairness': .*asks for \{count_nobody\}; fields .*count_bad, count_good"
    ):
        fairness_asked(reviews("good", "bad"), SENTIMENT, own(tmp_path, "{count_nobody}"))
    # "4 stars" and "5 stars" would both be stars
    with pytest.raises(RecipeError, match=r"asks for \{count_stars\}"):
        fairness_asked(reviews("4 stars", "5 stars"), SENTIMENT, own(tmp_path, "{count_stars}"))
    with pytest.raises(RecipeError, match=r"key 'task\.fairness': .*absent\.txt' is neither shipped"):
        fairness_signature(TaskSection(scope="all", fairness=str(tmp_path / "absent.txt")))
