"""What an audit is asked for: its measures and target, and matcher and entailer as the command line names them.

Those are named by name and model, or by a file with all of a recipe's keys.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, get_args

import regex
from pydantic import ValidationError

from ...config.fairness import ENTAILER_MODELS, EntailerSection, MatcherSection, ToneSection, WordListsSection
from ...config.recipe_file import load_section
from ...errors import DataError, MissingExtra, UnfitModelError
from ...extras import need
from ...fairness.groups.shares import DEFAULT_TAU, Mode, Target
from ...models import file_at_hand
from ...plugins.opinions.family import Units
from ...resampling import LEAST_SETS, Bootstrap
from ...storage import local_path
from ...text import did_you_mean, one_spelling

MEASURES = ("value-shares", "coverage", "order", "tone", "opinions", "word-lists")
# measured only where they are asked for: what tells tone is weak, and most documents are not about men and women
ON_REQUEST = ("tone", "word-lists")
# those that a matcher tells
BY_MATCHER = ("value-shares", "order", "tone")
# what people call a measure -> the family that has it
FAMILY_OF = {
    **dict.fromkeys(("bur", "uer", "auc", "sof", "proportional-representation"), "value-shares"),
    **dict.fromkeys(("equal-coverage", "ec", "coverage-parity", "cp"), "coverage"),
    **dict.fromkeys(("place", "position", "speaking-order"), "order"),
    **dict.fromkeys(("sentiment", "framing"), "tone"),
    **dict.fromkeys(("opinion-graph", "opinion"), "opinions"),
    **dict.fromkeys(("word-list", "word-list-bias", "gender-words"), "word-lists"),
}


@dataclass(frozen=True)
class AuditPlan:
    """What is measured and how it is summed up."""

    measures: tuple[str, ...] = MEASURES
    # which values take part, see `fairness.groups.shares`; "paper" is the paper's rule of coverage too
    mode: Mode = "drop_zero"
    # share of its aimed-at share that a value may not fall to, in [0, 1]
    tau: float = DEFAULT_TAU
    # "ratio", "equal", or one weight for each value of the audit
    target: Target = "ratio"
    # what tells the tone of a sentence
    tone: ToneSection = field(default_factory=ToneSection)
    # what a summary could take over whole, for the opinion graph
    opinion_units: Units = "sentences"
    # words of groups, of word-lists; None: those of the genders
    word_lists: WordListsSection | None = None
    # sets that must have a value before anything is concluded of it
    least_group: int = LEAST_SETS
    # whether to show what papers report beside these measures, and how low and high those of coverage can be
    published: bool = False
    bounds: bool = False
    # summaries shown of each system by each family
    n_examples: int = 5
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


def read_measures(text: str) -> tuple[str, ...]:
    """The measures of a list with commas, in their own order.

    Raises:
        DataError: one is not known, or there is none.
    """
    named = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [name for name in named if name not in MEASURES]
    if unknown or not named:
        name = unknown[0] if unknown else ""
        family = FAMILY_OF.get(name.lower().replace(" ", "-").replace("_", "-"))
        wrong = (
            "no measure is named." if not unknown else f"measure {name!r} is not known{did_you_mean(name, MEASURES)}"
        )
        wrong = f"{name!r} is one of {family!r}." if family else wrong
        raise DataError(f"--measures {text!r}: {wrong} Measures are {', '.join(MEASURES)}")
    return tuple(name for name in MEASURES if name in named)


def usual_measures() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The measures that run here without a model, and a sentence for each that does not."""
    usual = tuple(name for name in MEASURES if name not in ON_REQUEST)
    try:
        need("networkx", "measure 'opinions'")
    except MissingExtra as error:
        return tuple(name for name in usual if name != "opinions"), (f"Opinions are not measured: {error}",)
    return usual, ()


def usual_entailer(texts: Iterable[str]) -> tuple[EntailerSection, str]:
    """The encoder where it is at hand and the documents are for it, else words in common; and why it is not the encoder.

    Args:
        texts: of all documents.
    """
    n_words = n_letters = n_latin = 0
    for text in texts:
        n_words += len(text.split())
        n_letters += len(LETTER.findall(text))
        n_latin += len(LATIN.findall(text))
    try:
        if n_words > MOST_ENCODED:
            raise DataError(f"documents of {n_words:,} words take it minutes; --entailer encoder asks for it")
        if 2 * n_latin < n_letters:
            raise DataError("most letters of the documents are of a script that it was not trained on")
        need("sentence_transformers", "entailer 'encoder'")
        # an audit fetches nothing that nobody asked for
        if file_at_hand(ENTAILER_MODELS["encoder"], None, "modules.json") is None:
            raise DataError(f"{ENTAILER_MODELS['encoder']} is not on this machine; evenhand models says how to get it")
    except (DataError, MissingExtra, UnfitModelError) as error:
        return EntailerSection(kind="words"), str(error)
    return EntailerSection(kind="encoder"), ""


