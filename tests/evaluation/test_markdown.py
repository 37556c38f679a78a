from typing import Any

from evenhand.evaluation.build import build_report
from evenhand.evaluation.markdown import render_markdown


def test_tables_hold_scores_and_differences(small_run: Any):
    text = render_markdown(build_report(small_run.recipe, None))
    assert text.startswith("# The trained model is better than the untrained model\n")
    assert "## Scores by overlap (report)" in text
    assert "| DPO \u2212 zero-shot | all | +0.100 | +0.100 to +0.100 | higher | 8 | 4 | 0 |" in text
    assert "## Left out\n\nNothing." in text


def test_every_table_row_has_the_columns_of_its_header(small_run: Any):
    text = render_markdown(build_report(small_run.recipe, None))
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_data_cannot_write_html_columns_or_links(make_run: Any):
    run = make_run(rounds=0, name="<script>x</script>")
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)], "b/left": [(0.1, 0.3)]})
    run.receipt("evaluation/base", "train", {"left_out": [{"side": "a|b", "reason": "[x](http://y)\n<i>", "count": 1}]})
    text = render_markdown(build_report(run.recipe, None))
    assert "<script" not in text
    assert r"\[x](http://y) &lt;i&gt; | a\|b |" in text
