"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from types import SimpleNamespace

from evenhand.plugins.released.bertscore import TokenEmbedder
from evenhand.plugins.released.bleurt import BleurtAligner
from evenhand.plugins.released.finesure import PROMPTS as FINESURE
from evenhand.plugins.released.sections import (
    BertScoreJudge,
    BleurtJudge,
    FineSurEJudge,
    MiniCheckJudge,
    SummacJudge,
    UniEvalJudge,
)
from evenhand.plugins.released.unieval import Consistency
from evenhand.plugins.released.yes_no import YesNoAligner

JUDGES = {
    "bertscore": BertScoreJudge(kind="bertscore", model="org/model"),
    "finesure": FineSurEJudge.model_validate({"kind": "finesure", "model": {"name": "org/model"}}),
    "summac": SummacJudge(kind="summac", model="org/model"),
    "unieval": UniEvalJudge(kind="unieval", model="org/model"),
    "minicheck": MiniCheckJudge(kind="minicheck", model="org/model"),
    "bleurt": BleurtJudge(kind="bleurt", model="org/model"),
}
# what opens a folder with a model
# those of an encoder's folder
ENCODERS = {"bertscore": lambda folder: TokenEmbedder(folder, 4, 512)}
OPENERS = {
    **ENCODERS,
    "bleurt": lambda folder: BleurtAligner(folder, 4),
    "t5": lambda folder: YesNoAligner(folder, Consistency(), 64, 4),
}
# a section and values of it, its templates, tokens of a reply, and one that is read
ASKING = {
    "finesure": SimpleNamespace(
        section=(FineSurEJudge, {"most_reply_tokens": 48}),
        templates=(("finesure-faithfulness", FINESURE),),
        n_reply=48,
        reply='[{"sentence": 1, "reason": "x", "category": "no error"}]',
    )
}
# a section, and values of it, of each way in which a model is asked
ASKED = {
    f"finesure of {measure}": (
        FineSurEJudge, {"kind": "finesure", "measure": measure, "against": against, "max_attempts": 1}
    )
    for measure, against in (("faithfulness", "source"), ("completeness", "key_points"))
}  # fmt: skip
