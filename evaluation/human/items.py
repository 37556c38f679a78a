"""Which summaries a page shows: one blank sheet and its key from the best summaries of several systems.

Only requests of which every system has a summary are shown, so that systems are compared on the same items; the others are
counted by reason and side. Per item the systems stand in an order drawn by the seed, named by a letter.
"""

import secrets
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import DataError
from ...records import BestSummary, LeftOut, SummaryRequest
from ...runfolder.phases import BEST, REQUESTS
from ...storage import digest, file_digest, listed, read_jsonl
from .key import PageKey, SystemSource
from .sheet import AnnotationSheet, ItemSheet, SummarySheet, as_shown

LETTERS = string.ascii_uppercase
# seeds that are drawn are less
SEEDS = 2**48


@dataclass(frozen=True)
class _System:
    folder: Path
    requests: list[SummaryRequest]
    # request id -> its summary, None when there is none
    texts: dict[str, str | None]


def blank_sheet(
    systems: Mapping[str, Path], *, limit: int | None, seed: int | None, annotator: str = ""
) -> tuple[AnnotationSheet, PageKey]:
    """A sheet without marks, and the key to its letters.

    Args:
        systems: label -> a phase's folder, a folder of `evenhand score`, or a run's folder that has one evaluation phase.
        limit: show at most so many requests, drawn by the seed and of each side alike; None shows all.
        seed: of the draw and of the order of the systems; None draws one that nobody can guess the letters from, and the key
            has it.
        annotator: name to begin with.

    Raises:
        StorageError: a file cannot be read.
        DataError: there are too many systems, a folder is no finished phase, requests differ, or none has all summaries.
    """
    if not 0 < len(systems) <= len(LETTERS):
        raise DataError(f"a page shows 1 to {len(LETTERS)} systems, got {len(systems)}")
    if seed is None:
        seed = secrets.randbelow(SEEDS)
    read = {label: _read(folder) for label, folder in systems.items()}
    _refuse_other_requests(read)
    complete, left_out = _complete(next(iter(read.values())).requests, read)
    shown = _draw(complete, len(complete) if limit is None else limit, seed)
    ids = {request.id for request in shown}
    left_out.update(("not drawn", request.side) for request in complete if request.id not in ids)
    if not shown:
        raise DataError("no request has a summary of every system, so there is nothing to annotate")
    letters = {r.id: dict(zip(LETTERS, _order(list(read), r.id, seed), strict=False)) for r in shown}
    items = tuple(_item(request, letters[request.id], read) for request in shown)
    digests = {item.id: item.shown for item in items}
    sources = {
        label: SystemSource(folder=str(systems[label]), digest=file_digest(each.folder / BEST))
        for label, each in read.items()
    }
    rows = LeftOut.rows(("reason", "side"), left_out)
    page = digest(list(digests.values()))
    key = PageKey(page=page, seed=seed, systems=sources, letters=letters, shown=digests, left_out=rows)
    return AnnotationSheet(page=page, annotator=annotator, items=items), key


def _read(folder: Path) -> _System:
    folder = _phase_folder(folder)
    best = {each.request_id: each.text for each in read_jsonl(folder / BEST, BestSummary)}
    return _System(folder, read_jsonl(folder / REQUESTS, SummaryRequest), best)


def _phase_folder(folder: Path) -> Path:
    """The folder itself when it is a phase's, or the only evaluation phase in it."""
    if (folder / BEST).is_file() and (folder / REQUESTS).is_file():
        return folder
    found = sorted(path.parent for path in folder.glob(f"evaluation/*/{BEST}"))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(str(path) for path in found)
        raise DataError(f"{folder}: has several evaluation phases; name one of them: {names}")
    raise DataError(f"{folder}: has no {REQUESTS} and {BEST}; name a phase's folder, such as RUN/evaluation/base")


def _refuse_other_requests(read: Mapping[str, _System]) -> None:
    (first, one), *others = read.items()
    expected = {request.id: (request.side, request.source) for request in one.requests}
    mistakes = []
    for label, other in others:
        found = {request.id: (request.side, request.source) for request in other.requests}
        for name in dict.fromkeys([*expected, *found]):
            if expected.get(name) != found.get(name):
                mistakes.append(f"request {name!r} of {label!r} is not that of {first!r}")
    if mistakes:
        raise DataError(
            f"{listed(mistakes)}\nsystems can be compared only on the same documents and sides; run them on one corpus and split"
        )


def _complete(
    requests: Sequence[SummaryRequest], read: Mapping[str, _System]
) -> tuple[list[SummaryRequest], Counter[tuple[str, str]]]:
    """The requests of which every system has a summary, and why the others are left out, by side."""
    complete, left_out = [], Counter[tuple[str, str]]()
    for request in requests:
        without = next((label for label, each in read.items() if not (each.texts.get(request.id) or "").strip()), None)
        if without is None:
            complete.append(request)
        else:
            left_out[f"no summary by {without}", request.side] += 1
    return complete, left_out


def _draw(requests: Sequence[SummaryRequest], limit: int, seed: int) -> list[SummaryRequest]:
    """So many requests in their order, drawn by the seed; of each side as many as of the others while there are any."""
    before = Counter[str]()
    ranked = []
    for place in np.random.default_rng([seed, 0]).permutation(len(requests)):
        side = requests[place].side
        ranked.append((before[side], int(place)))
        before[side] += 1
    # sorting is stable: within a rank the drawn order stays
    drawn = sorted(ranked, key=lambda pair: pair[0])[:limit]
    return [requests[place] for place in sorted(place for _, place in drawn)]


def _order(labels: list[str], request_id: str, seed: int) -> list[str]:
    generator = np.random.default_rng([seed, int(digest(request_id), 16)])
    return [labels[place] for place in generator.permutation(len(labels))]


def _item(request: SummaryRequest, letters: Mapping[str, str], read: Mapping[str, _System]) -> ItemSheet:
    texts = {letter: read[label].texts[request.id] or "" for letter, label in letters.items()}
    return ItemSheet(
        id=request.id,
        set_id=request.document_set.id,
        topic=request.document_set.topic,
        side=request.side,
        document=as_shown([document.text for document in request.source_documents]),
        summaries=tuple(SummarySheet(letter=letter, text=text.strip()) for letter, text in texts.items()),
    )
