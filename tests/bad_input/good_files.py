"""Good files of every kind that evenhand reads, each with the command that reads it."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from sheets import make_item, make_sheet, write_phase
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config import TrainSection
from evenhand.judges.batch import JudgedBatch
from evenhand.plugins.bias.study.inputs import BiasInput
from evenhand.plugins.bias.study.summarise import read_given
from evenhand.plugins.judge_studies.people.annotations.label_studio import to_tasks
from evenhand.records import DocumentSet, Judgement, Message, PreferencePair
from evenhand.runfolder.journal import Journal
from evenhand.train.launch import accelerate_config, n_processes

REPOSITORY = Path(__file__).parents[2]
RECIPE = {
    "name": "study",
    "output": "run",
    "model": {"name": "none"},
    "corpus": {"path": "sample", "sides": ["left", "right"], "test": {"split": "test", "limit": 2}},
    "generate": {"backend": "scripted", "plans": {"nucleus": {"candidates": 2, "top_p": 0.9}, "hot": {"temperature": 1.5}}},
    "judges": {
        "recall": {"kind": "rouge"},
        "length": {"kind": "length"},
        "graph": {"kind": "value-shares", "matcher": {"kind": "words"}},
    },
    "reward": {"judges": ["recall"], "combine": "weighted", "weights": {"recall": 1.0}},
    "pairs": {"mode": "best_k", "k": 2},
    "evaluation": {"judges": ["length"], "resamples": 100},
    "rounds": 0,
    "trainer": {"beta": 0.2},
    "lora": {"r": 4},
}  # fmt: skip


@dataclass(frozen=True)
class Given:
    """A file, and the command that reads it."""

    # what is damaged, and how: "json", "jsonl", "yaml", "text"
    file: Path
    form: str
    arguments: tuple[Any, ...] = ()
    # in place of a command, the function that commands read the file with
    read: Callable[[], object] | None = None
    # a file of a run, or of a cache: it may also end the command with 1
    own: bool = False


def written(path: Path, *records: Any) -> Path:
    """JSON lines of these records, or JSON of one in a .json file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(each, ensure_ascii=False) for each in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def recipe(folder: Path, **changes: Any) -> Path:
    """The small recipe, its output in the folder."""
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump({**RECIPE, "output": str(folder / "run"), **changes}, sort_keys=False))
    return path


def document_sets(n: int = 4) -> list[dict[str, Any]]:
    """Small sets with all that a set may have."""
    return [
        {
            "id": f"s{k}",
            "topic": f"The ferry {k}",
            "documents": [
                {"id": f"s{k}/1", "text": "The ferry is cheap. Nurses need it.", "attributes": {"stance": "left"}},
                {"id": f"s{k}/2", "text": "The ferry is dear.", "attributes": {"stance": "right"}},
            ],
            "references": ["The ferry is cheap and dear."],
            "key_points": {"left": ["It is cheap."], "right": ["It is dear."]},
            "split": "train",
            "notes": {"values": {"stance": ["left", "right"]}, "separator": " || ", "rating": 1.5},
        }
        for k in range(n)
    ]


def _validate(folder: Path) -> Given:
    path = recipe(folder)
    return Given(path, "yaml", ("validate", path))


def _dry_run(folder: Path) -> Given:
    path = recipe(folder)
    return Given(path, "yaml", ("loop", path, "--dry-run"))


def _shipped(folder: Path) -> Given:
    path = folder / "recipe.yaml"
    path.write_bytes((REPOSITORY / "recipes" / "quickstart.yaml").read_bytes())
    return Given(
        path,
        "yaml",
        ("validate", path, "--set", "generate.backend=scripted", "--set", "rounds=0", "--set", "model.name=none"),
    )


def _accelerate(folder: Path) -> Given:
    # read as the checks before a training read it, without their other checks, which want a model
    path = folder / "accelerate.yaml"
    path.write_bytes((REPOSITORY / "accelerate_configs" / "zero2_cpu.yaml").read_bytes())
    return Given(path, "yaml", read=lambda: n_processes(TrainSection(), accelerate_config(str(path))))


