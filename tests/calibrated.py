"""Calibrations of judges that nobody asked, with the figures that a test needs."""

from pathlib import Path
from typing import Any

from evenhand.judges.calibration import (
    Agreement,
    Calibration,
    JudgeCalibration,
    JudgingCost,
    Probe,
    standing_of,
)
from evenhand.judges.likeness import ArticleVocabulary
from evenhand.number import Number
from evenhand.storage import write_json


def number(value: float, reach: float = 0.1, **more: Any) -> Number:
    return Number(value=value, low=value - reach, high=value + reach, **more)


def agreement(value: float, reach: float = 0.1, of: str = "fit", difference: Number | None = None) -> Agreement:
    found = number(value, reach)
    return Agreement(of=of, pooled=found, within=found.model_copy(update={"n": 25}), difference=difference)


def make_judge(signature: str, own: float = 0.5, length: float = 0.3, **changes: Any) -> JudgeCalibration:
    """A judge of coverage with intervals of 0.1 to each side."""
    gap = number(round(own - length, 6))
    gap = gap.model_copy(update={"verdict": standing_of(gap)})
    values: dict[str, Any] = {
        "judge": "fit", "signature": signature, "models": (), "revisions": (), "rubric": "", "purpose": "coverage",
        "own": agreement(own), "other": agreement(0.1), "beside": (agreement(length, of="length", difference=gap),),
        "is_constant": False, "spread": 1.0, "probes": (), "flips_again": number(0.0, 0.0), "flips_reversed": number(0.1),
        "repeat": 0.0, "cost": JudgingCost(seconds=1.0, prompt_tokens=None), "n_summaries": 199, "unscored": 0,
    }  # fmt: skip
    return JudgeCalibration.model_validate(values | changes)


def accused(name: str, note: str) -> Probe:
    return Probe(
        value=0.6,
        low=0.5,
        high=0.7,
        measure=name,
        question="?",
        p_value=0.001,
        adjusted=0.004,
        verdict="accused",
        note=note,
        n=199,
    )


def write_calibration(path: Path, *judges: JudgeCalibration, about: ArticleVocabulary | None = None) -> Path:
    found = Calibration(
        file="sets.jsonl", digest="0" * 16, n_articles=25, n_summaries=199, n_topics=13, date="2026-11-23", evenhand="0",
        versions={}, level=0.95, about=about or ArticleVocabulary(), judges=judges, not_tried={},
    )  # fmt: skip
    write_json(path, found.model_dump(mode="json"))
    return path
