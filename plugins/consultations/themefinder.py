"""ThemeFinder's files: free-text responses to the questions of a consultation, and the themes that they were mapped to.

Read as i.AI's ThemeFinder 0.8.2 has them (i-dot-ai/themefinder at 09918eb): `inputs/question_part_N/` has `question.json` and
`responses.jsonl`, `inputs/respondents.jsonl` people's answers on themselves, and `outputs/mapping/DATE/question_part_N/` has
`themes.json`, `mapping.jsonl` and, where positions were told, `sentiment.jsonl`; of several dates the last one of a question
counts. An id is `response_id`, or `themefinder_id` beside a `text` where `setup_consultation.py` wrote the responses.

A question is a set. A response mostly has several themes: for each theme it has an attribute, its stance to it, `named` without a
stance, `not named`, or `not asked` where the theme is another question's. `position` is one, too, and so are answers on people.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import AliasChoices, ConfigDict, Field, TypeAdapter, ValidationError

from ...errors import DataError
from ...records import Document, DocumentSet, Record, Text
from ...storage import as_given, read_json, read_numbered
from ...text import repeated
from ...text.mistakes import explain, listed_lines
from ...text.shown import shortened
from .votes import Consultation

ATTRIBUTE = "position"
INPUTS, MAPPINGS, PART = "inputs", "outputs/mapping", "question_part_*"
NOT_PROVIDED = "Not Provided"
NAMED, NOT_NAMED, NOT_ASKED, NO_POSITION, NO_ANSWER = "named", "not named", "not asked", "no position", "no answer"
ABOUT = (
    "Responses to a consultation, with what ThemeFinder says of them: themes, stances and positions are a language model's "
    "unless somebody corrected them. Nobody voted."
)


class _Line(Record):
    """A line of ThemeFinder's, which has more than is read here."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    response_id: Text = Field(validation_alias=AliasChoices("response_id", "themefinder_id"))


class FreeText(_Line):
    """What somebody wrote."""

    response: str = Field(validation_alias=AliasChoices("response", "text"))


class Respondent(_Line):
    """What somebody answered on themselves."""

    demographic_data: dict[str, str | None]


class MappedResponse(_Line):
    """Themes of a response, and how it stands to each of them."""

    labels: tuple[str, ...]
    stances: tuple[str, ...] = ()


class ResponsePosition(_Line):
    """How a response stands to the question."""

    position: Text


