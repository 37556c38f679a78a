"""MiniCheck: whether a chunk of the text supports the summary as a whole, best chunk.

The text is packed sentence by sentence into chunks of up to 500 words; a T5 reads each with the whole summary, and the score is
the best chunk's probability of "supported" at its first step. Source: Tang et al. 2024 and its code; docs/papers.md#ri-metrics.
With `splitter: nltk` the sentences are those of the paper's code, but joined by spaces over line breaks too. When a question is
too long, that code cuts the summary away, which stands last; here the chunk loses its end, which the judgement says.
"""

from collections.abc import Sequence
from typing import Any

from ...errors import JudgeError
from ...judges.aligner import Pairing
from ...judges.alignment import whole
from ...judges.judge import Judge, JudgeInput, Kind, judge_signature, own_model
from ...judges.shared import SharedModels
from ...judges.splitters import open_splitter, splitter_checks
from ...judges.support import SupportJudge, SupportReading, aggregate
from ...models import signature
from .sections import MiniCheckJudge
from .yes_no import YesNoAligner, YesNoQuestion, YesNoTokens, lazy_yes_no

# ids of the two label tokens in the vocabulary of T5, as MiniCheck was trained with them
UNSUPPORTED, SUPPORTED = 3, 209
# what T5 has there: how its "0" (a space, then the figure) and its "1" begin
TOKENS = ("\u2581", "\u25811")


class Support:
    """How MiniCheck asks."""

    feature = "judge 'minicheck'"

    def question(self, premise: str, claim: str, end: str) -> YesNoQuestion:
        """Chunk and claim as MiniCheck was trained with them."""
        return YesNoQuestion("predict: ", premise, f"{end}{claim}")

    def answers(self, tokenizer: Any) -> YesNoTokens:
        """The two label tokens.

        Raises:
            JudgeError: the ids are those of other tokens here, so the model is none that MiniCheck trained.
        """
        pieces = tuple(tokenizer.convert_ids_to_tokens([UNSUPPORTED, SUPPORTED]))
        if pieces != TOKENS:
            raise JudgeError(
                f"{self.feature}: tokens {UNSUPPORTED} and {SUPPORTED} of the model are {pieces}, but MiniCheck answers with "
                f"{TOKENS}; name a MiniCheck model of the T5 family"
            )
        return YesNoTokens(UNSUPPORTED, SUPPORTED)


def packed(sentences: Sequence[str], most_words: int) -> list[str]:
    """A text's sentences packed into chunks of up to `most_words` words between white space.

    Sentences stay whole, so that one of more words is a chunk of its own; [] for none.
    """
    chunks: list[list[str]] = []
    n_words = 0
    for sentence in sentences:
        n = len(sentence.split())
        if not chunks or n_words + n > most_words:
            chunks.append([])
            n_words = 0
        chunks[-1].append(sentence)
        n_words += n
    return [" ".join(chunk) for chunk in chunks]


def open_minicheck(name: str, options: MiniCheckJudge, models: SharedModels) -> Judge:
    """The MiniCheck judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
        MissingExtra, DataError: its splitter needs NLTK or NLTK's data, which is absent.
    """
    splitter = open_splitter(options.splitter)
    named = judge_signature(
        "minicheck",
        "minicheck",
        model=signature(options.model, options.revision),
        chunk=options.chunk_words,
        tokens=options.most_tokens,
        against=options.against,
        sentences=splitter.signature,
        v=2,
    )

    def pair(judge_input: JudgeInput) -> Pairing:
        return Pairing(
            tuple(packed(splitter.split(judge_input.reference), options.chunk_words)), whole(judge_input.text)
        )

    reading = SupportReading(pair, aggregate)
    return SupportJudge(name, named, options.against, lazy_yes_no(models, options, Support()), reading)


MINICHECK = Kind(
    open_minicheck,
    MiniCheckJudge,
    checks=splitter_checks,
    readers=own_model(lambda options: YesNoAligner(options.model, Support(), 32, 1, options.revision)),
)
