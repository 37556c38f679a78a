"""What a run's report or comparison will be about, known before anything is run."""

from ...config import Recipe
from ...errors import EvenhandError
from ...generate.stage import phase_requests
from ...judges import open_judge
from ...runfolder.phases import BASE, open_phase
from ..report.systems.compare import Comparer, bootstrap_of
from ..report.systems.systems import asked
from .baseline import MeasureMethod, Subject


def subject_of(recipe: Recipe) -> Subject:
    """The test requests and the judges' signatures; those of judges that cannot be opened here are absent.

    Raises:
        DataError: the corpus is wrong.
    """
    compare = Comparer([asked(each) for each in phase_requests(open_phase(recipe, BASE))], bootstrap_of(recipe))
    methods = {}
    for name in dict.fromkeys((*recipe.evaluation.judges, *recipe.reward.judges)):
        try:
            methods[name] = MeasureMethod(open_judge(name, recipe.judges[name]).signature)
        except EvenhandError:
            # is told where the judge is needed
            continue
    return Subject(compare.documents_digest, compare.set_ids, sides=compare.sides, methods=methods)
