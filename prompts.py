"""Prompt templates: text files with named fields, filled in one pass.

A field is written {name}. Filling replaces each field once, from left to right, and never looks at what it put in: a
document that contains "{summary}" stays as it is and cannot pull another field's text into its place.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import RecipeError
from .storage import read_text

FIELD = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class PromptTemplate:
    """A named prompt text with {fields}."""

    name: str
    text: str

    @property
    def fields(self) -> frozenset[str]:
        """Names of the fields that the text asks for."""
        return frozenset(FIELD.findall(self.text))

    @property
    def signature(self) -> str:
        """Name and digest of the text, for signatures and manifests: "perspective:3f9c1a"."""
        return f"{self.name}:{hashlib.sha256(self.text.encode()).hexdigest()[:6]}"

    def fill(self, **values: str) -> str:
        """The text with each field replaced once.

        Raises:
            RecipeError: the template asks for a field that is not given.
        """
        unknown = sorted(self.fields - values.keys())
        if unknown:
            raise RecipeError(
                f"prompt template {self.name!r} asks for {{{unknown[0]}}}; fields that can be filled here are "
                f"{', '.join(sorted(values))}"
            )
        return FIELD.sub(lambda match: values[match.group(1)], self.text)


def load_template(name: str, folder: Path) -> PromptTemplate:
    """The template of that name beside the code, or the file at that path.

    Raises:
        RecipeError: neither exists; the shipped names are listed.
        StorageError: the file cannot be read.
    """
    shipped = folder / f"{name}.txt"
    path = shipped if shipped.is_file() else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.txt")))
        raise RecipeError(f"prompt template {name!r} is neither shipped ({known}) nor a file")
    return PromptTemplate(name=path.stem, text=read_text(path).strip())
