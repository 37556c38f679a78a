"""`evenhand human` as a user meets it."""

import json
from functools import partial

import pytest
from commands import started
from sheets import write_phase

from evenhand.plugins.judge_studies.people.annotations.sheet import AnnotationSheet
from evenhand.plugins.judge_studies.people.result_pages import left_out_words

pytestmark = pytest.mark.usefixtures("quick_commands")

VERBS = ["page", "score", "agreement", "opinions", "convert"]


evenhand = partial(started, "human")


@pytest.mark.parametrize("verb", VERBS)
def test_help_teaches_with_an_example(verb):
    done = evenhand(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert f"Example: evenhand human {verb}" in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def annotated(blank, annotator, *, decided=True):
    """Every passage of the blank sheet a key point; every summary has the first of them, and one key point that is supported."""
    value = blank.model_dump(mode="json")
    value["annotator"] = annotator
    for item, shown in zip(value["items"], blank.items, strict=True):
        item["key_points"] = [[span.model_dump()] for span in shown.passages]
        for summary in item["summaries"]:
            label = summary["text"].split()[0]
            summary["points"] = [[{"start": 0, "end": len(label), "label": label}]]
            summary["omitted"] = [False] + [True] * (len(item["key_points"]) - 1)
            summary["hallucinated"] = [False if decided else None]
    return value


@pytest.fixture
def pages(ferry, tmp_path):
    for name in ("base", "dpo"):
        write_phase(tmp_path / name, [ferry], {})
    done = evenhand(
        "page",
        "--system",
        f"base={tmp_path / 'base'}",
        "--system",
        f"dpo={tmp_path / 'dpo'}",
        "--out",
        tmp_path / "page.html",
    )
    assert done.returncode == 0, done.stderr
    assert "page.html: 2 items, 2 summaries each" in done.stdout
    return tmp_path


def write_annotated(folder, annotator, **options):
    blank = AnnotationSheet.model_validate_json((folder / "page.json").read_text())
    path = folder / f"{annotator}.json"
    path.write_text(json.dumps(annotated(blank, annotator, **options)))
    return path


def test_from_page_to_scores(pages):
    anna = write_annotated(pages, "anna")
    done = evenhand("score", anna, pages / "page.key.json", "--out", pages / "scores.json", "--resamples", 100)
    assert done.returncode == 0, done.stderr
    numbers = json.loads((pages / "scores.json").read_text())["numbers"]
    # one of two key points is in, the one key point of the summary is supported, four words
    values = {"coverage": 0.5, "faithfulness": 1.0, "included": 1, "omitted": 1, "hallucinated": 0, "length": 4}
    assert [(each["system"], each.get("side"), each["measure"], each["value"]) for each in numbers] == [
        (system, side, *item)
        for system in ("base", "dpo")
        for side in ("left", "right", None)
        for item in values.items()
    ]
    assert f"scores: {pages / 'scores.json'}" in done.stdout
    assert f"page: {pages / 'scores.report.html'}" in done.stdout


def test_scores_of_nothing_finished_exit_with_2_and_say_why(pages):
    anna = write_annotated(pages, "anna", decided=False)
    done = evenhand("score", anna, pages / "page.key.json")
    assert done.returncode == 2
    assert "left out: match not decided, left: 1" in done.stdout
    assert "no item is finished" in done.stderr


def test_agreement_of_two_annotators_of_one_page_needs_no_key(pages):
    done = evenhand("agreement", write_annotated(pages, "anna"), write_annotated(pages, "ben"), "--draws", 5)
    assert done.returncode == 0, done.stderr
    documents, summaries = (
        line for line in done.stdout.splitlines() if line.strip().startswith(("documents", "summaries"))
    )
    assert documents.split()[:2] == ["documents", "1.000"]
    assert summaries.split()[3] == "4"


def test_agreement_is_kept_with_a_page_of_its_own(pages):
    files = write_annotated(pages, "anna"), write_annotated(pages, "ben")
    for name in ("first", "second", "first"):
        done = evenhand("agreement", *files, "--draws", 5, "--out", pages / f"{name}.json")
        assert done.returncode == 0, done.stderr
    assert json.loads((pages / "first.json").read_text())["documents"]["overlap"] == 1.0
    # two results in one folder have two pages each, which lead to one another
    assert 'href="first.details.html"' in (pages / "first.report.html").read_text()
    assert 'href="second.report.html"' in (pages / "second.details.html").read_text()
    assert evenhand("agreement", *files, "--out", files[0]).returncode == 2


def test_agreement_needs_two_annotators(pages):
    assert evenhand("agreement", write_annotated(pages, "anna")).returncode == 2


def test_to_label_studio_and_back(pages):
    anna, tasks, back = write_annotated(pages, "anna"), pages / "tasks.json", pages / "back.json"
    assert evenhand("convert", anna, "--to", "label-studio", "--out", tasks).returncode == 0
    assert (pages / "tasks.xml").read_text().startswith("<View>")
    assert evenhand("convert", tasks, "--to", "evenhand", "--out", back).returncode == 0
    assert json.loads(back.read_text()) == json.loads(anna.read_text())
    assert evenhand("convert", pages / "page.json", "--to", "label-studio", "--out", tasks).returncode == 0
    assert not any("annotations" in task for task in json.loads(tasks.read_text()))


@pytest.mark.parametrize("system", ["base", "=runs/a", "base="])
def test_a_system_that_is_no_label_and_folder_is_refused(system):
    done = evenhand("page", "--system", system)
    assert done.returncode == 2
    assert "write LABEL=FOLDER" in done.stderr


def test_one_folder_under_two_labels_is_refused(pages):
    base = pages / "base"
    done = evenhand("page", "--system", f"alpha={base}", "--system", f"beta={base}/", "--out", pages / "other.html")
    assert done.returncode == 2
    assert "is the folder of 'alpha'" in " ".join(done.stderr.split()) and not (pages / "other.html").exists()


def test_what_is_left_out_names_no_side_where_there_is_none():
    assert left_out_words("not drawn", "all", 5) == "not drawn: 5"
    assert left_out_words("not drawn", "left", 5) == "not drawn, left: 5"


def test_left_out_items_are_told_before_agreement_is_refused(pages):
    anna = write_annotated(pages, "anna")
    blank = AnnotationSheet.model_validate_json((pages / "page.json").read_text())
    ben = pages / "ben.json"
    ben.write_text(json.dumps(blank.model_dump(mode="json") | {"annotator": "ben"}))
    done = evenhand("agreement", anna, ben)
    assert done.returncode == 2
    assert "left out: passage neither marked nor said to have no key point, left: 1" in done.stdout
    assert "these files have anna" in done.stderr


def test_agreement_rests_on_highlights_whatever_was_decided_of_matches(pages):
    done = evenhand(
        "agreement", write_annotated(pages, "anna"), write_annotated(pages, "ben", decided=False), "--draws", 5
    )
    assert done.returncode == 0, done.stderr
    assert "anna and ben saw 2 documents in common" in done.stdout


def test_three_annotators_are_compared_two_by_two_and_all_together(pages):
    pytest.importorskip("nltk")
    files = [write_annotated(pages, name) for name in ("anna", "ben", "cleo")]
    done = evenhand("agreement", *files, "--draws", 5)
    assert done.returncode == 0, done.stderr
    assert all(f"documents      {pair} " in done.stdout for pair in ("anna, ben", "anna, cleo", "ben, cleo"))
    assert sum("all, mean of pairs" in line for line in done.stdout.splitlines()) == 2


def test_a_second_page_does_not_take_the_key_of_the_first(pages):
    arguments = ["page", "--system", f"base={pages / 'base'}", "--out", pages / "page.html"]
    before = (pages / "page.key.json").read_text()
    done = evenhand(*arguments)
    assert done.returncode == 2
    assert "name another --out" in " ".join(done.stderr.split())
    assert (pages / "page.key.json").read_text() == before


def test_outputs_that_would_overwrite_inputs_or_each_other_are_refused(pages):
    anna = write_annotated(pages, "anna")
    key = pages / "page.key.json"
    before = (anna.read_text(), key.read_text())
    calls = [
        ("convert", anna, "--to", "evenhand", "--out", anna), ("convert", anna, "--to", "label-studio", "--out", "tasks.xml"),
        ("score", anna, key, "--out", key), ("score", anna, key, "--out", "scores.txt"),
        ("page", "--system", f"base={pages / 'base'}", "--out", pages / "x.json"),
    ]  # fmt: skip
    for call in calls:
        done = evenhand(*call)
        assert done.returncode == 2, call
        assert "name another" in done.stderr or "name a file that ends in" in done.stderr
    assert (anna.read_text(), key.read_text()) == before


def test_labels_of_opinions_are_scored_from_a_table(tmp_path):
    file, out = tmp_path / "labels.csv", tmp_path / "opinions.json"
    file.write_text(
        "set_id,summary_id,annotator,wall,tax,fairness\n"
        "us,us/1,anna,complete,absent,very_unfair\nus,us/2,anna,complete,complete,very_fair\n"
        "us,us/3,anna,absent,absent,\n"
    )
    done = evenhand("opinions", file, "--out", out)
    assert done.returncode == 0, done.stderr
    # exposures (1, 0) have the Gini coefficient 1/2, (1, 1) have 0, (0, 0) have none
    assert [each["bias"] for each in json.loads(out.read_text())["summaries"]] == [0.5, 0.0, None]
    assert "us/3: no bias, every opinion is absent for every annotator" in done.stdout
    assert "us: r of bias and very unfair 1.00 over 2 summaries" in done.stdout
    assert "holds an earlier result; it will be replaced." in " ".join(
        evenhand("opinions", file, "--out", out).stdout.split()
    )
    # an earlier command that was stopped has written no page yet
    out.with_suffix(".report.html").unlink()
    assert evenhand("opinions", file, "--out", out).returncode == 0 and out.with_suffix(".report.html").is_file()
    notes = tmp_path / "notes.json"
    notes.write_text("{}")
    refused = evenhand("opinions", file, "--out", notes)
    assert refused.returncode == 2 and "was not written by evenhand" in " ".join(refused.stderr.split())
    assert notes.read_text() == "{}"


def test_texts_add_the_other_correlations(tmp_path):
    pytest.importorskip("networkx")
    labels, texts = tmp_path / "labels.csv", tmp_path / "texts.jsonl"
    labels.write_text(
        "set_id,summary_id,annotator,ferry,bridge,fairness\n"
        "us,us/1,anna,complete,absent,very_unfair\nus,us/2,anna,complete,complete,very_fair\n"
    )
    lines = [
        {"set_id": "us", "units": ["Cheap ferry.", "Cheap ferry!", "Dear bridge", "Dear bridge!"]},
        {"set_id": "us", "gold": ["cheap ferry dear bridge"]},
        {"set_id": "us", "summary_id": "us/1", "summary": "Cheap ferry."},
        {"set_id": "us", "summary_id": "us/2", "summary": "Dear bridge Cheap ferry!"},
    ]
    texts.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = evenhand("opinions", labels, "--texts", texts, "--summary-columns", "text=summary")
    assert done.returncode == 0, done.stderr
    # bias and graph 1/2 and 0; ROUGE-1 2/3 and 1 beside very fair 0 and 1
    for name in ("bias and very unfair", "ROUGE-1 and very fair", "bias and graph"):
        assert f"us: r of {name} 1.00 over 2 summaries" in done.stdout
    texts.write_text('{"set_id": "us", "summary_id": "us/7", "summary": "x"}\n')
    done = evenhand("opinions", labels, "--texts", texts)
    assert done.returncode == 2
    assert "texts.jsonl: no labelled summary has the id 'us/7'" in " ".join(done.stderr.split())
    assert "has no effect here" in evenhand("opinions", labels, "--summary-columns", "text=summary").stderr
