"""Prompt templates: text files with named fields, filled in one pass.

A field is written {name}. Filling replaces each field once, from left to right, and never looks at what it put in: a
document that contains "{summary}" stays as it is and cannot pull another field's text into its place. Whatever is filled in
is kept from forging a section of the prompt here, in one place for all prompts.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import RecipeError
from .fence import fence, sections_of
from .storage import as_given, read_text
from .text import fold

FIELD = re.compile(r"\{([a-z_]+)\}")
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class PromptTemplate:
    """A named prompt text with {fields}."""

    name: str
    text: str
    # names of sections beside the text's own that nothing filled in may forge: of the prompt that it is a part of
    sections: frozenset[str] = frozenset()
    # where it was named, to begin an error with: "key 'task.template': "
    place: str = ""

    @property
    def fields(self) -> frozenset[str]:
        """Names of the fields that the text asks for."""
        return frozenset(FIELD.findall(self.text))

    @property
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
            own: what evenhand itself wrote, whose foreign parts are fenced: filled in as it stands.

        Raises:
            RecipeError: the template asks for a field that is not given.
        """
        known = {*lines, *texts, *own}
        unknown = sorted(self.fields - known)
        if unknown:
            raise RecipeError(
                f"{self.place}prompt template {self.name!r} asks for {{{unknown[0]}}}; fields that can be filled here are "
                f"{', '.join(sorted(known))}"
            )
        sections = sections_of(self.text) | self.sections
        foreign = {name: fold(text) for name, text in lines.items()} | dict(texts)
        values = {name: fence(text, sections) for name, text in foreign.items() if name in self.fields} | dict(own)
        return FIELD.sub(lambda match: values[match.group(1)], self.text)


def section(name: str, text: str, number: int | None = None, sections: Iterable[str] = ()) -> str:
    """A foreign text in tags that it cannot close; nor does it forge those of other sections, which are named."""
    begin = name if number is None else f'{name} number="{number}"'
    return f"<{begin}>\n{fence(text, sections)}\n</{name}>"


def load_template(name: str, folder: Path, place: str = "") -> PromptTemplate:
    """The template of that name beside the code, or the file at that path; `place` as of `PromptTemplate`.

    Raises:
        RecipeError: neither exists; the shipped names are listed.
        DataError: the file cannot be read.
    """
    shipped = folder / f"{name}.txt"
    path = shipped if shipped.is_file() else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.txt")))
        raise RecipeError(f"{place}prompt template {name!r} is neither shipped ({known}) nor a file")
    with as_given(place):
        return PromptTemplate(name=path.stem, text=read_text(path).strip(), place=place)
