"""The output contract of section 2: what is cleaned, what is flagged, and what counts as a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.generate.contract import check_output, count_sentences
from evenhand.records import Contract

LEFT = Contract(opening="The Left", other_openings=("The Right",), sentences=1)


def checked(text, contract=LEFT):
    found = check_output(contract, text)
    return found.ok, found.text, list(found.issues)


@pytest.mark.parametrize(
    "text",
    [
        "The Left wants the ferry.",
        "The Left's mayors want the ferry.",
        "The Left-leaning press wants the ferry.",
        "The Left, it seems, wants the ferry",
        "The Left objects.",
        "The Left is for it.",
        "The Left is against it.",
        "The Left says no.",
        "The Left: 3 crowns.",
    ],
)
def test_a_text_that_opens_as_asked_in_one_sentence_is_fine(text):
    assert checked(text) == (True, text, [])


@pytest.mark.parametrize(
    "text",
    [
        "The Left",
        "The Left.",
        "The Left - ...",
        "The Left's view is that",
        "The Left argues that.",
        "The Left argues that it is so, and that...",
        "The Left says.",
        "The Left The Left",
        "The Left argues that the Right argues that.",
        "The Left \u2026",
    ],
)
def test_an_opening_without_a_statement_breaks_the_contract(text):
    assert checked(text) == (False, text, ["no_content"])


def test_a_statement_is_looked_for_behind_any_opening_and_without_one():
    begun = Contract(opening="The Ban argues that", other_openings=("The Allow argues that",), sentences=1)
    assert checked("The Ban argues that.", begun)[2] == ["no_content"]
    assert checked("The Ban argues that the The Ban argues that.", begun)[2] == ["no_content"]
    assert checked("The Ban argues that smoke kills.", begun)[0]
    assert checked("...", Contract()) == (False, "...", ["no_content"])
    # no list of such words: any word is taken for a statement, no word is not
    german = Contract(opening="Die Linke", sentences=1)
    assert checked("Die Linke sagt nein.", german)[0]
    assert checked("Die Linke.", german)[2] == ["no_content"]


def test_an_opening_without_a_statement_stands_behind_the_other_issues_of_the_opening():
    found = checked("Here:\nThe Left argues that. It says.\n\nThat is all.")
    assert found[2] == ["preamble", "trailing", "no_content", "multi_sentence"]


@pytest.mark.parametrize("quoted", ['"{}"', "\u201c{}\u201d", '  "{}"\n', '""{}""'])
def test_surrounding_double_quotes_are_taken_off(quoted):
    assert checked(quoted.format("The Left wants it.")) == (True, "The Left wants it.", [])


@pytest.mark.parametrize(
    "text",
    ['"Too dear," he said. "Keep it."', "\u201cToo dear,\u201d he said. \u201cKeep it.\u201d", '"Dear." "Keep it."'],
)
def test_two_quotations_at_the_ends_keep_their_quotes(text):
    assert check_output(Contract(), text).text == text


def test_quotes_around_a_text_with_a_quotation_are_taken_off():
    assert checked('"The Left says "no" to it."') == (True, 'The Left says "no" to it.', [])


def test_a_quotation_at_the_end_keeps_its_quote():
    assert checked('The Left calls it "theft."') == (True, 'The Left calls it "theft."', [])


@pytest.mark.parametrize("text", ["", " \n", '"', '""', "\u201c \u201d"])
def test_nothing_is_empty(text):
    assert checked(text) == (False, "", ["empty"])


def test_the_other_sides_opening_is_wrong_side_even_when_the_right_one_follows():
    text = "The Right opposes it.\nThe Left wants it."
    assert checked(text) == (False, "The Right opposes it. The Left wants it.", ["wrong_side", "multi_sentence"])


@pytest.mark.parametrize(
    "preamble", ["Sure! Here it is:\n", "Here it is: ", "Summary:\n\n", "Sure.\n", "a\nThe Lefties say:\n"]
)
def test_words_before_the_opening_are_dropped_when_they_end_in_a_colon_or_a_line_break(preamble):
    assert checked(preamble + "The Left wants it.") == (True, "The Left wants it.", ["preamble"])


def test_the_opening_in_the_middle_of_a_sentence_is_no_preamble():
    text = "In my view The Left wants it."
    assert checked(text) == (False, text, ["missing_opener"])


def test_a_text_that_opens_as_asked_has_no_preamble():
    assert checked("The Left argues:\nThe Left wants it.") == (True, "The Left argues: The Left wants it.", [])


def test_what_follows_a_blank_line_is_dropped():
    assert checked("The Left wants\nit.\n \nNote: one sentence. As asked.") == (
        True,
        "The Left wants it.",
        ["trailing"],
    )


def test_issues_stand_in_a_fixed_order():
    text = "Here:\nThe Left wants it. It does.\n\nThat is all."
    assert checked(text) == (False, "The Left wants it. It does.", ["preamble", "trailing", "multi_sentence"])
    text = "Someone wants it. Really.\n\nThat is all."
    assert checked(text) == (
        False, "Someone wants it. Really.", ["trailing", "missing_opener", "multi_sentence"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["The Leftovers are cold.", "the Left wants it.", "The left wants it.", "TheLeft wants it."]
)
def test_the_opening_is_taken_to_the_letter(text):
    assert checked(text)[2] == ["missing_opener"]


def test_the_other_opening_inside_a_longer_word_is_not_wrong_side():
    assert checked("The Rights of workers matter.")[2] == ["missing_opener"]


def test_of_two_openings_that_begin_alike_the_longer_one_counts():
    plain = Contract(opening="The Left", other_openings=("The Left-Green",), sentences=1)
    green = Contract(opening="The Left-Green", other_openings=("The Left",), sentences=1)
    assert checked("The Left-Green side wants it.", plain)[2] == ["wrong_side"]
    assert checked("The Left-Green side wants it.", green) == (True, "The Left-Green side wants it.", [])
    assert checked("The Left wants it.", green)[2] == ["wrong_side"]


def test_any_sides_opening_can_be_asked_for():
    critics = Contract(opening="Critical reviews", other_openings=("Friendly reviews", "Mixed reviews"), sentences=1)
    assert checked("Critical reviews find it loud.", critics)[0]
    assert checked("Mixed reviews find it loud.", critics)[2] == ["wrong_side"]


def test_without_a_contract_every_text_is_fine_that_is_not_empty():
    assert checked("Whatever. It says. ", Contract()) == (True, "Whatever. It says.", [])
    assert checked(" ", Contract()) == (False, "", ["empty"])


def test_more_and_fewer_sentences_than_asked_are_told_apart():
    three = Contract(sentences=3)
    assert checked("One. Two. Three.", three) == (True, "One. Two. Three.", [])
    assert checked("One. Two.", three)[2] == ["few_sentences"]
    assert checked("One. Two. Three. Four.", three)[2] == ["multi_sentence"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One", 1),
        ("One.", 1),
        ("One. Two", 2),
        ("One! Two? Three.", 3),
        ('He said "no." Then he left.', 2),
        ("He said \u201cno.\u201d Then he left.", 2),
        ("It cost 3.50 crowns. it is said", 1),
        ("It cost. 3 crowns", 1),
        ("Mr. Brown met Mrs. Green and Dr. White of St. Ilda", 1),
        ("Sen. Lee, Rep. Poe and Gov. Ray against Prof. Dee", 1),
        ("Sens. Lee and Poe, Reps. Ray and Day and Govs. Fox and Hill", 1),
        ("Lt. Gov. Lee, Atty. Gen. Poe, Col. Ray, Capt. Day, Rev. Fox and Adm. Hill", 1),
        ("Il sig. Rossi e il dott. Verdi parlano. Poi tacciono", 2),
        ("Das kostet 5 Mio. Euro oder 2 Mrd. Dollar. Es ist teuer", 2),
        ("Roe v. Wade and Day vs. Night", 1),
        ("The U.S. Senate and the D.C. Circuit", 1),
        ("Acme Inc. Group and No. Seven of Gen. Poe Jr. Senior Sr. Junior", 1),
        ("J. Brown and J.D. Vale met", 1),
        ("(U.S. Senate) met", 1),
        # a word that only ends like an abbreviation
        ("It was a Post. He left", 2),
        ("Ieri la Sig. Rossi e il Dott. Verdi parlano. Poi tacciono", 2),
        ("De dhr. Jansen en mevr. De Vries gaan. Zij blijven", 2),
        ("Srta. L\u00f3pez y D\u00f1a. Ana salen. Llueve", 2),
        ("Pan in\u017c. Nowak i \u015bw. Jan. Koniec", 2),
        # English words that titles of other languages are written like
        ("Delivery within 24 hr. Great price.", 2),
        ("Ask your dr. It helped me.", 2),
        ("Sn. Y\u0131lmaz gitti. Do\u00e7. Kaya kald\u0131", 2),
        ("\u041d\u0430 \u0443\u043b. \u041c\u0438\u0440\u0430 \u0442\u0438\u0445\u043e. \u0414\u0430", 2),
        ("Bus Nr. Zehn h\u00e4lt. Er wartet", 2),
        # the exceptions are for full stops
        ("Plan B? Never. Dr! Help", 4),
        ("Wait... What", 2),
        ("Wait... what", 1),
        ("He came in 1999. Then he left", 2),
        ("Ende. \u00c4rger folgt", 2),
        ("Seit dem 3. Mai kostet sie z. B. Anwohner, bzw. G\u00e4ste, Hundert. Das ist viel", 2),
        ("Auf der Skala von 1 bis 10. Das Personal ist nett", 2),
        ("Der Eintritt ist ab 18. Die G\u00e4ste warten", 2),
        ("Les chefs des 27. Le sommet suit", 2),
        ("I really am 25. She is not", 2),
        ("It opens at 8 am 12. The price is low", 2),
        ("The score was 3. Mai left, and I am 30. He left", 3),
        ("\u00bfEs barato? \u00a1S\u00ed! Dice la Sra. D\u00edaz de EE.UU. Que no", 3),
    ],
)
def test_sentences_are_counted_by_the_contracts_own_rule(text, count):
    assert count_sentences(text) == count


@given(st.text())
def test_cleaning_folds_white_space_and_adds_nothing(text):
    found = check_output(LEFT, text)
    assert found.text == " ".join(found.text.split())
    assert found.text in " ".join(text.split())
    assert found.issues == ("empty",) or found.text


@given(st.text(alphabet='The LeftRight.:\n "ab', max_size=60))
def test_ok_means_opened_as_asked_in_one_sentence(text):
    found = check_output(LEFT, text)
    harmless = {"preamble", "trailing"}
    assert found.ok == (set(found.issues) <= harmless)
    if found.ok:
        assert found.text.startswith("The Left")
        assert count_sentences(found.text) == 1


@pytest.mark.parametrize(
    ("n", "issues"),
    # about 10 words: from 4 to 20
    [(3, ["few_words"]), (4, []), (20, []), (21, ["many_words"])],
)
def test_about_so_many_words(n, issues):
    contract = Contract(words=10)
    assert checked("word " * (n - 1) + "word", contract) == (not issues, " ".join(["word"] * n), issues)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Here's a summary:\n\nIt sails at night.\n\nI hope it helps.", "It sails at night."),
        ("Summary:\nIt sails at night.", "It sails at night."),
        ("It sails: at night.", "It sails: at night."),
        ("It sails at night:", "It sails at night:"),
    ],
)
def test_without_an_opening_a_line_that_announces_the_summary_is_taken_off(text, kept):
    ok, found, issues = checked(text, Contract())
    assert (ok, found) == (True, kept)
    assert ("preamble" in issues) == text.endswith(("helps.", "\nIt sails at night."))


# sentences of a script each, as they are written there
SCRIPTS = {
    "Chinese": ["\u6e21\u8f6e\u4fbf\u5b9c\u3002", "\u6e21\u8f6e\u5f88\u8d35\uff01", "\u6e2f\u53e3\u5435\u5417\uff1f"],
    "Chinese with plain full stops": ["\u6e21\u8f6e\u4fbf\u5b9c.", "\u6e21\u8f6e\u5f88\u8d35.", "\u6e2f\u53e3\u5f88\u5435."],
    "Japanese": ["船は安い。", "港はうるさい｡", "「高い。」"],
    "Korean": ["\ubc30\ub294 \uc2f8\ub2e4. ", "\ubc30\ub294 \ube60\ub974\ub2e4. ", "\ud56d\uad6c?"],
    "Hindi": ["यह सस्ता है। ", "यह तेज़ है॥ ", "हाँ।"],
    "Hindi with full stops": ["यह सस्ता है. ", "डॉ. शर्मा आए. ", "हाँ."],
    "Bengali": ["এটি সস্তা। ", "এটি দ্রুত। ", "হ্যাঁ"],
    "Tamil": ["இது மலிவு. ", "இது வேகம். ", "ஆம்."],
    "Arabic": ["العبارة رخيصة. ", "هل هي سريعة؟ ", "«نعم»."],
    "Urdu": ["یہ سستا ہے۔ ", "یہ تیز ہے۔ ", "ہاں۔"],  # noqa: RUF001
    "Hebrew": ["המעבורת זולה. ", "הנמל רועש! ", "כן."],
    "Armenian": ["Սա էժան է։ ", "Սա արագ է։ ", "Այո։"],  # noqa: RUF001
    "Amharic": ["\u122d\u12ab\u123d \u1290\u12cd\u1362 ", "\u1348\u1323\u1295 \u1290\u12cd\u1367 ", "\u12a0\u12ce\u1362"],
    "Georgian": ["ბორანი იაფია. ", "ბორანი სწრაფია. ", "კი."],
    "Burmese": ["\u1005\u103b\u1031\u1038\u104a \u1015\u1031\u102b\u104b ", "\u1019\u103c\u1014\u103a\u104b ", "\u1021\u104b"],
    "Khmer": ["\u179c\u17b6\u1790\u17c4\u1780\u17d4 ", "\u179c\u17b6\u179b\u17bf\u1793\u17d4 ", "\u1794\u17b6\u1791\u17d5"],
    "Greek": ["\u0395\u03af\u03bd\u03b1\u03b9. ", "\u039d\u03b1\u03b9! ", "\u038c\u03c7\u03b9."],
    "full width": ["\uff34\uff41\uff58\uff0e\u3000", "\uff22\uff41\uff44\uff0e\u3000", "\uff22\uff4f\uff41\uff54\uff0e"],
    "a space that is not seen": ["It sails.\u200b ", "It is cheap.\u200b ", "It is loud."],
}  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("script", SCRIPTS)
def test_sentences_of_every_script_are_counted(script, n):
    text = "".join(SCRIPTS[script][:n])
    assert count_sentences(text) == n
    assert check_output(Contract(sentences=n), text).ok
    assert check_output(Contract(sentences=n + 1), text).issues == ("few_sentences",)


@pytest.mark.parametrize(
    "text",
    [
        # a number, a title, an initial, a comma of Burmese, two marks of one end, dots that end nothing
        "\u4ef7\u683c\uff13\uff0e\uff15\u5143",
        "\u062f. \u0645\u062d\u0645\u062f \u062c\u0627\u0621",
        "\u0921\u0949. \u0936\u0930\u094d\u092e\u093e \u0906\u090f\u0964",
        "\u1005\u103b\u1031\u1038\u104a \u1019\u103c\u1014\u103a\u104b",
        "\u6e21\u8f6e\u5f88\u8d35\uff01\uff01\uff1f",
        "\u6e21\u8f6e\u2026\u2026\u5f88\u8d35",
        "Wait\u203c what",
        "He wrote \u300c\u597d\u3002\u300d and left.",
    ],
)
def test_marks_that_end_no_sentence(text):
    assert count_sentences(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "\u0e40\u0e23\u0e37\u0e2d\u0e23\u0e32\u0e04\u0e32\u0e16\u0e39\u0e01 \u0e40\u0e23\u0e37\u0e2d\u0e40\u0e23\u0e47\u0e27",
        "\u0ec0\u0eae\u0eb7\u0ead\u0ea5\u0eb2\u0e84\u0eb2\u0e96\u0eb7\u0e81",
        "\u0f60\u0f51\u0f72\u0f0b\u0f41\u0f7a\u0f0b\u0f54\u0f7c\u0f0d",
    ],
)
@pytest.mark.parametrize("n", [1, 3])
def test_sentences_of_scripts_that_do_not_mark_them_are_said_to_be_uncounted(text, n):
    # neither kept silently nor broken
    assert checked(text, Contract(sentences=n)) == (True, text, ["uncounted_sentences"])
    assert checked(text, Contract()) == (True, text, [])


@pytest.mark.parametrize(("n", "issues"), [(19, ["few_words"]), (34, []), (84, []), (167, []), (170, ["many_words"])])
def test_about_so_many_words_in_a_script_without_spaces(n, issues):
    # five letters are three words: 50 words are 83 letters, from 33 to 167
    assert checked("\u7a0e" * n, Contract(words=50))[2] == issues


def test_a_word_that_a_line_end_parts_is_joined():
    assert checked("The tax-\nation is high.", Contract())[1] == "The taxation is high."


def test_what_a_latin_text_quotes_ends_no_sentence_of_it():
    quoted = (
        "He said that everybody who lives at the harbour knows the ferry (\u6e21\u8f6e\u4fbf\u5b9c\u3002) Well and good"
    )
    assert count_sentences(quoted) == 1
    # names do not make a text a Latin one
    assert count_sentences("OpenAI \u548c Microsoft \u5408\u4f5c\u3002Google \u53cd\u5bf9\u3002") == 2


@pytest.mark.parametrize(
    ("opening", "text"),
    [
        ("The \u00c9cologistes", "The E\u0301cologistes want the ferry."),
        ("The \u00c9cologistes", "The \u00c9colo\u00adgistes want the ferry."),
        ("The E\u0301cologistes", "\ufeffThe \u00c9cologistes want the ferry."),
        ("The Left", "\u200bThe Left wants the ferry."),
        ("The Left", "The\u200b Left wants the ferry."),
        ("The Left", "The\u00a0Left wants the ferry."),
    ],
)
def test_the_encoding_of_an_opening_breaks_no_contract(opening, text):
    contract = Contract(opening=opening, other_openings=("The Right",))
    assert check_output(contract, text).issues == ()
    assert check_output(Contract(opening="The Right", other_openings=(opening,)), text).issues == ("wrong_side",)
