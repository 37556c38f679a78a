"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from pathlib import Path
from typing import Any

from browsing import EVIL

from evenhand.evaluation.pages import html
from evenhand.plugins.cards.pairs import pairs_page
from evenhand.records import Judgement
from evenhand.rerank.pairs import preference_pair
from evenhand.runfolder.files import with_groups
from evenhand.runfolder.phases import JUDGEMENTS, PAIRS, open_phase
from evenhand.storage import read_jsonl, write_jsonl


def pairs(run: Any, folder: Path) -> str:
    phase = open_phase(run.recipe, "round-00")
    run.write(phase.name, {"t/left": [(0.1,), (0.5,)]}, candidate=lambda _, index: {"text": f"{EVIL} {index}"})
    (_, group) = next(with_groups(phase.folder))
    write_jsonl(phase.folder / PAIRS, [preference_pair(group, group.candidates[1], group.candidates[0])])
    said = read_jsonl(phase.folder / JUDGEMENTS, Judgement)
    write_jsonl(phase.folder / JUDGEMENTS, [said[0].model_copy(update={"raw": EVIL, "signature": EVIL}), *said[1:]])
    return html.render(pairs_page(phase.folder, 200, "spread"))


PAGES = {"pairs": pairs}
