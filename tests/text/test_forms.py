"""The form in which texts are read: one word in many encodings is one word, for whatever counts words."""

import os
import re
import unicodedata

import pytest
from conformance import of_plugins
from hypothesis import given
from hypothesis import strategies as st

from evenhand.fairness.content_tokens import content_tokens
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.judges.measures.words import WordMatcher, ngram_tokenizer
from evenhand.judges.rouge import tokens as rouge_tokens
from evenhand.text import n_words, sentences, words
from evenhand.text.forms import base_letters, normal_form

PLAIN = (
    "The office confirmed that financial flows to the coastal ferry were sufficient. Citizens don't accept expensive "
    "taxation, and the caf\u00e9 owners' petition (signed by 300) says so! Is cooperation a naive hope? It is."
)


def in_words(change, longer_than=3):
    return lambda text: re.sub(rf"[a-zA-Z]{{{longer_than + 1},}}", lambda found: change(found[0]), text)


def inserted(mark):
    return in_words(lambda word: word[:2] + mark + word[2:])


def letters(first_small, first_capital):
    table = {ord("a") + k: first_small + k for k in range(26)} | {ord("A") + k: first_capital + k for k in range(26)}
    return lambda text: text.translate(table)


WITHIN = re.compile(r"(?<=\w)'(?=\w)")
# name -> the same text, written otherwise
SIBLINGS = {
    "soft hyphen": inserted("\u00ad"),
    "soft hyphen at the end of a line": inserted("\u00ad\n"),
    "zero width space": inserted("\u200b"),
    "word joiner": inserted("\u2060"),
    "byte order mark": inserted("\ufeff"),
    "joiner": inserted("\u200d"),
    "non-joiner": inserted("\u200c"),
    "right-to-left mark": inserted("\u200f"),
    "variation selector": inserted("\ufe0f"),
    "grapheme joiner": inserted("\u034f"),
    "mark before the text": lambda text: "\ufeff" + text,
    "zero width space between sentences": lambda text: text.replace(". ", ".\u200b "),
    "hyphen at the end of a line": inserted("-\n"),
    "hyphen, spaces and an indented line": inserted("- \r\n   "),
    "hyphen of its own sign": inserted("\u2010\n"),
    "hyphen before a page": inserted("-\n\n\x0c"),
    "full width": lambda text: "".join(
        chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else "\u3000" if c == " " else c for c in text
    ),
    "full-width letters": letters(0xFF41, 0xFF21),
    "mathematical bold": letters(0x1D41A, 0x1D400),
    "mathematical sans-serif": letters(0x1D5BA, 0x1D5A0),
    "mathematical monospace": letters(0x1D68A, 0x1D670),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "ligatures": lambda text: text.replace("ffi", "\ufb03").replace("fi", "\ufb01").replace("fl", "\ufb02"),
    "long s": lambda text: text.replace("st", "\u017ft"),
    "Cyrillic look-alikes": lambda text: text.translate(str.maketrans("aeopcyx", "\u0430\u0435\u043e\u0440\u0441\u0443\u0445")),
    "one Cyrillic letter": lambda text: text.replace("e", "\u0435"),
    "Greek look-alikes": lambda text: text.replace("o", "\u03bf"),
    "codes of JSON": in_words(lambda word: f"\\u{ord(word[0]):04x}{word[1:]}"),
    "quotes of JSON": lambda text: text.replace("'", "\\'"),
    "LaTeX": lambda text: text.replace("\u00e9", "\\'e"),
    "LaTeX in braces": lambda text: text.replace("\u00e9", "{\\'e}"),
    "LaTeX before braces": lambda text: text.replace("\u00e9", "\\'{e}"),
    "name in HTML": lambda text: text.replace("\u00e9", "&eacute;"),
    "number in HTML": lambda text: text.replace("\u00e9", "&#233;"),
    "soft hyphen in HTML": inserted("&shy;"),
    "HTML escaped twice": lambda text: text.replace("\u00e9", "&amp;eacute;").replace("'", "&amp;#39;"),
    "letter apostrophe": lambda text: WITHIN.sub("\u02bc", text),
    "prime": lambda text: WITHIN.sub("\u2032", text),
    "accent for an apostrophe": lambda text: WITHIN.sub("\u00b4", text),
    "apostrophe of Windows read as Latin-1": lambda text: WITHIN.sub("\x92", text),
    "spaces that do not break": lambda text: text.replace(" ", "\u00a0"),
    "thin spaces": lambda text: text.replace(" ", "\u2009"),
}  # fmt: skip


def ngrams(text):
    if "EVENHAND_NLTK" not in os.environ:
        pytest.skip("needs NLTK's data; set EVENHAND_NLTK")
    return ngram_tokenizer("all")(text)


