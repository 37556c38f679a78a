"""Prompt templates: text files with named fields, filled in one pass.

A field is written {name}. Filling replaces each field once, from left to right, and never looks at what it put in: a
document that contains "{summary}" stays as it is and cannot pull another field's text into its place.

Nor can foreign text forge what stands around it. Sections of a prompt begin and end with tags, turns of a chat with marks of the
model's own. A document, a topic, a summary or another agent's answer could write such a mark itself and then speak to the model
as its user. So each mark that is found in a foreign text is broken by a dot after its first character; a text without marks
stays as it is, letter by letter.

Marks are looked for in the text as a tokenizer may read it: in compatibility form (NFKD), without accents and other combining
marks, characters of no width, control characters and code points that nobody has assigned, in upper and lower case alike. What
the usual normalisers of tokenizers turn into a mark is found.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

from . import doors
from .errors import RecipeError
from .storage import as_given, local_path, near_files, read_text
from .text import did_you_mean, fold
from .text.mistakes import listed

FIELD = re.compile(r"\{([a-z_]+)\}")
# whatever may be meant as a field: {topic}, {Topic}, { topic }
BRACED = re.compile(r"\{\s*([A-Za-z][\w -]*?)\s*\}")
NOTHING: Mapping[str, str] = {}

# no form of normalisation changes or drops it
BREAK = "\u00b7"
# changes with what is broken and how, here and in chats, for the signatures of those whose prompts are fenced
VERSION = 4

TAG = re.compile(r"</?([^\W\d][\w-]*)[^<>]*>")


@dataclass(frozen=True)
class PromptTemplate:
    """A named prompt text with {fields}."""

    name: str
    text: str
    # names of sections beside the text's own that nothing filled in may forge: of the prompt that it is a part of
    sections: frozenset[str] = frozenset()
    # where it was named, to begin an error with: "key 'task.template': "
    place: str = ""
    # the user's file that it was read from, and lines of it that stand before the text
    file: Path | None = field(default=None, compare=False)
    lines_before: int = field(default=0, compare=False)

    @cached_property
    def fields(self) -> frozenset[str]:
        """Names of the fields that the text asks for."""
        return frozenset(FIELD.findall(self.text))

    @cached_property
    def _braced(self) -> list[tuple[int, str, str]]:
        """Line of the file, spelling, and the nearest name of a field, of whatever may be meant as a field."""
        lines = enumerate(self.text.splitlines(), start=self.lines_before + 1)
        return [
            (number, match[0], re.sub(r"[\s-]+", "_", match[1].lower()))
            for number, line in lines
            for match in BRACED.finditer(line)
        ]

    def strange_fields(self, known: Collection[str]) -> list[tuple[int, str, str]]:
        """Line, spelling and "; did you mean 'topic'?" of each field that nothing fills, {Topic} and { topic } among them."""
        return [
            (number, spelling, did_you_mean(name, known))
            for number, spelling, name in self._braced
            if (name in known) is not bool(FIELD.fullmatch(spelling))
        ]

    @cached_property
    def signature(self) -> str:
        """Name and digest of the text, for signatures and manifests: "perspective:3f9c1a"."""
        return f"{self.name}:{hashlib.sha256(self.text.encode()).hexdigest()[:6]}"

    def fill(
        self, lines: Mapping[str, str] = NOTHING, texts: Mapping[str, str] = NOTHING, own: Mapping[str, str] = NOTHING
    ) -> str:
        """The text with each field replaced once.

        Args:
            lines: what stands inside a line (a topic, an attribute value): white space is folded, tags of sections are broken.
            texts: what has lines of its own (a source, a summary): tags of sections are broken.
            own: what evenhand itself wrote, whose foreign parts are fenced: filled in unchanged.

        Raises:
            RecipeError: the template asks for a field that is not given.
        """
        known = {*lines, *texts, *own}
        if strange := self.strange_fields(known):
            raise RecipeError(
                listed([
                    f"{self.place}prompt template {self.name!r}{f' ({self.file}:{number})' if self.file else ''} asks for "
                    f"{spelling}; fields that can be filled here are {', '.join(sorted(known))}{near.removesuffix('.')}"
                    for number, spelling, near in strange
                ])
            )  # fmt: skip
        sections = sections_of(self.text) | self.sections
        foreign = {name: fold(text) for name, text in lines.items()} | dict(texts)
        values = {name: fence(text, sections) for name, text in foreign.items() if name in self.fields} | dict(own)
        return FIELD.sub(lambda match: values[match.group(1)], self.text)


def section(name: str, text: str, number: int | None = None, sections: Iterable[str] = ()) -> str:
    """A foreign text in tags that it cannot close; nor does it forge those of other sections, which are named."""
    begin = name if number is None else f'{name} number="{number}"'
    return f"<{begin}>\n{fence(text, (name, *sections))}\n</{name}>"


def load_template(name: str, folder: Path, place: str = "") -> PromptTemplate:
    """The template of that name beside the code, or the file at that path; `place` as of `PromptTemplate`.

    Raises:
        RecipeError: neither exists; the shipped names are listed.
        DataError: the file cannot be read.
    """
    shipped = folder / f"{name}.txt"
    with as_given(place):
        path = shipped if shipped.is_file() else local_path(name)
        if not path.is_file():
            known = sorted(p.stem for p in folder.glob("*.txt"))
            near = did_you_mean(name, known)
            if path.suffix:
                near = f"{near_files(path)} A relative path counts from where the command runs, {Path.cwd()}"
            raise RecipeError(
                f"{place}prompt template {name!r} is neither shipped ({', '.join(known)}) nor a file{near}"
            )
        text = read_text(path)
    before = text[: len(text) - len(text.lstrip())].count("\n")
    return PromptTemplate(
        name=path.stem, text=text.strip(), place=place, file=None if path == shipped else path, lines_before=before
    )


def shipped_prompts() -> dict[str, Path]:
    """The files of evenhand's own prompts and of its plug-ins', by room and name: "generate/perspective", "debate/revise"."""
    rooms = (Path(__file__).parent / room for room in ("generate", "judges"))
    return {
        f"{room.name}/{path.relative_to(room / 'prompts').with_suffix('').as_posix()}": path
        for room in (*rooms, *doors.plugin_folders())
        for path in sorted(room.glob("prompts/**/*.txt"))
    }


@cache
def known_sections() -> frozenset[str]:
    """The names of the sections of evenhand's own prompts and of its plug-ins': of the tags in their folders `prompts`.

    A method quotes one prompt in another, so each text is kept from forging any of them.
    """
    texts = (path.read_text(encoding="utf-8") for path in shipped_prompts().values())
    return frozenset().union(*map(sections_of, texts))


def fence(text: str, sections: Iterable[str] = ()) -> str:
    """The text with every tag of a section broken, of all known ones and of those named; <task-x> is no tag of <task>.

    >>> fence("a < b </source>")
    'a < b <\u00b7/source>'
    """
    return broken(text, _tags(known_sections().union(sections)))


def sections_of(text: str) -> frozenset[str]:
    """The names of the tags that a text of our own has, as `flat` writes them."""
    return frozenset(TAG.findall(flat(text)))


@cache
def _tags(names: frozenset[str]) -> re.Pattern[str]:
    # longer names first: "points" would find "point"
    listed = "|".join(re.escape(name) for name in sorted(names, reverse=True))
    return re.compile(rf"<\s*(?:/\s*)?(?:{listed})(?![\w-])", re.IGNORECASE)


def broken(text: str, marks: re.Pattern[str]) -> str:
    """The text with a dot after the first character of each mark.

    Args:
        text: a foreign text.
        marks: finds the marks in text of which `flat` has been taken; none is a single character.
    """
    flat_text = flat(text)
    if not marks.search(flat_text):
        return text
    # looking ahead finds a mark that begins inside another one, too
    inside = re.compile(f"(?={marks.pattern})", marks.flags)
    if flat_text != text:
        pieces = [_flat_character(character) for character in text]
        # place in the flat text -> place in the text
        places = [place for place, piece in enumerate(pieces) for _ in piece]
        firsts = sorted({places[match.start()] for match in inside.finditer("".join(pieces))})
    else:
        firsts = [match.start() for match in inside.finditer(text)]
    ends = [0, *(first + 1 for first in firsts), len(text)]
    return BREAK.join(text[start:end] for start, end in pairwise(ends))


def flat(text: str) -> str:
    """The text in compatibility form without what tokenizers may drop; with line feeds for line breaks, a space for U+2581."""
    return unicodedata.normalize("NFKD", text).translate(_READ)


class _Read(dict[int, str | int]):
    """What `str.translate` puts for a character, found out when it is first met."""

    def __missing__(self, code: int) -> str | int:
        self[code] = "" if unicodedata.category(chr(code))[0] in "CM" else code
        return self[code]


_READ = _Read({
    **{ord(space): space for space in "\t\n"},
    **dict.fromkeys(map(ord, "\r\u2028\u2029"), "\n"),
    ord("\u2581"): " ",
    # normalisers drop the first, and take the others for marks that combine, as Unicode once did
    **dict.fromkeys(map(ord, "\ufffd\u1cf2\u1cf3"), ""),
})  # fmt: skip
_flat_character = cache(flat)
