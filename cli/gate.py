"""`--fail-if` of `evenhand audit`, `compare` and `report`: limits, and how a command ends that does not keep them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError, GateError
from ..storage import write_text
from .terminal import say

if TYPE_CHECKING:
    from ..evaluation.gate.baseline import Baseline
    from ..evaluation.gate.contents import Gate
    from ..evaluation.gate.limits import GateRequest
    from ..evaluation.gate.subject import PageKind


def page_kind(verb: str) -> "PageKind[Any]":
    """The kind of page that a command writes."""
    if verb == "audit":
        from ..evaluation.audit.named import AUDIT_PAGE

        return AUDIT_PAGE
    from ..evaluation.report.named import COMPARISON_PAGE, REPORT_PAGE

    return REPORT_PAGE if verb == "report" else COMPARISON_PAGE


def _help(context: typer.Context, limits: list[str] | None) -> list[str] | None:
    if "help" in (limits or ()):
        from ..evaluation.gate.names import told

        verb = context.info_name or ""
        # of a result that is there either may be meant
        say("\n\n".join(told(page_kind(name)) for name in (("audit", "report") if verb == "gate" else (verb,))))
        raise typer.Exit
    return limits


# what these options are shown under
LIMITS = "Limits"
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="LIMIT",
        callback=_help,
        is_eager=True,
        rich_help_panel=LIMITS,
        help='End with exit code 4 where a number is clearly beyond a limit: "worst_gap(coverage) < -0.05". Repeatable; help '
        "lists the names.",
    ),
]
Profile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.yaml", rich_help_panel=LIMITS, help="More limits, under names of your own: limits: {NAME: LIMIT}."
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        rich_help_panel=LIMITS,
        help="An earlier result's JSON file or folder: limits are about the change since.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", rich_help_panel=LIMITS, help="Fail, too, where it cannot be told whether a limit is kept."
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.xml", rich_help_panel=LIMITS, help="Write the limits' verdicts as JUnit's XML, for a CI server."
    ),
]
Markdown = Annotated[
    Path | None,
    typer.Option(metavar="FILE.md", rich_help_panel=LIMITS, help="Write the same as a table, for a pull request."),
]


@dataclass(frozen=True)
class Options:
    """What a verb is given of a gate."""

    limits: list[str] | None
    profile: Path | None
    baseline: Path | None
    junit: Path | None
    markdown: Path | None
    strict: bool

    def read(self, kind: "PageKind[Any]") -> "GateRequest | None":
        """The limits, checked before any work; None where there are none.

        Raises:
            DataError: limits are wrong, or an option has no effect without them.
            RecipeError: the profile is wrong.
        """
        from ..evaluation.gate.limits import EXAMPLE, GateRequest, read_limits
        from ..evaluation.gate.names import check_names
        from ..evaluation.pages.folder import refuse_unwritable

        limits, profile_is_strict, least_sets = read_limits(self.limits or (), self.profile)
        if not limits:
            options = {"baseline": self.baseline, "junit": self.junit, "markdown": self.markdown, "strict": self.strict}
            if idle := [f"--{name}" for name, value in options.items() if value]:
                raise DataError(f"{idle[0]} has no effect without a limit; add --fail-if {EXAMPLE!r} or --profile FILE")
            return None
        check_names(limits, kind)
        for name, file in (("junit", self.junit), ("markdown", self.markdown)):
            if file is not None and file.is_dir():
                raise DataError(f"--{name} {file}: is a folder; name a file")
            if file is not None:
                refuse_unwritable(file.parent, f"--{name} {file}")
        return GateRequest(limits, self.strict or profile_is_strict, least_sets, self.baseline)

    def end(self, gate: "Gate | None", verb: str) -> None:
        """Write the verdicts where that was asked, and end with an error where a limit is not kept.

        Raises:
            GateError: a limit is not kept.
        """
        from ..evaluation.gate.page import gate_blocks, junit, verdict
        from ..evaluation.pages import markdown

        if gate is None:
            return
        if self.markdown:
            write_text(self.markdown, markdown.fragment(gate_blocks(gate)) + "\n")
        if self.junit:
            write_text(self.junit, junit(gate, verb))
        if why := verdict(gate):
            raise GateError(why)


def read_earlier(request: "GateRequest | None", kind: "PageKind[Any]") -> "Baseline | None":
    """The baseline, read before any work; None without one."""
    from ..evaluation.gate.baseline import read_baseline

    return read_baseline(request.baseline, kind) if request and request.baseline else None