def _judges(folder: Path) -> Given:
    path = folder / "judges.yaml"
    path.write_text(
        yaml.safe_dump({"judges": {"words": {"kind": "length"}, "rouge": {"kind": "rouge", "type": "rouge2"}}})
    )
    controlled = _controlled(folder).file
    return Given(path, "yaml", ("benchmark-judges", controlled, "--judges", path, "--out", folder / "out"))


def _controlled(folder: Path) -> Given:
    records = [
        {
            "id": f"c{k}", "topic": f"t{k % 2}", "side": "left", "passages": ["The ferry is cheap.", "Nurses need it."],
            "n_key_points": 2, "key_points": ["It is cheap.", "It is needed."],
            "summaries": [
                {"text": "The ferry is cheap.", "relevant": 1, "opposite": 0, "adversarial": 0},
                {"text": "The ferry is cheap and nurses need it.", "relevant": 2, "opposite": 0, "adversarial": 0},
                {"text": "It is dear.", "relevant": 0, "opposite": 1, "adversarial": 1},
            ],
        }
        for k in range(3)
    ]  # fmt: skip
    path = written(folder / "controlled.jsonl", *records)
    return Given(path, "jsonl", ("benchmark-judges", path, "--out", folder / "out"))


def _trained_judge(folder: Path) -> Given:
    signature = "rouge1-recall|judge:rouge|against:source|stemmer:no|package:0.1.2|v:2"
    record = {
        "format": "evenhand-combined-judge/3", "purpose": "coverage", "intercept": 0.5,
        "features": [
            {"name": "recall", "coefficient": 0.1, "mean": 0.2, "scale": 0.1, "least": 0.1, "most": 0.9, "sign": "up"},
            {"name": "log-words", "coefficient": 0.1, "mean": 3.2, "scale": 0.4, "least": 1.0, "most": 5.5, "sign": None},
        ],
        "members": [{"name": "recall", "options": {"kind": "rouge", "type": "rouge1"}, "signature": signature}],
        "penalty": 0.1,
        "trained_on": {"file": "f", "digest": "0", "topics": 5, "articles": 5, "summaries": 9, "left_out": 0, "seen": ["0"]},
        "figures": [
            {
                "name": "combined", "pooled": {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "n_sets": 5},
                "within": {"value": 0.5, "low": None, "high": None, "n": 5, "n_sets": 5},
            }
        ],
        "made_with": "0.2.0",
    }  # fmt: skip
    path = written(folder / "judge.json", record)
    judges = {"recall": {"kind": "rouge"}, "mine": {"kind": "combined", "file": str(path)}}
    return Given(
        path, "json", ("validate", recipe(folder, judges=RECIPE["judges"] | judges, evaluation={"judges": ["mine"]}))
    )


def _build_controlled(folder: Path) -> Given:
    path = folder / "controlled.yaml"
    path.write_bytes((REPOSITORY / "recipes" / "controlled" / "sample.yaml").read_bytes())
    return Given(path, "yaml", ("build-controlled", path, "--dry-run"))


def _articles(folder: Path) -> Given:
    records = [
        {
            "id": f"a{k}",
            "topic": "ferry",
            "side": side,
            "passages": ["It is cheap.", "It is quick."],
            "key_points": ["Cheap.", "Quick."],
        }
        for k, side in enumerate(("left", "right"))
    ]
    path = written(folder / "articles.jsonl", *records)
    shipped = REPOSITORY / "recipes" / "controlled" / "sample.yaml"
    return Given(path, "jsonl", ("build-controlled", shipped, "--dry-run", "--set", f"input={path}"))


def _bias(folder: Path) -> Given:
    path = folder / "bias.yaml"
    path.write_bytes((REPOSITORY / "recipes" / "bias" / "simulated.yaml").read_bytes())
    return Given(path, "yaml", ("bias-study", path, "--dry-run"))


def _annotated(folder: Path) -> Given:
    path = folder / "news.jsonl"
    shipped = (REPOSITORY / "plugins" / "bias" / "annotated" / "sample").glob("*.jsonl")
    path.write_text("".join(next(shipped).read_text(encoding="utf-8").splitlines(keepends=True)[:3]), encoding="utf-8")
    recipe_path = REPOSITORY / "recipes" / "bias" / "simulated.yaml"
    return Given(path, "jsonl", ("bias-study", recipe_path, "--dry-run", "--set", f"input={path}"))


