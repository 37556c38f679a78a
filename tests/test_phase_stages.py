"""The stages of a phase."""

import pytest

from evenhand.config import Recipe
from evenhand.errors import DataError
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge
from evenhand.phase_stages import phase_stages
from evenhand.rerank.stage import rerank
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, PAIRS, REQUESTS, open_phase


@pytest.fixture
def recipe(tmp_path):
    values = {
        "name": "small", "output": tmp_path, "model": {"name": "none"}, "judges": {"recall": {"kind": "rouge"}},
        "corpus": {"train": {"split": "train", "limit": 1}}, "reward": {"judges": ["recall"]},
        "generate": {"backend": "scripted", "plans": {"nucleus": {"candidates": 3}}}, "evaluation": {"judges": ["recall"]},
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
    with pytest.raises(DataError, match="run `evenhand generate RECIPE"):
        makers["judge"]()
    with pytest.raises(DataError, match="there are no preference pairs yet"):
        makers["train"]()


@pytest.fixture
def reranked(recipe, tmp_path, monkeypatch):
    """A round whose pairs are made."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    phase = open_phase(recipe, "round-00")
    for stage in (generate, judge, rerank):
        stage(phase)
    return phase


@pytest.mark.parametrize(
    ("name", "made_by", "readers"),
    [
        (REQUESTS, "generate", ["judge", "rerank"]),
        (CANDIDATES, "generate", ["judge", "rerank"]),
        (JUDGEMENTS, "judge", ["rerank"]),
        (PAIRS, "rerank", ["train"]),
    ],
)
def test_file_that_is_not_what_the_stage_before_made_is_refused_with_a_way_out(reranked, name, made_by, readers):
    path = reranked.folder / name
    # its last line cut
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]) or "\n")
    receipt = reranked.folder / "receipts" / f"{made_by}.json"
    for reader in readers:
        with pytest.raises(DataError, match=rf"{path}: changed since '{made_by}' made it, whose receipt is {receipt}"):
            phase_stages(reranked)[reader]()
    # as the message says
    receipt.unlink()
    for reader in readers:
        phase_stages(reranked)[reader]()


def test_files_that_no_stage_made_are_taken_as_they_are(reranked):
    key = phase_stages(reranked)["judge"]().key
    (reranked.folder / "receipts" / "generate.json").unlink()
    assert phase_stages(reranked)["judge"]().key == key
