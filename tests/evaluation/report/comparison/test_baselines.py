"""What a reward must beat; the candidates and their scores by hand."""

from dataclasses import replace
from typing import Any

import pytest

from evenhand.evaluation.pages import html
from evenhand.evaluation.report.comparison.baselines import BASELINES, BY_CONSENSUS, BY_LENGTH, ONE_DRAW
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.page import page

# (fit, overlap): the reward chooses the last one
SCORES = [(0.1, 0.2), (0.2, 0.8), (0.3, 0.5)]
# the second is nearest to the others, the third the longest
TEXTS = ["The ferry is cheap.", "The ferry is cheap and slow.", "The ferry is slow for whoever has little time."]


@pytest.fixture
def comparison(make_run: Any) -> Any:
    pytest.importorskip("rouge_score")
    run = make_run(rounds=0)
    rows = {f"{name}/{side}": SCORES for name in "abcdefghij" for side in ("left", "right")}
    run.write("evaluation/base", rows, candidate=lambda request, index: {"text": TEXTS[index]})
    return build_comparison(read_entries([NamedRecipe("plain", run.recipe)]))


def test_the_reward_is_tested_against_what_is_chosen_without_a_judge(comparison: Any):
    found = {test.reference: test.value for test in comparison.baselines if test.side is None}
    # reward: 0.5; one draw: their mean, 0.5; the longest: the same third one; the consensus: 0.8
    assert found == pytest.approx({ONE_DRAW: 0.0, BY_LENGTH: 0.0, BY_CONSENSUS: -0.3})


def test_findings_and_page_say_what_the_reward_does_not_beat(comparison: Any):
    (said,) = [each for each in comparison.findings if "consensus" in each]
    assert f"worse than {BY_CONSENSUS} for plain" in said
    shown = html.render(page(comparison))
    assert all(name in shown for name in BASELINES)


def test_a_reward_of_length_is_warned_of(make_run: Any):
    """A recipe alone: what its reward gains over one draw is words, whoever says so, and is said once."""
    run = make_run(rounds=0)
    lengths = (0, 2, 6)
    rows = {
        f"{name}/{side}": [(n + place % 3, n + place % 3) for n in lengths]
        for place, name in enumerate("abcdefghij")
        for side in ("left", "right")
    }
    run.write("evaluation/base", rows, candidate=lambda request, index: {"text": "word " * 2 ** lengths[index]})
    warnings = build_comparison(read_entries([NamedRecipe("plain", run.recipe)])).warnings
    (said,) = [each for each in warnings if "plain at the best of 3 against one draw" in each]
    # both judges gave every candidate the same score
    assert "by overlap (of" in said and "longer summaries" in said


def test_length_is_nearness_to_the_words_that_were_asked_for(make_run: Any):
    run = make_run(rounds=0)
    run.write(
        "evaluation/base",
        {f"{name}/left": SCORES for name in "abcdef"},
        candidate=lambda request, index: {"text": TEXTS[index]},
    )
    (entry,) = read_entries([NamedRecipe("plain", run.recipe)])
    asked = tuple(replace(request, length=(None, 4)) for request in entry.output.requests)
    found = build_comparison([replace(entry, output=replace(entry.output, requests=asked))]).baselines
    # the first has four words and 0.2
    assert [test.value for test in found if test.reference == BY_LENGTH] == pytest.approx([0.3])


def test_consensus_among_all_candidates_is_told_where_fewer_are_looked_at(make_run: Any):
    run = make_run(rounds=0, judges={"fit": {"kind": "consensus"}, "overlap": {"kind": "rouge"}})
    run.write("evaluation/base", {f"{name}/left": SCORES for name in "abcdef"})
    entries = read_entries([NamedRecipe("plain", run.recipe)])
    assert any("among the fewer" in each for each in build_comparison(entries, (1, 2, 3)).warnings)
    assert not any("among the fewer" in each for each in build_comparison(entries, (1, 3)).warnings)