def _corpus(folder: Path) -> Given:
    path = written(folder / "corpus.jsonl", *document_sets())
    values = recipe(folder, corpus={**RECIPE["corpus"], "path": str(path), "test_share": 0.5, "train": {}, "test": {}})
    return Given(path, "jsonl", ("validate", values))


def _audit(folder: Path, **options: Any) -> tuple[Any, ...]:
    """An audit that needs no model; `documents`, `summaries` and `units` are files."""
    documents = options.get("documents") or written(folder / "docs.jsonl", *document_sets())
    summaries = options.get("summaries") or written(
        folder / "base.jsonl", *({"id": f"s{k}", "summary": "The ferry is cheap. It is dear."} for k in range(4))
    )
    units = ("--units", options["units"]) if "units" in options else ()
    return (
        "audit", "--documents", documents, "--summaries", summaries, "--attribute", options.get("attribute", "stance"), *units,
        *options.get("measures", ("--measures", "value-shares,opinions", "--matcher", "words")), "--resamples", 100,
        "--out", folder / "audit",
    )  # fmt: skip


def _documents(folder: Path) -> Given:
    path = written(folder / "given.jsonl", *document_sets())
    return Given(path, "jsonl", _audit(folder, documents=path))


def _released(folder: Path) -> Given:
    path = written(folder / "released.json", [_perspectives() for _ in range(2)])
    summaries = written(folder / "base.txt", {"summary": "Fine."}, {"summary": "Bad."})
    arguments = _audit(folder, documents=path, summaries=summaries, attribute="sentiment")
    return Given(path, "json", arguments)


def _summaries(folder: Path) -> Given:
    path = written(folder / "given.jsonl", *({"id": f"s{k}", "summary": "The ferry is cheap."} for k in range(4)))
    return Given(path, "jsonl", _audit(folder, summaries=path))


def _summaries_by_id(folder: Path) -> Given:
    path = written(folder / "given.json", {f"s{k}": "The ferry is dear." for k in range(4)})
    return Given(path, "json", _audit(folder, summaries=path))


def _summaries_in_order(folder: Path) -> Given:
    path = folder / "given.txt"
    path.write_text("The ferry is cheap.\n" * 4)
    return Given(path, "text", _audit(folder, summaries=path))


def _studied_summaries(folder: Path) -> Given:
    inputs = [
        BiasInput(
            id=f"s{k}", original_id=f"s{k}", design="balanced", assignment_id=0, pair_id=0, group=None,
            text=f"The ferry {k} is cheap.", entities={},
        )
        for k in range(4)
    ]  # fmt: skip
    path = written(folder / "given.jsonl", *({"id": each.id, "summary": "The ferry is dear."} for each in inputs))
    return Given(path, "jsonl", read=partial(read_given, path, inputs))


def _units(folder: Path) -> Given:
    path = written(
        folder / "units.json", {f"s{k}": ["The ferry is cheap.", "It is dear.", "Nurses need it."] for k in range(4)}
    )
    return Given(path, "json", _audit(folder, units=path, measures=("--measures", "coverage")))


def _sheet(folder: Path) -> Given:
    items = [make_item(f"ferry-{k}/{side}") for k in range(2) for side in ("left", "right")]
    path = written(folder / "anna.json", make_sheet(*items).model_dump(mode="json"))
    return Given(path, "json", ("human", "convert", path, "--to", "label-studio", "--out", folder / "tasks.json"))


def _key(folder: Path) -> Given:
    from evenhand.plugins.judge_studies.people.page import blank_sheet, write_page

    ferry = DocumentSet.model_validate(document_sets(1)[0])
    systems = {name: write_phase(folder / name, [ferry], {}) for name in ("base", "dpo")}
    sheet, key = blank_sheet(systems, limit=None, seed=1, annotator="anna")
    key_path, blank = write_page(folder / "page.html", sheet, key)
    value = json.loads(blank.read_text())
    for item, shown in zip(value["items"], sheet.items, strict=True):
        item["key_points"] = [[span.model_dump()] for span in shown.passages]
        for summary in item["summaries"]:
            summary |= {"none": True, "points": [], "omitted": [True] * len(item["key_points"]), "hallucinated": []}
    marks = written(folder / "anna.json", value)
    return Given(key_path, "json", ("human", "score", marks, key_path, "--resamples", 100))


