"""Approval by opinion group, worked out by hand: votes, selections, what a summary says, the audit, the judge."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config.fairness import EntailerSection, EqualCoverageJudge
from evenhand.errors import EvenhandError
from evenhand.fairness.labelled import LabelledDocuments, LabelledSource, LabelledSummary
from evenhand.judges import open_judge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.measures import open_entailer
from evenhand.plugins.consultations.approval import VoteTable, approval, leximin, vote_table, voter_bounds
from evenhand.plugins.consultations.judge import ApprovalJudge
from evenhand.plugins.consultations.said import NO_MATCH, NO_VOTES, approved, votes_of
from evenhand.plugins.consultations.votes import StatementVote, read_votes
from evenhand.records import Document, DocumentSet, Message, SummaryRequest
from evenhand.storage import write_jsonl

FARES, TRAMS, CHINESE, NIGHT = "Lower the fares, please.", "Build new trams downtown.", "電車は高い。", "Run at night."
TEXTS = (FARES, TRAMS, CHINESE, NIGHT)
# six voters of the town and five of the country: what share of each agrees with the four statements
AGREE = {"town": (6, 3, 0, 6), "country": (1, 5, 5, 0)}
SIZES = {"town": 6, "country": 5}


def statements(name="fares", texts=TEXTS):
    documents = [
        Document(id=str(k), text=text, attributes={"group": "town" if k % 2 else "country"})
        for k, text in enumerate(texts)
    ]
    return DocumentSet(id=name, documents=tuple(documents))


def votes(name="fares", agree=AGREE):
    """All vote on all statements but the last, on which the country says nothing; the first agree, the others disagree."""
    return [
        StatementVote(set_id=name, document=str(k), voter=f"{group}{v}", group=group, vote=1 if v < n else -1)
        for group, counts in agree.items()
        for k, n in enumerate(counts)
        for v in range(SIZES[group])
        if (group, k) != ("country", 3)
    ]


@pytest.fixture
def files(tmp_path):
    # of the same texts, but nobody voted on those of the second
    write_jsonl(tmp_path / "docs.jsonl", [statements(), statements("silent")])
    write_jsonl(tmp_path / "votes.jsonl", votes())
    return tmp_path


def said(files, *summaries, texts=TEXTS, voters="all"):
    read = votes_of([statements(texts=texts)], files / "votes.jsonl", voters)
    documents = tuple(LabelledSource(text, "town") for text in texts)
    items = [LabelledSummary("fares", ("town",), documents, summary) for summary in summaries]
    return read, approved(open_entailer(EntailerSection(kind="words")), read, items)


def test_rates_and_consensus_worked_by_hand():
    # of the first group two agree, one disagrees and one passes; of the second one agrees
    table = VoteTable(("a", "b"), np.array([0, 0, 0, 0, 1]), np.array([[1], [1], [-1], [0], [1]], dtype=float))
    assert table.rates.tolist() == [[2 / 3], [1.0]]
    assert table.likely_rates.tolist() == [[3 / 5], [2 / 3]]
    # (2 + 1) / (4 + 2) times (1 + 1) / (1 + 2)
    assert table.consensus == pytest.approx([1 / 3])


def test_approval_of_a_selection_is_the_mean_over_statements_that_the_group_voted_on():
    rates = np.array([[1.0, 0.5, 0.0], [0.2, np.nan, np.nan]])
    found = approval(np.array([[True, True, False], [False, True, True]]), rates)
    np.testing.assert_allclose(found, [[0.75, 0.2], [0.25, np.nan]])


def test_leximin_serves_the_group_that_is_worst_off():
    # the majority's choice is statement 0, and with 1 the worst group has .6; then 2 lifts it more than 0 does
    rates = np.array([[1.0, 0.6, 0.5], [0.1, 0.7, 0.9]])
    assert leximin(rates, 1) == [1]
    assert leximin(rates, 2) == [1, 2]
    # both leave the worst group 0: the other group decides
    assert leximin(np.array([[0.0, 0.0], [0.3, 0.4]]), 1) == [1]


def one_group(rows):
    return VoteTable(("a",), np.zeros(len(rows), dtype=int), np.array(rows, dtype=float))


def test_bounds_over_voters_worked_by_hand():
    # all of five agree: exact bounds of 5 of 5, (alpha / 2) ** (1 / 5), whether they were asked one thing or two
    assert voter_bounds([(one_group([[1]] * 5), 0, [0])], 0.95) == pytest.approx((0.025**0.2, 1.0))
    assert voter_bounds([(one_group([[1, 1]] * 5), 0, [0, 1])], 0.95) == pytest.approx((0.025**0.2, 1.0))
    # one voter who is of two minds says hardly anything
    low, high = voter_bounds([(one_group([[1, -1]]), 0, [0, 1])], 0.95)
    assert low < 0.01 and high > 0.99
    # what nobody voted on, and passes, are no evidence
    assert voter_bounds([(one_group([[1, np.nan]] * 5 + [[0, np.nan]]), 0, [0, 1])], 0.95) == pytest.approx(
        (0.025**0.2, 1.0)
    )


def test_a_statement_said_twice_is_no_more_votes():
    table = one_group([[1, -1]] * 6 + [[-1, 1]] * 3)
    once, twice = (voter_bounds([(table, 0, said)], 0.95) for said in ([0], [0, 0]))
    assert once == pytest.approx(twice)


@pytest.mark.parametrize(("n_voters", "n_said"), [(5, 1), (5, 4), (12, 4), (30, 10)])
def test_bounds_over_voters_hold_the_true_approval(n_voters, n_said):
    # percentiles of drawn voters held it in 13, 54, 77 and 91 % of such summaries
    generator, held = np.random.default_rng(7), 0
    for _ in range(300):
        true = generator.beta(3.4, 0.6, n_said)
        votes = np.where(generator.random((n_voters, n_said)) < true, 1.0, -1.0)
        votes[generator.random(votes.shape) < 0.7] = np.nan
        votes[0, 0] = 1.0 if generator.random() < true[0] else -1.0
        known = ~np.isnan(votes).all(axis=0)
        low, high = voter_bounds([(one_group(votes), 0, range(n_said))], 0.95)
        held += low <= true[known].mean() <= high
    assert held / 300 > 0.92


def test_halves_share_out_every_group_and_no_voter_is_in_both():
    table = vote_table(statements(), votes(), Counter())
    first, second = table.halves(np.random.default_rng(3))
    assert [np.bincount(half.group_of).tolist() for half in (first, second)] == [[3, 3], [2, 3]]
    for vote in (-1, 0, 1):
        np.testing.assert_array_equal(first.count(vote) + second.count(vote), table.count(vote))


def test_votes_that_do_not_count_are_counted():
    more = [
        StatementVote(set_id="fares", document="0", voter="n", group=None, vote=1),
        StatementVote(set_id="fares", document="9", voter="town0", group="town", vote=1),
        *(StatementVote(set_id="fares", document="0", voter=f"s{k}", group="sea", vote=1) for k in range(4)),
    ]
    left_out = Counter()
    table = vote_table(statements(), [*votes(), *more], left_out)
    assert table.groups == ("country", "town")
    assert left_out == {
        "votes of people of no group": 1,
        "votes on statements that are not among the documents": 1,
        "votes of groups of fewer than 5 voters": 4,
    }
    # the votes of groups that are left out change nothing
    np.testing.assert_array_equal(table.rates, vote_table(statements(), votes(), Counter()).rates)


def test_a_summary_has_the_approval_of_the_statements_that_it_says(files):
    read, (copied, chinese, retold, none) = said(
        files, f"{FARES} {TRAMS}", CHINESE, "Trams should be built new downtown. The weather is fine.", "Buy my hats."
    )
    assert read.groups == ("country", "town")
    # the country 1/5 and 5/5, the town 6/6 and 3/6
    assert copied.by_group == pytest.approx([0.6, 0.75])
    assert (copied.worst, copied.gap) == pytest.approx((0.6, 0.15))
    # five of the country on each of two statements
    assert copied.fewest_votes == 10
    assert chinese.by_group.tolist() == [1.0, 0.0]
    assert (retold.statements, retold.n_unmatched) == ((1, None), 1)
    assert none.reason == NO_MATCH


def test_what_only_one_group_voted_on_has_no_worst_group(files):
    _, (night,) = said(files, NIGHT)
    assert night.reason == NO_MATCH


def test_without_votes_nothing_is_scored(files):
    read = votes_of([statements()], files / "votes.jsonl", "all")
    other = LabelledSummary("silent", ("town",), (LabelledSource("Other.", "town"),), "Other.")
    (answer,) = approved(open_entailer(EntailerSection(kind="words")), read, [other])
    assert answer.reason == NO_VOTES


def test_halves_of_voters_are_the_same_every_time_and_differ(files):
    rates = [
        said(files, TRAMS, voters=voters)[1][0].by_group.tolist() for voters in ("first-half", "first-half", "all")
    ]
    assert rates[0] == rates[1]
    first, second = (said(files, FARES, voters=f"{nth}-half")[1][0].by_group for nth in ("first", "second"))
    # one of the country's five agrees, who is in one half of three and two
    assert sorted([first[0], second[0]]) in ([0.0, 1 / 3], [0.0, 0.5])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vote": 2}, r"votes\.jsonl:2: .*vote"),
        (
            {"group": "country", "document": "1"},
            r"votes\.jsonl:2: voter 'town0' is of 'country', and of 'town' in line 1",
        ),
        ({"voter": ""}, r"votes\.jsonl:2: .*voter"),
    ],
)
def test_wrong_votes_are_refused_with_their_lines(tmp_path, change, message):
    line = votes()[0].model_dump()
    (tmp_path / "votes.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(line | change)}\n")
    with pytest.raises(EvenhandError, match=message):
        read_votes(tmp_path / "votes.jsonl", Counter())


def test_a_vote_given_twice_counts_once(tmp_path):
    write_jsonl(tmp_path / "votes.jsonl", [*votes(), votes()[0]])
    left_out = Counter()
    assert len(read_votes(tmp_path / "votes.jsonl", left_out)) == len(votes())
    assert left_out == {"votes that one person gave twice alike": 1}


def test_files_without_votes_on_the_documents_are_refused(files):
    with pytest.raises(EvenhandError, match=r"has no votes of two groups of five .*its sets are 'fares'"):
        votes_of([statements("other")], files / "votes.jsonl", "all")
    (files / "votes.jsonl").write_text("")
    with pytest.raises(EvenhandError, match="has no vote; give the file"):
        votes_of([statements()], files / "votes.jsonl", "all")


def audit(files, *more):
    lines = [{"id": "fares", "summary": f"{FARES} {TRAMS}"}, {"id": "silent", "summary": FARES}]
    (files / "mine.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    arguments = ["--documents", files / "docs.jsonl", "--attribute", "group", "--summaries", files / "mine.jsonl"]
    done = CliRunner().invoke(app, ["audit", *map(str, arguments), *more, "--out", str(files / "out")])
    if done.exception:
        raise done.exception
    return json.loads((files / "out/audit.json").read_text())


def test_the_audit_has_approval_by_group_and_counts_sets_without_votes(files):
    found = audit(files, "--votes", str(files / "votes.jsonl"), "--entailer", "words", "--over-voters")
    numbers = {(n["measure"], n.get("side")): n for n in found["numbers"]}
    assert numbers["approval (words)", "country"]["value"] == pytest.approx(0.6)
    assert numbers["approval (words)", "town"]["value"] == pytest.approx(0.75)
    worst = numbers["approval of the worst group (words)", None]
    assert (worst["value"], worst["reasons"]) == (pytest.approx(0.6), {NO_VOTES: 1})
    assert numbers["approval gap (words)", None]["value"] == pytest.approx(0.15)
    beside = {n.get("side"): n for n in found["beside"]}
    assert beside["country"]["value"] == pytest.approx(0.6)
    assert beside["country"]["low"] < 0.5 and beside["country"]["high"] > 0.8
    assert beside["town"]["low"] < 0.75 < beside["town"]["high"]
    assert beside[None]["value"] == pytest.approx(0.6)
    # of one set there is no other interval
    page = " ".join((files / "out" / "index.html").read_text().split())
    assert re.search(r"Approval of the worst group: \w+ 60\.0 % \([\d.]+ to [\d.]+; interval over voters\)\.", page)


def test_few_votes_on_what_a_summary_says_are_warned_of(files):
    few = [vote for vote in votes() if vote.group == "town" or vote.document == "2" or vote.voter == "country0"]
    write_jsonl(files / "votes.jsonl", few)
    arguments = "--votes", str(files / "votes.jsonl"), "--entailer", "words", "--over-voters"
    found = audit(files, *arguments)
    assert any("in 1 set a group gave fewer than 5 votes" in warning for warning in found["warnings"])
    # of the country a single person agrees with both, which bounds nothing: 0.025 ** (1 / 1)
    country = next(n for n in found["beside"] if n.get("side") == "country")
    assert (country["value"], country["low"], country["high"]) == pytest.approx((1.0, 0.025, 1.0))


def test_what_votes_leave_out_is_said_once_for_all_systems(files):
    write_jsonl(files / "votes.jsonl", [*votes(), votes()[0].model_copy(update={"voter": "n", "group": None})])
    second = files / "second.jsonl"
    second.write_text("".join(f"{json.dumps({'id': name, 'summary': TRAMS})}\n" for name in ("fares", "silent")))
    found = audit(files, "--summaries", str(second), "--votes", str(files / "votes.jsonl"), "--entailer", "words")
    assert found["warnings"].count("Approval leaves out 1 vote of people of no group.") == 1


def test_a_measure_without_its_votes_says_what_is_missing(files):
    with pytest.raises(EvenhandError, match="needs votes: give --votes FILE"):
        audit(files, "--measures", "approval", "--entailer", "words")


def test_an_unknown_half_is_refused(files):
    with pytest.raises(EvenhandError, match="voters"):
        audit(files, "--votes", str(files / "votes.jsonl"), "--voters", "third")


def test_the_judge_prefers_what_the_worst_group_approves_of(files):
    write_jsonl(files / "docs.jsonl", [statements()])
    options = ApprovalJudge.model_validate(
        {"kind": "approval", "documents": files / "docs.jsonl", "votes": files / "votes.jsonl", "voters": "all",
         "entailer": {"kind": "words"}}
    )  # fmt: skip
    judge = open_judge("approval", options)
    labelled = LabelledDocuments(tuple(LabelledSource(text, "town") for text in TEXTS), ("town",))
    verdicts = judge.score(
        [
            JudgeInput(str(k), "r", text, contract_ok=True, reference=labelled.text, labelled=labelled)
            for k, text in enumerate((FARES, f"{FARES} {TRAMS}", "Buy my hats."))
        ]
    )
    assert [verdict.score for verdict in verdicts] == [pytest.approx(0.2), pytest.approx(0.6), None]
    assert verdicts[2].unscored == NO_MATCH
    assert json.loads(verdicts[1].raw) == {
        "approval": {"country": 0.6, "town": 0.75}, "units": 2, "without_statement": 0,
    }  # fmt: skip
    assert (options.better, options.scope) == ("higher", "all")


def test_a_set_of_which_the_votes_cannot_be_told_is_unscored(files):
    options = {"documents": files / "docs.jsonl", "votes": files / "votes.jsonl", "entailer": {"kind": "words"}}
    judge = open_judge("approval", ApprovalJudge.model_validate({"kind": "approval", **options}))
    labelled = LabelledDocuments(tuple(LabelledSource(text, "town") for text in TEXTS), ("town",))
    (verdict,) = judge.score([JudgeInput("c", "r", FARES, contract_ok=True, reference="", labelled=labelled)])
    assert (verdict.score, verdict.unscored) == (None, NO_VOTES)


def test_authors_of_one_group_are_no_hindrance(files):
    from evenhand.preflight.judges import _why_not

    options = {"kind": "approval", "documents": files / "docs.jsonl", "votes": files / "votes.jsonl"}
    one_valued = DocumentSet(id="fares", documents=tuple(d for d in statements().documents if d.id in "02"))
    request = SummaryRequest(
        id="r", document_set=one_valued, template="t", prompt=(Message(role="user", content="?"),), attribute="group"
    )
    assert _why_not(ApprovalJudge.model_validate(options), request) is None
    assert _why_not(EqualCoverageJudge(kind="equal-coverage"), request) == "single value"


def test_another_file_of_votes_is_another_judge(files):
    options = {"kind": "approval", "documents": files / "docs.jsonl", "votes": files / "votes.jsonl"}
    first = open_judge("approval", ApprovalJudge.model_validate(options)).signature
    write_jsonl(files / "votes.jsonl", votes()[:-1])
    assert open_judge("approval", ApprovalJudge.model_validate(options)).signature != first
