"""Good files of every kind that the core reads, each with the command that reads it; what others of plug-ins are made with."""

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
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config import TrainSection
from evenhand.judges.batch import JudgedBatch
from evenhand.records import Judgement, Message, PreferencePair
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


def _corpus(folder: Path) -> Given:
    path = written(folder / "corpus.jsonl", *document_sets())
    values = recipe(folder, corpus={**RECIPE["corpus"], "path": str(path), "test_share": 0.5, "train": {}, "test": {}})
    return Given(path, "jsonl", ("validate", values))


def audit(folder: Path, **options: Any) -> tuple[Any, ...]:
    """An audit that needs no model; `documents`, `summaries` and `units` are files."""
    documents = options.get("documents") or written(folder / "docs.jsonl", *document_sets())
    summaries = options.get("summaries") or written(
        folder / "base.jsonl", *({"id": f"s{k}", "summary": "The ferry is cheap. It is dear."} for k in range(4))
    )
    units = ("--units", options["units"]) if "units" in options else ()
    return (
        "audit", "--documents", documents, "--summaries", summaries, "--attribute", options.get("attribute", "stance"), *units,
        *options.get("measures", ("--measures", "value-shares", "--matcher", "words")), "--resamples", 100,
        "--out", folder / "audit",
    )  # fmt: skip


def _documents(folder: Path) -> Given:
    path = written(folder / "given.jsonl", *document_sets())
    return Given(path, "jsonl", audit(folder, documents=path))


def _summaries(folder: Path) -> Given:
    path = written(folder / "given.jsonl", *({"id": f"s{k}", "summary": "The ferry is cheap."} for k in range(4)))
    return Given(path, "jsonl", audit(folder, summaries=path))


def _summaries_by_id(folder: Path) -> Given:
    path = written(folder / "given.json", {f"s{k}": "The ferry is dear." for k in range(4)})
    return Given(path, "json", audit(folder, summaries=path))


def _summaries_in_order(folder: Path) -> Given:
    path = folder / "given.txt"
    path.write_text("The ferry is cheap.\n" * 4)
    return Given(path, "text", audit(folder, summaries=path))


def _units(folder: Path) -> Given:
    path = written(
        folder / "units.json", {f"s{k}": ["The ferry is cheap.", "It is dear.", "Nurses need it."] for k in range(4)}
    )
    return Given(path, "json", audit(folder, units=path, measures=("--measures", "coverage")))


def imported(folder: Path, path: Path, form: str, *arguments: Any) -> Given:
    return Given(path, form, ("import", *arguments, "--out", folder / "sets.jsonl"))


def _import_coverage(folder: Path) -> Given:
    records = [
        {
            "entity_id": f"e{k}",
            "reviews": [{"sentences": ["No.", "Never."], "label": 1}, {"sentences": ["Yes."], "label": 0}],
        }
        for k in range(3)
    ]
    path = written(folder / "semeval.jsonl", *records)
    return imported(folder, path, "jsonl", "coverage", path, "--labels", "semeval")


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
    "recipe": _validate, "dry run": _dry_run, "shipped recipe": _shipped, "accelerate": _accelerate, "corpus": _corpus,
    "documents": _documents, "summaries": _summaries, "summaries by id": _summaries_by_id,
    "summaries in order": _summaries_in_order, "units": _units, "coverage": _import_coverage, "verdicts": _verdicts,
    "reference": _reference, "pairs": _pairs, "journal": _journal,
    **{name: partial(_in_a_run, name=name, verb=verb) for name, verb in READ_BY.items()},
}  # fmt: skip
