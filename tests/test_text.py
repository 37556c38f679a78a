"""Small text functions."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text import did_you_mean, fold, has_words, n_words, repeated, sentences, some_of, words


@given(st.text())
def test_folded_text_has_single_spaces_and_stays_folded(text):
    folded = fold(text)
    assert folded == folded.strip()
    assert "  " not in folded
    assert fold(folded) == folded
    assert folded.split() == text.split()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The ferry's LATE, again!", ["the", "ferry's", "late", "again"]),
        ("It\u2019s the \u2018old\u2019 boat", ["it's", "the", "old", "boat"]),
        ("nine-to-five 3.50", ["nine", "to", "five", "3", "50"]),
        ("\u00c4rger \u0434\u043e\u043c", ["\u00e4rger", "\u0434\u043e\u043c"]),
        (" ... ", []),
    ],
)
def test_words_are_lower_case_and_keep_inner_apostrophes(text, found):
    assert words(text) == found
    assert n_words(text) == len(found)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        # vowel signs and points belong to their letters
        ("\u0915\u0930\u094b\u0902 \u092e\u0947\u0902 \u0935\u0943\u0926\u094d\u0927\u093f", 3),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05b9\u05dc\u05b8\u05dd", 2),
        ("\u0643\u064e\u062a\u064e\u0628\u064e \u0627\u0644\u062f\u0631\u0633", 2),
        ("\ubc30\ub294 \uc2f8\ub2e4.", 2),
        # ten letters, five for three words
        ("\u6e21\u8f6e\u4fbf\u5b9c\uff0c\u6e2f\u53e3\u5f88\u5435\u95f9\u3002", 5),
        # seven letters, seven for two words; tones and vowels above are none
        ("\u0e40\u0e23\u0e37\u0e2d\u0e23\u0e32\u0e04\u0e32", 2),
        ("\u7a0e", 1),
        ("AI\u6280\u672f", 2),
        ("\u3002\uff01", 0),
        ("\u200b\u3164", 0),
    ],
)
def test_words_of_other_scripts_are_counted(text, n):
    assert n_words(text) == n
    assert has_words(text) == (n > 0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two!  Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Brown left. He was late.", ["Mr. Brown left.", "He was late."]),
        ("one line\nand another", ["one line", "and another"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_are_stripped_and_in_order(text, found):
    assert sentences(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('He said "so." She disagreed.', ['He said "so."', "She disagreed."]),
        ("He said \u201cGo. Now.\u201d She left.", ["He said \u201cGo.", "Now.\u201d", "She left."]),
        # nothing closes the quotation
        ("He left. 'Why would he? It is odd.", ["He left.", "'Why would he?", "It is odd."]),
        ('He left. "Why?" she asked. Nobody knew.', ["He left.", '"Why?" she asked.', "Nobody knew."]),
        ('He left. " She stayed.', ['He left. "', "She stayed."]),
        ("The dogs' bowls. 'Tis so. The '90s.", ["The dogs' bowls.", "'Tis so.", "The '90s."]),
        ("(He is against it.) She is not (yet!), he says.", ["(He is against it.)", "She is not (yet!), he says."]),
        ("It fell . . . Then it rose. . .", ["It fell . . .", "Then it rose. . ."]),
        ("It fell. . . but it rose.", ["It fell. . . but it rose."]),
        ("Even if Ms. Brown left. He was late.", ["Even if Ms. Brown left.", "He was late."]),
        ("\u00ab Oui. \u00bb Il part.", ["\u00ab Oui. \u00bb", "Il part."]),
        ("\u201eJa.\u201c Er ging.", ["\u201eJa.\u201c", "Er ging."]),
        # "A: 'B.' C." in Chinese, where no space parts sentences
        ("\u4ed6\uff1a\u201c\u597d\u3002\u201d\u5979\u8d70", ["\u4ed6\uff1a\u201c\u597d\u3002\u201d", "\u5979\u8d70"]),
        ('"', ['"']),
        (". . .", [". . ."]),
    ],
)  # fmt: skip
def test_quotations_and_brackets_neither_glue_sentences_nor_part_them(text, found):
    assert sentences(text) == found


# closing marks of quotations and brackets in East Asian texts, with their openings
PAIRS = ["「」", "『』", "【】", "《》", "〈〉", "\uff08\uff09", "“”", "()"]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("stop", ["。", "\uff01", "\uff1f"])
@pytest.mark.parametrize(
    ("said", "tail"),
    [
        ("値上げは困る", "と彼は言った。"),
        ("値上げは困る", "って聞いた。"),
        ("値上げは困る", "の一言だった。"),
        ("ありがとう", "などと書いた。"),
        ("太贵了", "他说。"),
        ("太贵了", "她大声喊道。"),
        ("太貴了", "他問道。"),
        ("비싸다", "라고 그는 말했다."),
    ],
)
def test_a_quotation_and_who_says_it_are_one_sentence(said, tail, stop, pair):
    first = f"{pair[0]}{said}{stop}{pair[1]}{tail}"
    assert len(sentences(f"{first}다음이다." if "비" in said else f"{first}次だ。")) == 2
    assert sentences(first) == [sentences(first)[0]]


@pytest.mark.parametrize("pair", ["「」", "『』", "“”"])
@pytest.mark.parametrize(
    ("said", "following"),
    [
        ("値上げは困る。", "市は聞いた。"),
        ("値上げは困る。", "とても寒い。"),
        ("値上げは困る。", "のちに雨が降った。"),
        ("太贵了。", "我们走了。"),
        ("太贵了。", "他知道。"),
        ("太贵了。", "我们说的话没有人听。"),
        ("비싸다.", " 시는 들었다."),
    ],
)
def test_a_sentence_behind_a_quotation_is_its_own(said, following, pair):
    assert sentences(f"{pair[0]}{said}{pair[1]}{following}") == [f"{pair[0]}{said}{pair[1]}", following.strip()]


@given(st.text(alphabet="aB. !?\"'()\u201c\u201d\u00bb\n", max_size=60))
def test_sentences_lose_no_character_but_white_space(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_a_near_name_is_offered_and_a_far_one_is_not():
    assert did_you_mean("rihgt", ["left", "right"]) == "; did you mean 'right'?"
    assert did_you_mean("centre", ["left", "right"]) == "."
    assert did_you_mean("x", []) == "."


def test_names_that_occur_twice_are_found_at_any_number():
    assert repeated(["b", "a", "b", "c", "a"]) == ["a", "b"]
    assert repeated(str(number) for number in range(100_000)) == []


def test_a_list_of_names_is_cut_and_the_rest_counted():
    assert some_of(list("abcde")) == "a, b, c, d, e"
    assert some_of(list("abcdefg")) == "a, b, c, d, e and 2 more"


def test_a_name_of_no_sane_length_is_not_compared():
    assert did_you_mean("judges" * 100_000, ["judges"]) == "."


def test_long_lines_without_spaces_take_time_in_proportion():
    line = ["\u6211\u4eec\u8ba4\u4e3a\u597d\u3002", "\u4f60\u600e\u4e48\u770b\uff1f\uff01"] * 25_000
    started = time.process_time()
    assert sentences("".join(line)) == line
    assert time.process_time() - started < 3
