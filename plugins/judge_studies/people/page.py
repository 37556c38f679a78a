"""The annotation page: which summaries it shows, and the page itself, one file of HTML that needs nothing else.

Only requests of which every system has a summary are shown, so that systems are compared on the same items; the others are
counted by reason and side. Per item the systems stand in an order drawn by the seed, named by a letter; each system stands
equally often in each position. In the page everything from data is escaped; the policy in its head lets only our own script and
style run, known by their digests, and lets nothing be fetched.
"""

import base64
import hashlib
import json
import secrets
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from ....errors import DataError
from ....evaluation.pages.html import page_environment
from ....records import BestSummary, LeftOut, SummaryRequest
from ....runfolder.phases import BEST, REQUESTS
from ....runfolder.stages import refuse_changed
from ....storage import file_digest, read_json, read_jsonl, read_text, write_json, write_text
from ....text.digests import digest
from ....text.mistakes import listed
from .annotations.sheet import (
    AnnotationSheet,
    ItemSheet,
    PageKey,
    SummarySheet,
    SystemSource,
    as_shown,
    parse_key,
)

LETTERS = string.ascii_uppercase
# seeds that are drawn are less
SEEDS = 2**48
TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = (
    "spans.js", "marks.js", "states.js", "selection.js", "view.js", "keeping.js", "windows.js", "earlier.js", "exchange.js",
    "page.js",
)  # fmt: skip
# what could end the element that the data stand in, or a line of script
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


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
        limit: most requests to show, drawn by the seed and of each side alike; None shows all.
        seed: of the draw and of the order of the systems; None draws one that nobody can guess the letters from, and the key
            has it.
        annotator: name to begin with.

    Raises:
        StorageError: a file cannot be read.
        DataError: there are too many systems, a folder is not a finished phase, requests differ, or none has all summaries.
    """
    if not 0 < len(systems) <= len(LETTERS):
        raise DataError(f"a page shows 1 to {len(LETTERS)} systems, got {len(systems)}")
    if seed is None:
        seed = secrets.randbelow(SEEDS)
    read = _read(systems)
    complete, left_out = _complete(next(iter(read.values())).requests, read)
    shown = _draw(complete, len(complete) if limit is None else limit, seed)
    ids = {request.id for request in shown}
    left_out.update(("not drawn", request.side) for request in complete if request.id not in ids)
    if not shown:
        raise DataError("no request has a summary of every system, so there is nothing to annotate")
    labels = list(read)
    letters = {
        request.id: {letter: labels[place] for letter, place in zip(LETTERS, order, strict=False)}
        for request, order in zip(shown, orders([request.side for request in shown], len(labels), seed), strict=True)
    }
    items = tuple(_item(request, letters[request.id], read) for request in shown)
    digests = {item.id: item.shown for item in items}
    sources = {
        label: SystemSource(folder=str(systems[label]), digest=file_digest(system.folder / BEST))
        for label, system in read.items()
    }
    rows = LeftOut.rows(("reason", "side"), left_out)
    page = digest(list(digests.values()))
    key = PageKey(page=page, seed=seed, systems=sources, letters=letters, shown=digests, left_out=rows)
    return AnnotationSheet(page=page, annotator=annotator, items=items), key


def phase_folder(folder: Path) -> Path:
    """The folder itself when it is a phase's, or the only evaluation phase in it."""
    if (folder / BEST).is_file() and (folder / REQUESTS).is_file():
        return folder
    folders = sorted(path.parent for path in folder.glob(f"evaluation/*/{BEST}"))
    if len(folders) == 1:
        return folders[0]
    if folders:
        names = ", ".join(str(path) for path in folders)
        raise DataError(f"{folder}: has several evaluation phases; name one of them: {names}")
    raise DataError(f"{folder}: has no {REQUESTS} and {BEST}; name a phase's folder, such as RUN/evaluation/base")


def _read(systems: Mapping[str, Path]) -> dict[str, _System]:
    """The summaries of each system, all for the same requests."""
    read = {}
    for label, path in systems.items():
        folder = phase_folder(path)
        refuse_changed(folder, REQUESTS, BEST)
        best = {summary.request_id: summary.text for summary in read_jsonl(folder / BEST, BestSummary)}
        read[label] = _System(folder, read_jsonl(folder / REQUESTS, SummaryRequest), best)
    (first, reference), *further = read.items()
    expected = {request.id: (request.side, request.source) for request in reference.requests}
    mistakes = []
    for label, system in further:
        actual = {request.id: (request.side, request.source) for request in system.requests}
        for name in dict.fromkeys([*expected, *actual]):
            if expected.get(name) != actual.get(name):
                mistakes.append(f"request {name!r} of {label!r} is not that of {first!r}")
    if mistakes:
        raise DataError(
            f"{listed(mistakes)}\nsystems can be compared only on the same documents and sides; run them on one corpus and split"
        )
    return read


