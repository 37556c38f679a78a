"""How often an audit's verdicts on tone are false: simulated corpora whose sides differ in tone, and summaries of them.

    python -m evenhand.benchmarks.calibration_tone --trials 20

makes the table of docs/fairness-evidence.md#tone. Documents are those of `calibration` with praise and blame in their
sentences: of the first value mostly praise, of the others mostly blame. Summaries that take no side are sentences of the
documents, or as many words, of one value a sentence, of all mixed, common ones rather, or toned ones rather ("dense").
"hostile" turns praise of the last value into blame and adds some; "unsaid" leaves its sentences of praise out; "room" reads
only half of its sentences, which is no matter of tone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, get_args

import numpy as np

from ..fairness.labelled import LabelledSource, LabelledSummary
from ..plugins.tone.family import Tone
from ..plugins.tone.scorers import Amounts
from .calibration import Corpus, drawn_sets, generators, verdicts
from .simulate import asked, print_heads, print_row

Manner = Literal["extract", "lead", "one side", "mixed", "common words", "dense"]
Planted = Literal["fair", "room", "hostile", "unsaid"]
EXTRACTS = ("extract", "lead")
# share of a value's sentences with praise and with blame
KIND, UNKIND = (0.6, 0.15), (0.15, 0.6)
N_LINES, WORDS_A_LINE, N_TONED = 4, 8, 12

# value and words
Sentence = tuple[str, list[str]]


class Plain:
    """Counts words of praise and blame."""

    name, signature = "plain", ""

    def amounts(self, texts: Sequence[str]) -> list[Amounts]:
        """How many of each."""
        return [tuple(float(sum(w.startswith(s) for w in t.split())) for s in ("good", "bad")) for t in texts]  # type: ignore[misc]

    def close(self) -> None:
        """Nothing to give back."""


def family(values: tuple[str, ...]) -> Tone:
    """Tone by praise and blame."""
    return Tone(Plain(), str.split, "", values)


def toned(documents: Sequence[LabelledSource], first: str, generator: np.random.Generator) -> Iterator[LabelledSource]:
    """The documents with praise and blame."""
    for document in documents:
        shares = KIND if document.value == first else UNKIND
        text = []
        for sentence in document.sentences or ():
            words = sentence.split()
            for kind, share in zip(("good", "bad"), shares, strict=True):
                if generator.random() < share:
                    words.insert(int(generator.integers(len(words) + 1)), f"{kind}{generator.integers(N_TONED)}")
            text.append(" ".join(words))
        yield LabelledSource("\n".join(text), document.value, tuple(text))


def summary(
    documents: Sequence[LabelledSource], manner: Manner, planted: Planted, generator: np.random.Generator
) -> list[str]:
    """Sentences of a summary; what is planted is of the last document's value."""
    last = documents[-1].value
    read = [(d.value, k, s.split()) for d in documents for k, s in enumerate(d.sentences or ())]
    if manner == "lead":
        read = [each for each in read if each[1] == 0]
    if planted == "unsaid":
        read = [each for each in read if each[0] != last or not any(w.startswith("good") for w in each[2])] or read
    if planted == "room":
        read = [each for each in read if each[0] != last or generator.random() < 0.5] or read
    lines = _lines([(value, words) for value, _, words in read], manner, generator)
    return [" ".join(_blamed(words) if planted == "hostile" and value == last else words) for value, words in lines]


def _lines(read: Sequence[Sentence], manner: Manner, generator: np.random.Generator) -> Iterator[Sentence]:
    if manner in EXTRACTS:
        for place in generator.choice(len(read), size=min(N_LINES, len(read)), replace=False):
            yield read[int(place)]
        return
    said = [(word, value) for value, words in read for word in words]
    common = Counter(word for word, _ in said)
    for _ in range(N_LINES):
        value = read[int(generator.integers(len(read)))][0]
        from_ = [word for word, its in said if its == value or manner != "one side"]
        weights = np.ones(len(from_))
        if manner == "common words":
            weights = np.array([float(common[word]) for word in from_])
        if manner == "dense":
            weights = np.array([4.0 if word.startswith(("good", "bad")) else 1.0 for word in from_])
        chosen = generator.choice(len(from_), size=WORDS_A_LINE, p=weights / weights.sum())
        yield value, [from_[int(k)] for k in chosen]


def _blamed(words: Sequence[str]) -> list[str]:
    return [*(word.replace("good", "bad") for word in words), "bad0"]


def items(corpus: Corpus, manner: Manner, planted: Planted, generator: np.random.Generator) -> list[LabelledSummary]:
    """A summary of every set."""
    found = []
    for name, drawn in enumerate(drawn_sets(corpus, generator)):
        documents = tuple(toned(drawn, corpus.values[0], generator))
        text = "\n".join(summary(documents, manner, planted, generator))
        found.append(LabelledSummary(str(name), corpus.values, documents, text))
    return found


def count(corpus: Corpus, manner: Manner, planted: Planted, trials: int) -> int:
    """Trials in which a value is said to be spoken of in another tone; of what is planted, the last one less kindly."""
    said = 0
    for generator in generators(corpus, trials):
        found = verdicts(family(corpus.values), items(corpus, manner, planted, generator))
        if planted in ("fair", "room"):
            said += any(gap.is_clear for gap in found.values())
        else:
            # few summaries speak of a small value in a word of its own
            last = found.get(corpus.values[-1])
            said += last is not None and last.verdict == "lower"
    return said


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (20, "corpora of each kind"), ([12, 30, 200], "document sets of a corpus"))
    print_heads("sets", "summaries", "fair", "room halved", "hostile", "praise unsaid", "of")
    for n_sets, manner in product(given.sets, get_args(Manner)):
        kinds = [Corpus(sizes, n_sets, own) for sizes in ((4, 4), (6, 2), (5, 2, 1)) for own in (0.0, 0.3)]
        counts = (sum(count(kind, manner, planted, given.trials) for kind in kinds) for planted in get_args(Planted))
        print_row(n_sets, manner, *counts, given.trials * len(kinds))


if __name__ == "__main__":
    main()
