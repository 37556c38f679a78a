from typing import Any

import pytest

from evenhand.evaluation.comparison.build import build_comparison
from evenhand.evaluation.comparison.entries import Named, read_entries
from evenhand.evaluation.comparison.page import page
from evenhand.evaluation.pages import html, markdown


@pytest.fixture
def comparison(make_run: Any, tmp_path: Any) -> Any:
    named = []
    # overlap by side: the first is good for the left alone, the second for both
    for label, left, right in (("lopsided", 0.9, 0.1), ("even", 0.4, 0.5)):
        run = make_run(rounds=0)
        run.recipe = run.recipe.model_copy(update={"output": tmp_path / label})
        scores = {
            f"{i}/{side}": [(0.5, value)] * 3 for i in range(12) for side, value in (("left", left), ("right", right))
        }
        run.write("evaluation/base", scores)
        named.append(Named(label, run.recipe))
    return build_comparison(read_entries(named), [1])


def test_the_mean_prefers_one_entry_and_the_worst_side_the_other(comparison: Any):
    means = {e.subject: e.mean for e in comparison.scores if e.side is None}
    assert means["lopsided"] > means["even"]
    (worst,) = comparison.worst_sides
    assert {row.system: (row.group, row.mean) for row in worst.found.systems} == {
        "lopsided": ("right", pytest.approx(0.1)),
        "even": ("left", pytest.approx(0.4)),
    }
    assert worst.found.choice == "even"


def test_finding_page_and_markdown_name_the_choice(comparison: Any):
    said = (
        "By its worst side under overlap with one draw, even is the best choice: left 0.400, the best of all in 100.0 %"
    )
    assert any(finding.startswith(said) for finding in comparison.findings)
    shown = html.render(page(comparison))
    assert 'id="worst-side"' in shown
    assert "even is the best choice" in shown
    assert "**overlap, one draw**" in markdown.render(page(comparison))


def test_a_side_without_part_is_named_and_nothing_chosen(make_run: Any, tmp_path: Any):
    named = []
    # the left has 12 sets and the right 8
    for label, left, right in (("one", 0.57, 0.5), ("other", 0.87, 0.1)):
        run = make_run(rounds=0)
        run.recipe = run.recipe.model_copy(update={"output": tmp_path / label})
        scores = {f"{i}/left": [(0.5, left)] * 3 for i in range(12)} | {
            f"{i}/right": [(0.5, right)] * 3 for i in range(8)
        }
        run.write("evaluation/base", scores)
        named.append(Named(label, run.recipe))
    found = build_comparison(read_entries(named), [1])
    note = "right: 8 sets, takes no part"
    said = f"By its worst side under overlap, it cannot be told which entry is the best choice ({note})."
    assert said in found.findings
    assert f"no clear choice, {note}" in html.render(page(found))
    assert note in markdown.render(page(found))


def test_sides_of_few_sets_make_no_choice(small_run: Any):
    # four sets, where ten are needed
    found = build_comparison(read_entries([Named("dpo", small_run.recipe)]))
    assert found.worst_sides == ()
    assert 'id="worst"' not in html.render(page(found))


def test_summaries_of_all_sides_are_sent_to_the_audit(comparison: Any):
    assert "evenhand audit" not in html.render(page(comparison))
    recipes = {
        label: {**recipe, "task": {**recipe["task"], "scope": "all"}} for label, recipe in comparison.recipes.items()
    }
    of_all = comparison.model_copy(update={"recipes": recipes, "worst_sides": ()})
    for text in (html.render(page(of_all)), markdown.render(page(of_all))):
        assert "evenhand audit --documents sample --attribute stance --allow-missing" in text
