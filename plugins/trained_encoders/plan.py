"""What an encoder is trained on, and for how long."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ...errors import DataError
from ...text import fold
from .triples import Triple, TripleKind

# "encoder": texts are encoded one by one and compared by cosine; "classifier": text and claim are read together
Form = Literal["encoder", "classifier"]
# a classifier's read-out begins at random: in a few hundred steps at an encoder's rate it learned nothing
LEARNING_RATES: dict[Form, float] = {"encoder": 2e-5, "classifier": 1e-4}
# share of the topics that training does not see and is stopped by
HELD = 0.1
# topics that this takes: one held, and one to learn from
LEAST_TOPICS = 2


@dataclass(frozen=True)
class EncoderPlan:
    """How an encoder is trained."""

    # sentence encoder that training starts from: Hugging Face id, local folder, or "embedded:all-minilm-l6-v2"
    model: str = "embedded:all-minilm-l6-v2"
    form: Form = "encoder"
    # passes over the triples, at most: the best of them by the held topics is kept
    epochs: int = 3
    # of each kind of triples, drawn; None takes all
    most_of_a_kind: int | None = 400
    batch_size: int = 16
    # None: that of the form
    learning_rate: float | None = None
    seed: int = 42

    @property
    def rate(self) -> float:
        """The learning rate that is used."""
        return LEARNING_RATES[self.form] if self.learning_rate is None else self.learning_rate


@dataclass(frozen=True)
class Parts:
    """Triples that are learned from, and those of the topics that stop training."""

    learned: list[Triple]
    held: list[Triple]

    @property
    def topics(self) -> list[str]:
        """All topics, held ones among them: none of them is unseen any more."""
        return sorted({triple.topic for triple in (*self.learned, *self.held)})


def parts(triples: Sequence[Triple], plan: EncoderPlan) -> Parts:
    """The triples of the plan, parted by topic; the same seed gives the same ones.

    Args:
        triples: of articles whose topics are as `topics_of` names them.
        plan: what is drawn.

    Raises:
        DataError: too few topics have triples.
    """
    generator = np.random.default_rng(plan.seed)
    topics = sorted({triple.topic for triple in triples}, key=lambda topic: (fold(topic).casefold(), topic))
    if len(topics) < LEAST_TOPICS:
        raise DataError(
            f"{len(topics)} topics have something to learn from, but it takes at least {LEAST_TOPICS}: one is held to tell when "
            "to stop; add articles, of both sides or with key points"
        )
    held_topics = set(generator.permutation(topics)[: max(1, round(HELD * len(topics)))].tolist())
    # the held ones stay few enough that asking about them does not take longer than learning
    learned = _drawn([triple for triple in triples if triple.topic not in held_topics], plan.most_of_a_kind, generator)
    most_held = plan.most_of_a_kind and max(1, round(HELD * plan.most_of_a_kind))
    return Parts(learned, _drawn([triple for triple in triples if triple.topic in held_topics], most_held, generator))


def _drawn(triples: Sequence[Triple], limit: int | None, generator: np.random.Generator) -> list[Triple]:
    sample: list[Triple] = []
    for kind in get_args(TripleKind):
        kind_triples = [triple for triple in triples if triple.kind == kind]
        chosen = (
            range(len(kind_triples))
            if limit is None
            else sorted(generator.permutation(len(kind_triples))[:limit].tolist())
        )
        sample += [kind_triples[place] for place in chosen]
    return sample