READERS = {
    "content tokens": content_tokens,
    "words": words,
    "number of words": n_words,
    "sentences": sentences,
    "ROUGE": rouge_tokens,
    "n-grams": ngrams,
    **of_plugins("TEXT_READERS"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("sibling", SIBLINGS)
def test_the_encoding_of_a_text_changes_nothing_that_is_read(sibling, reader):
    text = SIBLINGS[sibling](PLAIN)
    assert text != PLAIN
    assert READERS[reader](text) == READERS[reader](PLAIN)


def side(text, value):
    return LabelledSource(text, value)


@pytest.mark.parametrize("sibling", SIBLINGS)
def test_the_encoding_of_a_sides_texts_is_no_bias(sibling):
    other = "Drivers want the bridge because companies lose hours. The harbour sleeps badly when the ferry sails."
    summary = "Citizens don't accept expensive taxation. Drivers want the bridge."
    plain, encoded = (
        LabelledSummary("1", ("left", "right"), (side(text, "left"), side(other, "right")), summary)
        for text in (PLAIN, SIBLINGS[sibling](PLAIN))
    )
    matcher = WordMatcher("words", "words", content_tokens)
    assert matcher.masses([encoded]) == matcher.masses([plain])
    mine, theirs = matcher.credit(encoded), matcher.credit(plain)
    assert mine.source.tokens == theirs.source.tokens
    assert mine.amounts.tolist() == theirs.amounts.tolist()
    assert matcher.matched_words(encoded) == matcher.matched_words(plain)


@pytest.mark.parametrize(
    "text",
    [
        "well-known, twenty-one\n- a list\n- of things",
        "A-\nB and pre- and post-war",
        "10\u00b2 is not 102, 2\u00bd, \u2122 and \u2026",
        "C:\\new\\text, \\alpha and \\frac",
        "AT&T, R&D, &amp; and &lt;b&gt; and &nbsp;",
        "\u041c\u043e\u0441\u043a\u0432\u0430 \u0441\u043e\u0440",
        "\u0391\u03b8\u03ae\u03bd\u03b1",
        "\u0394x, \u00b5-m and \u03b1-helix",
        "great\U0001f389news",
        "\u6e21\u8f6e\u4fbf\u5b9c\uff0c\u5f88\u5feb\uff01\u300aAI\u300b",
        "\u0935\u0943\u0926\u094d\u0927\u093f",
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
        "iPhone'\u043e\u0432",
        "l\\\u2019eau",
        "5\u2032 of arc, a \u00b4quote\u00b4, AT&amp;T, &amp;c. and &amp; more; \u02bcOhana",
    ],
)
def test_other_texts_keep_their_letters(text):
    assert normal_form(text).replace("\u03bc", "\u00b5") == text


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("don\\'t, it\\'s, dell\\'arte, qu\\'il, l\\'eau", "don't, it's, dell'arte, qu'il, l'eau"),
        ("dell\\'arte qu\\'il l\\'eau un\\'altra", "dell'arte qu'il l'eau un'altra"),
        ('He said \\"only\\" so', 'He said "only" so'),
        ('na\\"ive Garc\\\'ia {\\"U}ber Stra{\\ss}e \\c{c}a va', "na\u00efve Garc\u00eda \u00dcber Stra\u00dfe \u00e7a va"),
        ("One.\\nTwo \\ud83d\\ude00 \\ud83d", "One.\nTwo \U0001f600 \\ud83d"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645"),
        ("\u0627\u0644\u0640\u0640\u0645\u064a\u0646\u0627\u0621", "\u0627\u0644\u0645\u064a\u0646\u0627\u0621"),
        ("\ufefb \uff76\uff9e", "\u0644\u0627 \u30ac"),
        # of Cyrillic with a Latin letter
        ("c\u043e\u0431\u0430\u043a\u0430", "\u0441\u043e\u0431\u0430\u043a\u0430"),
    ],
)  # fmt: skip
def test_what_texts_are_read_as(text, form):
    assert normal_form(text) == form


@given(
    st.text()
    | st.lists(st.sampled_from("aeZ\u00e9\u0430\u0431\u03bf-\n\r \\'\"{}u0041&;shy\u00ad\u200b\uff41\u0301")).map(
        "".join
    )
)
def test_a_form_is_its_own(text):
    form = normal_form(text)
    assert normal_form(form) == form


@given(st.text(st.characters(codec="ascii", exclude_characters="\\&-")))
def test_plain_english_is_its_own_form(text):
    assert normal_form(text) is text


def test_base_letters_are_small_and_without_accents():
    assert base_letters("\u00d6l Stra\u00dfe \u0141\u00f3d\u017a C\u00f8te Na\u00efve") == "ol strasse lodz cote naive"


def test_a_compound_that_is_parted_at_its_hyphen_keeps_it():
    assert normal_form("a state-of-the-\nart ferry") == normal_form("a state-of-the-art ferry")
