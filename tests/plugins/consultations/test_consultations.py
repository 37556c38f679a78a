"""Polis's and Remesh's forms, on made-up files: sets by author's group, votes beside them, and what is refused."""

import json

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.corpora import read_any
from evenhand.errors import EvenhandError
from evenhand.plugins.consultations.polis import read_polis
from evenhand.plugins.consultations.remesh import read_remesh

# two groups, one participant in none; participant 3 wrote statement 2, which a moderator rejected
PARTICIPANTS = """participant,group-id,n-comments,n-votes,n-agree,n-disagree,0,1,2
1,0,1,3,1,1,1,-1,0
2,1,1,2,1,0,,1,0
3,0,1,1,0,1,-1,,
4,,1,1,1,0,1,,
"""
COMMENTS = """timestamp,datetime,comment-id,author-id,agrees,disagrees,moderated,comment-body
1,Mon,0,1,2,1,1,"Lower the fares, please."
2,Mon,1,2,1,1,0,電車は高い。
3,Mon,2,3,0,0,-1,Buy my hats.
4,Mon,3,4,0,0,1,I am nobody.
"""
PEOPLE = "person,topic,leaning\np1,fares,left\np2,fares,right\np3,fares,\n"
TEXTS = """text_id,topic,question_id,question,person,text
t1,fares,q1,What about fares?,p1,Lower them.
t2,fares,q1,What about fares?,p2,Keep them.
t3,fares,q1,What about fares?,p3,Who knows.
"""
VOTES = "question_id,person,text_id,vote\nq1,p1,t1,Agree\nq1,p2,t1,Disagree\nq1,p3,t2,agree\nq1,p1,t3,Agree\n"


@pytest.fixture
def conversation(tmp_path):
    folder = tmp_path / "fares"
    folder.mkdir()
    files = {
        "comments.csv": COMMENTS,
        "participants-votes.csv": PARTICIPANTS,
        "summary.csv": 'topic,"Fares, and how high"\n',
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def dialogue(tmp_path):
    folder = tmp_path / "dialogue"
    folder.mkdir()
    for name, text in {"people.csv": PEOPLE, "texts.csv": TEXTS, "votes.csv": VOTES}.items():
        (folder / name).write_text(text)
    return folder


def replaced(folder, name, old, new):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_statements_have_the_opinion_group_of_their_author(conversation):
    consultation = read_polis(conversation)
    (documents,) = consultation.sets
    assert (documents.id, documents.topic) == ("fares", "Fares, and how high")
    assert [(each.id, each.text, each.attributes["group"]) for each in documents.documents] == [
        ("0", "Lower the fares, please.", "group 0"),
        ("1", "電車は高い。", "group 1"),
    ]
    assert [(vote.voter, vote.group, vote.document, vote.vote) for vote in consultation.votes] == [
        ("1", "group 0", "0", 1), ("1", "group 0", "1", -1), ("2", "group 1", "1", 1), ("3", "group 0", "0", -1),
        ("4", None, "0", 1),
    ]  # fmt: skip
    assert consultation.left_out == {
        "statements that a moderator rejected": 1,
        "statements whose author is in no opinion group": 1,
        # of participants 1 and 2 on statement 2
        "votes on statements that are left out": 2,
    }


def test_a_folder_of_conversations_is_read_whole(conversation):
    (conversation.parent / "empty").mkdir()
    assert [each.id for each in read_polis(conversation.parent).sets] == ["fares"]
    with pytest.raises(EvenhandError, match=r"has no comments\.csv, nor has a folder in it"):
        read_polis(conversation.parent / "empty")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "participants-votes.csv",
            "3,0,1,1,0,1,-1",
            "3,0,1,1,0,1,5",
            r"votes\.csv:4: the vote on statement 0 is '5'; votes are",
        ),
        ("participants-votes.csv", "\n3,0", "\n2,0", r"votes\.csv:4: participant '2' stands in line 3 already"),
        ("participants-votes.csv", "participant,", "person,", "is no table of Polis's participants"),
        ("comments.csv", "2,Mon,1,", "2,Mon,0,", r"comments\.csv:3: comment-id '0' stands in line 2 already"),
        ("comments.csv", "comment-body", "body", "has no column 'comment-body'"),
    ],
)
def test_wrong_rows_of_polis_are_refused_with_their_lines(conversation, name, old, new, message):
    replaced(conversation, name, old, new)
    with pytest.raises(EvenhandError, match=message):
        read_polis(conversation)


def test_texts_have_the_leaning_of_their_author(dialogue):
    consultation = read_remesh(dialogue)
    (documents,) = consultation.sets
    assert (documents.id, documents.topic) == ("q1", "What about fares?")
    assert [(each.id, each.attributes["leaning"]) for each in documents.documents] == [("t1", "left"), ("t2", "right")]
    assert [(vote.voter, vote.group, vote.document, vote.vote) for vote in consultation.votes] == [
        ("p1", "left", "t1", 1),
        ("p2", "right", "t1", -1),
        ("p3", None, "t2", 1),
    ]
    assert consultation.left_out["texts whose author has no leaning"] == 1


def test_a_vote_given_twice_counts_once_and_contradicting_ones_not_at_all(dialogue):
    replaced(dialogue, "votes.csv", "q1,p1,t3,Agree\n", "q1,p1,t1,Agree\nq1,p2,t1,Agree\n")
    consultation = read_remesh(dialogue)
    assert [(vote.voter, vote.document) for vote in consultation.votes] == [("p1", "t1"), ("p3", "t2")]
    assert consultation.left_out["votes that one person gave twice alike"] == 1
    assert consultation.left_out["votes of one person on one text that contradict each other"] == 2


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "votes.csv",
            "p2,t1,Disagree",
            "p2,t1,Maybe",
            r"votes\.csv:3: the vote is 'Maybe'; votes are Agree and Disagree",
        ),
        ("texts.csv", "\nt2,", "\nt1,", r"texts\.csv:3: text_id 't1' stands in line 2 already"),
        (
            "people.csv",
            "\np2,fares,right",
            "\np1,fares,right",
            r"people\.csv:3: 'p1' is 'left' elsewhere and 'right' here",
        ),
        ("people.csv", "leaning", "party", "has no column 'leaning'"),
    ],
)
def test_wrong_rows_of_remesh_are_refused_with_their_lines(dialogue, name, old, new, message):
    replaced(dialogue, name, old, new)
    with pytest.raises(EvenhandError, match=message):
        read_remesh(dialogue)


@pytest.mark.parametrize(("verb", "folder"), [("polis", "conversation"), ("remesh", "dialogue")])
def test_sets_and_votes_are_written_side_by_side(verb, folder, request, tmp_path):
    out, votes = tmp_path / "docs.jsonl", tmp_path / "votes.jsonl"
    done = CliRunner().invoke(
        app, ["import", verb, str(request.getfixturevalue(folder)), "--out", str(out), "--votes", str(votes)]
    )
    assert not done.exception, done.exception
    statements = {document.id for documents in read_any(out) for document in documents.documents}
    assert {json.loads(line)["document"] for line in votes.read_text().splitlines()} <= statements
    assert "left out: " in done.output
    refused = CliRunner().invoke(app, ["import", verb, "x", "--out", str(tmp_path / "b.jsonl"), "--votes", str(votes)])
    assert isinstance(refused.exception, EvenhandError) and "already exists" in str(refused.exception)
