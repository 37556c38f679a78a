"""`evenhand gate`: limits on an audit or a report that is there already."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError
from ..storage import as_given, parse_file, read_text
from .gate import BaselineFile, FailIf, Junit, Markdown, Options, Profile, Strict, page_kind, read_earlier
from .terminal import say, show

if TYPE_CHECKING:
    from ..evaluation.gate.contents import Gate
    from ..evaluation.gate.limits import GateRequest
    from ..evaluation.gate.subject import PageKind

EXAMPLE = 'Example: evenhand gate audit/audit.json --fail-if "worst_gap(shares) < -0.05" --baseline main/audit.json'
# where a folder has its result: that of an audit, of a report, and of a run
FILES = ("audit.json", "report.json", "report/report.json")


def gate(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    result: Annotated[
        Path, typer.Argument(metavar="RESULT", help="audit.json or report.json, or the folder that has it; or a run's.")
    ],
    fail_if: FailIf = None,
    profile: Profile = None,
    baseline: BaselineFile = None,
    strict: Strict = False,
    junit: Junit = None,
    markdown: Markdown = None,
) -> None:
    """Hold an audit or a report that is there to limits; exit code 4 where one is not kept.

    Nothing is measured again, and the result stays as it is. evenhand audit, report and compare take the same options.
    """
    from ..evaluation.gate.decide import gated
    from ..evaluation.gate.limits import EXAMPLE as LIMIT
    from ..evaluation.gate.page import gate_blocks, outcome
    from ..evaluation.pages.terminal import fragment

    file = next((path for name in FILES if (path := result / name).is_file()), result)
    if file.is_dir():
        raise DataError(
            f"{result}: has no {' and no '.join(FILES[:2])}; name the folder of an audit, of a report or of a run"
        )
    with as_given():
        text = read_text(file)
    kind = _kind(file, text)
    options = Options(fail_if, profile, baseline, junit, markdown, strict)
    request = options.read(kind)
    if request is None:
        raise DataError(
            f"{file}: is to be held to limits, and none is given; add --fail-if {LIMIT!r} or --profile FILE"
        )
    earlier = read_earlier(request, kind)
    try:
        page = parse_file(text, kind.record)
    except DataError as error:
        raise DataError(f"{file}: {error}") from error
    if not kind.read(page).subject.sets:
        raise DataError(f"{file}: keeps nothing of single document sets; make it again with this version")
    _refuse_grades(request, kind, page, file)
    held: Gate = gated(page, kind, request, earlier).gate
    show(fragment(gate_blocks(held)))
    if not held.failed:
        say(outcome(held).text)
    options.end(held, kind.verb)


def _kind(file: Path, text: str) -> "PageKind[Any]":
    from ..text.formats import called
    from ..text.json_text import NotJsonError, parse_json

    try:
        name = called(parse_json(text)).partition("/")[0]
    except NotJsonError:
        name = ""
    verbs = {"evenhand-audit": "audit", "evenhand-report": "report"}
    if name not in verbs:
        compared = (
            "; `evenhand compare` takes limits itself, and makes nothing twice" if name == "evenhand-comparison" else ""
        )
        raise DataError(
            f"{file}: is no audit.json and no report.json of evenhand's, which alone are held to limits{compared}"
        )
    return page_kind(verbs[name])


def _refuse_grades(request: "GateRequest", kind: "PageKind[Any]", page: Any, file: Path) -> None:
    """Refuse limits on what a language model says and nobody vouches for, as the commands do that make the result."""
    from ..evaluation.gate.calibrated import refuse_llm_units, refuse_uncalibrated
    from ..runfolder.phases import RESOLVED
    from .inputs import open_recipe

    if kind.verb == "report":
        recipe = file.absolute().parent.parent / RESOLVED
        if not recipe.is_file():
            raise DataError(
                f"{file}: lies in no run's folder, whose {RESOLVED} says by which judges it was made; name the run"
            )
        refuse_uncalibrated(request, open_recipe(recipe, None))
        return
    from ..judges.measures.rephrase import LLM_UNITS

    methods = kind.read(page).subject.methods.values()
    refuse_llm_units(request, is_by_model=any(LLM_UNITS in method.signature for method in methods))
