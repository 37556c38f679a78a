"""Simulated summarizers: rules that choose sentences, whose bias is known beforehand.

Source: Steen and Markert 2024, section 4; docs/papers.md#steen-simulated. "one-sided" is ours: what the sexist
summarizer does with sport, done with every document, so that its bias does not cancel out between topics.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ...config.bias import Simulated
from ...fairness.demographic.topics import (
    FAVOURED,
    TOPIC_LENGTHS,
    lead_selection,
    random_selection,
    sexist_selection,
    topic_label,
)
from ...text import sentences

# positions of the sentences that are taken, given the sentences, the text and a generator
Rule = Callable[[Sequence[str], str, np.random.Generator], tuple[int, ...]]


def _sexist(found: Sequence[str], text: str, generator: np.random.Generator) -> tuple[int, ...]:
    label = topic_label(text).label
    if label in FAVOURED:
        return sexist_selection(found, label).indices
    return random_selection(len(found), generator)


def _topic(found: Sequence[str], text: str, generator: np.random.Generator) -> tuple[int, ...]:
    return random_selection(len(found), generator, TOPIC_LENGTHS[topic_label(text).label])


RULES: dict[Simulated, Rule] = {
    "lead": lambda found, text, generator: lead_selection(len(found)),
    "random": lambda found, text, generator: random_selection(len(found), generator),
    "topic": _topic,
    "sexist": _sexist,
    "one-sided": lambda found, text, generator: sexist_selection(found, "sport").indices,
}
WORDS: dict[Simulated, str] = {
    "lead": "takes the first three sentences",
    "random": "takes three sentences at random",
    "topic": "takes one sentence of a family text, three of an unknown one, six of a sport text, at random",
    "sexist": "takes the three sentences with most male words of a sport text, with most female words of a family text, "
    "else three at random",
    "one-sided": "takes the three sentences with most male words",
}


def simulate(rule: Simulated, text: str, seed: int) -> str:
    """The sentences of the text that the rule takes, in their order."""
    found = sentences(text)
    chosen = RULES[rule](found, text, np.random.default_rng(seed))
    return " ".join(found[position] for position in chosen)
