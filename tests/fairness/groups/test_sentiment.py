import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups import SentimentLabeller, sentiment_label


@pytest.mark.parametrize(
    ("neg", "pos", "label"), [(0, 0, "neu"), (0.2, 0.2, "neg"), (0.1, 0.2, "pos"), (0.2, 0.1, "neg"), (0, 0.1, "pos")]
)
def test_larger_proportion_wins_and_a_tie_is_negative(neg, pos, label):
    assert sentiment_label(neg, pos) == label


def test_labeller_reads_reviews():
    try:
        label = SentimentLabeller()
    except DataError as error:
        pytest.skip(str(error))
    assert label("Lovely staff, great food!").label == "pos"
    assert label("A table by the window.") == type(label(""))("neu", 0.0, 0.0)
