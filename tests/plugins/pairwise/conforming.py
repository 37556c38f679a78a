"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from evenhand.plugins.pairwise.section import PairwiseJudge

JUDGES = {
    "pairwise": PairwiseJudge.model_validate({"kind": "pairwise", "rubric": "coverage", "model": {"name": "org/model"}})
}
