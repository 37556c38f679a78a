"""The comparison as one self-contained page: no script, nothing fetched, everything from data escaped."""

import yaml

from ..page import page_environment, page_style
from ..pages.planes import plane_plots, standing
from ..worst_group import without_part
from . import view
from .contents import Comparison
from .values import budget_name


def render_page(comparison: Comparison) -> str:
    """The comparison as HTML."""
    dumped = {
        label: yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True)
        for label, recipe in comparison.recipes.items()
    }
    template = page_environment().get_template("comparison.html.j2")
    return template.render(
        comparison=comparison,
        style=page_style(),
        level=round(100 * comparison.scores[0].level),
        score_tables=view.score_tables(comparison),
        panels=view.budget_panels(comparison),
        plane_plots=plane_plots(comparison.planes, (*comparison.judges, *comparison.axis_judges)),
        standing=standing,
        round_panels=view.round_panels(comparison),
        test_tables=view.test_tables(comparison),
        trait_tables=view.trait_tables(comparison),
        budget_name=budget_name,
        strength_interval=view.strength_interval,
        tone=view.tone,
        without_part=without_part,
        where_values_are=view.where_values_are(comparison),
        recipes=dumped,
    )
