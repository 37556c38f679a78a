"""The process of judges that hold one model: `python -m evenhand.judges.child RECIPE PHASE KEY JUDGE...`; see `apart`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ..config.recipe_file import load_recipe
from ..errors import StorageError
from ..runfolder.phases import Phase, hold_run
from ..runfolder.processes import as_child, failure_path
from ..runfolder.timing import account
from ..storage import write_json
from . import open_judges
from .apart import spent_path
from .stage import judge_models, judge_stage


def main(arguments: Sequence[str]) -> int:
    """Judge; the exit code."""
    recipe, name, key, *names = arguments

    def judge() -> None:
        phase = Phase(load_recipe(Path(recipe)), name, after_round=None)
        with hold_run(phase.recipe), account() as spent:
            judges = open_judges({each: phase.recipe.judges[each] for each in phase.judges})
            stage = judge_stage(phase, judges)
            if stage.key != key:
                raise StorageError(
                    f"{phase.folder}: the recipe, the candidates or a judge's model changed while they were judged; the same "
                    "command begins anew"
                )
            judge_models(phase, stage, judges, [[each for each in judges if each.name in names]])
        write_json(spent_path(phase.folder), spent)

    # where the parent looks, also when the recipe cannot be read any more
    return as_child(judge, failure_path(Path(recipe).parent / name, "judge"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
