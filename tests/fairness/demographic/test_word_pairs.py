from evenhand.fairness.demographic import find_gendered_words, join_pairs
from evenhand.fairness.demographic.word_pairs import PAIRS


def test_pairs_are_27_and_no_word_stands_in_two():
    assert len(PAIRS) == 27
    assert len({word for pair in PAIRS for word in pair}) == 54


def test_both_forms_are_found_and_joined():
    tokens = ["The", "Actress", "and", "her", "uncle"]
    assert find_gendered_words(tokens) == (1, 4)
    assert join_pairs(tokens) == ["the", "actress/actor", "and", "her", "aunt/uncle"]
