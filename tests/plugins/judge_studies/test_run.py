"""The audit of judges from files to files, with judges that need no model."""

import io
import json

import pytest
from rich.console import Console
from sheets import make_item, make_sheet

from evenhand.config.judges import RougeJudge, RuleJudge
from evenhand.corpora.controlled import read_controlled
from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.pages import terminal
from evenhand.judges.calibration import known_of, read_calibration
from evenhand.plugins.judge_studies.page import page
from evenhand.plugins.judge_studies.people.annotations.sheet import PageKey, SystemSource
from evenhand.plugins.judge_studies.run import (
    AGAIN,
    AUDIT_OF_JUDGES,
    AuditRequest,
    audit_judges,
    plan_lines,
    prepare,
)
from evenhand.storage import write_json, write_jsonl
from evenhand.text import fold

pytest.importorskip("rouge_score")

RECALL = RougeJudge(kind="rouge", measure="recall")
JUDGES = {"recall": RECALL, "length": RuleJudge(kind="length"), "contract": RuleJudge(kind="contract")}
TOLD = {"left": "welfare union tenants commons equity", "right": "liberty thrift market heritage order"}


@pytest.fixture
def sample(tmp_path):
    from pathlib import Path

    path = tmp_path / "sets.jsonl"
    write_jsonl(path, read_controlled(Path("sample")))
    return path


def shown(found, width=100):
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal.render(page(found), whole=True))
    return fold(console.file.getvalue())


def test_what_is_known_of_rouge_recall(sample, tmp_path):
    request = AuditRequest(sample, JUDGES)
    found = audit_judges(prepare(request), tmp_path / "out")
    (judge,) = found.judges
    assert (judge.judge, judge.purpose, judge.length.of) == ("recall", "coverage", "length")
    # 16 articles of 6 summaries on 8 topics with both sides
    assert (found.n_articles, found.n_summaries, found.n_topics, judge.own.within.n) == (16, 96, 8, 16)
    # words that are said twice are found twice as often, where the source has them twice
    assert [each.name for each in judge.accusations] == ["length", "ROUGE, rouge1-recall"]
    assert judge.beats_length
    # nothing is drawn: the second answer is the first
    assert (judge.repeat, judge.flips_again.value, judge.unscored) == (0.0, 0.0, 0)
    assert {each.name: each.verdict for each in judge.probes}["self"] == "not tried"
    assert found.not_tried == {
        "length": "nobody said what it is to measure: --purpose length=coverage, or faithfulness",
        "contract": "controlled summaries have no output contract",
    }
    assert "recall: The same sentences said twice raise its scores" in shown(found)
    assert (tmp_path / "out" / AGAIN).is_file() and (tmp_path / "out" / "index.html").is_file()


def test_the_file_is_read_again_as_it_is_and_is_of_one_signature_only(sample, tmp_path):
    request = AuditRequest(sample, {"recall": RECALL}, limit=10)
    found = audit_judges(prepare(request), tmp_path / "out")
    # the second time every score is cached, and what it cost is still known
    said = []
    again = audit_judges(prepare(request), tmp_path / "out", said.append)
    assert again == found and found.judges[0].cost.seconds and not said
    assert AUDIT_OF_JUDGES.replaced(tmp_path / "out", ("other", ["recall"])).endswith(
        "holds the audit of recall on sets.jsonl; it will be replaced."
    )
    assert read_calibration(tmp_path / "out") == read_calibration(tmp_path / "out" / AUDIT_OF_JUDGES.json) == found
    signature = found.judges[0].signature
    assert known_of({"another name": signature}, [found], {}) == {"another name": found.judges[0]}
    assert known_of({"recall": signature + "|v:2"}, [found], {}) == {}


def test_a_constant_judge_is_named_and_nothing_else_is_said_of_it(sample, tmp_path):
    # every controlled summary is scored as keeping its contract
    request = AuditRequest(
        sample, {"recall": RECALL, "length": RuleJudge(kind="length")}, purposes={"length": "coverage"}
    )
    work = prepare(request)
    same = work.study.sets[0].summaries[0].text
    alike = [
        each.model_copy(update={"summaries": tuple(s.model_copy(update={"text": same}) for s in each.summaries)})
        for each in work.study.sets
    ]
    from dataclasses import replace

    from evenhand.plugins.judge_studies.probes import variants

    study = replace(work.study, sets=alike, asked=variants(alike, work.study.exchanges))
    found = audit_judges(replace(work, study=study), tmp_path / "out")
    length = next(each for each in found.judges if each.judge == "length")
    assert length.is_constant and not length.has_agreement and not length.accusations
    assert {each.verdict for each in length.probes if each.name == "injection"} == {"not tried"}
    assert "length is constant" in shown(found)


def test_words_of_the_sides_are_learned_from_documents_where_there_are_any(sample):
    documents = [(side, f"{words} number {n}") for n in range(8) for side, words in TOLD.items()]
    told = prepare(AuditRequest(sample, {"recall": RECALL}, documents=documents))
    assert set(told.study.exchanges.words.first) == set(TOLD["left"].split())
    # without any, those of the sixteen articles are too few
    assert prepare(AuditRequest(sample, {"recall": RECALL})).study.exchanges.words is None


