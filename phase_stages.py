"""The stages of a phase, in the order in which they build on each other."""

from collections.abc import Callable

from .errors import DataError
from .generate.requests import Requests
from .generate.stage import generate, generate_stage, not_generated, phase_requests
from .judges import open_judges
from .judges.stage import judge, judge_stage, not_judged
from .rerank.stage import rerank_stage
from .runfolder.phases import Phase
from .runfolder.stages import Receipt, Stage
from .train.launch import accelerate_config, n_processes
from .train.stage import training_stage


def merge(phase: Phase) -> tuple[str, Receipt]:
    """Put together what shards of a phase's generating or judging have made, exactly as one process would have left it.

    Returns:
        The stage that was merged, which is the first one that is not done, and its receipt.

    Raises:
        DataError: shards are missing or not finished, or both stages are done.
    """
    stages = phase_stages(phase)
    if stages["generate"]().receipt() is None:
        lacking, n = not_generated(phase)
        _refuse_lacking(phase, "generate", f"{lacking} of {n} requests are" if lacking else "")
        return "generate", generate(phase)[0]
    if stages["judge"]().receipt() is None:
        judges = not_judged(phase)
        said = ", ".join(f"{n} requests of judge {name!r}" for name, n in judges.items())
        _refuse_lacking(phase, "judge", f"{said} are" if said else "")
        return "judge", judge(phase)[0]
    raise DataError(f"{phase.name}: its candidates and judgements are there, so there is nothing to merge")


def _refuse_lacking(phase: Phase, verb: str, lacking: str) -> None:
    if lacking:
        raise DataError(
            f"{phase.name} {verb}: {lacking} in no journal of {phase.folder / 'receipts'}. Finish the shards that are missing, "
            f"or bring their files {verb}.*.shard-*.partial.jsonl there; or run `evenhand {verb}` without --shard, which does "
            "what is left"
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
