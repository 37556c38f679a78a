"""What the coverage and the faithfulness of a summary are when the key points it was made of are known."""

from dataclasses import dataclass

from ...errors import DataError


@dataclass(frozen=True)
class GroundTruth:
    """Coverage and faithfulness by construction, each in [0, 1]."""

    # share of the article's key points that the summary has; None when the article has none
    coverage: float | None
    # share of the summary's points that are key points of the article; None when the summary has no point
    faithfulness: float | None


def ground_truth(n_key_points: int, relevant: int, opposite: int, adversarial: int) -> GroundTruth:
    """Coverage and faithfulness of a summary made of so many points of each kind.

    Source: Ri et al. 2025, eqs. 1 and 2.

    Args:
        n_key_points: key points of the article.
        relevant: those of them that the summary was made of.
        opposite: points of the article's other side.
        adversarial: key points turned into their contrary.

    Raises:
        DataError: a number is negative, or the summary has more of the article's key points than there are.
    """
    if min(n_key_points, relevant, opposite, adversarial) < 0 or relevant > n_key_points:
        raise DataError(
            f"a summary cannot have {relevant} relevant, {opposite} opposite and {adversarial} adversarial points of an "
            f"article with {n_key_points} key points; counts are at least 0, and relevant is at most the article's"
        )
    n_points = relevant + opposite + adversarial
    return GroundTruth(
        coverage=relevant / n_key_points if n_key_points else None,
        faithfulness=relevant / n_points if n_points else None,
    )
