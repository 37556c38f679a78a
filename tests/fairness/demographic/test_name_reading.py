import pytest

from evenhand.errors import DataError
from evenhand.fairness.demographic import CensusNames, Encyclopaedia, NameReader

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
