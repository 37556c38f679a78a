"""`evenhand score`: summaries made elsewhere, judged from the command line."""

import csv
import json
import re
import sys
from pathlib import Path

import pytest
from commands import invoked

import evenhand
from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, read_summaries
from evenhand.errors import DataError, MissingExtra, RecipeError, StorageError

JUDGES = "judges:\n  words: {kind: length}\n  recall: {kind: rouge, type: rouge1, measure: recall}\n"
# of the folder of one file
FILES = {"requests.jsonl", "candidates.jsonl", "judgements.jsonl", "best.jsonl", "scores.csv"}


def score(tmp_path, *options):
    (tmp_path / "judges.yaml").write_text(JUDGES)
    usual = {"--documents": "reviews", "--judges": str(tmp_path / "judges.yaml"), "--out": str(tmp_path / "out")}
    arguments = [part for option, value in usual.items() if option not in options for part in (option, value)]
    return invoked("score", *arguments, *options)


@pytest.fixture
def sets():
    return load_corpus(CorpusSection(path="reviews", attribute="sentiment"))


def test_summaries_of_a_file_are_judged_and_can_be_audited(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "summaries.json"
    path.write_text(json.dumps({each.id: "One two three." if number else "" for number, each in enumerate(sets)}))
    done = score(tmp_path, "--summaries", path)
    rows = list(csv.DictReader((tmp_path / "out" / "scores.csv").open()))
    assert [row["words"] for row in rows] == ["0.0"] + ["3.0"] * (len(sets) - 1)
    assert (rows[0]["recall"], rows[0]["unscored"], rows[1]["unscored"]) == ("", "recall: empty summary", "")
    assert f"{len(sets) - 1} scored, 1 unscored (empty summary)" in done.output
    assert read_summaries(tmp_path / "out" / "candidates.jsonl", sets) == read_summaries(path, sets)


def test_earlier_scores_are_named_and_a_run_is_not_overwritten(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "summaries.json"
    path.write_text(json.dumps({each.id: "One two three." for each in sets}))
    assert "replaced" not in score(tmp_path, "--summaries", path).output
    said = score(tmp_path, "--summaries", path).output
    assert f"holds scores of {len(sets)} summaries by words, recall; they will be replaced." in " ".join(said.split())
    # a phase of a run has files of the same names, and no table of scores
    (tmp_path / "out" / "scores.csv").unlink()
    with pytest.raises(DataError, match=r"holds requests\.jsonl, .*, which no score wrote.* without its scores\.csv"):
        score(tmp_path, "--summaries", path)


def test_scores_of_other_summaries_are_replaced_by_force_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    assert score(tmp_path, "--summaries", "praising").exit_code == 0
    with pytest.raises(DataError, match=r"holds scores of other summaries than those of even-handed; .* --force"):
        score(tmp_path, "--summaries", "even-handed")
    assert score(tmp_path, "--summaries", "praising").exit_code == 0
    assert score(tmp_path, "--summaries", "even-handed", "--force").exit_code == 0


def test_summaries_may_be_named_and_be_those_of_a_folder_of_scores(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    assert score(tmp_path, "--summaries", "theirs=praising").exit_code == 0
    assert read_summaries(tmp_path / "out", sets) == read_summaries(Path("praising"), sets)
    with pytest.raises(
        DataError, match=r"is a folder without best\.jsonl; name a file of summaries, such as .*out/best"
    ):
        read_summaries(tmp_path, sets)


def test_scores_of_which_files_were_taken_away_or_never_written_are_replaced(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    path, out = tmp_path / "summaries.json", tmp_path / "out"
    path.write_text(json.dumps({each.id: "One two three." for each in sets}))

    def full(*arguments):
        raise StorageError("no space left")

    with monkeypatch.context() as disk:
        disk.setattr("evenhand.storage.write_together", full)
        with pytest.raises(StorageError):
            score(tmp_path, "--summaries", path)
    assert not list(out.glob("*.*l"))
    assert score(tmp_path, "--summaries", path).exit_code == 0
    # as a kill between two renames leaves it
    for name in FILES - {"scores.csv"}:
        (out / name).unlink()
    assert "they will be replaced" in " ".join(score(tmp_path, "--summaries", path).output.split())
    (out / "requests.jsonl").unlink()
    assert score(tmp_path, "--summaries", path).exit_code == 0 and (out / "requests.jsonl").is_file()


@pytest.mark.parametrize("table", ["set,side,text\n", "", "my,own,table\n", "\0", "a" * 200_000])
def test_a_table_of_somebody_else_is_not_overwritten(tmp_path, table):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "scores.csv").write_text(table)
    with pytest.raises(DataError, match=r"holds scores\.csv, which no score wrote;"):
        score(tmp_path, "--summaries", "praising")


def test_a_table_is_judged_by_the_names_of_its_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    documents, summaries = tmp_path / "posts.csv", tmp_path / "summaries.csv"
    documents.write_text('thread,party,"body, long"\nferry,left,Cheap.\nferry,right,Dear.\n')
    summaries.write_text("id,summary\nferry,Cheap and dear.\n")
    given = ("--documents", documents, "--attribute", "party", "--summaries", summaries)
    with pytest.raises(DataError, match="--columns set=COLUMN"):
        score(tmp_path, *given)
    done = score(tmp_path, *given, "--columns", "set=thread,text=body, long")
    assert done.exit_code == 0, done.output
    assert [row["words"] for row in csv.DictReader((tmp_path / "out" / "scores.csv").open())] == ["3.0"]
    for wrong in ("txt=body", "set", "set="):
        assert score(tmp_path, *given, "--columns", wrong).exit_code == 2


@pytest.mark.parametrize(
    ("scope", "judge"),
    [
        ("side", "{kind: equal-coverage}"),
        pytest.param("all", "{kind: contrast}", marks=pytest.mark.needs("plugins/opinions")),
    ],
)
def test_a_judge_that_cannot_score_the_scope_is_told_by_the_option(tmp_path, scope, judge):
    path = tmp_path / "mine.yaml"
    path.write_text(f"judges:\n  mine: {judge}\n")
    with pytest.raises(RecipeError) as caught:
        score(tmp_path, "--summaries", path, "--judges", path, "--scope", scope)
    assert f"--scope {scope}" in str(caught.value) and "the recipe" not in str(caught.value)


def written(path, sets, text):
    """A file with this summary of every set."""
    path.write_text(json.dumps({each.id: text(each) for each in sets}))
    return path


def first_documents(documents):
    return " ".join(each.text for each in documents.documents)


@pytest.fixture
def two(tmp_path, sets, monkeypatch):
    """The bundled documents' first 12 sets, summaries that say nothing of them, and ones that say all."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    documents = tmp_path / "documents.jsonl"
    documents.write_text("\n".join(each.model_dump_json() for each in sets[:12]))
    vague = written(tmp_path / "vague.json", sets[:12], lambda _: "Xyzzy plugh.")
    whole = written(tmp_path / "whole.json", sets[:12], first_documents)
    return ("--documents", documents, "--summaries", f"no news={vague}", "--summaries", whole)


def test_several_files_are_compared_with_the_first(tmp_path, two):
    out = tmp_path / "out"
    done = score(tmp_path, *two)
    assert sorted(path.name for path in out.iterdir()) == [
        ".lock", "comparison.json", "comparison.md", "details.html", "index.html", "no-news", "tables", "whole",
    ]  # fmt: skip
    found = json.loads((out / "comparison.json").read_text())
    assert found["title"] == "Against no news, one summary of each: whole better by 1 of 1 judge"
    assert {(each["measure"], each["system"], each["verdict"]) for each in found["tests"]} == {
        ("words", "whole", "higher"), ("recall", "whole", "higher"),
    }  # fmt: skip
    assert [each["reward"] for each in found["entries"]] == [[], []] and found["n_sets"] == 12
    for folder in (out / "no-news", out / "whole"):
        assert {path.name for path in folder.iterdir()} == FILES
    assert (
        f"comparison: {out / 'index.html'}" in done.output
        and "words of the documents kept (more is better)" in done.output
    )


def test_several_files_are_refused_before_any_is_judged_where_nothing_can_compare_them(tmp_path, two, monkeypatch):
    monkeypatch.setitem(sys.modules, "choix", None)
    with pytest.raises(MissingExtra, match=r"evenhand\[compare\]"):
        score(tmp_path, *two)
    assert not (tmp_path / "out").exists()


def test_a_page_of_summaries_made_elsewhere_speaks_of_no_reward_and_no_candidates(tmp_path, two):
    score(tmp_path, *two)
    page = (tmp_path / "out" / "comparison.md").read_text()
    # of the bootstrap there are draws
    page = page.replace("level, draws and seed", "").replace("No request has two scored candidates", "")
    assert not re.findall("reward|rerank|draw|best of|candidate|notebook|contract|budget", page)


def test_a_judge_that_is_called_as_a_trait_keeps_its_own_scores(tmp_path, two):
    path = tmp_path / "mine.yaml"
    path.write_text("judges:\n  refusals: {kind: length}\n")
    score(tmp_path, *two, "--judges", path)
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())
    of_judge, of_trait = (
        next(e["value"] for e in found[key] if e["measure"] == "refusals" and e["system"] == "no news")
        for key in ("scores", "traits")
    )
    assert (of_judge, of_trait) == (2.0, 0.0)


def test_sides_have_means_and_tests_of_their_own(tmp_path, two, sets):
    names = [f"{each.id}/{side}" for each in sets[:12] for side in each.values("sentiment")]
    for name, text in (("vague", "Xyzzy plugh."), ("whole", "The kettle is good and the spout pours a steady stream.")):
        (tmp_path / f"{name}.json").write_text(json.dumps(dict.fromkeys(names, text)))
    assert score(tmp_path, *two, "--scope", "side").exit_code == 0
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert {each.get("side") for each in found["tests"]} == {"negative", "neutral", "positive", None}


def test_several_files_are_scored_again_and_replaced_as_one_is(tmp_path, two):
    score(tmp_path, *two)
    said = " ".join(score(tmp_path, *two).output.split())
    assert said.count("holds scores of 12 summaries by words, recall; they will be replaced.") == 2
    *most, _ = two
    with pytest.raises(DataError, match=r"out/whole: holds scores of other summaries than those of .*vague\.json"):
        score(tmp_path, *most, f"whole={tmp_path / 'vague.json'}")


def test_labels_that_repeat_or_are_files_of_the_comparison_are_refused(tmp_path, two):
    with pytest.raises(RecipeError, match=r"two files are called 'whole'; write LABEL=FILE"):
        score(tmp_path, *two, "--summaries", two[-1])
    with pytest.raises(RecipeError, match=r"two labels make the folder 'whole'"):
        score(tmp_path, *two, "--summaries", f"Whole={two[-1]}")
    with pytest.raises(RecipeError, match=r"--summaries tables=: a file of the comparison is called so"):
        score(tmp_path, *two, "--summaries", f"tables={two[-1]}")
    assert not (tmp_path / "out").exists()


def test_a_set_that_one_file_leaves_out_is_named_before_any_is_judged(tmp_path, two, sets):
    written(tmp_path / "whole.json", sets[:11], first_documents)
    with pytest.raises(DataError, match=rf"whole\.json: .*{sets[11].id}"):
        score(tmp_path, *two)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["index.html", "tables", "comparison.json"])
def test_what_somebody_else_left_where_the_comparison_goes_is_not_overwritten(tmp_path, two, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    with pytest.raises(DataError, match=rf"holds {name}, which no score wrote"):
        score(tmp_path, *two)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]


def test_what_somebody_else_left_in_the_folder_of_a_label_is_not_overwritten(tmp_path, two):
    (tmp_path / "out" / "whole").mkdir(parents=True)
    (tmp_path / "out" / "whole" / "best.jsonl").write_text("mine")
    with pytest.raises(DataError, match=r"out/whole: holds best\.jsonl, which no score wrote"):
        score(tmp_path, *two)
    assert not (tmp_path / "out" / "comparison.json").exists()


def test_one_file_has_means_with_intervals_in_the_terminal_and_no_page(tmp_path, two):
    done = score(tmp_path, *two[:-2])
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES | {".lock"}
    assert "no variation" in done.output and "12 scored, 0 unscored" in done.output


def test_summaries_that_do_not_fit_write_nothing(tmp_path):
    path = tmp_path / "summaries.json"
    path.write_text('{"nowhere": "x"}')
    with pytest.raises(DataError, match="nowhere"):
        score(tmp_path, "--summaries", path)
    assert not (tmp_path / "out").exists()


# summaries as chat models write them
WRITTEN = {
    "paragraphs": "Opinions on it are divided.\n\nSome find it cheap.\n\nOthers find it dear.",
    "heading and list": "## Summary\n\n- For: it is cheap, and it is fast.\n- Against: it is dear.",
    "announced": "Here is the summary:\n\nIt is cheap and dear.",
    "quoted": '"It is cheap", they say, and "it is dear"',
    "in quotes": "\u201cIt is cheap and dear.\u201d",
    "sections": "In favour:\nIt is cheap.\n\nAgainst:\nIt is dear.\n\n",
    "windows": "It is cheap.\r\n\r\nIt is dear.",
}


def test_summaries_from_elsewhere_are_judged_whole_and_read_in_one_way_everywhere(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    documents, path, out = tmp_path / "docs.jsonl", tmp_path / "mine.jsonl", tmp_path / "out"
    texts = {each.id: text for each, text in zip(sets, WRITTEN.values(), strict=False)}
    mine = sets[: len(texts)]
    documents.write_text("\n".join(each.model_dump_json() for each in mine))
    path.write_text("".join(json.dumps({"id": name, "summary": text}) + "\n" for name, text in texts.items()))
    whole = {name: text.strip() for name, text in texts.items()}
    two = ("--documents", documents, "--summaries", f"one={path}", "--summaries", f"other={path}")
    assert score(tmp_path, *two).exit_code == 0
    with (out / "one" / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["set"]: row["text"] for row in rows} == whole
    for given in (path, out / "one", out / "one" / "candidates.jsonl", out / "other" / "best.jsonl"):
        assert {name: text.strip() for name, text in read_summaries(given, mine).items()} == whole
    judged = evenhand.judge(path, {"words": {"kind": "length"}}, mine, attribute="sentiment")
    assert {row["set"]: row["text"] for row in judged.rows()} == whole
    # as many words as the same text has in one paragraph
    folded = evenhand.judge([" ".join(text.split()) for text in texts.values()], {"words": {"kind": "length"}}, mine)
    assert [row["words"] for row in judged.rows()] == [row["words"] for row in folded.rows()]
    assert [float(row["words"]) for row in rows] == [row["words"] for row in folded.rows()]


def test_a_file_without_ids_is_warned_of_and_what_is_left_over_is_counted(tmp_path, two, sets):
    path = tmp_path / "lines.txt"
    path.write_text("nan\nI cannot summarize these reviews.\n" + "They differ.\n" * 10)
    said = " ".join(score(tmp_path, *two[:2], "--summaries", path).output.split())
    assert "warning: lines: without ids, so that summaries were matched with the document sets by their order." in said
    assert "warning: lines: 1 summary may be what a spreadsheet or a platform left in place of a text: 'nan' 1." in said
    assert "warning: lines: 1 of 12 summaries begins as refusals do ('I cannot summarize these reviews.')" in said
    score(tmp_path, *two, "--summaries", path, "--out", tmp_path / "several")
    warnings = json.loads((tmp_path / "several" / "comparison.json").read_text())["warnings"]
    assert sum("lines: without ids" in each or "lines: 1 summary may be" in each for each in warnings) == 2


def test_the_columns_of_summaries_are_named(tmp_path, two, sets):
    path = tmp_path / "mine.csv"
    rows = [f"{each.id},The reference of it.,What the system wrote of it.\n" for each in reversed(sets[:12])]
    path.write_text("product,summary,prediction\n" + "".join(rows))
    given = (*two[:2], "--summaries", path)
    with pytest.raises(DataError, match=r"several texts: 'summary' .*'prediction' .*--summary-columns text=COLUMN"):
        score(tmp_path, *given)
    with pytest.raises(DataError, match=r"holds ids of document sets, .*--summary-columns id=product"):
        score(tmp_path, *given, "--summary-columns", "text=prediction")
    assert score(tmp_path, *given, "--summary-columns", "text=prediction,id=product").exit_code == 0
    table = list(csv.DictReader((tmp_path / "out" / "scores.csv").open()))
    assert {row["text"] for row in table} == {"What the system wrote of it."}
    unknown = r"no column 'predictoin'; did you mean 'prediction'\? No column 'prodct'; did you mean 'product'\? Its columns are"
    with pytest.raises(DataError, match=unknown):
        score(tmp_path, *given, "--summary-columns", "text=predictoin,id=prodct")
    for wrong in ("txt=prediction", "text", "set=product"):
        assert score(tmp_path, *given, "--summary-columns", wrong).exit_code == 2


def test_a_judge_that_compares_candidates_says_why_it_scores_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    judges = tmp_path / "consensus.yaml"
    judges.write_text("judges: {near: {kind: consensus}, words: {kind: length}}")
    several = score(tmp_path, "--summaries", "even-handed", "--summaries", "praising", "--judges", judges)
    assert "A request has 1 candidate, and near compares candidates: it scores nothing here." in several.output
    assert "by 'near'" not in several.output
    single = score(tmp_path, "--summaries", "praising", "--judges", judges, "--out", tmp_path / "single")
    assert "0 scored, 48 unscored (no other candidate" in single.output


def test_scores_of_texts_that_were_cut_are_counted_by_judge(tmp_path, sets, monkeypatch):
    from evenhand.api.results import Judgements
    from evenhand.api.steps import given_candidates, judge_each
    from evenhand.cli.score import _say_counts
    from evenhand.config.recipe_file import load_judges
    from evenhand.evaluation.report.comparison.build import build_comparison
    from evenhand.evaluation.report.comparison.given import given_entry

    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    (tmp_path / "judges.yaml").write_text(JUDGES)
    given = given_candidates("praising", sets, None)
    (whole,) = judge_each([given], load_judges(tmp_path / "judges.yaml"))
    assert "cut" not in whole.rows()[0]
    first = given[0].id
    marked = [
        each.model_copy(update={"raw": '{"best":[0.5],"cut":1}'})
        if (each.candidate_id, each.judge) == (first, "recall")
        else each
        for each in whole
    ]
    found = Judgements(marked, whole.candidates, whole.recipe)
    rows = found.rows()
    assert [row["cut"] for row in rows] == ["recall"] + [None] * (len(rows) - 1)
    assert list(rows[0])[-3:] == ["cut", "unscored", "id"]
    entry = given_entry("praising", tmp_path, found.recipe, found.candidates.groups, found)
    assert entry.n_cut == {"recall": 1}
    (said,) = (warning for warning in build_comparison([entry], [1]).warnings if "were cut" in warning)
    assert f"Of {len(rows)} summaries some have scores of texts that were cut" in said
    assert "1 by 'recall'. scores.csv names them." in said
    lines = []
    monkeypatch.setattr("evenhand.cli.score.say", lines.append)
    _say_counts(found)
    assert lines == [
        f"{'words':24} {len(rows):,} scored, 0 unscored",
        f"{'recall':24} {len(rows):,} scored, 0 unscored, 1 of texts that were cut",
    ]


def test_a_spreadsheet_runs_no_cell_of_a_table_of_scores(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    texts = ["=1+1", "+1", "-a", "@b", "\t=c", "\uff1dd", "'=e", "\x1b]0;f\x07", "-1"]
    path = tmp_path / "summaries.json"
    given = {each.id: texts[number % len(texts)] for number, each in enumerate(sets)}
    path.write_text(json.dumps(given))
    score(tmp_path, "--summaries", path)
    table = tmp_path / "out" / "scores.csv"
    with table.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    guarded = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))]
    assert {*guarded} <= {"+1", "-1"}
    assert not any("\x1b" in cell for cell in cells)
    # read again as the summaries that they were, and known as scores of the same
    assert read_summaries(table, sets) == {name: text.strip() for name, text in read_summaries(path, sets).items()}
    assert "they will be replaced" in " ".join(score(tmp_path, "--summaries", path).output.split())


def test_documents_without_attributes_are_judged_all_together_and_have_no_sides(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    texts = ["The boots are warm.", "The boots leak."]
    documents = [{"id": str(k), "text": text, "attributes": {}} for k, text in enumerate(texts)]
    lines = [json.dumps({"id": name, "documents": documents}) for name in "ab"]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines))
    (tmp_path / "sums.json").write_text(json.dumps({"a": "Warm boots.", "b": "The boots leak."}))
    given = ("--documents", tmp_path / "docs.jsonl", "--summaries", tmp_path / "sums.json")
    score(tmp_path, *given)
    rows = list(csv.DictReader((tmp_path / "out" / "scores.csv").open()))
    assert [(row["set"], row["side"], row["words"]) for row in rows] == [("a", "all", "2.0"), ("b", "all", "3.0")]
    assert all(row["recall"] for row in rows)
    with pytest.raises(DataError, match="set 'a': no document has an attribute, and so none has a side"):
        score(tmp_path, *given, "--scope", "side", "--out", tmp_path / "sides")


def test_a_judge_of_the_family_after_which_a_system_is_called_is_told(tmp_path, two):
    judge = "{kind: rubric, rubric: coverage, model: {name: Qwen/Qwen2.5-7B-Instruct}, backend: {backend: scripted}}"
    (tmp_path / "grade.yaml").write_text(f"judges:\n  grade: {judge}\n")
    files = [f"qwen3-8b={tmp_path / 'vague.json'}", f"llama-3.1-8b={tmp_path / 'whole.json'}"]
    options = [
        "--documents",
        two[1],
        "--judges",
        tmp_path / "grade.yaml",
        *(x for file in files for x in ("--summaries", file)),
    ]
    output = " ".join(score(tmp_path, *options).output.split())
    assert output.count("asks a model of the family of") == 1
    assert "warning: Judge 'grade' asks a model of the family of qwen3-8b, which writes the summaries" in output
