"""Who is missing, worked out by hand: points of groups, quotes, texts at random, and the audit's page."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.plugins.consultations.approval import VoteTable, approval
from evenhand.plugins.consultations.points import at_random, points_of
from evenhand.plugins.consultations.said import Approved
from evenhand.plugins.consultations.votes import StatementVote
from evenhand.records import Document, DocumentSet
from evenhand.resampling import Bootstrap
from evenhand.storage import write_jsonl

FARES, TRAMS, NIGHT, CARS = (
    "Lower the fares.",
    "Build new trams downtown.",
    "Run buses at night.",
    "Keep <b>cars</b> out.",
)
TEXTS = (FARES, TRAMS, NIGHT, CARS)
# of five of the town and six of the country, how many agree with each; all others disagree
AGREE = {"town": (5, 4, 2, 5), "country": (6, 1, 5, 0)}
SIZES = {"town": 5, "country": 6, "harbour": 4}
DRAWS = Bootstrap(resamples=400, seed=1)


def table(agree=AGREE):
    groups = sorted(agree)
    rows = [
        (groups.index(name), [1.0 if v < n else -1.0 for n in counts])
        for name, counts in agree.items()
        for v in range(SIZES[name])
    ]
    return VoteTable(tuple(groups), np.array([group for group, _ in rows]), np.array([votes for _, votes in rows]))


def answer(votes, *statements, nearest=(None,) * 4):
    """A summary with a unit for each statement of these."""
    chosen = np.array([[statements.count(k) for k in range(len(TEXTS))]], dtype=float)
    by_group = approval(chosen, votes.rates)[0]
    units = tuple(f"unit {k}" for k in range(len(statements)))
    return Approved(by_group, units, statements, (0.5,) * len(units), nearest, 10)


def points(*statements, nearest=(None,) * 4):
    votes = table()
    found = points_of(votes, answer(votes, *statements, nearest=nearest), TEXTS, DRAWS)
    return {each.approval.side: each for each in found.groups}, found


def test_points_are_what_most_of_a_group_agree_with():
    by_group, found = points(0, 3)
    town, country = by_group["town"], by_group["country"]
    # the town agrees with fares, trams and cars, the country with fares and night
    assert (town.n_points, town.n_said, town.n_people) == (3, 2, 5)
    assert (country.n_points, country.n_said, country.n_people) == (2, 1, 6)
    assert town.approval.value == 1.0 and country.approval.value == pytest.approx(0.5)
    assert town.of_all == pytest.approx((1 + 0.8 + 0.4 + 1) / 4)
    assert found.gap.value == pytest.approx(0.5)
    assert "says 2 of 4 statements in 2 of 2 units" in found.lead


def test_what_is_not_said_is_quoted_with_its_votes_those_of_the_group_alone_first():
    by_group, _ = points(1)
    # (5 + 1) / (5 + 2) less 1 / 8 of cars, less 7 / 8 of fares; trams are said
    assert [quote.text for quote in by_group["town"].quotes] == [CARS, FARES]
    assert by_group["town"].quotes[0].note == "5 of 5 agree; country: 0 of 6"
    assert [quote.text for quote in by_group["country"].quotes] == [NIGHT, FARES]


def test_what_a_unit_is_like_is_perhaps_said_and_quoted_beside_it():
    by_group, _ = points(1, nearest=(None, 0, None, 0))
    town = by_group["town"]
    assert (town.n_said, town.n_perhaps) == (1, 1)
    assert [quote.perhaps for quote in town.quotes] == ["unit 0", ""]


def test_a_statement_with_few_votes_is_no_point():
    votes = table()
    few = votes.votes.copy()
    few[1:5, 3] = np.nan
    votes = VoteTable(votes.groups, votes.group_of, few)
    found = points_of(votes, answer(votes, 1), TEXTS, DRAWS)
    (town,) = (each for each in found.groups if each.approval.side == "town")
    # of cars one of the town's votes is left
    assert town.n_points == 2 and CARS not in [quote.text for quote in town.quotes]


def test_texts_at_random_have_on_average_the_approval_of_all():
    rates = table().rates
    two, all_four = np.ones(2), np.ones(4)
    draws = at_random(rates, two, Bootstrap(resamples=4000, seed=3))
    assert draws.mean(axis=0) == pytest.approx(rates.mean(axis=1), abs=0.02)
    # of all statements there is one selection
    assert at_random(rates, all_four, DRAWS).std(axis=0).max() < 1e-9
    assert np.array_equal(at_random(rates, two, DRAWS), at_random(rates, two, DRAWS))


def test_what_is_said_twice_counts_twice_at_random_too():
    # of two statements one is said three times: a group's approval is 3/4 of the one and 1/4 of the other
    draws = at_random(np.array([[1.0, 0.0]]), np.array([3, 1]), DRAWS)
    assert set(draws[:, 0]) == {0.25, 0.75}


def test_p_is_one_where_everything_is_said_and_small_for_the_one_selection_of_many():
    by_group, found = points(0, 1, 2, 3)
    assert found.gap.p_value == 1.0 and all(each.approval.p_value == 1.0 for each in by_group.values())
    assert all(not each.quotes for each in by_group.values())
    # ten statements that the town alone agrees with, of forty on which both agree alike: one selection of many thousands
    votes = np.ones((11, 40))
    votes[np.array([0] * 6 + [1] * 5) == 0, :10] = -1
    large = VoteTable(("country", "town"), np.array([0] * 6 + [1] * 5), votes)
    said = Approved(
        np.array([0.0, 1.0]), tuple("unit" for _ in range(10)), tuple(range(10)), (1.0,) * 10, (None,) * 40, 50
    )
    found = points_of(large, said, tuple(str(k) for k in range(40)), DRAWS)
    assert found.gap.p_value == pytest.approx(1 / 401)


def test_selections_that_a_group_did_not_vote_on_say_nothing_of_it():
    # of forty statements the country voted on three alone, each one's approval another; the summary says the one it likes most
    votes = np.ones((11, 40))
    group_of = np.array([0] * 6 + [1] * 5)
    votes[:6] = np.nan
    votes[:6, :3] = [[1, 1, 1], [1, 1, -1], [1, 1, -1], [1, -1, -1], [1, -1, -1], [1, -1, -1]]
    large = VoteTable(("country", "town"), group_of, votes)
    said = Approved(np.array([1.0, 1.0]), ("unit",), (0,), (1.0,), (None,) * 40, 5)
    country = points_of(large, said, tuple(map(str, range(40))), DRAWS).groups[0]
    # one of the three that it voted on is as high: p of 2 / 3, not of 2 / 40
    assert country.approval.p_value == pytest.approx(2 / 3, abs=0.25)


def audit(folder, n_sets, *more, texts=TEXTS):
    names = [f"town {k}" for k in range(n_sets)]
    documents = tuple(Document(id=str(k), text=text, attributes={"group": "ab"[k % 2]}) for k, text in enumerate(texts))
    votes = [
        StatementVote(set_id=name, document=str(k), voter=f"{group}{v}", group=group, vote=1 if v < n else -1)
        for name in names
        for group, counts in AGREE.items()
        for k, n in enumerate(counts)
        for v in range(SIZES[group])
    ]
    write_jsonl(folder / "docs.jsonl", [DocumentSet(id=name, documents=documents) for name in names])
    write_jsonl(folder / "votes.jsonl", votes)
    for system, summary in (("mine", f"{TRAMS} {CARS}"), ("other", FARES)):
        (folder / f"{system}.jsonl").write_text(
            "".join(f"{json.dumps({'id': name, 'summary': summary})}\n" for name in names)
        )
    files = [f"--summaries={system}={folder / system}.jsonl" for system in ("mine", "other")]
    arguments = ["audit", "--documents", folder / "docs.jsonl", "--attribute", "group", *files, "--entailer", "words"]
    arguments += ["--votes", folder / "votes.jsonl", "--out", folder / "out", *more]
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert not done.exception, done.output
    written = {name: " ".join((folder / f"out/{name}.html").read_text().split()) for name in ("index", "details")}
    return json.loads((folder / "out/audit.json").read_text()), written


def test_of_a_single_consultation_the_first_page_says_who_is_missing(tmp_path):
    found, pages = audit(tmp_path, 1)
    # 1 and 0 of the country's six agree; 4 and 5 of the town's five
    assert found["title"] == "Country agrees with 8 % of what mine says, town with 90 %"
    assert f"<h1>{found['title']}</h1>" in pages["index"]
    assert "No clear difference" in pages["index"] and "<svg" in pages["index"]
    assert "Who is missing from mine" in pages["index"] and "Who is missing from other" in pages["index"]
    assert "5 of 6 agree; town: 2 of 5:" in pages["index"]
    # somebody's markup is text
    assert "Keep &lt;b&gt;cars&lt;/b&gt; out." in pages["index"] and "<b>cars" not in pages["index"]
    assert "0 of 2 points" in pages["details"] and "Who is missing" in pages["details"]


def test_one_consultation_is_no_caution_for_what_its_voters_say(tmp_path):
    found, _ = audit(tmp_path, 1)
    few = [warning for warning in found["warnings"] if "fewer than 5" in warning]
    assert few == [
        "All but approval rests on 1 document set: with fewer than 5 nothing is concluded; take 5 or more.",
    ]
    (tmp_path / "quiet").mkdir()
    # without examples nothing is said of voters
    found, _ = audit(tmp_path / "quiet", 1, "--examples", "0")
    few = [warning for warning in found["warnings"] if "fewer than 5" in warning]
    assert few[0].startswith("What is said beyond these sets rests on 1 document set")
    assert any("value-shares: fewer than 5 scored sets" in warning for warning in few)


def test_the_correction_counts_summaries_that_are_not_shown_too(tmp_path):
    # of two sets by two systems one summary of each system is shown, the worst: four were tested all the same
    found, pages = audit(tmp_path, 2, "--examples", "1")
    shown = [example["own"]["gap"] for example in found["examples"] if example.get("own")]
    assert len(shown) == 2
    p_value = max(shown, key=lambda gap: gap["value"])["p_value"]
    assert f"{min(1.0, 4 * p_value) * 100:.1f} % of draws, corrected" in pages["index"]


def test_without_examples_there_is_no_such_page(tmp_path):
    found, pages = audit(tmp_path, 1, "--examples", "0")
    assert not found["examples"] and "Who is missing" not in pages["index"]
    assert found["title"].startswith("Too few sets")


def test_of_many_consultations_it_is_a_part_of_the_page(tmp_path):
    found, pages = audit(tmp_path, 6)
    assert not found["title"].startswith("Country")
    assert "Who is missing from mine" in pages["index"] and "town 0" in pages["index"]
    assert len([each for each in found["examples"] if each.get("own")]) == 10


def test_of_several_others_their_votes_are_told_together():
    three = {"town": (5, 4, 2, 5), "country": (6, 1, 5, 0), "harbour": (0, 4, 0, 4)}
    votes = table(three)
    found = points_of(votes, answer(votes, 1), TEXTS, DRAWS)
    (town,) = (each for each in found.groups if each.approval.side == "town")
    # of cars: nobody of six, and all of four
    assert {quote.text: quote.note for quote in town.quotes}[CARS] == "5 of 5 agree; others: 4 of 10"


def test_what_is_said_twice_is_counted_once_among_votes():
    by_group, _ = points(1, 1)
    assert (by_group["town"].approval.n, by_group["town"].n_said) == (5, 1)


def test_long_quotes_are_cut_on_the_first_page_alone(tmp_path):
    long = "Trams, " * 60 + "please."
    _, pages = audit(tmp_path, 1, texts=(FARES, TRAMS, long, CARS))
    assert f"“{long[:300].rstrip()} …”" in pages["index"] and long not in pages["index"]
    assert long in pages["details"]