def _complete(
    requests: Sequence[SummaryRequest], read: Mapping[str, _System]
) -> tuple[list[SummaryRequest], Counter[tuple[str, str]]]:
    """The requests of which every system has a summary, and why the others are left out, by side."""
    complete, left_out = [], Counter[tuple[str, str]]()
    for request in requests:
        lacking = next(
            (label for label, system in read.items() if not (system.texts.get(request.id) or "").strip()), None
        )
        if lacking is None:
            complete.append(request)
        else:
            left_out[f"no summary by {lacking}", request.side] += 1
    return complete, left_out


def _draw(requests: Sequence[SummaryRequest], limit: int, seed: int) -> list[SummaryRequest]:
    """At most `limit` requests in their order, drawn by the seed; of each side as many as of the others while there are any."""
    before = Counter[str]()
    ranked = []
    for place in np.random.default_rng([seed, 0]).permutation(len(requests)):
        side = requests[place].side
        ranked.append((before[side], int(place)))
        before[side] += 1
    # sorting is stable: within a rank the drawn order stays
    drawn = sorted(ranked, key=lambda pair: pair[0])[:limit]
    return [requests[place] for place in sorted(place for _, place in drawn)]


def orders(sides: Sequence[str], n_systems: int, seed: int) -> list[list[int]]:
    """For each item the order of the systems, drawn by the seed and balanced.

    How often a system stands in a position differs by at most one over the page, whichever system and position, and by at most
    two over the items of a side; and of two systems each stands before the other equally often in every 2 x `n_systems` items
    that are dealt. The orders are the rows of Latin squares whose rows, columns and systems are drawn, each square followed by
    its mirror, dealt to the items of a side in a drawn order.

    Args:
        sides: of each item.
        n_systems: how many are to be put in order, at least 1.
        seed: of the draw.
    """
    generator = np.random.default_rng([seed, 1])
    rows: list[list[int]] = []
    while len(rows) < len(sides):
        systems, starts, columns = (generator.permutation(n_systems) for _ in range(3))
        square = systems[(starts[:, None] + columns) % n_systems]
        rows += square.tolist() + generator.permutation(square[:, ::-1]).tolist()
    drawn = sorted(generator.permutation(len(sides)).tolist(), key=lambda place: sides[place])
    return [row for _, row in sorted(zip(drawn, rows, strict=False))]


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


def write_page(path: Path, sheet: AnnotationSheet, key: PageKey) -> tuple[Path, Path]:
    """Write the page, and beside it the key (`.key.json`) and the blank sheet (`.json`); the paths of these two.

    Raises:
        StorageError: a file cannot be read or written.
        DataError: the path does not end in .html, or the key of another page lies there, without which it cannot be scored.
    """
    if path.suffix.lower() != ".html":
        raise DataError(f"{path}: the page is HTML; name a file that ends in .html")
    key_path, blank_path = path.with_suffix(".key.json"), path.with_suffix(".json")
    earlier = parse_key(key_path, read_json(key_path)) if key_path.exists() else key
    if (earlier.page, earlier.letters) != (key.page, key.letters):
        raise DataError(
            f"{key_path}: is the key of another page ({earlier.page}), whose sheets cannot be scored without it; name another "
            f"--out, or make that page again with --seed {earlier.seed}"
        )
    write_text(path, render_page(sheet))
    write_json(key_path, key.model_dump(mode="json"))
    write_json(blank_path, sheet.model_dump(mode="json"))
    return key_path, blank_path


def render_page(sheet: AnnotationSheet) -> str:
    """The page that shows a sheet's items and starts from its marks."""
    environment = page_environment(TEMPLATES)
    style = read_text(TEMPLATES / "page.css")
    script = "\n".join(read_text(TEMPLATES / name) for name in SCRIPTS)
    return environment.get_template("page.html.j2").render(
        n_items=len(sheet.items),
        policy=(
            f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
        # our own files, and JSON in which nothing is left that HTML or script could take for its own
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        data=Markup(embedded_json(sheet.model_dump(mode="json"))),  # noqa: S704
    )


def embedded_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever its texts hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(ESCAPES)


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