def read_target(text: str, values: Sequence[str]) -> Target:
    """The fairness target: "ratio", "equal", or a weight for each value ("pos=0.5,neg=0.5").

    Raises:
        DataError: a weight is not a number above 0, a value is not known, named twice or missing; all are listed. A value that is
            due nothing would fall short in every summary, also in one on target: what it gets is never more than its due.
    """
    if text in ("ratio", "equal"):
        return "ratio" if text == "ratio" else "equal"
    weights: dict[str, float] = {}
    mistakes = []
    for part in text.split(","):
        name, equals, number = map(one_spelling, part.rpartition("="))
        if not equals or not _is_weight(number):
            mistakes.append(f"{part.strip()!r} is not VALUE=WEIGHT with a weight above 0")
        elif name not in values:
            mistakes.append(f"{name!r} is not a value{did_you_mean(name, values)} Values are {', '.join(values)}")
        elif name in weights:
            mistakes.append(f"{name!r} is named twice")
        else:
            weights[name] = float(number)
    if not mistakes and (missing := [value for value in values if value not in weights]):
        mistakes.append(f"no weight for {', '.join(missing)}; give each value one")
    if mistakes:
        raise DataError(f"--target {text!r}: {'; '.join(mistakes)}; or write ratio or equal")
    return tuple(weights[value] for value in values)


def _is_weight(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def read_tone(text: str) -> ToneSection:
    """What tells tone, by its name or from a YAML file with the keys of its section.

    Raises:
        DataError: the name is not known.
        RecipeError: the file cannot be read or its keys are wrong; all mistakes are listed.
    """
    return _section("tone", text, ToneSection, None)


# of an option and of --model: the names that it may have, and the measures that it tells
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "matcher": (get_args(MatcherSection.model_fields["kind"].annotation), BY_MATCHER),
    "entailer": (get_args(EntailerSection.model_fields["kind"].annotation), ("coverage",)),
    "tone": (get_args(ToneSection.model_fields["kind"].annotation), ("tone",)),
}
# words of documents up to which the encoder is the usual entailer: it reads some 500 of them a second on one core
MOST_ENCODED = 20_000
LETTER, LATIN = regex.compile(r"\p{L}"), regex.compile(r"\p{Latin}")
# those that have no model are not asked for one
WITHOUT_MODEL = ("ngram", "words")

S = TypeVar("S", MatcherSection, EntailerSection, ToneSection)


def read_word_lists(path: Path | None, measures: Sequence[str]) -> WordListsSection | None:
    """Words of groups in a YAML file.

    Raises:
        DataError: they would have no effect.
        RecipeError: the file cannot be read or its keys are wrong; all mistakes are listed.
    """
    if path is None:
        return None
    if "word-lists" not in measures:
        raise DataError("--word-lists has no effect without measure 'word-lists'; add it to --measures")
    return load_section(local_path(path), WordListsSection, "word lists")


def read_sections(
    measures: Sequence[str], matcher: str | None, entailer: str | None, models: Sequence[str]
) -> tuple[MatcherSection | None, EntailerSection | None]:
    """Matcher and entailer with their models; a model belongs to the one that has models, unless it says which.

    Args:
        measures: that are asked for.
        matcher: a name, or a YAML file with the keys of a recipe's `matcher`; None takes the best that runs without a model.
        entailer: a name, or a YAML file with the keys of a recipe's `entailer`; None takes the usual one.
        models: NAME, "matcher=NAME" or "entailer=NAME".

    Raises:
        DataError: a name is not known, an option is wrong or would have no effect.
        RecipeError: a file cannot be read or its keys are wrong; all mistakes are listed.
    """
    with_model = []
    for part, text in (("matcher", matcher), ("entailer", entailer)):
        names, told = PARTS[part]
        if text is not None and not set(told).intersection(measures):
            raise DataError(f"--{part} has no effect without measure {told[0]!r}; add it to --measures")
        if text in names and text not in WITHOUT_MODEL:
            with_model.append(part)
    found = _models(models, with_model)
    return (
        None if matcher is None else _section("matcher", matcher, MatcherSection, found.get("matcher")),
        None if entailer is None else _section("entailer", entailer, EntailerSection, found.get("entailer")),
    )


def _models(given: Sequence[str], able: Sequence[str]) -> dict[str, str]:
    """Part -> its model, of those parts that may have one."""
    found: dict[str, str] = {}
    for text in given:
        part, equals, name = text.partition("=")
        is_named = bool(equals) and part in PARTS
        fitting = [each for each in able if each == part or not is_named]
        if len(fitting) != 1:
            raise DataError(
                f"--model {text!r}: write --model matcher=NAME with --matcher bertscore or bartscore, --model entailer=NAME "
                "with --entailer encoder or nli; other matchers and entailers have no model, and a file names its own"
            )
        if fitting[0] in found:
            raise DataError(f"--model {text!r}: the {fitting[0]} has model {found[fitting[0]]!r} already; name one")
        found[fitting[0]] = name if is_named else text
    return found


def _section(part: str, text: str, model: type[S], model_name: str | None) -> S:
    """By its name, or from the file that is named in place of one."""
    names, _ = PARTS[part]
    option = f"--{part} {text}"
    if text not in names:
        path = local_path(text)
        if path.suffix not in (".yaml", ".yml"):
            raise DataError(
                f"{option}: is not known{did_you_mean(text, names)} Take {', '.join(names)}, or a .yaml file "
                f"with the keys of a recipe's section {part}"
            )
        return load_section(path, model, part)
    try:
        return model.model_validate({"kind": text} | ({} if model_name is None else {"model": model_name}))
    except ValidationError as error:
        said = "; ".join(problem["msg"].removeprefix("Value error, ") for problem in error.errors())
        raise DataError(
            f"{option}{f' --model {model_name}' if model_name else ''}: {said}; write options other than the model in "
            f"a file: --{part} FILE.yaml"
        ) from error
