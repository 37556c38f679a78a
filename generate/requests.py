"""Summary requests: who is to be summarised, from which documents, with which words.

The documents come first in every prompt and what is asked comes last, so that all requests of a set share a long prefix,
which the engine computes once.
"""

import random
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import overload

from ..config import CorpusSection, TaskSection
from ..doors import command
from ..errors import DataError, RecipeError
from ..prompts import PromptTemplate, broken, flat, load_template, sections_of
from ..records import Contract, Document, DocumentSet, Message, Perspective, SummaryRequest
from ..text import did_you_mean, fold, repeated, some_of
from ..text.digests import digest, digest_of_all
from ..text.mistakes import listed
from ..text.shown import shortened
from .instructions import fairness_asked, fairness_signature, length_asked

PROMPTS = Path(__file__).parent / "prompts"
# what stands for the side of a request that asks for all of them
ALL = "all"
# sets whose requests are kept
MOST_HELD = 512
# field of a template: the prompt that the corpus's authors published for the request, documents and all
RELEASED = "released"
# what templates may ask for of any request
REQUEST_FIELDS = frozenset(
    {"topic", "side", "length", "opening", "documents", "about", "in_length", "fairness", "begin"}
)


class Requests(Sequence[SummaryRequest]):
    """One request for each set and side, sets in their order, sides in the recipe's; with scope "all" one for each set.

    A request is made when it is asked for, and those of a few hundred sets are kept: the prompts of all of them would take more
    room than the documents.

    Args:
        sets: document sets.
        corpus: names the sides.
        task: what is asked for.

    Raises:
        RecipeError: the prompt template is unknown or asks for an unknown field, or a label is that of an unknown value or is
            another value's name.
        DataError: a set has no value of the corpus's attribute, two requests would have the same id, or the template asks for a
            released prompt that a request has not.
    """

    def __init__(self, sets: Sequence[DocumentSet], corpus: CorpusSection, task: TaskSection) -> None:
        template = _template(task)
        _refuse_template(template, task)
        _refuse_labels(sets, corpus, task)
        if RELEASED in template.fields:
            _refuse_unreleased(sets, corpus, task)
        self._sets = sets
        self._sides = [_asked_sides(documents, corpus, task) for documents in sets]
        if twice := repeated(name for name, _ in self._named()):
            raise DataError(f"requests SET/SIDE have equal names: {', '.join(twice)}; rename the sets or the sides")
        # of each request its set, and which of the set's requests it is
        self._set = array("q", (place for place, sides in enumerate(self._sides) for _ in sides))
        self._which = array("q", (which for sides in self._sides for which in range(len(sides))))
        self._of_set = lru_cache(MOST_HELD)(lambda place: tuple(_of_set(sets[place], corpus, task, template)))
        if sets:
            # what a template asks for and has not is known by filling it
            self._of_set(0)

    def _named(self) -> Iterator[tuple[str, str]]:
        for documents, sides in zip(self._sets, self._sides, strict=True):
            yield from ((f"{documents.id}/{side}", side) for side in sides)

    def drawn(self, places: Sequence[int]) -> "Requests":
        """Those of these places, in this order."""
        selection = copy(self)
        selection.__dict__.pop("digest", None)
        selection._set, selection._which = (array("q", (each[i] for i in places)) for each in (self._set, self._which))
        return selection

    def sides(self) -> dict[str, str]:
        """Id -> side of all requests, in their order; none is made for it."""
        pairs = zip(self._set, self._which, strict=True)
        return {f"{self._sets[i].id}/{self._sides[i][which]}": self._sides[i][which] for i, which in pairs}

    @cached_property
    def digest(self) -> str:
        """Of all of them."""
        return digest_of_all(self)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._set)

    @overload
    def __getitem__(self, place: int) -> SummaryRequest: ...
    @overload
    def __getitem__(self, place: slice) -> list[SummaryRequest]: ...
    def __getitem__(self, place: int | slice) -> SummaryRequest | list[SummaryRequest]:
        """The request of a place, or those of a slice."""
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        return self._of_set(self._set[place])[self._which[place]]


def build_requests(sets: Sequence[DocumentSet], corpus: CorpusSection, task: TaskSection) -> list[SummaryRequest]:
    """All of `Requests`, made."""
    return list(Requests(sets, corpus, task))


def _asked_sides(documents: DocumentSet, corpus: CorpusSection, task: TaskSection) -> tuple[str, ...]:
    # documents without any attribute can be summarised all together
    sides = sides_of(documents, corpus) if corpus.attribute or task.scope == "side" else ()
    return sides if task.scope == "side" else (ALL,)


