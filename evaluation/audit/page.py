"""The audit as one self-contained page: no script, nothing fetched, everything from data escaped."""

from markupsafe import Markup

from ..page import TEMPLATES, page_environment, page_style
from . import view
from .contents import Audit
from .headline import n_tests


def render_page(audit: Audit) -> str:
    """The audit as HTML."""
    own = Markup((TEMPLATES / "audit.css").read_text(encoding="utf-8"))  # noqa: S704 (our own file)
    return (
        page_environment()
        .get_template("audit.html.j2")
        .render(
            audit=audit,
            style=page_style() + own,
            view=view,
            level=f"{100 * audit.options['bootstrap']['level']:g}",
            n_tests=n_tests(audit.differences),
            value_tables=view.value_tables(audit),
            pictures=view.pictures(audit),
            difference_groups=view.difference_groups(audit),
            example_groups=view.example_groups(audit),
        )
    )
