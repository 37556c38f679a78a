import needs
import pytest

from evenhand.errors import DataError
from evenhand.judges.measures.tone import SCORERS
from evenhand.judges.shared import SharedModels


def test_praise_and_blame_are_told_by_the_lexicon():
    if not needs.nltk_data():
        pytest.skip("needs NLTK's data; set EVENHAND_NLTK")
    scorer = SCORERS["vader"](SharedModels())
    (kind, unkind, plain) = scorer.amounts(["What a great place.", "A horrible mess.", "It has four doors."])
    assert kind[0] > kind[1] == 0
    assert unkind[1] > unkind[0] == 0
    assert plain == (0, 0)


def test_without_the_lexicon_the_way_to_it_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path))
    with pytest.raises(DataError, match=r"nltk\.downloader -d FOLDER vader_lexicon"):
        SCORERS["vader"](SharedModels())
