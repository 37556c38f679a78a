"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from method_runs import Step

from evenhand.plugins.debate import method
from evenhand.plugins.debate.sections import DebateSection

METHODS = {"debate": (method, {"debate": {"agents": 2, "rounds": 1, "final": "final_agent"}})}
STEPS = {
    "revise": Step("debate", *DebateSection.steps["revise"], "{task}|{others}", {"agents": 3}),
    "final": Step("debate", *DebateSection.steps["final"], "{task}|{answers}", {"agents": 3, "final": "final_agent"}),
}
# methods whose later prompts quote summaries, without what announces them
QUOTING = {"debate": True}
