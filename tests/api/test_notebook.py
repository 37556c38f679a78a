"""The notebook of the documentation runs, and shows what it says."""

import ast
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        *lines, last = ast.parse("".join(cell["source"])).body
        assert isinstance(last, ast.Expr), "a cell ends with what it shows"
        exec(compile(ast.Module(lines, []), str(NOTEBOOK), "exec"), names)  # noqa: S102
        shown.append(eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names))  # noqa: S307
    documents, candidates, judgements, best, pairs, audit, aggregates = shown
    assert all("<table" in each._repr_html_() for each in shown[:-1])
    assert len(candidates) == 9 * len(documents) == 9 * len(best) and len(judgements) == 2 * len(candidates)
    assert len(pairs) and {row["system"] for row in aggregates} == {"first", "best of 9"} and audit.folder is None
    # rewards are means of z-scores within a request, whose best is not below their mean
    assert all(row["reward"] >= 0 for row in best.rows())
