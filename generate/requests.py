"""Summary requests: who is to be summarised, from which documents, with which words.

The documents come first in every prompt and what is asked comes last, so that all requests of a set share a long prefix,
which the engine computes once.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..config import CorpusSection, TaskSection
from ..errors import DataError, RecipeError
from ..prompts import PromptTemplate, broken, flat, load_template, sections_of
from ..records import Contract, Document, DocumentSet, Message, Perspective, SummaryRequest
from ..storage import digest
from ..text import fold
from .instructions import fairness_asked, fairness_signature, length_asked

PROMPTS = Path(__file__).parent / "prompts"
# what stands for the side of a request that asks for all of them
ALL = "all"


def build_requests(sets: Sequence[DocumentSet], corpus: CorpusSection, task: TaskSection) -> list[SummaryRequest]:
    """One request for each set and side, sets in their order, sides in the recipe's; with scope "all" one for each set.

    Raises:
        RecipeError: the prompt template is unknown or asks for an unknown field.
        DataError: a set has no value of the corpus's attribute, or two requests would have the same id.
    """
    template = _template(task)
    _refuse_template(template, task)
    requests = [
        _request(documents, side, corpus, task, template)
        for documents in sets
        for side in (sides_of(documents, corpus) if task.scope == "side" else (ALL,))
    ]
    twice = [name for name, count in Counter(request.id for request in requests).items() if count > 1]
    if twice:
        raise DataError(f"requests SET/SIDE have equal names: {', '.join(sorted(twice))}; rename the sets or the sides")
    return requests


def _template(task: TaskSection) -> PromptTemplate:
    return load_template(task.template, PROMPTS, "key 'task.template': ")


def _refuse_template(template: PromptTemplate, task: TaskSection) -> None:
    absent = sorted({"documents", *(["side"] if task.scope == "side" else [])} - template.fields)
    if absent:
        raise RecipeError(
            f"key 'task.template': {template.name!r} has no field {{{absent[0]}}}, so the model would not see it; add it"
        )
    if task.scope == "all" and "length" in template.fields and length_asked(task) is None:
        raise RecipeError(
            f"key 'task.template': {template.name!r} asks for {{length}}, but the recipe for none; write {{in_length}}, which "
            "goes without, or let task.sentences or task.words say the length"
        )
    if task.fairness != "none" and "fairness" not in template.fields:
        raise RecipeError(
            f"key 'task.fairness': the template {template.name!r} has no field {{fairness}}, so the model would not see the "
            "instruction; add it, or take the template 'all-sides'"
        )
    if "opening" in template.fields and task.opening is None:
        raise RecipeError(
            f"key 'task.opening': the template {template.name!r} asks for an opening; write one, or take the template "
            f"{'perspective' if task.scope == 'side' else 'all-sides'!r}, which goes without"
        )


def sides_of(documents: DocumentSet, corpus: CorpusSection) -> tuple[str, ...]:
    """The sides that summaries of this set are asked for.

    Raises:
        DataError: no document has the attribute.
    """
    sides = corpus.sides or documents.values(corpus.attribute)
    if not sides:
        raise DataError(
            f"set {documents.id!r}: no document has the attribute {corpus.attribute!r}; "
            "name another with corpus.attribute or add it to the documents"
        )
    return sides


def _request(
    documents: DocumentSet, side: str, corpus: CorpusSection, task: TaskSection, template: PromptTemplate
) -> SummaryRequest:
    opening = _opening(task, side)
    values = sides_of(documents, corpus)
    others = dict.fromkeys(_opening(task, value) for value in values)
    contract = Contract(
        opening=opening,
        # an opening that does not name the side is every side's own
        other_openings=tuple(other for other in others if other and other != opening),
        sentences=task.sentences,
        words=task.words,
    )
    laid_out = _layout(documents, corpus) if task.scope == "side" else _mixed(documents)
    text = _filled(template, documents, side, corpus, task, laid_out)
    return SummaryRequest(
        id=f"{documents.id}/{side}",
        document_set=documents,
        perspective=Perspective(attribute=corpus.attribute, value=side) if task.scope == "side" else None,
        attribute=corpus.attribute,
        contract=contract,
        template="+".join(filter(None, (template.signature, fairness_signature(task)))),
        prompt=(Message(role="user", content=text),),
    )


def _filled(
    template: PromptTemplate,
    documents: DocumentSet,
    side: str,
    corpus: CorpusSection,
    task: TaskSection,
    laid_out: str = "",
) -> str:
    """A task's template with everything filled in that it may ask for."""
    opening, topic = _opening(task, side), fold(documents.topic)
    length, fairness = length_asked(task), fairness_asked(documents, corpus, task)
    # some begin or end with a space or are blank, so that a prompt can go without them
    phrases = {
        "about": f" about {topic}" if topic else "",
        "in_length": f" in {length}" if length else "",
        "fairness": f"{fairness} " if fairness else "",
        "begin": f' Begin with "{opening}".' if opening else "",
    }
    return template.fill(
        lines={
            "topic": topic,
            "side": side_name(side),
            "length": length or "a short paragraph",
            "opening": opening or "",
        },
        texts={"documents": laid_out, **phrases},
    )


def template_sections(task: TaskSection) -> frozenset[str]:
    """Names of the tags that the task's template has."""
    return sections_of(_template(task).text)


def prompt_around(request: SummaryRequest, corpus: CorpusSection, task: TaskSection) -> tuple[str, str]:
    """What a request's prompt says before its documents and after them, for methods that lay the documents out anew.

    Raises:
        RecipeError: the task's template does not have exactly one place for the documents.
    """
    template = _template(task)
    places = template.text.split("{documents}")
    if len(places) != 2:
        raise RecipeError(
            f"key 'task.template': {template.name!r} has {len(places) - 1} places for {{documents}}, but this method needs one"
        )
    sections = sections_of(template.text)
    before, after = (
        _filled(replace(template, text=text, sections=sections), request.document_set, request.side, corpus, task)
        for text in places
    )
    return before, after


def _layout(documents: DocumentSet, corpus: CorpusSection) -> str:
    """All documents under their side's name, one a line."""
    blocks = []
    for side in sides_of(documents, corpus):
        blocks.append("\n".join([f"{side_name(side)}:", *lines_of(documents, side, corpus)]))
    return "\n\n".join(blocks)


def lines_of(documents: DocumentSet, side: str, corpus: CorpusSection) -> list[str]:
    """The side's documents, one a line, none of which is the name that a side's lines stand under."""
    listed = "|".join(re.escape(flat(side_name(each))) for each in sides_of(documents, corpus))
    heading = re.compile(rf"^(?:{listed})\s*:$", re.IGNORECASE)
    return [broken(fold(document.text), heading) for document in documents.select(corpus.attribute, side)]


def _mixed(documents: DocumentSet) -> str:
    """All documents, numbered, one a line: who says what is not told."""
    lines = (fold(document.text) for document in mixed_documents(documents))
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))


def mixed_documents(documents: DocumentSet) -> list[Document]:
    """All documents in a random order, which is always the same for a set."""
    order = list(documents.documents)
    random.Random(digest(["order", documents.id])).shuffle(order)  # noqa: S311
    return order


def _opening(task: TaskSection, side: str) -> str | None:
    return task.opening.replace("{side}", side_name(side)) if task.opening else None


def side_name(side: str) -> str:
    """The side as prompts write it, on one line: "Left"."""
    side = fold(side)
    return side[:1].upper() + side[1:]
