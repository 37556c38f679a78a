"""The stages of a phase."""

import pytest

from evenhand.config import Recipe
from evenhand.errors import DataError, StorageError
from evenhand.phase_stages import phase_stages
from evenhand.run import open_phase


@pytest.fixture
def recipe(tmp_path):
    values = {
        "name": "small", "output": tmp_path, "model": {"name": "none"}, "judges": {"recall": {"kind": "rouge"}},
        "corpus": {"train": {"split": "train", "limit": 1}}, "reward": {"judges": ["recall"]},
        "generate": {"backend": "scripted", "plans": {"nucleus": {}}}, "evaluation": {"judges": ["recall"]},
    }  # fmt: skip
    return Recipe.model_validate(values)


def test_rounds_end_with_a_training_and_evaluations_do_not(recipe):
    assert list(phase_stages(open_phase(recipe, "round-00"))) == ["generate", "judge", "rerank", "train"]
    assert list(phase_stages(open_phase(recipe, "evaluation/base"))) == ["generate", "judge", "rerank"]


def test_stages_have_the_names_of_their_verbs_and_the_phase_folder(recipe):
    phase = open_phase(recipe, "round-00")
    stage = phase_stages(phase)["generate"]()
    assert (stage.name, stage.folder) == ("generate", phase.folder)


def test_requests_that_are_known_make_the_same_stage_as_those_of_the_corpus(recipe):
    from evenhand.generate.stage import phase_requests

    phase = open_phase(recipe, "round-00")
    assert phase_stages(phase, phase_requests(phase))["generate"]().key == phase_stages(phase)["generate"]().key


def test_stage_is_made_only_when_it_is_called_for(recipe):
    makers = phase_stages(open_phase(recipe, "round-00"))
    # nothing has been generated yet
    with pytest.raises(StorageError, match="run the 'generate' stage"):
        makers["judge"]()
    with pytest.raises(DataError, match="there are no preference pairs yet"):
        makers["train"]()