def _scored(folder: Path) -> Given:
    given = _key(folder)
    return Given(folder / "anna.json", "json", given.arguments)


def _human_files(folder: Path) -> Given:
    document, summary = "Keep the ferry.\n\nNurses need it.", "The Left keeps it."
    shown = {"topic": "Ferry", "stance": "left", "input": "-", "document": document, "summaries": {"pine": summary}}
    marks = {
        "highlight_document": [[[{"start": 0, "end": 14, "label": "Keep the ferry"}], []], []],
        "highlight_summary_pine": ["keeps it"],
        "in_doc_nin_summary_pine_0": False,
        "nin_doc_in_summary_pine_0": True,
    }
    path = written(folder / "human_1.json", [marks])
    return Given(
        path, "json", ("human", "score", path, written(folder / "human_items_1.json", [shown]), "--resamples", 100)
    )


def _human_items(folder: Path) -> Given:
    given = _human_files(folder)
    return Given(folder / "human_items_1.json", "json", given.arguments)


def _label_studio(folder: Path) -> Given:
    tasks = []
    for number, task in enumerate(to_tasks(make_sheet(*(make_item(f"ferry-{k}/left") for k in range(2))))):
        task["annotations"][0] |= {"id": number, "completed_by": {"id": 1, "email": "anna@example.org"}}
        tasks.append({**task, "id": number, "predictions": []})
    path = written(folder / "export.json", tasks)
    return Given(path, "json", ("human", "convert", path, "--to", "evenhand", "--out", folder / "sheet.json"))


OPINIONS = [
    {"set_id": "us", "opinions": {"wall": "Build the wall.", "tax": "He hides his taxes."}},
    {"set_id": "us", "summary_id": "us/a", "annotator": "anna", "labels": {"wall": "complete", "tax": -0.5},
     "fairness": "very_unfair"},
    {"set_id": "us", "summary_id": "us/a", "annotator": "ben", "labels": {"wall": "absent", "tax": "somewhat"},
     "reason": "groups"},
    {"set_id": "us", "summary_id": "us/b", "annotator": "ben", "labels": {"wall": "absent", "tax": 1}},
]  # fmt: skip


def _opinions(folder: Path) -> Given:
    path = written(folder / "opinions.jsonl", *OPINIONS)
    return Given(path, "jsonl", ("human", "opinions", path, "--out", folder / "out.json"))


def _opinion_table(folder: Path) -> Given:
    path = folder / "opinions.csv"
    path.write_text(
        "set_id,summary_id,annotator,fairness,reason,wall,tax\nus,us/a,anna,very_fair,groups,complete,-1\nus,us/b,ben,,,0.5,absent\n"
    )
    return Given(path, "text", ("human", "opinions", path))


def _opinion_texts(folder: Path) -> Given:
    path = written(
        folder / "texts.jsonl",
        {"set_id": "us", "units": ["Build the wall now.", "He hides his taxes again."]},
        {"set_id": "us", "gold": ["The wall and the taxes."]},
        {"set_id": "us", "summary_id": "us/a", "summary": "A wall."},
        {"set_id": "us", "summary_id": "us/b", "summary": "His taxes."},
    )
    return Given(path, "jsonl", ("human", "opinions", written(folder / "opinions.jsonl", *OPINIONS), "--texts", path))


def _perspectives() -> dict[str, Any]:
    return {
        "units": [
            {"text": "Fine.", "value": {"sentiment": "pos", "rating": 4}},
            {"text": "Bad.", "value": {"sentiment": "neg", "rating": 1}},
        ],
        "meta": {"seperator": " || "},
        "value_input": {"sentiment": ["Fine.", "Bad."], "rating": ["Bad.", "Fine."]},
        "value_mapping": {"sentiment": ["pos", "neg"], "rating": [1, 4]},
    }  # fmt: skip


def _imported(folder: Path, path: Path, form: str, *arguments: Any) -> Given:
    return Given(path, form, ("import", *arguments, "--out", folder / "sets.jsonl"))


