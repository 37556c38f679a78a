"""The documents of a request with their attribute values: what judges of fairness compare a summary with."""

from abc import abstractmethod
from collections.abc import Sequence

from ..fairness.labelled import LabelledDocuments, LabelledSource, LabelledSummary
from ..records import SummaryRequest
from .judge import JudgeInput, ScoringJudge, Verdict
from .shared import Loadable

# why a judge of whole sets has no score
ONE_SIDE = "the request asks for one side"


def labelled_documents(request: SummaryRequest) -> LabelledDocuments:
    """The set's documents with their values of the attribute that the request is about; none when it names no attribute."""
    side = request.perspective.value if request.perspective else None
    attribute = request.perspective.attribute if request.perspective else request.attribute
    if attribute is None:
        return LabelledDocuments(side=side)
    document_set = request.document_set
    labelled = tuple(
        LabelledSource(document.text, document.attributes[attribute], document_set.sentences_of(document))
        for document in document_set.documents
        if attribute in document.attributes
    )
    return LabelledDocuments(labelled, document_set.declared_values(attribute), side, document_set.separator)


def summary_of(judge_input: JudgeInput) -> LabelledSummary:
    """An input of a judge against "documents", as the measures take it."""
    labelled = judge_input.labelled
    return LabelledSummary(
        judge_input.candidate_id, labelled.values, labelled.documents, judge_input.text, labelled.separator
    )


class WholeSetJudge(ScoringJudge):
    """A judge of summaries that are to represent all values; one of a side alone is unscored, since it is unfair by design."""

    def __init__(self, name: str, signature: str, model: Loadable) -> None:
        super().__init__(name, signature, "documents", model)

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order."""
        open_places = [place for place, each in enumerate(inputs) if each.labelled.side is None]
        verdicts = dict(
            zip(open_places, self._verdicts([summary_of(inputs[place]) for place in open_places]), strict=True)
        )
        return [verdicts.get(place, Verdict(None, ONE_SIDE, attempts=0)) for place in range(len(inputs))]

    @abstractmethod
    def _verdicts(self, summaries: Sequence[LabelledSummary]) -> list[Verdict]:
        """One verdict for each summary of all values."""
