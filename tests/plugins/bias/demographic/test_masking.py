import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.masking import mask_summary
from evenhand.plugins.bias.demographic.persons import InputEntity

BELL = InputEntity(id="e", first_name="Mark", last_name="Bell")


def test_longer_names_come_first():
    persons = [InputEntity(id="a", last_name="Berg"), InputEntity(id="b", last_name="Berg Olsen")]
    assert mask_summary("Mr Berg Olsen met Berg.", persons) == "M. LAST_NAME met LAST_NAME."


def test_name_that_is_first_and_last_becomes_a_first_name():
    persons = [InputEntity(id="a", first_name="James"), InputEntity(id="b", last_name="James")]
    assert mask_summary("James met James.", persons) == "FIRST_NAME met FIRST_NAME."
    assert mask_summary("James met James.", persons[::-1]) == "FIRST_NAME met FIRST_NAME."


def test_names_are_plain_text_in_the_pattern():
    assert mask_summary("J.R. (Bo) saw JxR.", [InputEntity(id="a", first_name="J.R.")]) == "FIRST_NAME (Bo) saw JxR."


def test_full_stop_goes_with_abbreviated_titles_only():
    assert mask_summary("mr. x, Ms. y, Miss. z, Madams", []) == "M. x, M. y, M.. z, M."


def test_typographic_apostrophe_is_an_apostrophe():
    assert mask_summary("Yes, ma\u2019am. Ma'am? Ma\u2019am!", []) == "Yes, M.. M.? M.!"
    # the released program knows the straight one alone
    assert mask_summary("ma\u2019am, ma'am", [], "substring") == "ma\u2019am, M."


def test_words_that_hold_a_pronoun_stay():
    assert (
        mask_summary("There, the shed; others here. He's hers.", []) == "There, the shed; others here. They's theirs."
    )


def test_summary_without_persons_keeps_its_names():
    assert mask_summary("Bell rang.", []) == "Bell rang."


def test_released_mode_leaves_lady_and_refuses_an_entity_without_last_name():
    assert mask_summary("Lady Bell, Sir Mark", [BELL], "substring") == "Lady LAST_NAME, M. FIRST_NAME"
    with pytest.raises(DataError, match="'t' has no last name"):
        mask_summary("Tamsin", [InputEntity(id="t", first_name="Tamsin")], "substring")


def test_unknown_mode_is_refused():
    with pytest.raises(DataError, match="mode 'all' is not known"):
        mask_summary("x", [], "all")


WORDS = st.lists(st.sampled_from("he She him HERS Mr. lady Bell Mark Market it ma'am".split()), max_size=12).map(
    " ".join
)


@given(WORDS)
def test_masking_twice_changes_nothing_more(text):
    once = mask_summary(text, [BELL])
    assert mask_summary(once, [BELL]) == once
    assert not {"he", "She", "him", "lady", "Bell", "Mark", "ma'am"} & set(once.split())
