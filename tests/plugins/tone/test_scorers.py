import pytest
from pydantic import ValidationError

from evenhand.errors import DataError
from evenhand.judges.shared import SharedModels
from evenhand.plugins.tone.scorers import open_tone
from evenhand.plugins.tone.section import ToneSection


@pytest.mark.needs("nltk")
def test_praise_and_blame_are_told_by_the_lexicon():
    scorer = open_tone(ToneSection(), SharedModels())
    (kind, unkind, plain) = scorer.amounts(["What a great place.", "A horrible mess.", "It has four doors."])
    assert kind[0] > kind[1] == 0
    assert unkind[1] > unkind[0] == 0
    assert plain == (0, 0)


def test_without_the_lexicon_the_way_to_it_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path))
    with pytest.raises(DataError, match=r"\(vader_lexicon\).*`evenhand models fetch nltk`"):
        open_tone(ToneSection(), SharedModels())


def test_a_lexicon_of_ones_own_counts_its_words_in_any_language():
    section = ToneSection(kind="lexicon", positive=("schön", "Ruhig"), negative=("laut",))
    scorer = open_tone(section, SharedModels())
    # two of five words, then one of three
    assert scorer.amounts(["Der Hafen ist schön ruhig.", "Laut und teuer.", ""]) == [
        (0.4, 0.0),
        (0.0, 1 / 3),
        (0.0, 0.0),
    ]
    other = open_tone(section.model_copy(update={"negative": ("laut", "teuer")}), SharedModels())
    assert other.signature != scorer.signature


def test_sentences_and_the_model_of_an_encoder_can_be_named():
    plain, own = (
        open_tone(ToneSection(kind="encoder", **keys), SharedModels())
        for keys in ({}, {"positive": ("Das ist gut.",), "negative": ("Das ist schlecht.", "Es taugt nichts.")})
    )
    assert plain.signature != own.signature
    pytest.importorskip("sentence_transformers")
    (kind, unkind) = own.amounts(["Das ist gut.", "Das ist schlecht."])
    assert kind[0] > 0 == kind[1]
    assert unkind[1] > 0 == unkind[0]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"kind": "lexicon", "positive": ("good",)}, "needs both"),
        ({"kind": "lexicon"}, "needs both"),
        ({"kind": "lexicon", "positive": ("good",), "negative": ("Good",)}, "positive and negative"),
        ({"kind": "lexicon", "positive": ("good thing",), "negative": ("bad",)}, "single word"),
        ({"kind": "vader", "positive": ("good",), "negative": ("bad",)}, "no effect"),
        ({"kind": "lexicon", "positive": ("good",), "negative": ("bad",), "model": "x"}, "no effect of model"),
    ],
)
def test_what_tells_no_tone_is_refused(keys, said):
    with pytest.raises(ValidationError, match=said):
        ToneSection(**keys)
