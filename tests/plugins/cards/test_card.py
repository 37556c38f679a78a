import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from calibrated import accused, make_judge, write_calibration

from evenhand.errors import DataError
from evenhand.evaluation.report.checkpoint.report import report
from evenhand.judges.benchmark import Benchmark, BenchmarkRow
from evenhand.judges.calibration import read_calibration
from evenhand.judges.examples import JudgedPair, JudgedText
from evenhand.number import Number
from evenhand.plugins.cards.card import Card, card_text, read_card, write_cards
from evenhand.plugins.cards.contents import REPORTED
from evenhand.plugins.cards.run import read_run
from evenhand.plugins.cards.usage import _without_documents
from evenhand.plugins.cards.verify import departures, made_anew
from evenhand.records import SummaryRequest
from evenhand.storage import read_jsonl, read_text, write_json, write_text

hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub: pip install huggingface_hub")
UNSAID = {"model": None, "data": None}


def written(folder: Path, **licences: Any) -> tuple[str, str]:
    write_cards(read_run(folder), {**UNSAID, **licences})
    return read_text(folder / "cards/model.md"), read_text(folder / "cards/data.md")


def rows_of(text: str, heading: str) -> list[list[str]]:
    """Cells of the tables below a heading, up to the next one."""
    section = re.search(rf"^## {heading}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section is not None
    return [[cell.strip() for cell in line.split(" | ")] for line in section[0].splitlines() if line.startswith("| ")]


def test_the_hub_reads_results_by_side_with_their_intervals(run_folder: Path):
    text, _ = written(run_folder)
    content = json.loads((run_folder / "report/report.json").read_text())
    found = {each.metric_name: each for each in hub.ModelCard(text).data.eval_results}
    # one draw by two sides and all, by the one judge that was not trained on
    assert len(found) == 3
    for each in content["scores"]:
        if each["measure"] == "overlap" and each["system"] == "DPO":
            mine = found[f"overlap, DPO, {each.get('side', 'all')}"]
            assert mine.metric_value == each["value"]
            # four document sets are too few for an interval
            assert (mine.metric_args.get("low"), mine.metric_args.get("high")) == (each["low"], each["high"])


def test_cards_name_what_was_dropped_by_side_and_what_was_trained_on(run_folder: Path):
    model, data = written(run_folder)
    dropped = rows_of(data, "Left out")[-2:]
    assert [row[3:] for row in dropped] == [["unscored", "0", "2", "2 |"], ["margin", "1", "0", "1 |"]]
    assert "in the card of its pairs" in model
    assert rows_of(model, "Training")[2][1:6] == ["2 left, 1 right", "4", "0.0004", "0.1", "0.693"]
    # mean margins of (0.4 + 0.2) / 2 and 0.65; every text has four words
    assert [row[1:5] for row in rows_of(data, "Pairs by side")[2:]] == [
        ["left", "2", "0.300", "4.0"],
        ["right", "1", "0.650", "4.0"],
    ]


def test_hashes_are_those_of_the_files(run_folder: Path):
    # of each card what it publishes; the others are in the manifest
    rows = [row for text in written(run_folder) for row in rows_of(text, "Files") if row[0].startswith("| `")]
    assert {row[0].strip("| `") for row in rows} >= {
        "round-00/adapter/adapter_model.safetensors",
        "round-00/pairs.jsonl",
    }
    for name, _, sha256 in rows:
        path = run_folder / name.strip("| `")
        assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256.strip("` |")


def test_cards_have_no_gap_to_fill_and_no_path_of_the_machine(run_folder: Path):
    for text in written(run_folder):
        assert "More Information Needed" not in text
        assert str(run_folder.parent) not in text
        assert "license: unknown" in text


def test_every_section_taken_from_the_report_is_there_with_its_source(run_folder: Path):
    text = "".join(written(run_folder))
    for name, source in REPORTED.items():
        assert f"\n## {name} ({source})\n" in text


def test_no_section_is_empty_and_every_judge_is_told_of(run_folder: Path):
    text, _ = written(run_folder)
    sections = re.split(r"\n## ", text)[1:]
    assert all(len(section.splitlines()) > 2 for section in sections)
    judges = read_run(run_folder).report.judges
    assert {judge.role for judge in judges} == {"report", "reward"}
    assert {row[0].strip("| ") for row in rows_of(text, "Judges")} >= {judge.name for judge in judges}


def test_a_reader_is_told_how_to_ask_and_in_few_words(run_folder: Path):
    text, _ = written(run_folder)
    # the request of the largest gain
    assert re.search(r"\[user\]\nSummarise \w/(left|right)\.", text)
    assert re.search(r"- sampling plan nucleus: .*top_p 0\.9;.* candidates 3", text)
    assert "- asked form: " in text
    assert "One answer (DPO+RR)." in text
    assert len(text.split()) <= 1500


def test_documents_of_a_prompt_are_named_and_not_repeated(run_folder: Path):
    path = run_folder / "evaluation/base/requests.jsonl"
    requests = read_jsonl(path, SummaryRequest)
    shown = [
        _without_documents(f"Read this: {request.document_set.documents[0].text}", request) for request in requests
    ]
    assert set(shown) == {"Read this: \u2039document 1, left: 4 words\u203a"}


def test_what_the_publisher_wrote_stays(run_folder: Path):
    written(run_folder, model="apache-2.0")
    path = run_folder / "cards/model.md"
    text = read_text(path).replace(
        "The publisher has not written here what this is meant for.", "### Use\n\nNews | only"
    )
    write_text(path, text.replace("tags:\n", "language: en\ntags:\n- mine\n"))
    before = read_text(path)
    model, data = written(run_folder)
    assert "### Use\n\nNews | only" in model
    assert read_card(path).metadata == hub.ModelCard(before).data.to_dict()
    assert ("license: apache-2.0" in model, "license: unknown" in data) == (True, True)
    assert "license: mit" in written(run_folder, model="mit")[0]


def test_a_local_base_model_is_named_without_its_place(run_folder: Path):
    run = read_run(run_folder)
    made = run.report.provenance.model_copy(
        update={
            "models": {"evaluation/base": "tiny#0123abcd|bfloat16|vllm"},
            "recipe": run.recipe | {"model": {"name": "models/tiny"}},
        }
    )
    local = replace(run, report=run.report.model_copy(update={"provenance": made}))
    assert (local.base, local.base_name) == (None, "tiny")
    text = card_text(local, Card("model", {"base_model": "me/tiny"}))
    assert "models/tiny" not in text
    assert "vllm serve BASE" in text
    # which only the publisher can know
    assert "base_model: me/tiny" in text
    assert "- base model: tiny (a folder on the machine of the run; the publisher calls it me/tiny)" in text


def calibration(signature: str) -> Benchmark:
    known = Number(value=0.5, low=0.25, high=0.75)
    row = BenchmarkRow(
        judge="overlap", attribute="coverage", side=None, pooled=known, within=known, winrate_within=known,
        winrate_pooled=known, articles=7, summaries=21, ties=0, left_out=0,
    )  # fmt: skip
    return Benchmark(
        file="controlled.jsonl", digest="0" * 16, ties="half", level=0.95, topics_unknown=0,
        signatures={"overlap": signature}, versions={}, rows=(row,), unscored=(),
    )  # fmt: skip


def test_agreement_with_people_is_called_so(run_folder: Path, tmp_path: Path):
    known = calibration(read_run(run_folder).signatures["overlap"][0])
    row = known.rows[0].model_copy(update={"attribute": "fluency"})
    path = tmp_path / "benchmark.json"
    path.write_text(known.model_copy(update={"rows": (row,), "n_raters": 3}).model_dump_json())
    write_cards(read_run(run_folder, path), UNSAID)
    model, _ = written(run_folder)
    assert "How well they agree with people's scores, by evenhand judges benchmark on controlled.jsonl" in model
    assert "| overlap | fluency | all |" in model


def test_a_judge_is_worth_what_was_measured_of_that_very_judge(run_folder: Path, tmp_path: Path):
    plain, _ = written(run_folder)
    assert "No calibration is known of overlap and fit" in plain
    run = read_run(run_folder)
    path = tmp_path / "benchmark.json"
    path.write_text(calibration("another").model_dump_json())
    with pytest.raises(DataError, match=r"none of the run's judges"):
        read_run(run_folder, path)
    measured = calibration(run.signatures["overlap"][0]).model_dump_json()
    for earlier in (measured.replace("-benchmark/2", "-benchmark/1"), measured.replace('"within"', '"spearman_macro"')):
        path.write_text(earlier)
        with pytest.raises(
            DataError, match=r"not the benchmark.json of this version's .*judges benchmark`; run it again"
        ):
            read_run(run_folder, path)
    path.write_text(measured)
    write_cards(read_run(run_folder, path), UNSAID)
    model, data = written(run_folder)
    assert "| overlap | coverage | all | 0.500 (0.250 to 0.750) | 0.500 (0.250 to 0.750) | 7 |" in model
    assert "No calibration is known of fit:" in model
    assert "No calibration is known of fit:" in data


def test_what_an_audit_found_of_a_judge_is_on_the_cards(run_folder: Path, tmp_path: Path):
    path = write_calibration(tmp_path / "calibration.json", make_judge("another"))
    with pytest.raises(DataError, match=r"has none of the run's judges as they were there; audit them"):
        read_run(run_folder, None, path)
    judge = make_judge(read_run(run_folder).signatures["overlap"][0], probes=(accused("injection", "orders raise it"),))
    write_calibration(path, judge)
    text = JudgedText(text="Somebody's article says so.", score=1.0)
    pair = JudgedPair(judge="fit", measure="coverage", article="a", first=text, second=text)
    write_json(path, read_calibration(path).model_copy(update={"examples": (pair,)}).model_dump(mode="json"))
    write_cards(read_run(run_folder, None, path), UNSAID)
    # texts of articles stay where they were
    assert "Somebody" in path.read_text() and "Somebody" not in (run_folder / "cards/calibration.json").read_text()
    # what was kept is read again; the pairs rest on the other judge
    model, data = written(run_folder)
    assert "| overlap | coverage | 0.50 (0.40 to 0.60) | 0.30 (0.20 to 0.40) |" in model and "injection" in model
    assert all("No calibration is known of fit:" in text for text in (model, data))
    card = run_folder / "cards/model.md"
    assert not departures(read_card(card), made_anew(read_card(card), card, read_run(run_folder)))


def test_unfinished_and_untrained_runs_are_refused(make_run: Any, tmp_path: Path):
    with pytest.raises(DataError, match=r"is not a finished run: it has no report"):
        read_run(tmp_path)
    run = make_run(rounds=0)
    run.write("evaluation/base", run.UNTRAINED)
    run.finish()
    report(run.recipe)
    (run.recipe.output / "recipe.yaml").touch()
    with pytest.raises(DataError, match=r"nothing was trained there"):
        read_run(run.recipe.output)


def test_files_changed_since_the_report_are_refused(run_folder: Path):
    with (run_folder / "round-00/pairs.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(DataError, match=r"pairs.jsonl: is not what round-00 'rerank' made"):
        read_run(run_folder)


def test_pairs_that_were_given_to_the_run_get_no_card(run_folder: Path):
    manifest = json.loads((run_folder / "manifest.json").read_text())
    for stage in manifest["stages"]:
        if stage["outputs"].pop("pairs.jsonl", None):
            receipt = run_folder / stage["phase"] / "receipts" / f"{stage['stage']}.json"
            kept = json.loads(receipt.read_text())
            receipt.write_text(json.dumps(kept | {"outputs": stage["outputs"]}))
    (run_folder / "manifest.json").write_text(json.dumps(manifest))
    write_cards(read_run(run_folder), UNSAID)
    assert [path.name for path in (run_folder / "cards").iterdir()] == ["model.md"]


def test_a_recipe_changed_since_the_report_is_refused(run_folder: Path):
    path = run_folder / "recipe.yaml"
    path.write_text(re.sub(r"^seed: \d+", "seed: 99", path.read_text(), flags=re.MULTILINE))
    with pytest.raises(DataError, match=r"recipe.yaml: is not the recipe that the run was made with"):
        read_run(run_folder)


@pytest.mark.parametrize("text", ["[]", "{", '{"format": "another"}'])
def test_a_damaged_manifest_is_refused_by_its_name(run_folder: Path, text: str):
    (run_folder / "manifest.json").write_text(text)
    with pytest.raises(DataError, match=r"manifest.json: is not a manifest of this version"):
        read_run(run_folder)


@pytest.mark.parametrize(("key", "value"), [("stages", None), ("stages", 3), ("signatures", None), ("recipe", None)])
def test_a_manifest_without_what_files_are_compared_with_is_refused(run_folder: Path, key: str, value: Any):
    path = run_folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DataError, match=rf"manifest.json: is not a manifest.*{key}"):
        read_run(run_folder)


def test_the_name_of_a_run_is_one_word_of_the_command(run_folder: Path):
    run = read_run(run_folder)
    named = replace(run, report=run.report.model_copy(update={"name": "a; rm -rf ~"}))
    assert "--lora-modules 'a; rm -rf ~=ADAPTER'" in card_text(named, Card("model"))


def test_comments_code_and_rules_may_stand_in_the_publishers_sections(run_folder: Path):
    written(run_folder)
    path, theirs = (
        run_folder / "cards/model.md",
        "### Use\n\n<!-- a\nb -->\n```bash\nls # all\n```\n~~~\na --> b\n~~~\n- ```\n  ## <pre>\n  ```\n\n---\n<p>a<br></p>",
    )
    write_text(path, read_text(path).replace("The publisher has not written anything here.", theirs))
    assert theirs in written(run_folder)[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<!-- end of yours -->\n\n## Limitations", "## Limitations", "are not as they were written"),
        *(
            ("The publisher has not written anything here.", heading, "write ### there")
            for heading in (
                "## Scores",
                " ## Scores",
                "##\tScores",
                "##",
                "Scores\n---",
                "Scores\n =",
                "<H2>Scores</H2>",
                "> # Scores",
                "- ## Scores",
            )
        ),
        *(
            ("The publisher has not written anything here.", opened, "is not closed")
            for opened in (
                "<!-- from here",
                "```\na",
                "~~~~\na\n~~~",
                "<!--\n```\n-->\n```\na",
                "```a```\n```",
                "<pre>\na",
                # the fence in the list ends with the list, the next one with nothing
                "- ~~~\n  ```\na\n  ```",
                # a comment that is code is none
                "    <!--\n```\n-->",
                "`<!--`\n```\n-->",
                "<details><summary>more</summary>\n\na",
                "<!--> <details> -->",
                "<details/>",
            )
        ),
        ("license: unknown", "self: me", "the key 'self'"),
        ("tags:\n- dpo\n- evenhand\n- lora\n- trl", "tags: 3", "tags that are not a list"),
        ("<!-- evenhand model card", "<!-- another card", "is not a card of this version"),
        ("library_name: peft", "library_name: peft\nlibrary_name: peft", "library_name"),
    ],
)
def test_a_file_that_is_no_card_is_left_alone(run_folder: Path, old: str, new: str, message: str):
    text, _ = written(run_folder)
    path = run_folder / "cards/model.md"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DataError, match=message):
        written(run_folder)
    assert path.read_text() == text.replace(old, new, 1)
