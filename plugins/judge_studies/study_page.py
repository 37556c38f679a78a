"""What pages on judges have in common: what was left out, and how it was made."""

from collections.abc import Iterable
from dataclasses import replace

from ...evaluation.pages.blocks import Block, Fact, Heading, Page, code, how_made
from ...judges.benchmark import Benchmark
from ...judges.calibration import Calibration

FOOTER = "Every number on this page is in {} beside it, every judgement in judgements.jsonl."


def completed(page: Page, study: Benchmark | Calibration, left_out: Iterable[Block], facts: Iterable[Fact]) -> Page:
    """A page with its last sections, from the study that it rests on."""
    intervals = f"{100 * study.level:g} %, Student's t by the jackknife over topics"
    made = (("controlled summaries", code(f"{study.file} {study.digest}")), *facts, ("intervals", intervals))
    return replace(page, body=(*page.body, Heading("Left out"), *left_out, *how_made(made, study.versions)))
