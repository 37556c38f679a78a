"""How abstractive each candidate is, beside the traits that every report has."""

from collections.abc import Mapping

from ...records import ScoredCandidate, SummaryRequest
from ..abstractiveness import characteristics

# characteristic -> what the tables call it, and how it is counted
CHARACTERISTICS: dict[str, tuple[str, str]] = {
    "novel_1": ("novel words", "share of words that the side's documents do not have"),
    "novel_4": ("novel 4-grams", "share of 4-grams that the side's documents do not have"),
    "coverage": ("fragment coverage", "share of words that stand in a fragment copied from the side's documents"),
    "density": ("fragment density", "mean length in words of the copied fragment that a word stands in"),
    "compression": ("compression", "words of the side's documents for each word of the summary"),
    "characters": ("characters", "characters of a summary"),
    "multi_sentence": ("several sentences", "share of summaries of more than one sentence"),
}


def copied(request: SummaryRequest, scored: ScoredCandidate) -> Mapping[str, float | None]:
    """The characteristics of a candidate, by the names that tables use."""
    found = characteristics([document.text for document in request.source_documents], scored.candidate.text)
    return {name: getattr(found, field) for field, (name, _) in CHARACTERISTICS.items()}
