"""`evenhand import` of annotated PoliSum: from the command line to document sets that are read back."""

import json
from functools import partial

import pytest
from commands import invoked

from evenhand.corpora import read_document_sets
from evenhand.errors import DataError

run = partial(invoked, "import")


def test_annotation(tmp_path):
    source, out = tmp_path / "annotation.json", tmp_path / "out.jsonl"
    items = [{"topic": "Ferry", "stance": side, "document": f"The {side}."} for side in ("left", "right")]
    source.write_text(json.dumps(items))
    assert run("annotation", source, "--out", out, "--split", "test").stdout.startswith(
        f"{out}: 1 document set; 2 items"
    )
    assert read_document_sets(out)[0].split == "test"
    done = run("annotation", source, "--out", out, "--articles", "--force")
    assert done.stdout.startswith(f"{out}: 2 articles; 2 items")
    with pytest.raises(DataError, match="already exists"):
        run("annotation", source, "--out", out, "--articles")
    with pytest.raises(DataError, match="--articles writes none"):
        run("annotation", source, "--out", out, "--articles", "--split", "test")
