"""The stages of a phase, in the order in which they build on each other."""

from collections.abc import Callable, Iterable
from pathlib import Path

from .errors import DataError
from .generate.requests import Requests
from .generate.stage import generate, generate_stage, not_generated, phase_requests
from .judges import open_judges
from .judges.stage import judge, judge_stage, not_judged
from .rerank.stage import rerank_stage
from .runfolder.phases import Phase
from .runfolder.stages import Receipt, Stage
from .runfolder.strays import of_other_recipes, shards_there
from .text import some_of
from .train.launch import accelerate_config, n_processes
from .train.stage import training_stage


def merge(phase: Phase) -> tuple[str, Receipt, bool]:
    """Put together what shards of a phase's generating or judging have made, exactly as one process would have left it.

    Returns:
        The stage that was merged, which is the first one that is not done, its receipt, and whether all was merged already: the
        stage is then the last one that is done.

    Raises:
        DataError: shards are missing or not finished.
    """
    stages = phase_stages(phase)
    receipt = stages["generate"]().receipt()
    if receipt is None:
        lacking, n, overlapping = not_generated(phase)
        _refuse_lacking(phase, stages["generate"](), f"{lacking} of {n} requests are" if lacking else "", overlapping)
        return "generate", generate(phase)[0], False
    judging = stages["judge"]()
    judged = judging.receipt()
    if judged is None:
        # one shard of one leaves the journal of a process that does it all
        has_begun = judging.journal_paths() or shards_there(phase, judging) or of_other_recipes(phase, judging)
        if not has_begun:
            return "generate", receipt, True
        judges = not_judged(phase)
        amounts = ", ".join(f"{n} requests of judge {name!r}" for name, n in judges.items())
        _refuse_lacking(phase, judging, f"{amounts} are" if amounts else "")
        return "judge", judge(phase)[0], False
    return "judge", judged, True


def _refuse_lacking(phase: Phase, stage: Stage, lacking: str, overlapping: Iterable[Path] = ()) -> None:
    if not lacking:
        return
    shards = shards_there(phase, stage)
    sentences = [f"{lacking} in no journal of {stage.receipt_path.parent}"]
    if names := sorted(path.name for path in overlapping):
        sentences[0] += (
            f", or in batches alone that overlap others and are not taken ({some_of(names)}): shards were cut into batches of "
            "different sizes"
        )
    sentences += [f"The shards that have journals are {some_of(list(map(str, shards)))}"] if shards else []
    sentences += [strays] if (strays := of_other_recipes(phase, stage)) else []
    raise DataError(
        f"{phase.name} {stage.name}: {'. '.join(sentences)}. Finish the shards that are missing, or bring their files "
        f"{stage.name}.*.shard-* there; or run `evenhand {stage.name}` without --shard, which does what is left"
    )


def phase_stages(phase: Phase, requests: Requests | None = None) -> dict[str, Callable[[], Stage]]:
    """What makes each stage of a phase, by verb, in order.

    A stage is made when it is called for, because that reads what the stages before it left: it raises what the stage's own
    maker raises, a DataError where files of an earlier stage are not there.

    Args:
        requests: the phase's requests, where they are known already; else the corpus is read for them.
    """

    def judging() -> Stage:
        return judge_stage(phase, open_judges({name: phase.recipe.judges[name] for name in phase.judges}))

    def training() -> Stage:
        section = phase.recipe.train
        return training_stage(phase, n_processes(section, accelerate_config(section.accelerate_config)))

    makers: dict[str, Callable[[], Stage]] = {
        "generate": lambda: generate_stage(phase, phase_requests(phase) if requests is None else requests),
        "judge": judging,
        "rerank": lambda: rerank_stage(phase),
    }
    return makers if phase.round is None else {**makers, "train": training}
