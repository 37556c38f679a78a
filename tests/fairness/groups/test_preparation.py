import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.preparation import SentimentLabeller, SpokenTurn, segment_dialogue, sentiment_label


@pytest.mark.parametrize(
    ("neg", "pos", "label"), [(0, 0, "neu"), (0.2, 0.2, "neg"), (0.1, 0.2, "pos"), (0.2, 0.1, "neg"), (0, 0.1, "pos")]
)
def test_larger_proportion_wins_and_a_tie_is_negative(neg, pos, label):
    assert sentiment_label(neg, pos) == label


@pytest.mark.needs("nltk")
def test_labeller_reads_reviews():
    label = SentimentLabeller()
    assert label("Lovely staff, great food!").label == "pos"
    assert label("A table by the window.") == type(label(""))("neu", 0.0, 0.0)


dialogues = st.lists(st.integers(1, 12), max_size=12).map(
    lambda lengths: [SpokenTurn(f"S{i}", (" ".join(["w"] * n),)) for i, n in enumerate(lengths)]
)


def count(text: str) -> int:
    return len(text.split())


def turn(n: int) -> SpokenTurn:
    return SpokenTurn("A", (" ".join(["w"] * (n - 2)),))  # name and colon are two tokens


def test_speaker_and_paragraphs_are_one_text():
    assert SpokenTurn("Ann", ("Yes.", "No.")).text == "Ann : Yes. No."


def test_overflowing_turn_is_free_as_released_and_charged_when_exact():
    # limit 10, turns of 6 6 6: the second overflows; released it costs nothing, so the third (6) stays with it
    turns = [turn(6)] * 3
    assert [len(s) for s in segment_dialogue(turns, 10, count)] == [1, 2]
    assert [len(s) for s in segment_dialogue(turns, 10, count, exact=True)] == [1, 1, 1]


def test_first_turn_beyond_the_limit_leaves_an_empty_segment_only_as_released():
    assert segment_dialogue([turn(9)], 5, count) == [[], [turn(9).text]]
    assert segment_dialogue([turn(9)], 5, count, exact=True) == [[turn(9).text]]


@settings(max_examples=60)
@given(dialogues, st.integers(1, 30), st.booleans())
def test_every_turn_is_in_one_segment_in_order(turns, most, exact):
    segments = segment_dialogue(turns, most, count, exact=exact)
    assert [text for segment in segments for text in segment] == [t.text for t in turns]


@settings(max_examples=60)
@given(dialogues, st.integers(1, 30))
def test_exact_segments_exceed_the_limit_only_by_one_long_turn(turns, most):
    for segment in segment_dialogue(turns, most, count, exact=True):
        assert len(segment) == 1 or sum(map(count, segment)) <= most


def test_limit_below_one_is_refused():
    with pytest.raises(DataError, match="at least 1 token"):
        segment_dialogue([], 0, count)
