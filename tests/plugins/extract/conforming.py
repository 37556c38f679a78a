"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from types import SimpleNamespace

from evenhand.plugins.extract.judge import PROMPTS as TEMPLATES
from evenhand.plugins.extract.judge import SCALES
from evenhand.plugins.extract.sections import ExtractJudge

JUDGES = {
    "extract": ExtractJudge.model_validate(
        {"kind": "extract", "model": {"name": "org/model"}, "encoder": "org/encoder", "nli": "org/nli"}
    )
}
# a section and values of it, its templates, tokens of a reply, and one that is read
ASKING = {
    "extract": SimpleNamespace(
        section=(ExtractJudge, {"scoring": "greedy", "extractors": ["lead"]}),
        templates=tuple((f"extract-{name}", TEMPLATES) for name in SCALES),
        n_reply=64,
        reply="4",
    )
}
# a section, and values of it, of each way in which a model is asked
ASKED = {"extract": (ExtractJudge, {"kind": "extract", "extractors": ["lead"]})}
