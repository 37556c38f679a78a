"""What a run was made with: receipts of its stages, versions, and the signatures of its models and prompts."""

from collections.abc import Iterator

from pydantic import BaseModel

from ...config import Recipe
from ...records import Candidate
from ...runfolder.phases import CANDIDATES, REQUESTS, Phase, phases
from ...runfolder.stages import Receipt, read_receipt
from ...storage import iter_jsonl, parse_line
from ..systems.contents import Provenance, StageRow

# stages in the order in which a phase goes through them; others follow by name
ORDER = ("generate", "judge", "rerank", "train")


def read_receipts(recipe: Recipe) -> list[tuple[str, Receipt]]:
    """Phase name and receipt of every finished stage, in the order in which the loop works through them."""
    return [(phase.name, receipt) for phase in phases(recipe) for receipt in _receipts(phase)]


def stage_rows(receipts: list[tuple[str, Receipt]]) -> tuple[StageRow, ...]:
    """The receipts as the report shows them."""
    return tuple(StageRow(phase=p, stage=r.stage, seconds=r.seconds, counts=r.counts) for p, r in receipts)


def versions(receipts: list[tuple[str, Receipt]]) -> dict[str, str]:
    """Version of each distribution; where stages ran under several versions, all of them."""
    found: dict[str, dict[str, None]] = {}
    for _, receipt in receipts:
        for name, version in receipt.versions.items():
            found.setdefault(name, {})[version] = None
    return {name: ", ".join(several) for name, several in sorted(found.items())}


def model_signatures(recipe: Recipe) -> dict[str, str]:
    """Phase -> signature of the model and adapter that wrote its candidates; phases without candidates are absent."""
    found = {}
    for phase in phases(recipe):
        path = phase.folder / CANDIDATES
        if path.is_file():
            with path.open(encoding="utf-8") as lines:
                first = next((line for line in lines if line.strip()), None)
            if first:
                found[phase.name] = parse_line(first, Candidate).model
    return found


class _Templated(BaseModel):
    """As much of a request as tells what it was asked with."""

    template: str


def templates(recipe: Recipe) -> dict[str, str]:
    """Phase -> name and digest of the prompt templates of its requests; phases without requests are absent."""
    found = {}
    for phase in phases(recipe):
        path = phase.folder / REQUESTS
        names = dict.fromkeys(each.template for each in iter_jsonl(path, _Templated)) if path.is_file() else {}
        if names:
            found[phase.name] = ", ".join(names)
    return found


def read_provenance(recipe: Recipe) -> Provenance:
    """What the report says of how the run was made."""
    receipts = read_receipts(recipe)
    return Provenance(
        recipe=recipe.model_dump(mode="json"),
        versions=versions(receipts),
        models=model_signatures(recipe),
        templates=templates(recipe),
        stages=stage_rows(receipts),
    )


def _receipts(phase: Phase) -> Iterator[Receipt]:
    paths = sorted((phase.folder / "receipts").glob("*.json"), key=lambda path: (_place(path.stem), path.stem))
    for path in paths:
        receipt = read_receipt(path)
        if receipt is not None:
            yield receipt


def _place(stage: str) -> int:
    return ORDER.index(stage) if stage in ORDER else len(ORDER)
