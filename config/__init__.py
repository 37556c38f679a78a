"""What a recipe may say: its sections as frozen, checked types.

Nothing here imports a model library, so a typing mistake costs half a second and not a minute. Keys that belong to a
library (`trainer:` to trl.DPOConfig, `engine:` to vllm.LLM) are passed on as they stand.
"""

from .bias import BiasRecipe
from .controlled import ControlledRecipe
from .fair_extractive import FairExtractiveSection, MixSection
from .fairness import (
    ContrastJudge,
    EntailerSection,
    EqualCoverageJudge,
    FairnessJudgeSection,
    MatcherSection,
    OpinionGraphJudge,
    SplitterSection,
    ValueSharesJudge,
)
from .generate import GenerateSection, Plan
from .judges import AlignmentJudge, ExtractJudge, FineSurEJudge, JudgeOptions, RougeJudge, RubricJudge, RuleJudge
from .methods import METHOD_OPTIONS, AttentionReweightingSection, DebateSection, RegenerationSection, ThinnedSection
from .metrics import (
    BertScoreJudge,
    BleurtJudge,
    MetricSection,
    MiniCheckJudge,
    SplittingMetricSection,
    SummacJudge,
    UniEvalJudge,
)
from .model import BackendSection, ModelSection, without_speed
from .needs import SplitterName
from .recipe import Recipe
from .reward import PairsSection, RewardSection
from .section import Section
from .task import CorpusSection, SplitSection, TaskSection
from .train import PACKED_ATTENTION, UNWEIGHTED, FairPOSection, LoraSection, TrainSection

__all__ = [
    "METHOD_OPTIONS",
    "PACKED_ATTENTION",
    "UNWEIGHTED",
    "AlignmentJudge",
    "AttentionReweightingSection",
    "BackendSection",
    "BertScoreJudge",
    "BiasRecipe",
    "BleurtJudge",
    "ContrastJudge",
    "ControlledRecipe",
    "CorpusSection",
    "DebateSection",
    "EntailerSection",
    "EqualCoverageJudge",
    "ExtractJudge",
    "FairExtractiveSection",
    "FairPOSection",
    "FairnessJudgeSection",
    "FineSurEJudge",
    "GenerateSection",
    "JudgeOptions",
    "LoraSection",
    "MatcherSection",
    "MetricSection",
    "MiniCheckJudge",
    "MixSection",
    "ModelSection",
    "OpinionGraphJudge",
    "PairsSection",
    "Plan",
    "Recipe",
    "RegenerationSection",
    "RewardSection",
    "RougeJudge",
    "RubricJudge",
    "RuleJudge",
    "Section",
    "SplitSection",
    "SplitterName",
    "SplitterSection",
    "SplittingMetricSection",
    "SummacJudge",
    "TaskSection",
    "ThinnedSection",
    "TrainSection",
    "UniEvalJudge",
    "ValueSharesJudge",
    "without_speed",
]
