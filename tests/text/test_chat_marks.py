"""Marks of turns: every family's are taken off the end of a text, in any number, and nothing of a text is."""

from itertools import product

import pytest

from evenhand.text.chat_marks import FAMILIES, MOST_CHARACTERS, without_end_marks

SUMMARY = "The Left wants the ferry, the Right doubts it."
MARKS = sorted({mark.replace("{n}", "106") for marks in FAMILIES.values() for mark in marks})
# behind an answer, a mark may stand alone, in a line, twice, or with another's
BEHIND = ("{}", " {}", "\n{}\n", "{}{}", "{} \n\n{}  ", "{}</s>", "<|im_end|>{}")


@pytest.mark.parametrize(("mark", "form"), list(product(MARKS, BEHIND)))
def test_marks_of_every_family_are_taken_off_the_end(mark, form):
    assert without_end_marks(SUMMARY + form.format(mark, mark)) == SUMMARY
    assert without_end_marks(form.format(mark, mark)) == ""


@pytest.mark.parametrize("mark", ["<|end of sentence|>", "<\uff5cend of sentence\uff5c>", "<|END_OF_TEXT|>", "</S>"])
def test_a_mark_in_another_spelling_is_one(mark):
    assert without_end_marks(SUMMARY + mark) == SUMMARY


@pytest.mark.parametrize(
    "text",
    [
        SUMMARY,
        "They paid 3 < 5 crowns and 7 > 5.",
        "It is called [sic]",
        "The law (section 5) <b>stands</b>",
        "One wrote <3",
        "a | b |",
        "x" * MOST_CHARACTERS * 3 + "|>",
        "<|" + "x" * 60 + "|>",
        "the ends [a] and [b]",
        "<user>",
        "It ends; it ends. [1]",
    ],
)
def test_what_is_no_mark_stays(text):
    assert without_end_marks(text) == text


def test_a_mark_within_the_text_stays():
    assert without_end_marks("one</s>two </s>") == "one</s>two"


class Counted(str):
    """A text that counts how many of its characters are read."""

    n_read = 0

    def __getitem__(self, key):
        part = super().__getitem__(key)
        self.n_read += len(part)
        return part


@pytest.mark.parametrize("filling", ["\n", " ", "</s>", "\n</s>", "<|", "<|x|>a", "[|", "\n<|im_end|>"])
@pytest.mark.parametrize("last", ["", "a", "<|im_end|>"])
@pytest.mark.parametrize("n", [1000, 4000])
def test_each_character_is_read_a_bounded_number_of_times(filling, last, n):
    text = Counted("a" + filling * n + last)
    without_end_marks(text)
    assert text.n_read <= (MOST_CHARACTERS + 2) * len(text)
