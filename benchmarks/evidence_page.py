"""The page of `make evidence`, gathered from what its parts have left: what was asked, on how many sets, and what can be told.

Every number comes from the JSON files of audits, comparisons and benchmarks of judges, which have pages of their own beside this
one. What no interval tells apart cannot be told, and is called so; blocks taken over from those pages say "no clear difference".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ..evaluation.audit import page as audit_page
from ..evaluation.audit.contents import Audit, AuditNumber
from ..evaluation.pages.blocks import Block, Facts, Heading, Page, Prose
from ..evaluation.pages.cells import Group, NumberCell, Table, Text
from ..evaluation.pages.numbers import places_for
from ..evaluation.pages.tables import bounds, count, group, table
from ..evaluation.pages.words import UNSURE, counted, legend
from ..evaluation.report.comparison import page as comparison_page
from ..evaluation.report.comparison.contents import Comparison
from ..evaluation.report.systems.contents import Difference, JudgeNote
from ..evaluation.report.systems.systems import budget_name
from ..evaluation.report.systems.words import change, verdict
from ..evaluation.worth import worth_blocks
from ..judges.benchmark import Benchmark
from ..judges.calibration import Calibration
from ..plugins.judge_studies import benchmark_page, training_page
from ..plugins.judge_studies import page as judges_page
from ..plugins.judge_studies.training import Training
from ..records import Record
from ..storage import read_json, read_text, write_json
from ..text.mistakes import explained

DONE = "parts"


class Done(Record):
    """What became of a part."""

    part: str
    # of the last command; None where it was interrupted, and the same command continues
    exit_code: int | None
    # why it did not end well
    said: str
    # of all runs together
    seconds: float
    date: str
    # of all runs, in their order
    commit: str
    machine: dict[str, Any]

    def write(self, out: Path) -> None:
        """Keep it for the page."""
        write_json(out / DONE / f"{self.part}.json", self.model_dump(mode="json"))


def read_done(out: Path, part: str) -> Done | None:
    """What became of a part; None of one that was never begun, or whose note is of another version."""
    path = out / DONE / f"{part}.json"
    try:
        return Done.model_validate(read_json(path)) if path.is_file() else None
    except ValidationError:
        return None


class Twice(Record):
    """Two runs of one recipe: their files, and whether each has the same bytes in both."""

    same: dict[str, bool]


def twice_page(found: Twice) -> Page:
    """The two runs as blocks."""
    rows = [
        (name, Text("the same bytes", tone="better") if same else Text("other bytes", tone="worse"))
        for name, same in found.same.items()
    ]
    n = sum(found.same.values())
    return Page(
        kind="two runs",
        about=f"{counted(len(rows), 'file')} of two runs",
        title=f"{n} of {counted(len(rows), 'file')} have the same bytes in both runs.",
        warnings=(),
        findings=(),
        body=(),
        main=(table("files of two runs", ("file", "in both runs"), rows),),
        footer="",
    )


# file that says what was found -> what it holds, and its page
RESULTS: dict[str, tuple[type[BaseModel], Callable[[Any], Page]]] = {
    "comparison.json": (Comparison, comparison_page.page),
    "audit.json": (Audit, audit_page.page),
    "calibration.json": (Calibration, judges_page.page),
    "training.json": (Training, training_page.page),
    "benchmark.json": (Benchmark, benchmark_page.page),
    "twice.json": (Twice, twice_page),
}


def page(out: Path, parts: Mapping[str, tuple[str, Sequence[str]]]) -> Page:
    """What all parts say.

    Args:
        out: folder of the evidence.
        parts: part -> its question and the folders of its results, in the order of the page.
    """
    done = {name: read_done(out, name) for name in parts}
    found = {name: list(_results(out, folders)) for name, (_, folders) in parts.items()}
    rows = [row for name in parts for row in _overview(name, done[name], found[name])]
    overview = table("evidence", ("part", "rests on", "what it says"), rows)
    return Page(
        kind="evidence",
        about=f"{sum(not _why(each) for each in done.values())} of {counted(len(parts), 'part')}",
        title="What can be told of real models and real data on this machine.",
        warnings=tuple(f"{name} was not run to its end: {why}" for name, each in done.items() if (why := _why(each))),
        findings=(overview,),
        body=tuple(
            block for name, (question, _) in parts.items() for block in _part(name, question, done[name], found[name])
        ),
        main=(overview,),
        footer="Every number on this page is in the JSON files of the folders beside it, with its judge, counts, level and seed.",
    )


def _why(done: Done | None) -> str:
    """Why a part is not done; "" of one that is."""
    if done is None:
        return "nobody asked for it"
    return "" if done.exit_code == 0 else done.said


def _results(out: Path, folders: Sequence[str]) -> Iterator[tuple[str, Any, Page]]:
    """Folder, what was found and its page, of the results that are there.

    Raises:
        DataError: one is of another version.
    """
    for folder in folders:
        for file, (kind, made) in RESULTS.items():
            if (path := out / folder / file).is_file():
                remedy = f"; delete {out / folder} and run its part again"
                with explained(f"{path}: is of another version of evenhand", remedy):
                    found = kind.model_validate_json(read_text(path))
                yield folder, found, made(found)


def _overview(
    name: str, done: Done | None, found: Sequence[tuple[str, Any, Page]]
) -> Iterator[tuple[Text, Text, Text]]:
    if not found:
        yield Text(name), Text("nothing"), Text(f"not run to its end: {_why(done)}", style="long")
    for folder, _, its in found:
        yield Text(folder), Text(its.about), Text(its.title, style="long")


def _part(name: str, question: str, done: Done | None, found: Sequence[tuple[str, Any, Page]]) -> Iterator[Block]:
    yield Heading(name, lead=question)
    if why := _why(done):
        yield Prose(why, head="Not run to its end:")
    if done:
        machine = ", ".join(f"{key} {value}" for key, value in done.machine.items() if value is not None)
        yield Facts(
            (
                ("date", Text(done.date)),
                (
                    "commit" if ", " not in done.commit else "commits of its runs",
                    Text(done.commit or "unknown", style="code"),
                ),
                ("minutes, all runs together", NumberCell(done.seconds / 60, places=0)),
                ("machine", Text(machine)),
            )
        )
    for folder, result, its in found:
        yield Heading(folder, 3, its.about)
        yield Prose(its.title)
        yield from (Prose(each, "small") for each in its.warnings)
        blocks = differences(result) if isinstance(result, Comparison) else its.main
        if isinstance(result, Audit):
            blocks = (*its.main, measures(result))
        yield from (replace(block, level=3) if isinstance(block, Heading) else block for block in blocks)


def differences(found: Comparison) -> Iterator[Block]:
    """Each entry less the first one of its budget by each judge of the report, and what the judges are worth."""
    seeds = {recipe["seed"] for recipe in found.recipes.values()}
    yield legend(f": {UNSURE}; seed {', '.join(map(str, sorted(seeds)))}")
    groups = [_by_judge(found, judge) for judge in found.judges if judge.better]
    heads = ("less the first of its budget", "document sets", "difference", "verdict")
    yield table("differences", heads, [each for each in groups if each.rows])
    yield from worth_blocks(found.worth)


def _by_judge(found: Comparison, judge: JudgeNote) -> Group:
    tests = [
        test for test in found.tests
        if (test.measure, test.side) == (judge.name, None) and test.k == test.reference_k
    ]  # fmt: skip
    places = places_for(test.value for test in tests)
    note = f"{judge.better} is better" + ("; also a reward, so no proof" if judge.role == "both" else "")
    return group([_difference(test, judge, places) for test in tests], f"by {judge.name}", note)


def _difference(test: Difference, judge: JudgeNote, places: int) -> tuple[Text | NumberCell, ...]:
    what = f"{test.system} - {test.reference}, {budget_name(test.k)}"
    return Text(what), count(test.n_sets), change(test, judge, places), verdict(test, judge)


def measures(found: Audit) -> Table:
    """What papers measure of a corpus, and less the first system's."""
    less = {(each.measure, each.system): each for each in found.differences if each.side is None}
    groups = [
        group(
            [
                _measured(each, less.get((each.measure, each.system)))
                for each in found.aggregates
                if each.system == name
            ],
            name,
        )
        for name in (system.label for system in found.systems)
    ]
    heads = ("measure", "document sets", "estimate", "less the first system's", "verdict")
    return table("measures", heads, groups)


def _measured(each: AuditNumber, less: AuditNumber | None) -> tuple[Text | NumberCell, ...]:
    shown = (Text(each.measure), count(each.n_sets), NumberCell(each.value, bounds(each)))
    if less is None:
        return (*shown, NumberCell(None), Text(""))
    said = Text(less.verdict or "", tone="unsure" if less.verdict == UNSURE else "neutral")
    return (*shown, NumberCell(less.value, bounds(less), sign=True, adjusted_p=less.adjusted), said)
