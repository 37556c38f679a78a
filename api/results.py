"""What the public functions give back: records in their order, as rows, as a data frame, and as a table in a notebook."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from ..config import Recipe
from ..corpora.leftovers import leftover_in_summaries
from ..corpora.summaries import BY_ORDER, THOUGHTS
from ..corpora.summary_ids import SETS
from ..errors import DataError
from ..evaluation.pages import html, numbers
from ..evaluation.pages.blocks import Prose
from ..evaluation.pages.cells import Cell, NumberCell, Text
from ..evaluation.pages.tables import table
from ..evaluation.pages.words import counted
from ..evaluation.report.comparison.entries import ELSEWHERE
from ..extras import need
from ..generate.refusals import refusals_told
from ..judges.overflow import was_cut
from ..records import (
    BestSummary,
    Candidate,
    CandidateGroup,
    DocumentSet,
    Failure,
    Judgement,
    PreferencePair,
    Record,
    SummaryRequest,
)
from ..storage import write_jsonl

R = TypeVar("R", bound=Record)

# rows that a notebook shows, and letters of a text in them
MOST_ROWS, MOST_LETTERS = 20, 200


class Results(Generic[R]):
    """Records in their order. Each kind says in `rows` what a row of it is."""

    def __init__(self, records: Iterable[R]) -> None:
        self.records = tuple(records)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[R]:
        return iter(self.records)

    def __getitem__(self, place: int) -> R:
        return self.records[place]

    def rows(self) -> list[dict[str, Any]]:
        """A flat dict of plain values for each record."""
        return [record.model_dump(mode="json") for record in self.records]

    def to_frame(self) -> Any:
        """The rows as a pandas data frame.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return need("pandas", "to_frame").DataFrame(self.rows())

    def write(self, path: str | Path) -> None:
        """Write the records as JSON lines, as the stages of a run do."""
        write_jsonl(Path(path), self.records)

    def about(self) -> str:
        """The number and kind of the records, in a few words."""
        name = type(self).__name__.lower()
        return counted(len(self), name.removesuffix("s"), name)

    def __repr__(self) -> str:
        return f"<{self.about()}>"

    def _repr_html_(self) -> str:
        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        cells = ([_cell(row.get(name)) for name in names] for row in rows[:MOST_ROWS])
        shown = table(type(self).__name__.lower(), names, cells)
        notice = f". The first {MOST_ROWS} of {len(rows):,} rows:" if len(rows) > MOST_ROWS else ""
        return html.fragment([Prose(f"{self.about()}{notice}", "lead"), shown])


def _cell(value: Any) -> Cell:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return NumberCell(value, places=0 if isinstance(value, int) else numbers.places_for([value]))
    text = numbers.NONE if value is None else str(value)
    return Text(text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} ...")


