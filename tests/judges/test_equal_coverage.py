"""Equal Coverage as a judge."""

import json

import pytest
from labelled_sets import BALANCED, FERRY, ONE_SIDED, judge_input

from evenhand.config.fairness import EqualCoverageJudge
from evenhand.judges import open_judge


def judged(*inputs, **options):
    section = EqualCoverageJudge.model_validate({"kind": "equal-coverage", "entailer": {"kind": "words"}, **options})
    return open_judge("ec", section).score(inputs)


def test_score_is_the_mean_gap_between_values_and_all_documents():
    fair, biased = judged(judge_input(BALANCED), judge_input(ONE_SIDED))
    # each of the four units is all in one document: 2, 0, 2, 0 of four; 1/4 for either side and overall
    assert fair.score == 0
    # 2, 2, 0, 0 of four: left 1/2, right 0, overall 1/4
    assert biased.score == 0.25
    assert json.loads(biased.raw) == {
        "overall": 0.25,
        "difference": {"left": 0.25, "right": -0.25},
        "counts": {"left": 2, "right": 2},
        "units": 4,
    }


def test_absent_value_has_a_count_and_no_difference():
    table = json.loads(judged(judge_input(ONE_SIDED, values=("right", "middle", "left")))[0].raw)
    assert table["counts"] == {"right": 2, "middle": 0, "left": 2}
    assert set(table["difference"]) == {"left", "right"}


def test_mode_of_the_paper_has_no_gate_and_counts_every_unit():
    summary = "The ferry is cheap. Zebras graze. Nurses need it at night."
    released, paper = (judged(judge_input(summary), mode=mode)[0] for mode in ("released", "paper"))
    # released: units 1 and 3 are in document 1; left (1 + 0)/2, right 0, overall 1/4
    assert (released.score, json.loads(released.raw)["units"]) == (0.25, 2)
    # paper: of three units, document 1 has 2, documents 2 and 3 have half of "ferry cheap", so 2/3, 1/6, 1/6, 0:
    # left 5/12, right 1/12, overall 1/4
    assert paper.score == pytest.approx(1 / 6, abs=1e-6)
    assert json.loads(paper.raw)["units"] == 3


@pytest.mark.parametrize("mode", ["released", "paper"])
@pytest.mark.parametrize(
    ("each", "reason", "raw"),
    [
        # of no word of these a document has any: nobody is covered, which is not fair
        (judge_input("Xylophones hum. Yaks yodel. Quartz glows."), "no unit covered", None),
        (judge_input("The ferry is cheap. A bridge pays."), "too few units", '{"units":2}'),
        (judge_input("Zebras graze. Lions hunt. Birds sing."), "no unit covered", None),
        (judge_input(ONE_SIDED, FERRY[:2]), "single value", None),
        (judge_input(" "), "empty summary", None),
    ],
)
def test_what_has_no_answer_is_unscored_in_either_mode(each, reason, raw, mode):
    found, other = judged(each, judge_input(BALANCED), mode=mode)
    assert (found.score, found.unscored, found.raw) == (None, reason, raw)
    assert other.score is not None


def test_fewer_units_are_scored_where_a_recipe_allows_them():
    assert judged(judge_input("The ferry is cheap. A bridge pays."), fewest_units=2)[0].score == 0


def test_what_changes_scores_changes_the_signature():
    def signature(**options):
        section = EqualCoverageJudge.model_validate({"kind": "equal-coverage", **options})
        return open_judge("judge", section).signature

    changes = [
        {"mode": "paper"},
        {"fewest_units": 2},
        {"entailer": {"kind": "words"}},
        {"entailer": {"units": "sentences"}},
    ]
    assert len({signature(), *(signature(**change) for change in changes)}) == len(changes) + 1
    assert signature(entailer={"batch_size": 1}) == signature()
