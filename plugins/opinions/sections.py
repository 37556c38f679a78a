"""What a recipe may say of judges of opinions."""

from typing import ClassVar, Literal

from pydantic import Field

from ...config.fairness import EntailerSection, FairnessJudgeSection


class OpinionGraphJudge(FairnessJudgeSection):
    """Opinion Interaction Graph: whether every opinion of the source keeps its share of units."""

    kind: Literal["opinion-graph"]
    meaning: ClassVar[str] = (
        "How unequally a summary shows the opinions of its documents, a Gini coefficient from 0 to 1; 0 is fair."
    )
    # what a summary could take over whole: "documents" for posts, "sentences" for longer texts; its sentences count where it has
    # no whole unit
    units: Literal["sentences", "documents"] = "sentences"
    # how units are attached to opinions, and what their similarity must exceed
    method: Literal["tfidf", "keyword_fraction"] = "tfidf"
    threshold: float = Field(default=0.0, ge=0, lt=1)
    # "auto": extractive if the summary is made of whole units of the source
    exposure: Literal["auto", "extractive", "abstractive"] = "auto"

    @property
    def libraries(self) -> tuple[str, ...]:
        """What finds opinions."""
        return ("networkx",)


class ContrastJudge(FairnessJudgeSection):
    """How much better the documents of the side that is asked for support the summary than the other sides' do."""

    kind: Literal["contrast"]
    meaning: ClassVar[str] = (
        "How much more the summary says what its side says than what the others do, as words or meaning tell."
    )
    scope: ClassVar[Literal["any", "side", "all"]] = "side"
    entailer: EntailerSection = EntailerSection()

    @property
    def scale(self) -> tuple[float, float]:
        """Nearer to the others' documents is below 0."""
        return -1.0, 1.0

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Higher: the summary is nearer to its own side."""
        return "higher"

    def refuse(self) -> None:
        """Windows of one side must not depend on another's."""
        if self.entailer.dedupe == "sample":
            raise ValueError(
                "entailer.dedupe: sample removes what two sides say alike from the later one, so that the score would "
                "depend on the order of the documents; write dedupe: document"
            )
