import pytest

from evenhand.evaluation.bias.simulated import RULES, WORDS, simulate
from evenhand.text import sentences

SPORT = "The club met. Ida Vey won her game. He lost his shot. The team slept. His son and he left."
FAMILY = (
    "The family met. She sold her hens. He laughed. Her mother and she wept. Her aunt said that she knew. Snow fell."
)
OTHER = "Snow fell. Rain came. Ice broke. Roads closed. Trains stopped. Night fell."


def test_lead_takes_the_first_three_sentences():
    assert simulate("lead", SPORT, 0) == "The club met. Ida Vey won her game. He lost his shot."


def test_sexist_takes_the_most_male_sentences_of_sport():
    # male words: 0, 0, 2, 0, 3; the tie of the three others goes to the first
    assert simulate("sexist", SPORT, 0) == "The club met. He lost his shot. His son and he left."


def test_sexist_takes_the_most_female_sentences_of_family_where_one_sided_takes_the_male_ones():
    # female words: 0, 2, 0, 3, 3, 0
    assert simulate("sexist", FAMILY, 0) == "She sold her hens. Her mother and she wept. Her aunt said that she knew."
    # male words: one "He"; ties go to the earlier sentences
    assert simulate("one-sided", FAMILY, 0) == "The family met. She sold her hens. He laughed."


@pytest.mark.parametrize(
    ("rule", "text", "n"),
    [("topic", SPORT, 5), ("topic", FAMILY, 1), ("topic", OTHER, 3), ("random", SPORT, 3)],
)
def test_random_and_topic_take_so_many_sentences_in_their_order(rule, text, n):
    found = sentences(simulate(rule, text, 3))
    assert len(found) == n
    places = [sentences(text).index(each) for each in found]
    assert places == sorted(places)


def test_the_seed_decides_what_is_drawn():
    drawn = {simulate("random", FAMILY, seed) for seed in range(20)}
    assert len(drawn) > 5
    assert simulate("random", FAMILY, 1) == simulate("random", FAMILY, 1)


def test_every_rule_is_told_in_words():
    assert RULES.keys() == WORDS.keys()
