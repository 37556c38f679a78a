"""A judge that is asked about some summaries again and again, whose model stays open."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from ...api.documents import load_documents
from ...api.steps import STAND_IN, candidate_of, changed, opened_judges
from ...config import CorpusSection
from ...errors import DataError, RecipeError
from ...generate.requests import build_requests
from ...judges.batch import judge_held
from ...judges.cache import VerdictCache
from ...records import Candidate, DocumentSet, Judgement, SummaryRequest
from ...text.digests import canonical_json, digest

# what documents without attributes are grouped by
UNGROUPED = {"group": "all"}


class OpenJudge:
    """A judge on a thread of its own.

    Args:
        judge: {name: keys of a recipe's section, or a function}, of one judge.
        attribute: what documents are grouped by, where they have several attributes.

    Raises:
        RecipeError: these are wrong.
    """

    def __init__(self, judge: Mapping[str, Any], attribute: str | None = None) -> None:
        task = {"scope": "all", "sentences": "natural"}
        (self._judge, *others), (recipe,) = opened_judges(
            judge, [changed(STAND_IN, model={"name": "none"}, task=task).model_dump(mode="json")]
        )
        if others:
            raise RecipeError(f"{', '.join(judge)} are several judges; make one of each")
        self.name, self.section = self._judge.name, recipe.judges[self._judge.name]
        self._attribute, self._task = attribute, recipe.task
        self._thread = ThreadPoolExecutor(1, f"judge-{self.name}")

    def judge(self, summaries: Sequence[str], documents: Sequence[Any]) -> list[Judgement]:
        """A judgement of each summary, which stands as it is.

        Args:
            summaries: texts.
            documents: of each summary: a text, texts, dicts with "text" and perhaps "attributes", or a document set.

        Raises:
            DataError: documents are wrong.
        """
        return self._thread.submit(self._judged, summaries, documents).result()

    def _judged(self, summaries: Sequence[str], documents: Sequence[Any]) -> list[Judgement]:
        requests: dict[str, SummaryRequest] = {}
        rows: list[tuple[SummaryRequest, Candidate]] = []
        for number, (summary, row) in enumerate(zip(summaries, documents, strict=True), start=1):
            record = _set_record(row, number)
            key = digest(canonical_json(record))
            if key not in requests:
                # rows may have equal ids
                requests[key] = self._request({**record, "id": key})
            rows.append((requests[key], candidate_of(requests[key], summary, whole=True)))
        with closing(VerdictCache()) as cache:
            return judge_held([self._judge], rows, cache)

    def _request(self, record: Any) -> SummaryRequest:
        loaded = load_documents([record], self._attribute)
        corpus = CorpusSection(attribute=loaded.attribute or loaded.attributes[0])
        (request,) = build_requests(loaded.records, corpus, self._task)
        return request


def _set_record(row: Any, number: int) -> dict[str, Any]:
    """A document set's keys, from what stands for its documents."""
    if isinstance(row, DocumentSet):
        return row.model_dump(mode="json")
    record = {str(key): value for key, value in row.items()} if isinstance(row, Mapping) else {"documents": row}
    documents: Any = record.get("documents")
    documents = [documents] if isinstance(documents, str) else documents
    # tables have arrays
    documents = documents.tolist() if hasattr(documents, "tolist") else documents
    if not isinstance(documents, Sequence) or not documents:
        raise DataError(
            f"row {number}: documents are {type(documents).__name__}; give a text, texts, dicts with 'text', or a document set"
        )
    parts = [{"text": part} if isinstance(part, str) else part for part in documents]
    if wrong := next((part for part in parts if not isinstance(part, Mapping)), None):
        raise DataError(f"row {number}: a document is {type(wrong).__name__}; give a text, or a dict with 'text'")
    # what columns of a data set have where a row has no such key is None
    whole = [{key: value for key, value in part.items() if value is not None} for part in parts]
    listed = [{"id": str(place), "attributes": UNGROUPED, **part} for place, part in enumerate(whole, start=1)]
    return {**record, "documents": listed}
