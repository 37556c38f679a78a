"""What a recipe may say of the judge that compares candidates two by two."""

from typing import ClassVar, Literal

from pydantic import Field

from ...config.needs import ModelJudgeSection


class PairwiseJudge(ModelJudgeSection):
    """A language model compares the candidates of a request two by two, in both orders."""

    kind: Literal["pairwise"]
    meaning: ClassVar[str] = (
        "Bradley-Terry strength of the summary among the candidates of its request, in natural logarithms; 0 is their mean."
    )
    # what is compared
    rubric: Literal["coverage", "faithfulness"]
    # candidates that each is compared with: all others up to here, else a draw in which each has equally many. Two prompts a pair
    rivals: int = Field(default=8, ge=2, multiple_of=2)
    # a prompt longer than backend.max_model_len: leave the comparison out, cut the source and say so, or stop
    overflow: Literal["skip", "truncate", "error"] = "skip"
    # the source and the other candidates; nothing else can be written here
    against: Literal["source_and_candidates"] = "source_and_candidates"

    @property
    def libraries(self) -> tuple[str, ...]:
        """What fits strengths."""
        return ("choix",)

    @property
    def scale(self) -> tuple[float, float] | None:
        """A strength may be any number."""
        return None

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Neither: strengths among candidates of one request choose among these and compare no systems."""
        return None