class Documents(Results[DocumentSet]):
    """Document sets; a row is a document. What a set is grouped by is `attribute`, where that is known."""

    def __init__(self, sets: Iterable[DocumentSet], attribute: str | None = None) -> None:
        super().__init__(sets)
        names = list(
            dict.fromkeys(
                name for document_set in self for document in document_set.documents for name in document.attributes
            )
        )
        if attribute is None and len(names) == 1:
            has_all = all(
                names[0] in document.attributes for document_set in self for document in document_set.documents
            )
            attribute = names[0] if has_all else None
        self.attributes, self.attribute = tuple(names), attribute

    @overload
    def __getitem__(self, place: int) -> DocumentSet: ...

    @overload
    def __getitem__(self, place: slice) -> "Documents": ...

    def __getitem__(self, place: int | slice) -> "DocumentSet | Documents":
        if not isinstance(place, slice):
            return self.records[place]
        part = Documents(self.records[place])
        # a part is grouped by what the whole is grouped by, and by nothing where that is not known
        part.attributes, part.attribute = self.attributes, self.attribute
        return part

    @property
    def grouped_by(self) -> str:
        """The attribute.

        Raises:
            DataError: the documents have several, none, or one that some of them lack, and none was named.
        """
        if self.attribute is None:
            n = (
                sum(self.attributes[0] not in d.attributes for document_set in self for d in document_set.documents)
                if self.attributes
                else 0
            )
            description = (
                f"the attributes {', '.join(self.attributes)}" if self.attributes[1:]
                else f"the attribute {self.attributes[0]}, which {n} of them lack" if self.attributes
                else "no attribute"
            )  # fmt: skip
            raise DataError(
                f"the documents have {description}; name the one to be fair to: load_documents(..., attribute=NAME)"
            )
        return self.attribute

    def rows(self) -> list[dict[str, Any]]:
        """A row for each document, as `load_documents` reads it with topic="topic", id="id", split="split"."""
        return [
            {
                **{"set": document_set.id, "topic": document_set.topic or None, "split": document_set.split},
                **{"id": document.id, **document.attributes, "text": document.text},
            }
            for document_set in self
            for document in document_set.documents
        ]

    def about(self) -> str:
        """How many there are, and of which values."""
        values = "" if self.attribute is None else f" by {self.attribute}: {', '.join(self.values)}"
        n_documents = sum(len(document_set.documents) for document_set in self)
        return f"{counted(len(self), 'document set')}, {counted(n_documents, 'document')}{values}"

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the attribute, in order of first appearance."""
        return tuple(dict.fromkeys(value for document_set in self for value in document_set.values(self.grouped_by)))


class Candidates(Results[Candidate]):
    """Summaries, with what they answer; `recipe` is everything that was asked. What got no summary is in `failures`."""

    def __init__(
        self,
        records: Iterable[Candidate],
        requests: Iterable[SummaryRequest],
        recipe: Recipe,
        failures: Iterable[Failure] = (),
        *,
        by_order: bool = False,
        n_thoughts: int = 0,
    ) -> None:
        super().__init__(records)
        self.recipe, self.failures = recipe, tuple(failures)
        # whether summaries from elsewhere had no ids, so that the first went to the first set, and so on
        self.by_order = by_order
        # how many of them had a train of thought
        self.n_thoughts = n_thoughts
        self.requests = {request.id: request for request in requests}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of summaries from elsewhere before their scores are believed."""
        raw_texts = {candidate.id: candidate.raw_text for candidate in self if candidate.method == ELSEWHERE}
        leftover = leftover_in_summaries(raw_texts)
        thoughts = THOUGHTS.format(n=self.n_thoughts) if self.n_thoughts else ""
        by_order = BY_ORDER.format(of=SETS.many) if self.by_order else ""
        return tuple(filter(None, (by_order, thoughts, leftover, refusals_told([*raw_texts.values()]))))

    @property
    def groups(self) -> list[tuple[SummaryRequest, list[Candidate]]]:
        """The requests that have candidates, each with them."""
        by_request: dict[str, list[Candidate]] = {}
        for candidate in self:
            by_request.setdefault(candidate.request_id, []).append(candidate)
        return [(self.requests[name], candidates) for name, candidates in by_request.items()]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each candidate: whom it speaks for, its text, and how it was made."""
        fields = ("text", "contract_ok", "method", "plan", "index", "n_tokens", "finish_reason", "id")
        return [{**place(self.requests[c.request_id]), **{key: getattr(c, key) for key in fields}} for c in self]

    def about(self) -> str:
        """How many there are, and how many failed."""
        return f"{super().about()}{f', {len(self.failures):,} failed: see .failures' if self.failures else ''}"


def place(request: SummaryRequest) -> dict[str, Any]:
    """The cells of a row that say of which request it is."""
    return {"set": request.document_set.id, "side": request.side}


class Judgements(Results[Judgement]):
    """What the judges said of candidates. An unscored judgement has the score None and says why."""

    def __init__(self, records: Iterable[Judgement], candidates: Candidates, recipe: Recipe) -> None:
        super().__init__(records)
        self.candidates, self.recipe = candidates, recipe

    @property
    def judges(self) -> tuple[str, ...]:
        """Their names."""
        return self.recipe.evaluation.judges

    def rows(self) -> list[dict[str, Any]]:
        """A row for each candidate with a column for each judge, and why scores are missing.

        Where judges read texts that were cut to the length they read, a column `cut` names these judges.
        """
        scores: dict[str, dict[str, float | None]] = {}
        missing: dict[str, list[str]] = {}
        cut: dict[str, list[str]] = {}
        for judgement in self:
            scores.setdefault(judgement.candidate_id, {})[judgement.judge] = judgement.score
            if judgement.unscored:
                missing.setdefault(judgement.candidate_id, []).append(f"{judgement.judge}: {judgement.unscored}")
            if was_cut(judgement.raw):
                cut.setdefault(judgement.candidate_id, []).append(judgement.judge)
        return [
            {
                **place(self.candidates.requests[c.request_id]),
                "text": c.text,
                **scores.get(c.id, {}),
                **({"cut": "; ".join(cut.get(c.id, ())) or None} if cut else {}),
                "unscored": "; ".join(missing.get(c.id, ())) or None,
                "id": c.id,
            }
            for c in self.candidates
        ]

    def about(self) -> str:
        """How many there are, and how many have no score."""
        unscored = sum(judgement.score is None for judgement in self)
        return f"{counted(len(self), 'judgement')} by {', '.join(self.judges)}" + (
            f", {unscored:,} unscored" if unscored else ""
        )


class Best(Results[BestSummary]):
    """The summary to use for each request; `groups` holds all candidates with their rewards."""

    def __init__(
        self, records: Iterable[BestSummary], groups: Iterable[tuple[SummaryRequest, CandidateGroup]], recipe: Recipe
    ) -> None:
        super().__init__(records)
        self.groups, self.recipe = tuple(groups), recipe

    def rows(self) -> list[dict[str, Any]]:
        """A row for each request."""
        return [
            {
                "set": summary.set_id,
                "side": summary.side,
                "text": summary.text,
                "reward": summary.reward,
                **summary.scores,
                "n_candidates": summary.n_candidates,
            }
            for summary in self
        ]

    def about(self) -> str:
        """How many there are."""
        return f"best summaries of {counted(len(self), 'request')}"


class Pairs(Results[PreferencePair]):
    """Preference pairs in TRL's columns; `left_out` counts those not taken by reason, `left_out_by_side` by side and reason."""

    def __init__(self, records: Iterable[PreferencePair], left_out_by_side: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__(records)
        self.left_out_by_side = {side: dict(counts) for side, counts in left_out_by_side.items() if counts}
        self.left_out = dict(sum(map(Counter, self.left_out_by_side.values()), Counter[str]()))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each pair."""
        return [
            {
                "set": pair.set_id,
                "side": pair.side,
                "chosen": pair.chosen_text,
                "rejected": pair.rejected_text,
                "margin": pair.margin,
            }
            for pair in self
        ]

    def about(self) -> str:
        """How many there are, and how many were left out."""
        sides = {side: sum(counts.values()) for side, counts in self.left_out_by_side.items()}
        by_side = f" ({', '.join(f'{side} {n:,}' for side, n in sides.items())})" if len(sides) > 1 else ""
        return f"{counted(len(self), 'pair')}, {sum(sides.values()):,} left out{by_side}"


class Numbers(Results[R]):
    """Numbers of a study with their intervals; `found` is everything that it says, `folder` where its page lies, if anywhere."""

    def __init__(self, records: Sequence[R], result: Any, folder: Path | None) -> None:
        super().__init__(records)
        self.found, self.folder = result, folder

    def rows(self) -> list[dict[str, Any]]:
        """A row for each number; of an audit with what is expected, and the gap to it."""
        return [_row(record) for record in self]

    def about(self) -> str:
        """The headline, and how many warnings there are."""
        title: str = self.found.title
        n = len(self.found.warnings)
        return f"{title}; {counted(n, 'warning')} in .found.warnings" if n else title


OF_SCORES = ("system", "measure", "k", "side", "value", "low", "high", "n")
OF_AUDIT = ("system", "measure", "side", "value", "low", "high", "n_sets")


def _row(number: Record) -> dict[str, Any]:
    """A number, and what is concluded of an audit's; None where no chance level is known."""
    gap = getattr(number, "gap", None)
    if gap is None:
        # the names of a report's systems say among how many candidates the reward chooses
        return {key: getattr(number, key) for key in OF_SCORES if key != "k" or getattr(number, "k", None)}
    concluded = {"expected": gap.expected, "gap": gap.value, "gap_low": gap.low, "gap_high": gap.high}
    concluded |= {"adjusted": gap.adjusted, "verdict": gap.verdict}
    by = {"attribute": attribute} if (attribute := getattr(number, "attribute", "")) else {}
    return by | {key: getattr(number, key) for key in OF_AUDIT} | concluded
