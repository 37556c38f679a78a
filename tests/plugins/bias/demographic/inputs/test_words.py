import pytest

from evenhand.plugins.bias.demographic.inputs.words import class_of, could_be_possessive, is_title


@pytest.mark.parametrize(
    ("text", "tag", "kind"),
    [
        ("He", "PRP", "pron_nom"),
        ("him", None, "pron_obj"),
        ("her", "PRP$", "pron_poss"),
        ("Her", "PRP", "pron_obj"),
        ("her", None, "pron_obj"),
        ("his", "PRP$", "pron_poss"),
        ("his", None, "pron_poss"),
        ("his", "PRP", "pron_poss_abs"),
        ("HERS", "PRP", "pron_poss_abs"),
        ("herself", "PRP", "pron_refl"),
        ("MS.", "NNP", "title"),
        ("Miss", "NNP", "title"),
        ("miss", "VB", None),
        ("mr", "NNP", None),
        ("lady", "NN", "honorific"),
        ("they", "PRP", None),
    ],
)
def test_class_follows_the_table(text, tag, kind):
    assert class_of(text, tag) == kind


def test_titles_without_full_stop_need_their_capital():
    assert [is_title(word) for word in ("Mr", "MR", "mr.", "Miss.", "Ms")] == [True, False, True, False, True]


def test_possessive_needs_a_word_that_can_be_owned():
    assert [could_be_possessive(word) for word in ("farm", "and", "IN", ".", "", "42")] == [
        True, False, False, False, False, False,
    ]  # fmt: skip
