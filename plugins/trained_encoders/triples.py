"""What an encoder can learn from annotated articles: a text of an article, what it supports, and what it does not.

Four kinds of triples, each of a text, a claim near to it and a claim further from it:

- "contrary": an excerpt, its key point, and this key point turned into its contrary, by rules where the article has none;
- "side": an excerpt, its key point, and a point of the topic's other side, which a cosine finds as near;
- "argument": a sentence, the next one of its passage, and that sentence of the other side with which it has most words in common,
  but for those that say the same, such as quotations;
- "negation": a sentence, that the article argues so, and that it argues the contrary, by rules.

The last two need no annotation: articles with passages alone will do. Texts of one topic stay together, so that topics can be
left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from ...corpora.annotated import AnnotatedArticle
from ...text import n_words, sentences, words
from .contrary import contrary

# sentences of fewer words are no arguments
LEAST_WORDS = 6
# sentences of two sides that share a larger part of their words are one: both report it, or quote it
MOST_SHARED = 0.5
# what the claim that is further from the text is
TripleKind = Literal["contrary", "side", "argument", "negation"]
# without it a sentence and itself would be told from its contrary at once
SAYS = "The article argues that {}"


@dataclass(frozen=True)
class Triple:
    """A text, a claim that it supports, and one that it does not."""

    topic: str
    kind: TripleKind
    text: str
    near: str
    far: str


def triples(articles: Sequence[AnnotatedArticle], generator: np.random.Generator) -> list[Triple]:
    """All triples of the articles, in their order; the same state gives the same draws of points of the other side."""
    found: list[Triple] = []
    for article in articles:
        others = article.others(articles)
        found += _of_points(article, others, generator)
        found += _of_sentences(article, others)
    return found


def _of_points(
    article: AnnotatedArticle, others: Sequence[AnnotatedArticle], generator: np.random.Generator
) -> Iterator[Triple]:
    if len(article.excerpts) != len(article.key_points):
        return
    opposite = article.opposite if article.opposite is not None else [p for each in others for p in each.key_points]
    for place, (excerpt, point) in enumerate(zip(article.excerpts, article.key_points, strict=True)):
        # written ones are in the order of the key points where there is one for each; else nobody knows whose they are
        written = article.adversarial or ()
        turned = written[place] if len(written) == len(article.key_points) else contrary(point)
        if turned is not None:
            yield Triple(article.topic, "contrary", excerpt.text, point, turned)
        if opposite:
            yield Triple(article.topic, "side", excerpt.text, point, opposite[int(generator.integers(len(opposite)))])


def _of_sentences(article: AnnotatedArticle, others: Sequence[AnnotatedArticle]) -> Iterator[Triple]:
    theirs = [each for other in others for passage in other.passages for each in _long(passage)]
    bags = [set(words(each)) for each in theirs]
    for passage in article.passages:
        own = _long(passage)
        for sentence in own:
            if (turned := contrary(sentence)) is not None:
                yield Triple(article.topic, "negation", sentence, SAYS.format(sentence), SAYS.format(turned))
        for sentence, following in pairwise(own):
            bag = set(words(sentence))
            shared = [len(bag & each) / len(bag | each) for each in bags]
            near = [place for place, share in enumerate(shared) if share <= MOST_SHARED]
            if near:
                far = theirs[max(near, key=shared.__getitem__)]
                yield Triple(article.topic, "argument", sentence, following, far)


def _long(passage: str) -> list[str]:
    return [each for each in sentences(passage) if n_words(each) >= LEAST_WORDS]
