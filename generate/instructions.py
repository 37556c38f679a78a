"""What a prompt says of the summary's length, and of fairness towards all sides.

The instruction on fairness says that a fair summary is wanted, what share of the documents each attribute value has (in per cent,
or that it is the documents' own), that the documents are mixed, and that each value is to have that share of the summary. Which
document has which value it never says.
Source: Zhang et al. 2024, section 7.2; docs/papers.md#zhang-instruction.
"""

from collections import Counter
from pathlib import Path

from ..config import CorpusSection, TaskSection
from ..prompts import load_template
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
    template = load_template(task.fairness, FAIRNESS)
    return template.fill({"attribute": corpus.attribute.replace("_", " "), "shares": _shares(documents, corpus, task)})


def fairness_signature(task: TaskSection) -> str:
    """Name and digest of the instruction's template; "" when none is used."""
    return "" if task.fairness == "none" else load_template(task.fairness, FAIRNESS).signature


def _shares(documents: DocumentSet, corpus: CorpusSection, task: TaskSection) -> str:
    """ "50 % of the texts are negative, 12.5 % neutral and 37.5 % positive": values in an order that no document decides."""
    counts = Counter(d.attributes[corpus.attribute] for d in documents.documents if corpus.attribute in d.attributes)
    total = sum(counts.values())
    order = [*(side for side in corpus.sides or () if side in counts), *sorted(counts.keys() - set(corpus.sides or ()))]
    names = {value: f"by {fold(task.labels[value])}" if value in task.labels else value for value in order}
    first, *others = [f"{_percent(counts[value], total)} % {names[value]}" for value in order]
    first = first.replace("%", "% of the texts are", 1)
    return first if not others else f"{', '.join([first, *others[:-1]])} and {others[-1]}"


def _percent(count: int, total: int) -> str:
    """Rounded to one place, or to as many as some need not to be 0 and some not to be 100."""
    share = 100 * count / total
    places = next(n for n in range(1, 17) if count in (0, total) or 0 < round(share, n) < 100)
    return f"{share:.{places}f}".removesuffix(".0")
