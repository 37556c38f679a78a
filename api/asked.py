"""Models that an audit asks itself: each writes one plain summary of every set, and what it wrote is kept.

A model's folder is a run folder with one stage, so that the same command goes on after a kill and asks nothing twice.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..config import GenerateSection, Recipe
from ..config.recipe_file import load_recipe, recipe_of
from ..config.remote import SERVED
from ..errors import DataError, EvenhandError
from ..estimate.run_size import RunSize
from ..evaluation.audit.input import AuditInput
from ..evaluation.report.comparison.runs import folder_name
from ..preflight import preflight
from ..records import Candidate, DocumentSet, SummaryRequest
from ..runfolder.phases import CANDIDATES, REQUESTS, phases
from ..storage import local_path, read_jsonl, write_jsonl, write_text
from ..text.mistakes import listed
from .steps import STAND_IN

# below the audit's folder: the sets that are asked for, and a run folder for each model
MODELS, DOCUMENTS, SUMMARIES = "models", "documents.jsonl", "summaries.jsonl"
RECIPES = frozenset({".yaml", ".yml"})
# a greedy answer, which costs as little as any; room for some words more than are asked for
MOST_TOKENS = 256
GREEDY = {"plain": {"temperature": 0.0, "candidates": 1, "max_tokens": MOST_TOKENS}}
TASK = {"scope": "all", "words": 100}
# whose key has a variable that everybody calls alike; it is sent nowhere else
OPENAI, OPENAI_KEY = "openai.com", "OPENAI_API_KEY"


@dataclass(frozen=True)
class AskedModel:
    """A model that is to be audited."""

    label: str
    # as it was named: NAME@URL of a server, a folder, an id, "embedded:NAME", or the file of a recipe
    text: str
    # its run folder
    folder: Path

    @property
    def summaries(self) -> Path:
        """File of what it wrote."""
        return self.folder / SUMMARIES


def asked_models(entries: Sequence[str], out: Path) -> list[AskedModel]:
    """The models of entries [LABEL=]MODEL, whose folders lie in the audit's; a comma stands between two of them.

    Raises:
        DataError: an address names no model; all are listed.
    """
    texts = [text for entry in entries for text in ([entry] if Path(entry).exists() else entry.split(","))]
    if nameless := [text for text in texts if text.rpartition("=")[2].startswith(("http://", "https://"))]:
        raise DataError(
            listed([f"--model {text}: write which of the server's models, NAME@{text}" for text in nameless])
        )
    labelled = [_labelled(text.strip()) for text in texts if text.strip()]
    return [AskedModel(label, text, out / MODELS / folder_name(label)) for label, text in labelled]


def write_summaries(
    models: Sequence[AskedModel], corpus: AuditInput, out: Path, run_one: Callable[[AskedModel, Recipe, str], None]
) -> None:
    """Have models write what they have not written yet, and put it into the files of their summaries.

    Args:
        models: as `asked_models` gives them.
        corpus: what is to be summarised, which an audit would not refuse.
        out: folder of the audit.
        run_one: runs the first stage of a model's recipe, of which a line says what it costs.

    Raises:
        DataError: a model cannot be had or asked; all are listed.
        StorageError: the sets cannot be written.
    """
    n_words = sum(len(document.text.split()) for documents in corpus.sets for document in documents.documents)
    for model, (recipe, size) in zip(models, recipes_of(models, corpus.sets, corpus.attribute, out), strict=True):
        cost = f"{model.label} is asked for {size}, of documents of {n_words:,} words; what is there already is reused"
        run_one(model, recipe, cost)
        _write_summaries(model, recipe)


def recipes_of(
    models: Sequence[AskedModel], documents: Sequence[DocumentSet], attribute: str, out: Path
) -> list[tuple[Recipe, RunSize]]:
    """How each model is asked, which is known to be possible here, and what that makes; the sets are written beside the models.

    Args:
        models: as `asked_models` gives them. Of a recipe, model, backend and, if it is of all sides, the task are taken.
        documents: all sets to be summarised.
        attribute: that they are grouped by.
        out: folder of the audit.

    Raises:
        DataError: a model cannot be had or asked; all are listed.
        StorageError: the sets cannot be written.
    """
    path = out / MODELS / DOCUMENTS
    write_jsonl(path, documents)
    recipes, mistakes = [], []
    for model in models:
        try:
            recipe = _recipe(model, path, attribute)
            recipes.append((recipe, preflight(recipe)))
        except EvenhandError as error:
            mistakes.append(f"--model {model.text}: {error}")
    if mistakes:
        raise DataError(listed(mistakes))
    return recipes


def _write_summaries(model: AskedModel, recipe: Recipe) -> None:
    """Put what a model wrote into the file of its summaries; a set without one has no line there."""
    (phase,) = phases(recipe)
    set_of = {request.id: request.document_set.id for request in read_jsonl(phase.folder / REQUESTS, SummaryRequest)}
    candidates = read_jsonl(phase.folder / CANDIDATES, Candidate)
    rows = [{"id": set_of[candidate.request_id], "summary": candidate.text} for candidate in candidates]
    write_text(model.summaries, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def _labelled(entry: str) -> tuple[str, str]:
    """Label and model of an entry; a model alone is called by the last part of its name."""
    label, equals, model = entry.partition("=")
    if equals and label.strip() and model.strip() and not {"/", "@", ":"} & set(label):
        return label.strip(), model.strip()
    served = SERVED.fullmatch(entry)
    name = (served["name"] if served else entry).removeprefix("embedded:").rstrip("/").rpartition("/")[2]
    return (Path(name).stem if Path(name).suffix in RECIPES else name) or "model", entry


def _recipe(model: AskedModel, documents: Path, attribute: str) -> Recipe:
    """How a model is asked.

    Raises:
        RecipeError: the recipe is wrong.
    """
    is_recipe = Path(model.text).suffix in RECIPES
    own = _of_recipe(local_path(model.text)) if is_recipe else _of_name(model.text)
    corpus = {"path": str(documents), "attribute": attribute, "train": {"split": None}, "test": {"split": None}}
    name = {"name": f"audit of {model.label}", "output": str(model.folder)}
    # a set that could not be summarised is the audit's to refuse or to leave out
    return recipe_of({**STAND_IN, "limits": {"failed": 1.0}, "task": TASK, **own, **name, "corpus": corpus})


def _of_recipe(path: Path) -> Mapping[str, Any]:
    """What of a recipe says how a model is asked, with one greedy answer as long as its longest."""
    values = load_recipe(path).model_dump(mode="json")
    generate = {key: value for key, value in values["generate"].items() if key in GenerateSection.model_fields}
    most_tokens = max(plan["max_tokens"] for plan in generate["plans"].values())
    plans = {name: {**plan, "max_tokens": most_tokens} for name, plan in GREEDY.items()}
    own = {"model": values["model"], "generate": {**generate, "method": "zero-shot", "plans": plans}}
    return own | ({"task": values["task"]} if values["task"]["scope"] == "all" else {})


def _of_name(text: str) -> Mapping[str, Any]:
    if not (served := SERVED.fullmatch(text)):
        return {"model": {"name": text}, "generate": {"plans": GREEDY}}
    address = served["address"]
    host = urlsplit(address).hostname or ""
    key = {"api_key_env": OPENAI_KEY} if host == OPENAI or host.endswith(f".{OPENAI}") else {}
    server = {"base_url": address, **key}
    return {"model": {"name": served["name"]}, "generate": {"plans": GREEDY, "backend": "openai", "server": server}}
