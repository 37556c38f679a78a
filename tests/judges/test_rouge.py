"""ROUGE as a judge; expected values by hand."""

import pytest

from evenhand.config.judges import RougeJudge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.rouge import open_rouge, rouge, tokens
from evenhand.judges.shared import SharedModels

pytest.importorskip("rouge_score")


def judge(**options):
    return open_rouge("overlap", RougeJudge.model_validate({"kind": "rouge", **options}), SharedModels())


def verdict(text, reference, **options):
    return judge(**options).score([JudgeInput("c", "r", text, True, reference)])[0]


def test_rouge_worked_by_hand():
    # document: the ferry is cheap; summary: the ferry costs
    found = rouge("The ferry is cheap.", "The ferry costs.")
    # 2 common words of 3 and of 4: F1 = 2 * 2/3 * 1/2 / (2/3 + 1/2) = 4/7
    assert found["rouge1"] == pytest.approx({"precision": 2 / 3, "recall": 1 / 2, "fmeasure": 4 / 7})
    # 1 common pair ("the ferry") of 2 and of 3: F1 = 2/5
    assert found["rouge2"] == pytest.approx({"precision": 1 / 2, "recall": 1 / 3, "fmeasure": 2 / 5})
    # longest common subsequence "the ferry": as rouge1
    assert found["rougeL"] == pytest.approx(found["rouge1"])


def test_words_are_not_stemmed():
    assert rouge("ferries", "ferry")["rouge1"]["recall"] == 0


def test_empty_summary_gives_zero():
    assert all(value == 0 for values in rouge("A ferry.", "").values() for value in values.values())


def test_judge_gives_the_measure_it_is_asked_for():
    assert verdict("The ferry costs.", "The ferry is cheap.").score == pytest.approx(1 / 2)
    assert verdict("The ferry costs.", "The ferry is cheap.", measure="precision").score == pytest.approx(2 / 3)
    assert verdict("The ferry costs.", "The ferry is cheap.", type="rouge2").score == pytest.approx(1 / 3)


def test_proxy_is_the_mean_over_types_of_precision_and_recall():
    # precision 2/3, 1/2, 2/3 and recall 1/2, 1/3, 1/2, as above: means 11/18 and 8/18, their mean 19/36
    proxy = verdict("The ferry costs.", "The ferry is cheap.", type="average", measure="mean")
    assert proxy.score == pytest.approx(19 / 36)
    assert verdict("The ferry costs.", "The ferry is cheap.", type="average").score == pytest.approx(8 / 18)
    # F1 4/7, 2/5, 4/7: mean 54/105
    assert verdict(
        "The ferry costs.", "The ferry is cheap.", type="average", measure="fmeasure"
    ).score == pytest.approx(54 / 105)
    assert verdict("The ferry costs.", "The ferry is cheap.", measure="mean").score == pytest.approx(7 / 12)


@pytest.mark.parametrize(
    ("text", "reference"), [("\u041f\u0430\u0440\u043e\u043c.", "A ferry."), ("A ferry.", "\u6e21\u8f2a")]
)
def test_script_that_rouge_cannot_see_is_unscored_and_not_zero(text, reference):
    found = verdict(text, reference)
    assert (found.score, found.unscored) == (None, "no words that ROUGE reads (a-z, 0-9)")


CHINESE = "2024\u5e74\u6709\u4eba\u559c\u6b22\u732b\uff0c\u4e5f\u6709\u4eba"


@pytest.mark.parametrize(
    ("text", "reference", "reason"),
    [
        (CHINESE, "A ferry in 2024.", "ROUGE reads 4 of the 13 letters and digits of the summary (a-z, 0-9)"),
        ("A ferry in 2024.", CHINESE, "ROUGE reads 4 of the 13 letters and digits of the source (a-z, 0-9)"),
        ("AI\u306f\u4fbf\u5229\u3060", "AI", "ROUGE reads 2 of the 6 letters and digits of the summary (a-z, 0-9)"),
        ("\u041f\u0430\u0440\u043e\u043c IT", "IT", "ROUGE reads 2 of the 7 letters and digits of the summary (a-z, 0-9)"),
    ],
)  # fmt: skip
def test_a_text_of_which_a_number_alone_is_read_is_unscored(text, reference, reason):
    for measure in ("recall", "precision"):
        found = verdict(text, reference, measure=measure)
        assert (found.score, found.unscored) == (None, reason)


@pytest.mark.parametrize(
    "text",
    [
        "Die F\u00e4hre f\u00fcr \u00c4rzte kostet \u00d6l.",
        "L'\u00e9t\u00e9, le no\u00ebl et la for\u00eat.",
        "\u0141\u00f3d\u017a by\u0142a ta\u0144sza.",
        "G\u00fcne\u015f \u0131\u015f\u0131\u011f\u0131",
        "Ti\u1ebfng Vi\u1ec7t \u0111\u01b0\u1ee3c",
        # half of it
        "abcd \u6e21\u8f6e\u4fbf\u5b9c",
    ],
)
def test_latin_letters_with_accents_are_read(text):
    assert verdict(text, text).score == 1


def test_accents_do_not_part_words():
    assert rouge("Das \u00d6l", "l")["rouge1"]["recall"] == 0
    assert tokens("\u00dcber die Stra\u00dfe") == ("uber", "die", "strasse")


def test_signature_names_type_measure_and_reference():
    assert judge().signature == "rouge1-recall|judge:rouge|against:source|stemmer:no|package:0.1.2|v:3"
    assert judge(against="opposing").signature != judge().signature


def test_a_source_is_read_once_for_all_candidates_and_judges():
    tokens.cache_clear()
    inputs = [JudgeInput(str(n), "r", f"The ferry costs {n}.", True, "The ferry is cheap.") for n in range(9)]
    for options in ({}, {"measure": "precision"}, {"type": "average", "measure": "mean"}):
        judge(**options).score(inputs)
    # nine candidates and the source
    assert tokens.cache_info().misses == 10


def test_ten_words_beside_a_passage_in_another_script_are_read():
    passage = "\u6e21\u8f6e\u4fbf\u5b9c\u5f88\u5feb" * 8
    # 38 of 86 letters are more than two fifths; the same share in fewer words is less than half
    assert verdict(f"the old ferry is too dear for all nurses today {passage}", "ferry").score == 1
    assert verdict(f"{'theoldferry' * 3}today {passage}", "ferry").score is None


@pytest.mark.parametrize("text", ["2024", "7", "$5", "12 34"])
def test_numbers_alone_have_no_rouge(text):
    assert verdict("the ferry of 2024 costs 7", text).score is None
    assert verdict(text, "the ferry of 2024 costs 7").score is None
    assert verdict("the ferry of 2024 costs 7", f"ferry {text}").score is not None
