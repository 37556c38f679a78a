"""`evenhand init`: four questions, and a recipe of 25 lines."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, cast, get_args

import typer

from ..config import ColumnsSection, CorpusSection
from ..config.remote import SERVED
from ..errors import DataError, EvenhandError, RecipeError
from ..storage import write_text
from ..text import did_you_mean, one_spelling
from . import completion
from .first_recipe import Answers, Goal, checked, recipe_text
from .inputs import Columns
from .terminal import complain, say

if TYPE_CHECKING:
    from ..corpora.survey import Survey
    from ..records import DocumentSet

EXAMPLE = "Example: evenhand init my.yaml --documents sample --model embedded:smollm2-135m-instruct --goal rerank"
ENDINGS = (".yaml", ".yml")
USUAL_MODEL = "embedded:smollm2-135m-instruct"
MODELS = "a name on the hub, a folder, embedded:NAME, or NAME@http://HOST/v1 of a server"
GOALS = " or ".join(get_args(Goal))
MEANING = "the best of six summaries, or LoRA DPO on what they teach, too"
# values of an attribute that are named with their documents
MOST_VALUES = 6
T = TypeVar("T")


def init(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The recipe to write.")] = Path("recipe.yaml"),
    documents: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Document sets (JSON lines), a table with a row for each document, or a bundled corpus: sample, reviews.",
            autocompletion=completion.documents,
        ),
    ] = None,
    columns: Columns = None,
    attribute: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What documents are grouped by. Default: the only one that they have."),
    ] = None,
    sides: Annotated[
        str | None, typer.Option(metavar="A,B", help="Its values that summaries are asked for. Default: all of a set.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What writes: a name on the Hugging Face hub, a folder, embedded:NAME, or NAME@http://HOST/v1 of a server.",
            autocompletion=completion.writing_models,
        ),
    ] = None,
    goal: Annotated[
        Goal | None,
        typer.Option(help="rerank: the best of six summaries; train: LoRA DPO on what they teach, too."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a first recipe of 25 lines, by four questions or by options.

    Asked, in a terminal, is what no option says. The documents are looked into, and the recipe is checked before it is written.
    """
    _refuse_file(file, force=force)
    survey = None if documents is None else _survey(documents, columns)
    if not sys.stdin.isatty():
        _refuse_missing(
            survey, attribute, {"--documents FILE": documents, "--model NAME": model, "--goal rerank|train": goal}
        )
    if documents is None or survey is None:
        documents, survey = _answer(
            "1 of 4. Documents: a file of document sets, a table, sample or reviews",
            lambda text: (text, _survey(text, columns)),
            "sample",
        )
    say(f"{documents}: its documents can be grouped by {_listed(survey.attributes)}")
    only = next(iter(survey.attributes)) if len(survey.attributes) == 1 else None
    group = partial(_grouped, documents, survey.columns, sides)
    if attribute is None and sys.stdin.isatty():
        corpus, sets = _answer("2 of 4. Grouped by", group, only)
    else:
        corpus, sets = group(attribute or only or "")
    model = _model(model) if model else _answer(f"3 of 4. The model that writes: {MODELS}", _model, USUAL_MODEL)
    fit = partial(_goal, model=model)
    chosen: Goal = fit(goal) if goal else _answer(f"4 of 4. {GOALS}: {MEANING}", fit, "rerank")
    values = Counter(document.attributes[corpus.attribute] for documents in sets for document in documents.documents)
    splits = frozenset(documents.split for documents in sets if documents.split)
    _write(file, recipe_text(Answers(file.stem, corpus, values, splits, model, chosen), str(file)), _unseen(model))


def _refuse_file(file: Path, *, force: bool) -> None:
    if file.suffix not in ENDINGS:
        raise DataError(f"{file}: name a file that ends in {ENDINGS[0]}")
    if file.exists() and (file.is_dir() or not force):
        raise DataError(f"{file}: is there already; name another file, or add --force to replace it")


