"""What is asked, last or first: tokens that both sides' prompts share, and how good summaries are.

The shipped template has the documents first and the side last, so both prompts of a set begin alike; the other one has the same
words with what is asked in front of the documents, and nothing to share. Tokens are counted exactly, over all sets. On --sets of
them a model answers both, one greedy answer of each side, and the shipped judges score the answers: differences are paired,
averaged over a set's sides, with Student's t over sets.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .. import api
from ..config import CorpusSection, TaskSection
from ..generate.backend import prompt_tokens
from ..generate.prefixes import segments
from ..generate.requests import PROMPTS, build_requests
from ..models import locate
from ..models.opening import open_chat_tokenizer
from ..records import DocumentSet
from ..resampling import t_interval
from .report import Breakdown, Report, bench_options, count, run_bench

LAST, FIRST = "side last", "side first"
SHIPPED = "perspective"
JUDGES: dict[str, dict[str, Any]] = {
    "faithfulness": {"kind": "alignment", "chunks": "sentence", "direction": "precision"},
    "coverage": {"kind": "alignment", "chunks": "sentence", "direction": "recall"},
    "opposing": {"kind": "alignment", "chunks": "sentence", "direction": "precision", "against": "opposing"},
    "rouge1_recall": {"kind": "rouge", "type": "rouge1", "measure": "recall"},
    "rouge1_precision": {"kind": "rouge", "type": "rouge1", "measure": "precision"},
}
# of the prompt and of the answer
MOST, ANSWER = 2048, 64
LEVEL = 0.95


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "side", __doc__, argv, {"sets": 2}, "model", "dtype", sets=count(32, "sets that are answered")
    )
    report = Report("side", vars(options))
    sets = api.load_documents("sample").records
    with TemporaryDirectory() as folder:
        templates = {LAST: SHIPPED, FIRST: str(write_side_first(Path(folder)))}
        counted = [{"": how, **tokens(sets, template, options.model)} for how, template in templates.items()]
        report.add_breakdown(Breakdown(f"tokens of the prompts of {len(sets)} sets", counted))
        scores = {how: scored(sets[: options.sets], template, options) for how, template in templates.items()}
    report.add_breakdown(Breakdown(f"both sides of {options.sets} sets", list(map(dict, differences(scores)))))
    report.finish()


def write_side_first(folder: Path) -> Path:
    """The shipped template with its last paragraph behind the first, before the documents."""
    opening, documents, asked = (PROMPTS / f"{SHIPPED}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    path = folder / "side-first.txt"
    path.write_text("\n\n".join((opening, asked, documents)) + "\n", encoding="utf-8")
    return path


def tokens(sets: Sequence[DocumentSet], template: str, model: str) -> dict[str, Any]:
    """Tokens of all prompts, and those that run where prompts of a set share what they begin with."""
    tokenizer = open_chat_tokenizer(locate(model), "a benchmark")
    prompts = defaultdict(list)
    for each in build_requests(sets, CorpusSection(), TaskSection(template=template)):
        prompts[each.document_set.id].append(tuple(prompt_tokens(tokenizer, each.prompt)))
    whole = sum(len(each) for its in prompts.values() for each in its)
    run = sum(
        len(segment.tokens)
        for its in prompts.values()
        for segment in {id(s): s for end in segments(sorted(set(its))) for s in end.path()}.values()
    )
    return {"tokens": whole, "run": run, "saved": f"{1 - run / whole:.1%}"}


def scored(sets: Sequence[DocumentSet], template: str, options: Any) -> dict[str, dict[str, float]]:
    """Judge -> set -> mean score over its sides."""
    plans = {"greedy": {"temperature": 0.0, "candidates": 1, "max_tokens": ANSWER}}
    made = api.generate(
        sets, {"name": options.model, "dtype": options.dtype}, task={"template": template}, backend="transformers",
        plans=plans, max_model_len=MOST, requests_per_batch=8,
    )  # fmt: skip
    rows = api.judge(made, JUDGES).rows()
    by_set: dict[str, dict[str, list[float]]] = {judge: defaultdict(list) for judge in JUDGES}
    for row, judge in ((row, judge) for row in rows for judge in JUDGES):
        if row[judge] is not None:
            by_set[judge][row["set"]].append(row[judge])
    return {judge: {name: mean(its) for name, its in found.items()} for judge, found in by_set.items()}


def differences(scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[dict[str, str]]:
    """A row for each judge: both means, and the difference with its 95 % interval."""
    found = []
    for judge in JUDGES:
        last, first = scores[LAST][judge], scores[FIRST][judge]
        both = sorted(last.keys() & first.keys())
        gaps = np.array([(last[each] - first[each], 1.0) for each in both])
        row = {"": judge} | {
            how: f"{mean(by[each] for each in both):.3f}" for how, by in ((LAST, last), (FIRST, first))
        }
        gap = t_interval(lambda sums: sums[..., :1] / sums[..., 1:], gaps, np.ones((len(gaps), 1), dtype=bool), LEVEL)
        row["last less first"] = f"{gap.estimate[0]:+.3f} [{gap.low[0]:+.3f}, {gap.high[0]:+.3f}]"
        found.append(row)
    return found


if __name__ == "__main__":
    run_bench(main)
