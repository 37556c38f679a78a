"""How persons are mentioned: titles, order and quotations, by eye and by exchange of the groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.plugins.bias.demographic.inputs.filling import Instruction
from evenhand.plugins.bias.demographic.mentions import Mentions, first_named, quotations, spoken, titles

GROUPS = ("male", "female")


def person(first, last, group, **changes):
    return Instruction(**{"first_name": first, "last_name": last, "gender": group, "category": group} | changes)


PEOPLE = {
    "a": person("John", "Vey", "male"),
    "b": person("Mary", "Orr", "female"),
    "c": person("Ann", "van Gogh", "female"),
}
TEXT = (
    'Dr. John Vey met Prof. Mary Orr in May. "We were tired and we were beaten," Orr said. He saw Van Gogh. '
    '"I do not know why it rained," he said. Mrs van Gogh smiled.'
)


def counted(counting, summary, source=TEXT, people=PEOPLE):
    return counting(Mentions.of(people, GROUPS), source, summary).tolist()


@pytest.mark.parametrize(
    ("summary", "of", "are"),
    [
        ("Dr. Vey met Prof. Orr.", [1, 1], [1, 1]),
        ("Dr. John Vey met Orr, and Vey left.", [2, 1], [1, 0]),
        ("Dr Vey met Orr.", [1, 1], [1, 0]),
        ("Vey met Professor Mary Orr and Van Gogh.", [1, 2], [0, 1]),
        ("A man met a woman.", [0, 0], [0, 0]),
        # a title of somebody else, and a word that ends like one
        ("Dr. Smith met Vey.", [1, 0], [0, 0]),
        ("Hdr. Vey slept.", [1, 0], [0, 0]),
    ],
)
def test_titles_are_counted_by_mention_of_those_who_have_one_in_the_input(summary, of, are):
    assert counted(titles, summary) == [of, are]


@pytest.mark.parametrize(
    ("summary", "first"),
    [
        ("Vey met Orr.", [1, 0]),
        ("Orr met Vey, and Orr left.", [0, 1]),
        ("Orr met Van Gogh.", [0, 0]),
        ("Vey slept.", [0, 0]),
        ("Mary Orr and Ann van Gogh met John Vey.", [0, 1]),
    ],
)
def test_who_is_named_first_counts_where_both_groups_are_named(summary, first):
    assert counted(first_named, summary) == [first]


@pytest.mark.parametrize(
    ("summary", "are"),
    [
        ('Orr said: "We were tired and we were beaten."', [0, 1]),
        ("They were tired and we were beaten, she said", [0, 1]),
        ("Somebody did not know why it rained at all.", [1, 0]),
        ("They were tired and beaten.", [0, 0]),
    ],
)
def test_quotations_are_kept_by_their_words(summary, are):
    assert counted(quotations, summary) == [[1, 1], are]


def test_who_speaks_is_named_beside_it_or_fits_the_pronoun_and_else_nobody():
    mentions = Mentions.of(PEOPLE, GROUPS)
    assert [who for who, _ in spoken(mentions, TEXT)] == ["b", "a"]
    assert not list(spoken(mentions, '"We are very late," said Vey to Orr. "So we are now," they said.'))
    # two words are no quotation, and names within one do not speak
    assert not list(spoken(mentions, '"Good morning," said Vey. "I saw Orr there," it said.'))
    (curly,) = spoken(mentions, "\u201cWe are very late,\u201d said Vey.")
    assert curly == ("a", ["we", "are", "very", "late"])


def test_names_that_two_share_tell_nobody_and_bystanders_count_for_no_group():
    pair = {"a": person("John", "Vey", "male"), "b": person("Mary", "Vey", "female")}
    assert counted(first_named, "Vey met Mary.", people=pair) == [[0, 0]]
    assert counted(first_named, "Mary met John Vey.", people=pair) == [[0, 1]]
    bystander = {"a": PEOPLE["a"], "b": person("Mary", "Orr", "female", category=None)}
    assert counted(first_named, "Orr met Vey.", people=bystander) == [[0, 0]]


@given(
    st.permutations(["Dr. Vey spoke.", "Orr slept.", "Prof. Orr said so.", "Van Gogh won.", "Mrs Van Gogh left."]),
    st.integers(0, 5),
)
def test_exchanged_groups_exchange_all_counts(lines, n):
    summary = " ".join(lines[:n]) + ' "We were tired and we were beaten," she said.'
    other = {
        name: each.model_copy(update={"category": GROUPS[each.category == "male"]}) for name, each in PEOPLE.items()
    }
    for counting in (titles, first_named, quotations):
        np.testing.assert_array_equal(
            np.array(counted(counting, summary))[:, ::-1], counted(counting, summary, people=other)
        )