def test_a_dry_run_counts(sample):
    lines = plan_lines(prepare(AuditRequest(sample, {"recall": RECALL}, limit=2)))
    # 12 summaries in 7 variants, and once again
    assert "96 judgements" in lines[1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"purposes": {"recal": "coverage"}}, "--purpose recal: no such judge; did you mean 'recall'?"),
        (
            {"purposes": {"recall": "faithfulness"}},
            "--purpose recall=faithfulness: by its section it is to measure coverage",
        ),
        ({"judges": {"contract": RuleJudge(kind="contract")}}, "no judge is left to audit"),
        ({"own": "mine"}, "--human and --own belong together"),
        ({"judges": {"rouge1-recall": RuleJudge(kind="length")}}, "has the name of a baseline"),
    ],
)
def test_what_cannot_be_audited_is_refused(sample, changes, said):
    with pytest.raises((DataError, RecipeError), match=said.replace("?", r"\?")):
        prepare(AuditRequest(**{"file": sample, "judges": {"recall": RECALL}} | changes))


def test_an_id_that_a_changed_article_gets_is_refused(sample, tmp_path):
    sets = read_controlled(sample)
    write_jsonl(tmp_path / "taken.jsonl", [*sets, sets[0].model_copy(update={"id": f"{sets[0].id}|twice"})])
    with pytest.raises(DataError, match=r"\|twice' is one that a changed article gets, too; rename it"):
        prepare(AuditRequest(tmp_path / "taken.jsonl", {"recall": RECALL}))


def test_with_few_topics_nothing_is_told_and_nobody_acquitted(sample, tmp_path):
    request = AuditRequest(sample, {"recall": RECALL}, limit=4)
    said = shown(audit_judges(prepare(request), tmp_path / "out"))
    assert "What 1 judge is worth is not clear from so little" in said
    assert "too few topics to say" in said and "none was caught" not in said
    assert "nothing" not in said.replace("nothing is concluded", "")


def test_a_judge_that_scores_nothing_is_not_constant(sample, tmp_path):
    sets = read_controlled(sample)
    # without a word
    mute = [
        each.model_copy(update={"summaries": tuple(s.model_copy(update={"text": "..."}) for s in each.summaries)})
        for each in sets
    ]
    write_jsonl(tmp_path / "mute.jsonl", mute)
    request = AuditRequest(tmp_path / "mute.jsonl", {"recall": RECALL})
    found = audit_judges(prepare(request), tmp_path / "out")
    (judge,) = found.judges
    assert judge.scores_nothing and not judge.is_constant and not judge.beats_length
    assert "recall scores nothing: every summary is left unscored" in shown(found)
    assert {each.note for each in judge.probes if each.name == "length"} == {"no summary has a score"}


def test_topics_that_nobody_told_are_warned_of(sample, tmp_path):
    sets = [each.model_copy(update={"topic": ""}) for each in read_controlled(sample)]
    write_jsonl(tmp_path / "untold.jsonl", sets)
    request = AuditRequest(tmp_path / "untold.jsonl", {"recall": RECALL})
    assert "The topic of 16 articles is unknown" in shown(audit_judges(prepare(request), tmp_path / "out"))


def test_peoples_scores_come_from_their_sheets_and_what_is_not_finished_is_told(sample, tmp_path):
    """Twelve documents of which the system of the judge's own has the better summary in every other one."""
    items = [make_item(f"d{n}/left") for n in range(12)]
    bare = tuple(each.model_copy(update={"omitted": ()}) for each in make_item().summaries)
    open_item = make_item("d12/left", without=(), key_points=(), summaries=bare)
    source = SystemSource(folder="runs/a", digest="0" * 16)
    letters = {each.id: {"A": ("base", "dpo")[n % 2], "B": ("dpo", "base")[n % 2]} for n, each in enumerate(items)}
    key = PageKey(
        page="p1", seed=0, systems={"base": source, "dpo": source}, letters={**letters, open_item.id: letters["d0/left"]},
        shown={each.id: each.shown for each in (*items, open_item)},
    )  # fmt: skip
    folder = tmp_path / "sheets"
    write_json(folder / "anna.json", make_sheet(*items, open_item).model_dump(mode="json"))
    write_json(folder / "page.key.json", key.model_dump(mode="json"))
    request = AuditRequest(sample, {"recall": RECALL}, human=[folder], own="dpo", limit=10)
    work = prepare(request)
    assert "people's scores of 12 documents, without 1 that is not finished" in plan_lines(work)[-1]
    found = audit_judges(work, tmp_path / "out")
    probe = next(each for each in found.judges[0].probes if each.name == "self")
    # ROUGE orders them as people do, whoever wrote them
    assert (probe.verdict, probe.n, probe.value) == ("not accused", 24, pytest.approx(0.0, abs=1e-9))
    assert found.human == ("anna.json", "page.key.json") and found.human_left_out == 1
    assert "1 document of people's scores: not finished" in shown(found)


def test_no_calibration_is_refused_with_what_makes_one(tmp_path):
    (tmp_path / "calibration.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(DataError, match=r"calls itself 'other'.*`evenhand judges audit SETS .* writes it again"):
        read_calibration(tmp_path)
    with pytest.raises(DataError, match="evenhand judges audit SETS"):
        read_calibration(tmp_path / "none.json")
