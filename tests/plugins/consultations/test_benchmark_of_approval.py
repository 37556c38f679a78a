"""The benchmark of measures against approval, on made-up conversations whose votes are known."""

import csv

import numpy as np
import pytest

from evenhand.benchmarks.approval import (
    OVERALL,
    WORST,
    correlation,
    main,
    measures_by_text,
    outcome_of,
    quota_distances,
    residuals,
)
from evenhand.benchmarks.selections import RANDOM, Conversation, Selection, selections_of
from evenhand.config.fairness import EntailerSection
from evenhand.judges.measures import open_entailer
from evenhand.plugins.consultations.approval import VoteTable

WORDS = "fares trams buses bikes parks rents noise trees roads lights".split()


def conversation(n_voters=40, seed=0):
    """Twenty statements that two groups like as chance has it, one group of authors for either half."""
    generator = np.random.default_rng(seed)
    group_of = np.repeat([0, 1], n_voters)
    liked = generator.random((2, 20))
    votes = np.where(generator.random((2 * n_voters, 20)) < liked[group_of], 1.0, -1.0)
    texts = tuple(
        f"The {WORDS[k % 10]} of {WORDS[(3 * k + 1) % 10]} matter {'much ' * (k % 4)}here." for k in range(20)
    )
    authors = tuple("a" if k < 10 else "b" for k in range(20))
    return Conversation("town", "Polis", texts, authors, VoteTable(("a", "b"), group_of, votes))


def test_rank_correlation_beyond_controls_by_hand():
    first, second = np.array([1.0, 2.0, 3.0, 4.0]), np.array([[10.0], [30.0], [20.0], [40.0]])
    nothing = np.zeros((4, 0))
    # ranks 1 2 3 4 and 1 3 2 4: rho = 1 - 6 * 2 / (4 * 15)
    assert correlation(first, second, nothing) == pytest.approx([0.8])
    # what is the control itself has nothing left beyond it
    assert np.isnan(correlation(first, second, first[:, None])).all()
    # a measure that never differs has no rank
    assert np.isnan(residuals(np.ones((4, 1)), nothing)).all()
    # a selection without an answer is left out
    assert correlation(np.array([1.0, 2.0, np.nan, 4.0]), second, nothing) == pytest.approx([1.0])


def test_votes_of_other_voters_predict_approval_and_authors_do_not():
    found = outcome_of(conversation(200), 2, [5], 150, [open_entailer(EntailerSection(kind="words"))])
    assert found.by_measure[WORST][1] > 0.9
    assert found.by_measure[WORST][1] > found.by_measure[OVERALL][1] > 0.4
    # groups like statements whoever wrote them: authors' shares are within what votes dealt anew give
    for name in ("quota distance", "Equal Coverage, words"):
        assert abs(found.by_measure[name][2]) < 0.25, name
        assert abs(found.by_chance[name].mean()) < 0.1
    assert found.by_choice["leximin", 5][0] > found.by_choice["majority", 5][0] > found.by_choice[RANDOM, 5][0]
    # leximin gives up some of the approval of all together
    assert found.by_choice["leximin", 5][1] <= found.by_choice["majority", 5][1] + 0.02


def test_measures_are_turned_so_that_higher_is_fairer():
    talk = conversation()
    even, uneven = Selection("", (0, 1, 2, 10, 11, 12)), Selection("", (0, 1, 2, 3, 4, 5))
    assert quota_distances(talk, [even, uneven]).tolist() == [0.0, 0.5]
    found = measures_by_text(talk, [even, uneven], [open_entailer(EntailerSection(kind="words"))])
    assert found["quota distance"][0] > found["quota distance"][1]
    assert all(values.shape == (2,) for values in found.values())


def test_selections_have_the_asked_size_and_no_statement_twice():
    talk = conversation()
    choosing, _ = talk.table.halves(np.random.default_rng(0))
    made = list(selections_of(talk, choosing, 5, 3, np.random.default_rng(1)))
    assert all(len(set(selection.statements)) == 5 for selection in made)
    assert {selection.how for selection in made} == {
        RANDOM, "most characters", "nearest the centre", "majority", "group-informed consensus",
        "what one group approves most", "leximin", "quota, proportional", "quota, equal", "by one group's authors alone",
    }  # fmt: skip
    (quota,) = (selection for selection in made if selection.how == "quota, equal")
    assert sorted(talk.authors[place] for place in quota.statements) in (["a"] * 3 + ["b"] * 2, ["a"] * 2 + ["b"] * 3)


def write_polis(folder, n_statements=14, n_voters=24):
    folder.mkdir()
    generator = np.random.default_rng(1)
    with (folder / "comments.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow("timestamp,datetime,comment-id,author-id,agrees,disagrees,moderated,comment-body".split(","))
        for k in range(n_statements):
            rows.writerow([1, "Mon", k, k % n_voters, 0, 0, 1, f"我們要 {WORDS[k % 10]}, number {k}."])
    with (folder / "participants-votes.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["participant", "group-id", *range(n_statements)])
        for voter in range(n_voters):
            rows.writerow(
                [voter, voter % 2, *generator.choice(["1", "-1", "0", ""], n_statements, p=[0.5, 0.3, 0.1, 0.1])]
            )


def test_the_tables_are_printed(tmp_path, capsys):
    write_polis(tmp_path / "talk")
    main([str(tmp_path / "talk"), "--seeds", "1", "--random", "8", "--sizes", "4", "--entailers", "words"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "talk: 14 statements; 12 of group 0, 12 of group 1"
    assert [line for line in lines if line.startswith(f"| {WORST} |")]
    assert [line for line in lines if line.startswith("| leximin | 4 |")]
    assert not [line for line in lines if "nan" in line]


def test_a_folder_of_another_form_is_refused_in_a_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert "has no comments.csv" in capsys.readouterr().err
    write_polis(tmp_path / "small", n_statements=5)
    with pytest.raises(SystemExit):
        main([str(tmp_path / "small")])
    assert "no conversation has 11 statements" in capsys.readouterr().err
