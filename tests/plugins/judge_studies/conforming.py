"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from bad_input.good_files import RECIPE, Given, recipe, written
from browsing import EVIL
from calibrated import accused, make_judge, write_calibration

from evenhand.config.judges import RougeJudge
from evenhand.corpora.controlled import ControlledSet, read_controlled
from evenhand.evaluation.pages.blocks import Page
from evenhand.judges import open_judges
from evenhand.judges.calibration import read_calibration
from evenhand.plugins.judge_studies import run as judge_audit
from evenhand.plugins.judge_studies import train_judge
from evenhand.plugins.judge_studies.agreement import correlations, winrates
from evenhand.plugins.judge_studies.benchmark import benchmark
from evenhand.plugins.judge_studies.benchmark_page import page as benchmark_page
from evenhand.plugins.judge_studies.page import page as judges_page
from evenhand.plugins.judge_studies.scoring import BASELINES, judge_sets
from evenhand.plugins.judge_studies.training_page import page as training_page
from evenhand.storage import write_jsonl


def metric_benchmark_of(given: dict[str, Any]) -> dict[str, Any]:
    articles, ties = given["articles"], given.get("ties", "half")
    truths, scores = (
        np.array([*zip_longest(*(each[key] for each in articles), fillvalue=None)], dtype=float).T
        for key in ("gt", "scores")
    )
    topics = list(map(str, range(len(articles))))
    pooled, within = correlations(truths, scores, topics, chooses=False)
    by_article, of_pairs, n_ties = winrates(truths, scores, topics, ties)
    return {
        "spearman_pooled": pooled.value, "spearman_macro": within.value, "spearman_articles": within.n,
        "winrate_macro": by_article.value, "winrate_micro": of_pairs.value, "winrate_articles": by_article.n,
        "pairs": of_pairs.n, "metric_ties": n_ties,
    }  # fmt: skip


OPERATIONS = {"metric_benchmark": metric_benchmark_of}


RECALL = RougeJudge(kind="rouge", measure="recall")


def benchmarked(run: Any, folder: Path) -> Page:
    sets = [
        ControlledSet(
            id=f"{topic}-{side}",
            topic=topic,
            side=side,
            passages=("The ferry is cheap.",),
            n_key_points=2,
            summaries=(
                {"text": "Cheap and needed.", "relevant": 2},
                {"text": "Dear.", "relevant": 0, "opposite": 1},
            ),
        )
        for topic in ("ferry", "park")
        for side in ("left", "right")
    ]
    scored = judge_sets(open_judges({"length": BASELINES["length"]}), sets)
    found = benchmark(sets, scored, file=f"{EVIL}.jsonl", digest="0" * 16)
    return benchmark_page(found)


def audit_of_judges(run: Any, folder: Path) -> Page:
    path = folder / f"{EVIL.replace('/', '')}.jsonl"
    write_jsonl(path, read_controlled(Path("sample"))[:24])
    wanted = judge_audit.AuditRequest(path, {EVIL: RECALL, "length": BASELINES["length"]}, limit=12)
    return judges_page(judge_audit.audit_judges(judge_audit.prepare(wanted), folder / "out"))


def trained_judge(run: Any, folder: Path) -> Page:
    wanted = train_judge.TrainingRequest(
        "coverage", {EVIL: RougeJudge(kind="rouge", type="average", measure="fmeasure")}
    )
    return training_page(train_judge.train_judge(Path("sample"), wanted, folder / "out"))


def judges(run: Any, folder: Path) -> Page:
    path = folder / "calibration.json"
    write_calibration(
        path, make_judge("a", judge="overlap"), make_judge("b", judge="grade", probes=(accused("injection", "obeys"),))
    )
    return judges_page(read_calibration(path))


PAGES = {"judges": benchmarked, "audit_of_judges": audit_of_judges, "trained_judge": trained_judge}
GOLDEN = {"judges": (judges, Path(__file__).parent / "judges.md")}


def _judges(folder: Path) -> Given:
    path = folder / "judges.yaml"
    path.write_text(
        yaml.safe_dump({"judges": {"words": {"kind": "length"}, "rouge": {"kind": "rouge", "type": "rouge2"}}})
    )
    controlled = _controlled(folder).file
    return Given(path, "yaml", ("judges", "benchmark", controlled, "--judges", path, "--out", folder / "out"))


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
    return Given(path, "jsonl", ("judges", "benchmark", path, "--out", folder / "out"))


def _trained_judge(folder: Path) -> Given:
    signature = "rouge1-recall|judge:rouge|against:source|stemmer:no|package:0.1.2|v:3"
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


FILES = {
    "judges": _judges,
    "controlled sets": _controlled,
    "trained judge": _trained_judge,
}
