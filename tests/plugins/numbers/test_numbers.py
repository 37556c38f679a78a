import json

import pytest

from evenhand.judges import open_judge
from evenhand.judges.judge import JudgeInput
from evenhand.plugins.numbers.judge import NumbersJudge, numbers


def verdict(summary, source):
    asked = JudgeInput("c", "r", summary, contract_ok=True, reference=source)
    (found,) = open_judge("numbers", NumbersJudge(kind="numbers")).score([asked])
    return found.score, json.loads(found.raw)["invented"]


@pytest.mark.parametrize(
    ("summary", "source", "invented"),
    [
        ("The fare rose.", "The fare rose by 10 %.", []),
        ("It costs 1,200 euros.", "It costs 1200 euros, not 1 300.", []),
        ("It costs 1.200 euros.", "It costs 1200 euros.", []),
        ("A fare of 3.50", "fares are 3,5 each", []),
        ("Three ferries sail in 2024.", "In 2024 there were 3 ferries.", []),
        ("3 ferries", "There were three ferries", []),
        ("Forty of 90 agree, 007 does", "90 were asked; 7 left", []),
        ("It rose by 12 %.", "It rose by 10 %.", ["12"]),
        ("9 and 9 and 8", "seven", ["9", "8"]),
        ("In 2025, 1,500 came", "In 2024, 15 00 came", ["2025", "1500"]),
        ("someone weighs a ton", "nobody does", []),
        ("٣ boats", "3 boats", []),
        ("On the one hand, yes", "perhaps", []),
    ],
)
def test_numbers_that_the_text_has_not_are_found(summary, source, invented):
    assert verdict(summary, source) == (float(bool(invented)), invented)


def test_spellings_of_a_number_are_one():
    assert numbers("1 200, 1,200, 1200.0 and 1.200") == ["1200"] * 4
    assert numbers("1,234,567 and 12,34") == ["1234567", "12.34"]
