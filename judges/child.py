"""The process of judges that hold one model: `python -m evenhand.judges.child RECIPE PHASE KEY JUDGE...`; see `apart`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ..config.recipe_file import load_recipe
from ..errors import EvenhandError, StorageError
from ..extras import start_logging
from ..runfolder.phases import Phase, hold_run
from ..runfolder.processes import follow_parent, report_failure, share_processor
from ..runfolder.timing import account
from ..storage import write_json
from . import open_judges
from .apart import failure_path, spent_path
from .stage import judge_models, judge_stage


def main(arguments: Sequence[str]) -> int:
    """Judge; the exit code."""
    recipe, name, key, *names = arguments
    # where the parent looks, also when the recipe cannot be read any more
    folder = Path(recipe).parent / name
    return as_child(lambda: _judge(Path(recipe), name, key, names), failure_path(folder))


def as_child(work: Callable[[], None], failure: Path) -> int:
    """Do the work of a judges' process; the exit code. A refusal is left where the parent looks for it."""
    follow_parent()
    share_processor()
    start_logging()
    try:
        work()
    except EvenhandError as error:
        report_failure(failure, error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def _judge(recipe: Path, name: str, key: str, names: Sequence[str]) -> None:
    phase = Phase(load_recipe(recipe), name, after_round=None)
    with hold_run(phase.recipe), account() as spent:
        judges = open_judges({name: phase.recipe.judges[name] for name in phase.judges})
        stage = judge_stage(phase, judges)
        if stage.key != key:
            raise StorageError(
                f"{phase.folder}: the recipe, the candidates or a judge's model changed while they were judged; the same command "
                "begins anew"
            )
        judge_models(phase, stage, judges, [[judge for judge in judges if judge.name in names]])
    write_json(spent_path(phase.folder), spent)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
