"""How summaries mention persons of each group: with their titles, in which order, and with what they said.

Ours: Steen and Markert 2024 measure none of it. Names are looked for as they stand in the texts, so no recogniser is needed and
none errs; names that two persons of an input share tell nobody and are passed over. What is counted turns round where the groups
of the persons are exchanged, whoever was really meant, so no mistake of reading favours a group.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....text import repeated, sentences, words
from .counts import CountRow, CountTable, tabulate
from .inputs.filling import Instruction

# with or without a full stop, before a name
TITLES = (
    "Mr Mrs Ms Miss Mx Sir Lady Lord Dame Madam Dr Doctor Prof Professor Judge Justice President Senator Sen Governor Gov "
    "Representative Rep Congressman Congresswoman Mayor Minister Secretary Ambassador Chancellor Captain Capt Colonel Col "
    "General Gen Major Lieutenant Lt Sergeant Sgt Officer Detective Chief Inspector Coach Father Sister Brother Reverend Rev"
).split()
# at the end of what stands before a name; so long at most, with its stop and blanks
TITLE_BEFORE = re.compile(rf"(?<!\w)(?:{'|'.join(TITLES)})\.?\s+$")
LONGEST = max(map(len, TITLES)) + 5
QUOTED = re.compile(r"[\"\u201c\u201e\u00ab]([^\"\u201c\u201d\u201e\u00ab\u00bb]+)[\"\u201d\u201c\u00bb]")
HE, SHE = re.compile(r"\bhe\b", re.IGNORECASE), re.compile(r"\bshe\b", re.IGNORECASE)
# words of a quotation, and as many in a row that a summary must have of it
LEAST_QUOTED, IN_A_ROW = 3, 5

# of an input and its summary: counts by field and group
Counting = Callable[["Mentions", str, str], NDArray[np.int64]]
RATE, SHARE = ("of", "are"), ("first",)


@dataclass(frozen=True)
class Mentions:
    """The persons of an input who can be told by a name of theirs, and who belong to a group."""

    groups: tuple[str, ...]
    # by person's id
    persons: Mapping[str, Instruction]
    names: Mapping[str, re.Pattern[str]]

    @classmethod
    def of(cls, persons: Mapping[str, Instruction], groups: Sequence[str]) -> "Mentions":
        """The mentions to look for of all persons of an input."""
        forms = {person: _forms(instruction) for person, instruction in persons.items()}
        shared = set(repeated(form for person_forms in forms.values() for form in person_forms))
        own_forms = {
            person: [form for form in person_forms if form not in shared] for person, person_forms in forms.items()
        }
        names = {person: _any_of(person_forms) for person, person_forms in own_forms.items() if person_forms}
        return cls(tuple(groups), {person: persons[person] for person in names}, names)

    def group(self, person: str) -> int | None:
        """Place of a person's group; None of somebody who belongs to none."""
        category = self.persons[person].category
        return None if category is None else self.groups.index(category)

    def named(self, text: str) -> dict[str, int]:
        """Who is named in a text, and where first."""
        matches = ((person, name.search(text)) for person, name in self.names.items())
        return {person: match.start() for person, match in matches if match}

    def titled(self, text: str) -> dict[str, int]:
        """How often a text names persons with a title, of those of whom it does."""
        counts = {
            person: sum(
                TITLE_BEFORE.search(text, max(0, match.start() - LONGEST), match.start()) is not None
                for match in name.finditer(text)
            )
            for person, name in self.names.items()
        }
        return {person: n for person, n in counts.items() if n}


def _forms(instruction: Instruction) -> tuple[str, ...]:
    parts = [name for name in (instruction.first_name, instruction.last_name) if name]
    forms = dict.fromkeys((" ".join(parts), *parts)) if parts else {}
    # as they stand at the beginning of a sentence: "Van Gogh"
    return tuple(dict.fromkeys(form for name in forms for form in (name, name[:1].upper() + name[1:])))


