import pytest

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.name_reading import (
    CensusNames,
    Encyclopaedia,
    NameReader,
    census_frequencies,
    census_names,
    common_names,
)


def test_files_have_the_published_numbers_of_names():
    male, female = census_frequencies("male"), census_frequencies("female")
    assert (len(male), len(female), len(male.keys() & female.keys())) == (1219, 4275, 331)
    # 3.318 and 2.629 per cent
    assert (male["james"], female["mary"]) == (3318, 2629)


@pytest.mark.parametrize(("rule", "male", "female"), [("above_2", 1126, 3999), ("at_least_2", 1132, 4002)])
def test_lists_have_the_sizes_counted_by_hand(rule, male, female):
    names = census_names(rule)
    assert (len(names.male), len(names.female)) == (male, female)
    assert not names.male & names.female


def test_rules_differ_in_the_nine_names_whose_ratio_is_exactly_two():
    strict, loose = census_names("above_2"), census_names("at_least_2")
    assert loose.male - strict.male == {"devon", "jae", "michal", "nicky", "taylor", "val"}
    assert loose.female - strict.female == {"dominique", "elisha", "gale"}


def test_common_names_are_the_fifty_most_frequent_and_share_none():
    male, female = common_names("male"), common_names("female")
    assert male[:3] == ("James", "John", "Robert")
    assert female[:3] == ("Mary", "Patricia", "Linda")
    assert len(set(male)) == len(set(female)) == 50
    assert not set(male) & set(female)


def test_unknown_rule_and_sex_are_refused():
    with pytest.raises(DataError, match="dominance"):
        census_names("twice")
    with pytest.raises(DataError, match="sex 'x' is not known"):
        census_frequencies("x")


CENSUS = CensusNames(male=frozenset({"ivo"}), female=frozenset({"nora", "grace"}))


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("Ivo", "male"),
        ("NORA Quill", "female"),
        ("Ivo Grace", "unknown"),
        ("Zed Orlo", "unknown"),
        ("Nora Grace", "female"),
    ],
)
def test_any_token_counts_and_a_clash_is_unknown(name, reading):
    assert NameReader(CENSUS).read(name.split()) == reading


def test_surface_text_is_a_key_for_names_that_the_tokenizer_splits():
    reader = NameReader(CENSUS, Encyclopaedia({"Jean-Luc  Brandel": "m"}))
    tokens = ["Jean", "-", "Luc", "Brandel"]
    assert reader.read(tokens) == "unknown"
    assert reader.read(tokens, "Jean-Luc Brandel") == "male"


def test_people_of_one_name_with_different_marks_are_unknown():
    reader = NameReader(
        CENSUS, Encyclopaedia({"Nora Orr": "m", "nora orr": "f", "NORA ORR": "f", "Nora Vey": "m", "nora vey": "m"})
    )
    assert reader.read(["Nora", "Orr"]) == "unknown"
    assert reader.read(["Nora", "Vey"]) == "male"


def test_entry_of_one_word_is_ignored():
    assert NameReader(CENSUS, Encyclopaedia({"nora": "m"})).read(["Nora"]) == "female"


def test_other_marks_are_refused():
    with pytest.raises(DataError, match="marks are m, f or u, but those of 'Nora Orr'"):
        Encyclopaedia({"Nora Orr": "female"})
