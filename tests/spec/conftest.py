from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from preference_groups import make_trainer


@pytest.fixture
def trainer_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """Makes the trainer that `evenhand train` runs, with these options, which takes references from its rows."""
    pytest.importorskip("trl")
    request.getfixturevalue("fresh_accelerate")
    model = request.getfixturevalue("tiny_model")

    def make(**options: Any) -> Any:
        trainer = make_trainer("shared-prefix", model, tmp_path, **options)
        trainer.precompute_ref_logps = True
        return trainer

    return make