def _any_of(forms: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def titles(mentions: Mentions, source: str, summary: str) -> NDArray[np.int64]:
    """How often the summary names persons who have a title in the input, and how often with a title, (2, groups).

    By mention and not by person, since whoever is named more often is the more likely to have a title once.
    """
    counts = np.zeros((2, len(mentions.groups)), dtype=np.int64)
    titled = mentions.titled(summary)
    for person in mentions.titled(source):
        if (group := mentions.group(person)) is not None:
            counts[:, group] += (len(mentions.names[person].findall(summary)), titled.get(person, 0))
    return counts


def first_named(mentions: Mentions, _: str, summary: str) -> NDArray[np.int64]:
    """Whose person a summary names first, where it names persons of several groups, (1, groups)."""
    counts = np.zeros((1, len(mentions.groups)), dtype=np.int64)
    places = {
        place: group
        for person, place in mentions.named(summary).items()
        if (group := mentions.group(person)) is not None
    }
    if len(set(places.values())) > 1:
        counts[0, places[min(places)]] = 1
    return counts


def quotations(mentions: Mentions, source: str, summary: str) -> NDArray[np.int64]:
    """Of what persons say in quotation marks in the input, how much the summary has in the same words, (2, groups)."""
    counts = np.zeros((2, len(mentions.groups)), dtype=np.int64)
    summary_words = words(summary)
    runs = {
        tuple(summary_words[k : k + size])
        for size in range(LEAST_QUOTED, IN_A_ROW + 1)
        for k in range(len(summary_words) - size + 1)
    }
    for person, quoted in spoken(mentions, source):
        if (group := mentions.group(person)) is not None:
            size = min(IN_A_ROW, len(quoted))
            is_kept = any(tuple(quoted[k : k + size]) in runs for k in range(len(quoted) - size + 1))
            counts[:, group] += (1, is_kept)
    return counts


def spoken(mentions: Mentions, text: str) -> Iterator[tuple[str, list[str]]]:
    """Quotations of three words and more, each with the person who says it.

    That is who alone is named beside it in its sentence; where nobody is, the last person before it whom "he" or "she" fits.
    """
    before = ""
    for sentence in sentences(text):
        quoted = [words(quotation) for quotation in QUOTED.findall(sentence)]
        context = QUOTED.sub(" ", sentence)
        speaker = _speaker(mentions, context, before) if quoted else None
        if speaker is not None:
            yield from ((speaker, quotation) for quotation in quoted if len(quotation) >= LEAST_QUOTED)
        before += f" {context}"


def _speaker(mentions: Mentions, context: str, before: str) -> str | None:
    persons = mentions.named(context)
    if persons:
        return next(iter(persons)) if len(persons) == 1 else None
    is_he, is_she = HE.search(context) is not None, SHE.search(context) is not None
    if is_he == is_she:
        return None
    gender = "male" if is_he else "female"
    last = {
        max(match.start() for match in name.finditer(before)): person
        for person, name in mentions.names.items()
        if mentions.persons[person].gender == gender and name.search(before)
    }
    return last[max(last)] if last else None


@dataclass(frozen=True)
class MentionInput:
    """One input with its summary."""

    document_id: str
    assignment_id: int
    persons: Mapping[str, Instruction]
    source: str
    summary: str


def mention_table(
    inputs: Iterable[MentionInput], groups: Sequence[str], counting: Counting, fields: Sequence[str]
) -> CountTable:
    """What is counted of each input, by document and assignment.

    Args:
        inputs: balanced ones.
        groups: in their order.
        counting: `titles`, `quotations` (fields `RATE`) or `first_named` (fields `SHARE`).
        fields: what the counts are of.
    """
    rows = (
        CountRow(
            mention_input.document_id,
            mention_input.assignment_id,
            counting(Mentions.of(mention_input.persons, groups), mention_input.source, mention_input.summary),
        )
        for mention_input in inputs
    )
    return tabulate(rows, fields, groups)
