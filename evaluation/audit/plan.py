"""The plan of an audit: its measures and target, and the entailer that is taken where none is named."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import regex

from ...config.fairness import ENTAILER_MODELS, EntailerSection
from ...config.section import Section
from ...errors import DataError, MissingExtra, UnfitModelError
from ...extras import need
from ...fairness.groups.shares import DEFAULT_TAU, Mode, Target
from ...models import file_at_hand
from ...resampling import LEAST_SETS, Bootstrap
from ...text import did_you_mean, one_spelling


@dataclass(frozen=True)
class AuditPlan:
    """What is measured and how it is summed up."""

    # names, see `families.MEASURES`
    measures: tuple[str, ...] = ()
    # which values take part, see `fairness.groups.shares`; "paper" is the paper's rule of coverage too
    mode: Mode = "drop_zero"
    # share of its aimed-at share that a value may not fall to, in [0, 1]
    tau: float = DEFAULT_TAU
    # "ratio", "equal", or one weight for each value of the audit
    target: Target = "ratio"
    # family or supplement -> options of its own, see `family.FamilyKind` and `supplements.Supplement`
    options: Mapping[str, Section] = field(default_factory=dict)
    # sets that must have a value before anything is concluded of it
    least_group: int = LEAST_SETS
    # summaries shown of each system by each family
    n_examples: int = 5
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


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


# words of documents up to which the encoder is the usual entailer: it reads some 500 of them a second on one core
MOST_ENCODED = 20_000
LETTER, LATIN = regex.compile(r"\p{L}"), regex.compile(r"\p{Latin}")
