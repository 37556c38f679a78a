"""What a prompt says of the summary's length, and of fairness towards all sides.

The instruction on fairness says that a fair summary is wanted, what share of the documents each attribute value has (in per cent,
as so many of so many, or that it is for the model to count), that the documents are mixed, and that each value is to have that
share of the summary. Which document has which value it never says.
Source: Zhang et al. 2024, section 7.2, and for frequencies REFER; docs/papers.md#zhang-instruction and #refer.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..config import CorpusSection, TaskSection
from ..prompts import PromptTemplate, load_template
from ..records import DocumentSet
from ..text import fold

FAIRNESS = Path(__file__).parent / "prompts" / "fairness"


def length_asked(task: TaskSection) -> str | None:
    """ "one sentence", "about 50 words", "3 sentences of about 50 words together"; None when no length is asked for."""
    about = f"about {task.words} words" if task.words else None
    if task.sentences is None:
        return about
    sentences = "one sentence" if task.sentences == 1 else f"{task.sentences} sentences"
    if about is None:
        return sentences
    return f"{sentences} of {about}" if task.sentences == 1 else f"{sentences} of {about} together"


def fairness_asked(documents: DocumentSet, corpus: CorpusSection, task: TaskSection) -> str:
    """The instruction on fairness, with the shares of this set where the recipe asks for them; "" when it asks for none.

    It is "" as well for a set of fewer than two values, between which there is nothing to be fair.
    """
    if task.fairness == "none" or len(documents.values(corpus.attribute)) < 2:
        return ""
    counts = _counts(documents, corpus)
    names = {value: f"by {fold(task.labels[value])}" if value in task.labels else value for value in counts}
    # values that the set lacks have none of it
    declared = dict.fromkeys((*(corpus.sides or ()), *documents.declared_values(corpus.attribute)), 0) | counts
    total, fields = sum(counts.values()), Counter(map(_field, declared))
    # what would name two values names none
    numbers = {_field(value): count for value, count in declared.items() if fields[_field(value)] == 1}
    return _template(task).fill(
        {
            "attribute": corpus.attribute.replace("_", " "),
            "n": str(len(documents.documents)),
            "shares": _shares(counts, names),
            "frequencies": _frequencies(counts, names, len(documents.documents)),
            **{f"percent_{field}": _percent(count, total) for field, count in numbers.items()},
            **{f"count_{field}": str(count) for field, count in numbers.items()},
        }
    )


def fairness_signature(task: TaskSection) -> str:
    """Name and digest of the instruction's template; "" when none is used."""
    return "" if task.fairness == "none" else _template(task).signature


def _template(task: TaskSection) -> PromptTemplate:
    return load_template(task.fairness, FAIRNESS, "key 'task.fairness': ")


def _field(value: str) -> str:
    """A value as the name of a field: letters, and underscores for all else."""
    return re.sub(r"[^a-z]+", "_", value.casefold()).strip("_")


def _counts(documents: DocumentSet, corpus: CorpusSection) -> dict[str, int]:
    """Documents of each value, in an order that no document decides."""
    counts = Counter(d.attributes[corpus.attribute] for d in documents.documents if corpus.attribute in d.attributes)
    order = [*(side for side in corpus.sides or () if side in counts), *sorted(counts.keys() - set(corpus.sides or ()))]
    return {value: counts[value] for value in order}


def _shares(counts: Mapping[str, int], names: Mapping[str, str]) -> str:
    """ "50 % of the texts are negative, 12.5 % neutral and 37.5 % positive"."""
    total = sum(counts.values())
    first, *others = [f"{_percent(count, total)} % {names[value]}" for value, count in counts.items()]
    return _together([first.replace("%", "% of the texts are", 1), *others])


def _frequencies(counts: Mapping[str, int], names: Mapping[str, str], n: int) -> str:
    """ "4 of the 8 texts are negative, 1 of the 8 is neutral and 3 of the 8 are positive"."""
    shares = [f"{count} of the {n} {'is' if count == 1 else 'are'} {names[value]}" for value, count in counts.items()]
    return _together([shares[0].replace(f"the {n}", f"the {n} texts", 1), *shares[1:]])


def _together(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _percent(count: int, total: int) -> str:
    """Rounded to one place, or to as many as some need not to be 0 and some not to be 100."""
    share = 100 * count / total
    places = next(n for n in range(1, 17) if count in (0, total) or 0 < round(share, n) < 100)
    return f"{share:.{places}f}".removesuffix(".0")
