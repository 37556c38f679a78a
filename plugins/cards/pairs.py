"""The pairs of a round as a page: prompt, both texts, and what each judge said of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ...errors import DataError
from ...evaluation.pages.blocks import Block, Code, Details, Facts, Heading, Page, Prose
from ...evaluation.pages.cells import Cell, Column, NumberCell, Text
from ...evaluation.pages.numbers import signed
from ...evaluation.pages.tables import count, row, table
from ...evaluation.pages.words import counted, joined
from ...records import Judgement, PreferencePair
from ...runfolder.phases import JUDGEMENTS, PAIRS, round_name
from ...runfolder.stages import refuse_changed
from ...storage import iter_jsonl
from ...text import in_order

Order = Literal["spread", "closest", "widest"]
RULES: dict[Order, str] = {
    "spread": "at even steps of their margins within each side",
    "closest": "those of the least margin",
    "widest": "those of the greatest margin",
}
# (candidate, judge) -> what the judge said
JudgementMap = Mapping[tuple[str, str], Judgement]


def paired_folder(run: Path, number: int | None) -> Path:
    """The folder of a round with pairs; of the last one where no number is given.

    Raises:
        DataError: there is none, or its files were changed since they were made.
    """
    folders = [path.parent for path in sorted(run.glob(f"round-*/{PAIRS}")) if path.stat().st_size]
    wanted = [folder for folder in folders if number is None or folder.name == round_name(number)]
    if not wanted:
        have = f"rounds with pairs: {joined([folder.name for folder in folders])}" if folders else "no round has pairs"
        raise DataError(
            f"{run}: has no pairs{'' if number is None else f' of {round_name(number)}'}; {have}. Name a run folder in which "
            "`evenhand loop` or `evenhand rerank` has made them"
        )
    refuse_changed(wanted[-1], PAIRS, JUDGEMENTS)
    return wanted[-1]


def pairs_page(folder: Path, most_pairs: int, order: Order) -> Page:
    """At most so many pairs of a round, chosen by rule.

    Raises:
        DataError: pairs or judgements are not of their form.
        StorageError: a file cannot be read.
    """
    known = [(pair.side, pair.margin, place) for place, pair in enumerate(iter_jsonl(folder / PAIRS, PreferencePair))]
    places = _chosen(known, most_pairs, order)
    shown = [pair for place, pair in enumerate(iter_jsonl(folder / PAIRS, PreferencePair)) if place in places]
    ids = {candidate_id for pair in shown for candidate_id in (pair.chosen_id, pair.rejected_id)}
    judgements = iter_jsonl(folder / JUDGEMENTS, Judgement)
    by_candidate = {
        (judgement.candidate_id, judgement.judge): judgement
        for judgement in judgements
        if judgement.candidate_id in ids
    }
    signatures = {(judgement.judge, judgement.signature) for judgement in by_candidate.values()}
    in_file, on_page = Counter(side for side, _, _ in known), Counter(pair.side for pair in shown)
    sides = in_order(sorted(in_file))
    rows = [(side, count(in_file[side]), count(on_page[side])) for side in sides]
    selection = f"{len(shown):,} of {len(known):,}, {RULES[order]}" if len(shown) < len(known) else "all of them"
    return Page(
        kind="pairs",
        about=f"{folder.resolve().parent.name}, {folder.name}",
        title=f"{counted(len(known), 'preference pair')}, and why one text is the better of each.",
        warnings=(),
        findings=(
            Prose(f"On this page: {selection}. Open a pair to see its texts and what the judges said of them.", "lead"),
            table("pairs by side", ("side", "pairs", "on this page"), rows),
        ),
        body=(
            *(block for side in sides if on_page[side] for block in _side(side, shown, by_candidate)),
            Heading("How it was judged"),
            Facts(tuple((judge, Text(signature, style="code")) for judge, signature in sorted(signatures))),
        ),
        main=(),
        footer=f"From {PAIRS} and {JUDGEMENTS} of {folder.name}.",
    )


def _chosen(known: Sequence[tuple[str, float, int]], most_pairs: int, order: Order) -> set[int]:
    """Places of the pairs to show; `known` has the side, margin and place of all."""
    n = min(most_pairs, len(known))
    if order == "spread":
        ordered = sorted(known)
        return {ordered[round(step)][2] for step in np.linspace(0, len(known) - 1, n)}
    ordered = sorted(known, key=lambda pair: pair[1], reverse=order == "widest")
    return {place for _, _, place in ordered[:n]}


def _side(side: str, pairs: Sequence[PreferencePair], by_candidate: JudgementMap) -> Iterator[Block]:
    yield Heading(side)
    for pair in sorted((pair for pair in pairs if pair.side == side), key=lambda pair: -pair.margin):
        margin = f"margin {signed(pair.margin)}"
        yield Details(pair.request_id, tuple(_pair(pair, by_candidate)), margin, is_example=True)


def _pair(pair: PreferencePair, by_candidate: JudgementMap) -> Iterator[Block]:
    ids = (pair.chosen_id, pair.rejected_id)
    judges = list(dict.fromkeys(judge for candidate, judge in by_candidate if candidate in ids))
    rows: list[Sequence[Cell | str]] = [
        ("text", Text(pair.chosen_text, style="long"), Text(pair.rejected_text, style="long")),
        (
            Text("reward", "the judges' combined score"),
            NumberCell(pair.chosen_reward),
            NumberCell(pair.rejected_reward),
        ),
    ]
    for judge in judges:
        rows.append((judge, *(_score(by_candidate.get((candidate, judge))) for candidate in ids)))
    heads = ("", Column("chosen", "long"), Column("rejected", "long"))
    yield table(f"{pair.request_id}: texts and scores", heads, (row(*cells) for cells in rows))
    yield Details("Replies of the judges", tuple(_replies(judges, ids, by_candidate)))
    yield Details("Prompt", tuple(block for turn in pair.prompt for block in (Prose(turn.role), Code(turn.content))))


def _score(judgement: Judgement | None) -> Text | NumberCell:
    if judgement is None:
        return Text("not judged")
    return Text("unscored", judgement.unscored or "") if judgement.score is None else NumberCell(judgement.score)


def _replies(judges: Sequence[str], ids: Sequence[str], by_candidate: JudgementMap) -> Iterator[Block]:
    """Each reply as it came; a judge that answers with a number alone leaves none."""
    by_judge = {
        judge: [
            (by_candidate[candidate, judge].raw if (candidate, judge) in by_candidate else None) for candidate in ids
        ]
        for judge in judges
    }
    for judge, replies in by_judge.items():
        for role, reply in zip(("chosen", "rejected"), replies, strict=True):
            if reply is not None:
                yield Prose(role, head=judge)
                yield Code(reply)
    if without := [judge for judge, replies in by_judge.items() if None in replies]:
        yield Prose(f"Not kept: replies of {joined(without)}.")