def _template(task: TaskSection) -> PromptTemplate:
    # a label is a plural, which the templates of one word a side cannot use as it is
    for_labels = f"{task.template}-labels"
    name = for_labels if task.labels and (PROMPTS / f"{for_labels}.txt").is_file() else task.template
    return load_template(name, PROMPTS, "key 'task.template': ")


def _refuse_labels(sets: Sequence[DocumentSet], corpus: CorpusSection, task: TaskSection) -> None:
    if not task.labels:
        return
    values = corpus.sides or tuple(dict.fromkeys(v for documents in sets for v in documents.values(corpus.attribute)))
    mistakes = [
        f"key 'task.labels': {shortened(value)} is not a value of {corpus.attribute!r}{did_you_mean(value, values)} Values are "
        f"{', '.join(map(str, values))}."
        for value in task.labels
        if value not in values
    ]
    if twice := repeated(side_name(value, task).casefold() for value in values):
        mistakes.append(f"key 'task.labels': two values are called {some_of(twice)}; give each a name of its own")
    if mistakes:
        raise RecipeError(listed(mistakes))


def _refuse_unreleased(sets: Sequence[DocumentSet], corpus: CorpusSection, task: TaskSection) -> None:
    sides = [(documents, side) for documents in sets for side in _asked_sides(documents, corpus, task)]
    absent = [f"{documents.id}/{side}" for documents, side in sides if documents.released_prompt(side) is None]
    if absent:
        raise DataError(
            f"key 'task.template': {task.template!r} asks with the prompts that the corpus's authors published, and "
            f"{len(absent)} of {len(sides)} requests have none: {some_of(absent)}. "
            f"{command('import polisum FILE --faithful-to-release')} keeps those of PoliSum; "
            "otherwise leave such sets out, or take the template 'perspective'"
        )


def refuse_fixed_documents(task: TaskSection, method: str) -> None:
    """Refuse a template with the documents in a text that is taken as it stands, for a method that lays them out anew.

    Raises:
        RecipeError: the task's template is such.
    """
    template = _template(task)
    if RELEASED in template.fields:
        raise RecipeError(
            f"key 'task.template': {template.name!r} takes each prompt as it was published, and generate.method {method!r} lays "
            "the documents itself; take the template 'perspective'"
        )


def _refuse_template(template: PromptTemplate, task: TaskSection) -> None:
    if RELEASED in template.fields and task.labels:
        raise RecipeError(
            f"key 'task.labels': the prompts of the template {template.name!r} call the sides what their authors did; leave "
            "labels out"
        )
    absent = sorted({"documents", *(["side"] if task.scope == "side" else [])} - template.fields)
    if absent and RELEASED not in template.fields:
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
        lacking = f"the attribute {corpus.attribute!r}" if corpus.attribute else "an attribute, and so none has a side"
        raise DataError(
            f"set {documents.id!r}: no document has {lacking}; name another with corpus.attribute or add it to the documents"
        )
    return sides


def _of_set(
    documents: DocumentSet, corpus: CorpusSection, task: TaskSection, template: PromptTemplate
) -> Iterator[SummaryRequest]:
    laid_out = _laid_out(documents, corpus, task)
    values = sides_of(documents, corpus) if corpus.attribute else ()
    others = dict.fromkeys(_opening(task, value) for value in values)
    for side in values if task.scope == "side" else (ALL,):
        opening = _opening(task, side)
        contract = Contract(
            opening=opening,
            # an opening that does not name the side is every side's own
            other_openings=tuple(other for other in others if other and other != opening),
            sentences=task.sentences,
            words=task.words,
        )
        yield SummaryRequest(
            id=f"{documents.id}/{side}",
            document_set=documents,
            perspective=(
                Perspective(attribute=corpus.attribute, value=side, label=task.labels.get(side))
                if task.scope == "side"
                else None
            ),
            attribute=corpus.attribute or None,
            contract=contract,
            template="+".join(filter(None, (template.signature, fairness_signature(task)))),
            prompt=(Message(role="user", content=_filled(template, documents, side, corpus, task, laid_out)),),
        )


def _laid_out(documents: DocumentSet, corpus: CorpusSection, task: TaskSection) -> str:
    if task.scope == "side":
        # all documents under their side's name, one a line
        return "\n\n".join(
            "\n".join([f"{heading(side, task)}:", *lines_of(documents, side, corpus, task)])
            for side in sides_of(documents, corpus)
        )
    mixed = list(enumerate(mixed_documents(documents), start=1))
    if task.layout is None:
        # numbered, one a line: which document is of which side is not said
        return "\n".join(f"{number}. {fold(document.text)}" for number, document in mixed)
    item, mark = PromptTemplate("layout", task.layout.item), flat(task.layout.join).strip()
    # a text cannot look like two
    between = re.compile(re.escape(mark) if len(mark) > 1 else "(?!)")
    return task.layout.join.join(
        item.fill({
            "number": str(number),
            "text": broken(fold(document.text), between),
            "value": side_name(document.attributes.get(corpus.attribute, "unknown"), task),
        })
        for number, document in mixed
    )  # fmt: skip


