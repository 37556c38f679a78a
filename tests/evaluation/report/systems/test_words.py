"""Phrases of pages."""

from evenhand.config.judges import JUDGE_SECTIONS
from evenhand.evaluation.report.systems.words import judges_mean, slope_words


def test_one_candidate_a_request_is_no_request_without_differing_lengths():
    assert slope_words([], "overlap").startswith("No request has two scored candidates of different length")


def test_every_judge_says_what_its_scores_mean():
    # of a judge of one's own the recipe says it
    written = [{"kind": kind} | ({"means": "Mine."} if kind == "python" else {}) for kind in JUDGE_SECTIONS]
    said = [judges_mean({"judges": {"mine": each}}, "mine") for each in written]
    assert all(each.endswith(".") for each in said)
    assert len(set(said)) == len(JUDGE_SECTIONS)


def test_what_a_judge_means_goes_by_its_direction_and_its_text():
    judges = {
        "faithfulness": {"kind": "alignment", "direction": "precision", "against": "source"},
        "coverage": {"kind": "alignment", "direction": "recall"},
        "opposing": {"kind": "alignment", "direction": "precision", "against": "opposing"},
        "proxy": {"kind": "rouge", "measure": "mean"},
    }
    said = {name: judges_mean({"judges": judges}, name) for name in judges}
    assert said["faithfulness"].endswith("says nothing of what is left out.")
    assert said["coverage"].endswith("says nothing of what is invented.")
    assert said["opposing"] == f"{said['faithfulness']} The text is the other sides' documents."
    assert said["proxy"] == JUDGE_SECTIONS["rouge"].meaning
    assert not judges_mean({"judges": judges}, "another")