def _import_perspectives(folder: Path) -> Given:
    path = written(folder / "yelp.json", [_perspectives() for _ in range(2)])
    return _imported(folder, path, "json", "perspectivesumm", path)


def _import_polisum(folder: Path) -> Given:
    left, right = ["The ferry is cheap.", "Nurses need it."], ["The ferry is dear."]
    prompt = "Summarise one side.\n\nLeft:\n" + "\n".join(left) + "\n\nRight:\n" + "\n".join(right)
    items = [
        {"topic": "The Ferry", "stance": side, "input": prompt, "document": "\n".join(text)}
        for side, text in (("left", left), ("right", right))
    ]
    path = written(folder / "dev.json", items)
    return _imported(folder, path, "json", "polisum", path)


def _import_coverage(folder: Path) -> Given:
    records = [
        {
            "entity_id": f"e{k}",
            "reviews": [{"sentences": ["No.", "Never."], "label": 1}, {"sentences": ["Yes."], "label": 0}],
        }
        for k in range(3)
    ]
    path = written(folder / "semeval.jsonl", *records)
    return _imported(folder, path, "jsonl", "coverage", path, "--labels", "semeval")


def _import_tweets(folder: Path) -> Given:
    labels = ("Pro-Republican", "Pro-Democrat", "Neutral", "Unclear")
    path = folder / "input.txt"
    path.write_text("".join(f"{n}<||>{labels[n % 4]}<||>tweet number {n}\n" for n in range(120)))
    return _imported(folder, path, "text", "tweets", path, "--source", "election")


def _import_reviews(folder: Path) -> Given:
    path = folder / "raw" / "b.csv"
    path.parent.mkdir()
    path.write_text("group_id\treview_text\trating\tcategory\nb\tFine.\t4.0\tcafe\nb\tBad.\t1.0\tcafe\n")
    return _imported(folder, path, "text", "reviews", path.parent, "--labels", "rating")


def _import_debates(folder: Path) -> Given:
    turns = [{"speaker": name, "paragraphs": ["Well, well.", "So."]} for name in ("Ann", "Bo")]
    path = written(folder / "iq2.json", {"d1": {"transcript": turns}, "d2": {"transcript": turns}})
    return _imported(folder, path, "json", "dialogue", path, "--source", "debates", "--whole")


def _import_court(folder: Path) -> Given:
    turn = " +++$+++ 0 +++$+++ FALSE +++$+++ MR. A +++$+++ JUSTICE +++$+++ NA +++$+++ PETITIONER +++$+++ Order.\n"
    path = folder / "court.txt"
    path.write_text("".join(f"{case}{turn}" for case in range(10)))
    return _imported(folder, path, "text", "dialogue", path, "--source", "court", "--whole")


def _verdicts(folder: Path) -> Given:
    from evenhand.judges.cache import VerdictCache
    from evenhand.judges.judge import Verdict

    path = folder / "cache" / "judgements.sqlite"
    cache = VerdictCache(path)
    cache.keep("judge", {(f"text {n}", "summary"): Verdict(0.5, None, None, 1) for n in range(200)})
    cache.close()
    return Given(path, "text", ("cache",), own=True)


def _reference(folder: Path) -> Given:
    path = folder / "cache" / "reference_logps.sqlite"
    path.parent.mkdir()
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE pairs (key TEXT PRIMARY KEY, chosen REAL NOT NULL, rejected REAL NOT NULL) WITHOUT ROWID"
    )
    database.executemany("INSERT INTO pairs VALUES (?, ?, ?)", [(f"{n:064x}", -1.0, -2.0) for n in range(200)])
    database.commit()
    database.close()
    return Given(path, "text", ("cache", "--clear"), own=True)


@cache
def _tokenizer() -> Any:
    pytest.importorskip("transformers")
    from chat_families import FAMILIES, make_tokenizer

    return make_tokenizer(FAMILIES["Qwen 2.5"])


