"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from method_runs import Step

from evenhand.plugins.self_refine import method
from evenhand.plugins.self_refine.sections import SelfRefineSection

METHODS = {"self-refine": (method, {"self_refine": {"rounds": 1}})}
STEPS = {
    "feedback": Step("self-refine", *SelfRefineSection.steps["feedback"], "{task}|{summary}"),
    "refine": Step("self-refine", *SelfRefineSection.steps["refine"], "{task}|{summary}|{feedback}"),
}
