"""Whether verdicts on tone are false as seldom as they say: simulated corpora, a part of them here, all with `-m campaign`."""

from typing import get_args

import pytest
from chance import most_false

from evenhand.benchmarks.calibration import Corpus
from evenhand.benchmarks.calibration_tone import EXTRACTS, Manner, count

MANNERS = get_args(Manner)


@pytest.mark.parametrize("planted", ["fair", "room"])
def test_nobody_is_named_whose_tone_is_kept(planted):
    found = sum(count(Corpus((6, 2), 16, 0.3), manner, planted, 3) for manner in MANNERS)
    assert found <= most_false(3 * len(MANNERS))


def test_hostile_words_are_found():
    assert sum(count(Corpus((4, 4), 80, 0.3), manner, "hostile", 2) for manner in EXTRACTS) == 4


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
def test_all_corpora(n_sets):
    kinds = [Corpus(sizes, n_sets, own) for sizes in ((4, 4), (6, 2), (5, 2, 1)) for own in (0.0, 0.3)]
    for planted in ("fair", "room"):
        found = sum(count(kind, manner, planted, 10) for kind in kinds for manner in MANNERS)
        assert found <= most_false(10 * len(kinds) * len(MANNERS))
