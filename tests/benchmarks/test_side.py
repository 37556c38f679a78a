"""What is asked, last or first: the templates differ in nothing but the order, and tokens and differences are those by hand."""

import pytest

from evenhand.benchmarks.side import FIRST, JUDGES, LAST, PROMPTS, SHIPPED, differences, tokens, write_side_first

pytest.importorskip("transformers")


def test_both_templates_have_the_same_words(tmp_path):
    last, first = (path.read_text() for path in (PROMPTS / f"{SHIPPED}.txt", write_side_first(tmp_path)))
    assert sorted(last.split()) == sorted(first.split())
    assert last.index("{documents}") < last.index("Summarise only")
    assert first.index("{documents}") > first.index("Summarise only")


def test_documents_are_shared_where_the_side_comes_last(tiny_model, tmp_path, ferry):
    last, first = (
        tokens([ferry], template, str(tiny_model)) for template in (SHIPPED, str(write_side_first(tmp_path)))
    )
    assert last["tokens"] == first["tokens"]
    # of the second prompt the documents need not run
    assert last["run"] < 0.75 * last["tokens"]
    assert first["run"] > last["run"]


def test_differences_by_hand():
    last, first = dict(zip("abcde", (0.6, 0.8, 0.7, 0.9, 1.0), strict=True)), dict.fromkeys("abcdef", 0.5)
    rows = differences({LAST: dict.fromkeys(JUDGES, last), FIRST: dict.fromkeys(JUDGES, first)})
    assert [row[""] for row in rows] == list(JUDGES)
    assert (rows[0][LAST], rows[0][FIRST]) == ("0.800", "0.500")
    # .1, .3, .2, .4 and .5: mean .3, standard error sqrt(.025 / 5), and Student's t with four degrees of freedom is 2.776
    assert rows[0]["last less first"] == "+0.300 [+0.104, +0.496]"