class Theme(Record):
    """A theme of a question."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    topic_id: Text
    # "label: description"; the label alone is a key of its own in some files
    topic: str = ""
    topic_label: str = ""

    @property
    def name(self) -> str:
        """What the theme is called."""
        return self.topic_label.strip() or self.topic.partition(":")[0].strip() or self.topic_id


L = TypeVar("L", bound=_Line)


@as_given()
def read_themefinder(folder: Path) -> Consultation:
    """The questions of a consultation, by their names.

    Raises:
        StorageError: a file cannot be read.
        DataError: there is no question, or lines are wrong; all mistakes of a file are listed.
    """
    parts = sorted(path for path in (folder / INPUTS).glob(PART) if (path / "responses.jsonl").is_file())
    if not parts:
        raise DataError(
            f"{folder}: has no {INPUTS}/{PART}/responses.jsonl; give the folder of a consultation that ThemeFinder reads"
        )
    left_out: Counter[str] = Counter()
    people = _by_response(folder / INPUTS / "respondents.jsonl", Respondent)
    sets = [documents for part in parts if (documents := _question(folder, part, people, left_out))]
    if not sets:
        raise DataError(f"{folder}: no response has a text")
    return Consultation([*_completed(sets)], [], +left_out, ABOUT)


def _completed(sets: Sequence[DocumentSet]) -> Iterator[DocumentSet]:
    """The sets with every attribute on every document, so that all of them can be audited by any."""
    names = dict.fromkeys(name for documents in sets for name in documents.documents[0].attributes)
    absent = dict.fromkeys(names, NOT_ASKED)
    for documents in sets:
        completed = (
            document.model_copy(update={"attributes": absent | document.attributes}) for document in documents.documents
        )
        yield documents.model_copy(update={"documents": tuple(completed)})


def _question(folder: Path, part: Path, people: Mapping[str, Respondent], left_out: Counter[str]) -> DocumentSet | None:
    """The responses to one question; None without any."""
    results = sorted(path for path in (folder / MAPPINGS).glob(f"*/{part.name}") if path.is_dir())[-1:]
    themes, mapped, positions = dict[str, str](), dict[str, MappedResponse](), dict[str, ResponsePosition]()
    for result in results:
        themes = _themes(result / "themes.json")
        mapped = _by_response(result / "mapping.jsonl", MappedResponse)
        _refuse_unknown_themes(result / "mapping.jsonl", mapped, themes)
        positions = _by_response(result / "sentiment.jsonl", ResponsePosition)
    questions_on_people = sorted({question for person in people.values() for question in person.demographic_data})
    taken, documents = {ATTRIBUTE, *themes.values()}, []
    for name, response in _by_response(part / "responses.jsonl", FreeText).items():
        if response.response.strip() in ("", NOT_PROVIDED):
            left_out["responses without a text"] += 1
            continue
        answers = people[name].demographic_data if name in people else {}
        attributes = {
            f"{question} (of the person)" if question in taken else question: (answers.get(question) or "").strip()
            or NO_ANSWER
            for question in questions_on_people
        }
        if results:
            attributes |= _themed(mapped.get(name), themes)
            attributes[ATTRIBUTE] = positions[name].position if name in positions else NO_POSITION
        documents.append(Document(id=name, text=response.response, attributes=attributes))
    left_out["responses that were mapped and are not there"] += len(
        mapped.keys() - {document.id for document in documents}
    )
    return (
        DocumentSet(id=part.name, topic=_topic(part / "question.json"), documents=tuple(documents))
        if documents
        else None
    )


def _themed(response: MappedResponse | None, themes: Mapping[str, str]) -> dict[str, str]:
    """How a response stands to each theme."""
    labels, stances = (response.labels, response.stances) if response else ((), ())
    known = dict(zip(labels, stances or [NAMED] * len(labels), strict=True))
    return {theme: known.get(label, NOT_NAMED) for label, theme in themes.items()}


def _by_response(path: Path, line: type[L]) -> dict[str, L]:
    """The lines of a file by response; none of one that is not there."""
    if not path.is_file():
        return {}
    numbered, mistakes = read_numbered(path, line)
    first: dict[str, int] = {}
    for number, record in numbered:
        if (earlier := first.setdefault(record.response_id, number)) != number:
            mistakes.append(
                (number, f"response {shortened(record.response_id)} stands in line {earlier} already; take one out")
            )
        elif isinstance(record, MappedResponse) and (twice := repeated(record.labels)):
            mistakes.append((number, f"theme {', '.join(map(shortened, twice))} is there twice; take one out"))
        elif isinstance(record, MappedResponse) and len(record.stances) not in (0, len(record.labels)):
            mistakes.append(
                (number, f"has {len(record.labels)} labels and {len(record.stances)} stances; each label has one")
            )
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return {record.response_id: record for _, record in numbered}


def _themes(path: Path) -> dict[str, str]:
    """Theme id -> what the theme is called."""
    try:
        themes = TypeAdapter(list[Theme]).validate_python(read_json(path)) if path.is_file() else []
    except ValidationError as error:
        raise DataError(
            f"{path}: is no list of themes with topic_id and topic or topic_label ({explain(error)})"
        ) from error
    if twice := repeated(theme.topic_id for theme in themes):
        raise DataError(f"{path}: topic_id {', '.join(map(shortened, twice))} stands there twice; take one out")
    # what is called as the attribute of positions is another's
    n_alike = Counter([ATTRIBUTE, *(theme.name for theme in themes)])
    return {
        theme.topic_id: theme.name if n_alike[theme.name] == 1 else f"{theme.name} ({theme.topic_id})"
        for theme in themes
    }


def _refuse_unknown_themes(path: Path, mapped: Mapping[str, MappedResponse], themes: Mapping[str, str]) -> None:
    unknown = {label: name for name, response in mapped.items() for label in response.labels if label not in themes}
    if unknown:
        listing = "; ".join(f"{label!r} of response {name}" for label, name in [*unknown.items()][:10])
        raise DataError(f"{path}: themes that themes.json does not have: {listing}; add them there")


def _topic(path: Path) -> str:
    question = read_json(path) if path.is_file() else {}
    text = question.get("question_text", "") if isinstance(question, dict) else ""
    return " ".join(str(text).split())