def _pairs(folder: Path) -> Given:
    from evenhand.generate.backend import prompt_tokens, tokens_digest
    from evenhand.train.examples import read_rows

    tokenizer = _tokenizer()
    records = []
    for k in range(4):
        prompt = (Message(role="user", content=f"Summarise ferry {k}."),)
        pair = {
            "prompt": prompt, "chosen": [{"role": "assistant", "content": "It is cheap."}],
            "rejected": [{"role": "assistant", "content": "It is."}], "request_id": f"s{k}/left", "set_id": f"s{k}",
            "side": "left", "chosen_id": f"s{k}/left#0", "rejected_id": f"s{k}/left#1", "chosen_reward": 0.75,
            "rejected_reward": 0.5, "margin": 0.25, "prompt_digest": tokens_digest(prompt_tokens(tokenizer, prompt)),
            "chosen_token_ids": tokenizer("It is cheap.")["input_ids"], "fairness": None,
        }  # fmt: skip
        records.append(PreferencePair.model_validate(pair).model_dump(mode="json"))
    path = written(folder / "pairs.jsonl", *records)
    return Given(path, "jsonl", read=lambda: read_rows(path, tokenizer), own=True)


PHASE = "evaluation/base"


def _journal(folder: Path) -> Given:
    """What a stage was killed over when it had only to say that it was done."""
    given = _in_a_run(folder, "receipts/judge.json", "judge")
    phase = given.file.parents[1]
    made = [json.loads(line) for line in (phase / "judgements.jsonl").read_text().splitlines()]
    journal = Journal(
        phase / "receipts" / f"judge.{json.loads(given.file.read_text())['inputs']}.partial.jsonl", JudgedBatch
    )
    for judge in dict.fromkeys(each["judge"] for each in made):
        mine = [Judgement.model_validate(each) for each in made if each["judge"] == judge]
        journal.append([JudgedBatch(judgements=tuple(mine), cached={judge: 0}, prompt_tokens=0, prefilled_tokens=0)])
    given.file.unlink()
    return replace(given, file=journal.path, form="jsonl")


def _in_a_run(folder: Path, name: str, verb: str) -> Given:
    """A file of a finished phase, and a stage that reads it."""
    for path, content in _finished_run().items():
        place = folder / "run" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    form = "jsonl" if name.endswith("l") else "json"
    return Given(folder / "run" / PHASE / name, form, (verb, recipe(folder), "--phase", PHASE), own=True)


@cache
def _finished_run() -> dict[str, bytes]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for verb in ("generate", "judge", "rerank"):
            arguments = [verb, str(recipe(folder)), "--phase", PHASE]
            CliRunner().invoke(app, arguments, env={"EVENHAND_CACHE": str(folder / "cache")}, catch_exceptions=False)
        run = folder / "run"
        return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}


# what a stage reads of a run -> the stage that reads it
READ_BY = {
    "requests.jsonl": "judge", "candidates.jsonl": "judge", "judgements.jsonl": "rerank", "receipts/generate.json": "judge",
    "receipts/judge.json": "rerank", "receipts/rerank.json": "rerank",
}  # fmt: skip

KINDS: dict[str, Callable[[Path], Given]] = {
    "recipe": _validate, "dry run": _dry_run, "shipped recipe": _shipped, "accelerate": _accelerate, "judges": _judges,
    "trained judge": _trained_judge,
    "controlled recipe": _build_controlled, "articles": _articles, "controlled sets": _controlled, "bias recipe": _bias,
    "annotated news": _annotated, "corpus": _corpus, "documents": _documents, "released documents": _released,
    "summaries": _summaries, "summaries by id": _summaries_by_id, "summaries in order": _summaries_in_order, "units": _units,
    "studied summaries": _studied_summaries,
    "sheet": _sheet, "scored sheet": _scored, "key": _key, "human file": _human_files, "human items": _human_items,
    "label studio": _label_studio, "opinions": _opinions, "opinion table": _opinion_table, "opinion texts": _opinion_texts,
    "perspectivesumm": _import_perspectives, "polisum": _import_polisum, "coverage": _import_coverage, "tweets": _import_tweets,
    "reviews": _import_reviews, "debates": _import_debates, "court": _import_court, "verdicts": _verdicts,
    "reference": _reference, "pairs": _pairs, "journal": _journal,
    **{name: partial(_in_a_run, name=name, verb=verb) for name, verb in READ_BY.items()},
}  # fmt: skip