def _survey(documents: str, columns: ColumnsSection | None) -> "Survey":
    from ..corpora.survey import survey

    offer = survey(documents, columns)
    if not offer.attributes and offer.columns is None:
        raise DataError(
            f"{documents}: its documents have no attribute to be grouped by; give each one: "
            '"attributes": {"stance": "left"}'
        )
    return offer


def _refuse_missing(survey: "Survey | None", attribute: str | None, options: Mapping[str, str | None]) -> None:
    """Refuse to ask where nobody can answer; all options that say it are named."""
    missing = [option for option, value in options.items() if value is None]
    if attribute is None and (survey is None or len(survey.attributes) != 1):
        names = "" if survey is None else f" ({_listed(survey.attributes)})"
        missing.insert(survey is None, f"--attribute NAME{names}")
    if missing:
        raise DataError(f"this is no terminal to ask questions in; say it by options: {', '.join(missing)}")


def _answer(question: str, read: Callable[[str], T], usual: str | None) -> T:
    """What an answer means, asked until it means something."""
    while True:
        try:
            return read(typer.prompt(question, default=usual).strip())
        except EvenhandError as error:
            complain(str(error))


def _listed(attributes: Mapping[str, Mapping[str, int]]) -> str:
    from ..evaluation.pages.words import joined

    shown = (
        f"{name} ({joined([f'{value} {count:,}' for value, count in values.items()], MOST_VALUES)})"
        for name, values in attributes.items()
    )
    return "; ".join(shown) or "no column of few values: --attribute COLUMN names one all the same"


def _grouped(
    documents: str, columns: ColumnsSection | None, sides: str | None, attribute: str
) -> "tuple[CorpusSection, list[DocumentSet]]":
    """The section of a recipe, and the sets that it names."""
    from ..corpora.reader import load_corpus

    if not attribute:
        raise DataError(f"{documents}: nothing is named that its documents are grouped by; add --attribute NAME")
    names = tuple(filter(None, map(one_spelling, (sides or "").split(",")))) or None
    corpus = CorpusSection(path=documents, columns=columns, attribute=attribute, sides=names)
    return corpus, load_corpus(corpus)


def _model(name: str) -> str:
    from ..models import check, is_hub_id
    from ..models.embedded import EMBEDDED, embedded_model

    if name.startswith(EMBEDDED):
        embedded_model(name)
    elif not name or ("://" in name and not SERVED.fullmatch(name)):
        raise DataError(f"model {name!r}: write {MODELS}")
    elif not SERVED.fullmatch(name) and not is_hub_id(name):
        check(name)
    return name


def _goal(text: str, model: str) -> Goal:
    if text not in get_args(Goal):
        raise DataError(f"{text!r}: write {GOALS}{did_you_mean(text, get_args(Goal)).removesuffix('.')}")
    if text == "train" and SERVED.fullmatch(model):
        raise DataError(
            f"train: the weights of {model!r} are its server's; write rerank, or name the model on the hub or in a folder"
        )
    return cast(Goal, text)


def _unseen(model: str) -> str:
    """A model of a hub that is not on this machine; "" for any other."""
    from ..models import file_at_hand, is_hub_id

    is_served = SERVED.fullmatch(model) is not None
    return "" if is_served or not is_hub_id(model) or file_at_hand(model, None, "config.json") else model


def _write(file: Path, text: str, unseen: str) -> None:
    try:
        checked(text)
    except RecipeError as error:
        raise RecipeError(f"{file}: is not written, because no run could go well by these answers:\n{error}") from error
    write_text(file, text)
    say(f"{file}: a recipe of {len(text.splitlines())} lines")
    if unseen:
        say(f"model {unseen!r} is not on this machine; validate asks the hub for it")
    say(f"next: evenhand validate {file}\nthen: evenhand loop {file}")
