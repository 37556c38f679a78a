import re
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import DataError
from evenhand.evaluation.pages.blocks import Code, Details, Facts, Heading
from evenhand.evaluation.pages.cells import Table
from evenhand.evaluation.pages.html import render
from evenhand.plugins.cards.pairs import paired_folder, pairs_page
from evenhand.records import Judgement
from evenhand.rerank.pairs import preference_pair
from evenhand.runfolder.files import with_groups
from evenhand.runfolder.phases import JUDGEMENTS, PAIRS, open_phase
from evenhand.storage import read_jsonl, write_jsonl

# rewards of a request's three candidates
REWARDS = {
    "a/left": [(0.1,), (0.2,), (0.5,)],
    "b/left": [(0.0,), (0.05,), (0.9,)],
    "c/right": [(0.3,), (0.6,), (0.7,)],
}


@pytest.fixture
def folder(make_run: Any) -> Path:
    """Three pairs of each request; the judge of a/left kept its replies."""
    run = make_run()
    run.texts["a/left"] = "Documents </script> & all."
    run.write("round-00", REWARDS)
    place: Path = open_phase(run.recipe, "round-00").folder
    made = [
        preference_pair(group, group.candidates[better], group.candidates[worse])
        for _, group in with_groups(place)
        for better, worse in ((1, 0), (2, 0), (2, 1))
    ]
    write_jsonl(place / PAIRS, made)
    said = read_jsonl(place / JUDGEMENTS, Judgement)
    with_reply = [each.model_copy(update={"raw": f"Score:\n<b>{each.score}</b>"}) for each in said[:3]]
    write_jsonl(place / JUDGEMENTS, [*with_reply, *said[3:]])
    return place


def opened(folder: Path, most: int, order: Any) -> list[Details]:
    return [block for block in pairs_page(folder, most, order).body if isinstance(block, Details)]


def margins(folder: Path, most: int, order: Any) -> list[float]:
    return sorted(float(block.note.split("+")[1]) for block in opened(folder, most, order))


def test_pairs_are_chosen_by_the_rule_and_counted_by_side(folder: Path):
    # margins: left 0.1, 0.4, 0.3 and 0.05, 0.9, 0.85; right 0.3, 0.4, 0.1
    assert margins(folder, 2, "closest") == [0.05, 0.1]
    assert margins(folder, 2, "widest") == [0.85, 0.9]
    # places 0, 4 and 8 of left 0.05, 0.1, 0.3, 0.4, 0.85, 0.9, right 0.1, 0.3, 0.4
    assert margins(folder, 3, "spread") == [0.05, 0.4, 0.85]
    assert len(opened(folder, 200, "spread")) == 9
    page = pairs_page(folder, 3, "spread")
    counted = next(block for block in page.findings if isinstance(block, Table))
    assert [[cell.value for cell in row.cells[1:]] for row in counted.rows] == [[6, 2], [3, 1]]  # type: ignore[union-attr]
    assert "3 of 9, at even steps" in render(page)


def test_a_pair_has_both_texts_with_every_score_its_signature_and_its_reply(folder: Path):
    page = pairs_page(folder, 200, "spread")
    headings = [block.text for block in page.body if isinstance(block, Heading)]
    assert headings[:2] == ["left", "right"]
    pair = next(
        each for each in opened(folder, 200, "spread") if each.summary == "a/left" and each.note.endswith("0.400")
    )
    table = next(block for block in pair.blocks if isinstance(block, Table))
    text, reward, judge = table.rows
    assert [cell.text for cell in text.cells[1:]] == ["The Left says 2.", "The Left says 0."]  # type: ignore[union-attr]
    assert [cell.shown for cell in (*reward.cells[1:], *judge.cells[1:])] == ["0.500", "0.100"] * 2  # type: ignore[union-attr]
    assert (judge.cells[0].text, judge.cells[0].note) == ("fit", "")  # type: ignore[union-attr]
    # once for all pairs, and not in the narrow column beside the texts
    facts = next(block for block in page.body if isinstance(block, Facts))
    assert [(name, cell.text) for name, cell in facts.entries] == [("fit", "fit|judge:alignment|v:0.1.0")]  # type: ignore[union-attr]
    replies, prompt = (block for block in pair.blocks if isinstance(block, Details))
    assert [block.text for block in replies.blocks if isinstance(block, Code)] == [
        "Score:\n<b>0.5</b>",
        "Score:\n<b>0.1</b>",
    ]
    assert [block.text for block in prompt.blocks if isinstance(block, Code)] == ["Summarise a/left."]


def test_replies_that_were_not_kept_are_said_to_be_so_and_all_is_escaped(folder: Path):
    shown = render(pairs_page(folder, 200, "spread"))
    assert shown.count("Not kept: replies of fit.") == 6
    assert "&lt;b&gt;0.5&lt;/b&gt;" in shown
    assert "<b>0.5" not in shown
    assert not re.search(r"<script|https?:", shown)


def test_the_last_round_with_pairs_is_taken_unless_one_is_named(folder: Path):
    run = folder.parent
    (run / "round-01").mkdir()
    (run / "round-01" / PAIRS).touch()
    assert paired_folder(run, None) == folder
    assert paired_folder(run, 0) == folder
    with pytest.raises(DataError, match=r"has no pairs of round-01; rounds with pairs: round-00"):
        paired_folder(run, 1)
    with pytest.raises(DataError, match=r"no round has pairs"):
        paired_folder(run / "evaluation", None)


def test_values_that_are_numbers_stand_by_size(make_run: Any):
    run = make_run()
    run.write("round-00", {f"{name}/{side}": [(0.1,), (0.4,)] for name, side in (("a", "10"), ("b", "9"), ("c", "-1"))})
    place: Path = open_phase(run.recipe, "round-00").folder
    made = [preference_pair(group, group.candidates[1], group.candidates[0]) for _, group in with_groups(place)]
    write_jsonl(place / PAIRS, made)
    page = pairs_page(place, 10, "spread")
    (counted,) = (block for block in page.findings if isinstance(block, Table))
    assert [row.cells[0].text for row in counted.rows] == ["-1", "9", "10"]
    assert [block.text for block in page.body if isinstance(block, Heading)][:3] == ["-1", "9", "10"]