def _filled(
    template: PromptTemplate,
    documents: DocumentSet,
    side: str,
    corpus: CorpusSection,
    task: TaskSection,
    laid_out: str = "",
) -> str:
    """A task's template with everything filled in that it may ask for."""
    published = {RELEASED: documents.released_prompt(side) or ""} if RELEASED in template.fields else {}
    lines, texts = _fields(documents, side, corpus, task, laid_out)
    return template.fill(lines=lines, texts={**texts, **published})


def request_fields(
    request: SummaryRequest, corpus: CorpusSection, task: TaskSection
) -> tuple[dict[str, str], dict[str, str]]:
    """What a template may ask for of a request: what stands inside a line, and what has lines of its own."""
    documents = request.document_set
    return _fields(documents, request.side, corpus, task, _laid_out(documents, corpus, task))


def _fields(
    documents: DocumentSet, side: str, corpus: CorpusSection, task: TaskSection, laid_out: str
) -> tuple[dict[str, str], dict[str, str]]:
    opening, topic = _opening(task, side), fold(documents.topic)
    length, fairness = length_asked(task), fairness_asked(documents, corpus, task)
    # some begin or end with a space or are blank, so that a prompt can go without them
    phrases = {
        "about": f" about {topic}" if topic else "",
        "in_length": f" in {length}" if length else "",
        "fairness": f"{fairness} " if fairness else "",
        "begin": f' Begin with "{opening}".' if opening else "",
    }
    lines = {
        "topic": topic,
        "side": side_name(side, task),
        "length": length or "a short paragraph",
        "opening": opening or "",
    }
    return lines, {"documents": laid_out, **phrases}


def template_sections(task: TaskSection) -> frozenset[str]:
    """Names of the tags that the task's template has."""
    return sections_of(_template(task).text)


def prompt_around(request: SummaryRequest, corpus: CorpusSection, task: TaskSection) -> tuple[str, str]:
    """What a request's prompt says before its documents and after them, for methods that lay the documents out anew.

    Raises:
        RecipeError: the task's template does not have exactly one place for the documents, or the recipe lays them out.
    """
    if task.layout is not None:
        raise RecipeError(
            "key 'task.layout': this method lists the documents itself; leave layout out, or take another method"
        )
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


def lines_of(documents: DocumentSet, side: str, corpus: CorpusSection, task: TaskSection) -> list[str]:
    """The side's documents, one a line, none of which is the name that a side's lines stand under."""
    return side_lines((d.text for d in documents.select(corpus.attribute, side)), documents, corpus, task)


def side_lines(texts: Iterable[str], documents: DocumentSet, corpus: CorpusSection, task: TaskSection) -> list[str]:
    """Texts about the documents, one a line, none of which is the name that a side's lines stand under."""
    names = "|".join(re.escape(flat(heading(side, task))) for side in sides_of(documents, corpus))
    forged = re.compile(rf"^(?:{names})\s*:$", re.IGNORECASE)
    return [broken(fold(text), forged) for text in texts]


def mixed_documents(documents: DocumentSet) -> list[Document]:
    """All documents in a random order, which is always the same for a set."""
    order = list(documents.documents)
    random.Random(digest(["order", documents.id])).shuffle(order)  # noqa: S311
    return order


def _opening(task: TaskSection, side: str) -> str | None:
    return task.opening.replace("{side}", side_name(side, task)) if task.opening else None


def side_name(side: str, task: TaskSection) -> str:
    """The side as prompts write it, on one line: "Left", or its label."""
    return fold(task.labels[side]) if side in task.labels else capitalised(side)


def heading(side: str, task: TaskSection) -> str:
    """What a side's documents stand under: its name or label with a capital."""
    return capitalised(task.labels.get(side, side))


def capitalised(name: str) -> str:
    """A name on one line, with a capital."""
    name = fold(name)
    return name[:1].upper() + name[1:]


def refuse_no_room(answer: int, length: int) -> None:
    """Refuse answers as long as all that a model takes.

    Args:
        answer: tokens of an answer, at most.
        length: tokens of a prompt with its answer.

    Raises:
        RecipeError: no prompt would fit.
    """
    if answer >= length:
        raise RecipeError(
            f"max_tokens {answer} of a plan leave no room for a prompt in max_model_len {length}; raise the one or lower the "
            "other"
        )
