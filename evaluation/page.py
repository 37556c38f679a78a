"""The report as one self-contained page: no script, nothing fetched, everything from data escaped."""

from pathlib import Path

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from . import text_numbers, view
from .compare import leaves_out_zero
from .contents import Report
from .pages.planes import plane_plots, standing
from .served import engine_sentence, inactive_because

TEMPLATES = Path(__file__).parent / "templates"


def render_page(report: Report) -> str:
    """The report as HTML."""
    sides_left_out, ledger = view.ledger_lines(report.ledger)
    return (
        page_environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            style=page_style(),
            verdicts=view.verdicts,
            tone=view.tone,
            leaves_out_zero=leaves_out_zero,
            score_gaps=view.gap_rows(report, report.score_gaps),
            gain_gaps=view.gap_rows(report, report.gain_gaps),
            score_tables=view.score_tables(report),
            difference_tables=view.difference_tables(report),
            plan_rows=view.plan_rows(report),
            trait_tables=view.trait_tables(report),
            curve_panels=view.curve_panels(report),
            plane_plots=plane_plots(report.planes, report.judges),
            standing=standing,
            training_panels=view.training_panels(report),
            sides_left_out=sides_left_out,
            ledger=ledger,
            flat_counts=view.flat_counts,
            inactive_because=inactive_because,
            engine_sentence=engine_sentence,
            recipe=yaml.safe_dump(report.provenance.recipe, sort_keys=False, allow_unicode=True),
        )
    )


def page_environment(folder: Path = TEMPLATES) -> Environment:
    """Jinja for pages: everything escaped, undefined names refused, numbers written alike on all of them."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in ("number", "signed", "percent", "interval", "percent_interval", "duration", "name"):
        environment.filters[function] = getattr(text_numbers, function)
    environment.filters["breakable"] = _breakable
    return environment


def page_style() -> Markup:
    """The style sheet of all pages: our own file, and the only text that is not escaped."""
    return Markup((TEMPLATES / "report.css").read_text(encoding="utf-8"))  # noqa: S704


def _breakable(text: str) -> Markup:
    """The escaped text with a place to break the line after each underscore."""
    return escape(text).replace("_", Markup("_<wbr>"))
