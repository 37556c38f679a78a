"""Alignment by an AlignScore checkpoint, on a tiny random one of the right shape."""

import pickle

import numpy as np
import pytest

from evenhand.config import AlignmentJudge
from evenhand.errors import JudgeError
from evenhand.judges.aligner import Pairing
from evenhand.judges.alignment import open_alignment
from evenhand.judges.alignscore import AlignScoreAligner, convert_checkpoint
from evenhand.judges.shared import SharedModels

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PREMISES = ("The ferry is cheap.", "Nurses need it at night.")
CLAIMS = ("The ferry is dear.", "A bridge pays.")


@pytest.fixture
def released(tmp_path, roberta_config, roberta_tokenizer):
    """A checkpoint file as AlignScore releases it, with the folder of its encoder, and its modules."""
    torch.manual_seed(0)
    config = roberta_config()
    modules = torch.nn.ModuleDict({
        "base_model": transformers.RobertaModel(config),
        "tri_layer": torch.nn.Linear(config.hidden_size, 3),
        "bin_layer": torch.nn.Linear(config.hidden_size, 2),
        "reg_layer": torch.nn.Linear(config.hidden_size, 1),
        "mlm_head": torch.nn.Linear(config.hidden_size, 20),
    })  # fmt: skip
    encoder = tmp_path / "encoder"
    config.save_pretrained(encoder)
    roberta_tokenizer.save_pretrained(encoder)
    path = tmp_path / "AlignScore-tiny.ckpt"
    torch.save({"state_dict": modules.state_dict(), "hyper_parameters": {"model": "roberta-base"}}, path)
    return path, encoder, modules.eval()


@pytest.fixture
def converted(released, tmp_path):
    path, encoder, _ = released
    convert_checkpoint(path, str(encoder), tmp_path / "converted")
    return tmp_path / "converted"


def test_support_is_class_0_of_the_three_way_head(released, converted):
    _, encoder, modules = released
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    expected = np.zeros((2, 2))
    with torch.no_grad():
        for i, premise in enumerate(PREMISES):
            for j, claim in enumerate(CLAIMS):
                pooled = modules["base_model"](**tokenizer(premise, claim, return_tensors="pt")).pooler_output
                expected[i, j] = modules["tri_layer"](pooled).softmax(-1)[0, 0]
    aligner = AlignScoreAligner(str(converted), batch_size=3)
    found = aligner.align([Pairing(PREMISES, CLAIMS)])[0].matrix
    aligner.close()
    assert found == pytest.approx(expected, abs=1e-5)
    # a random head that gave every pair the same share would prove nothing
    assert expected.max() - expected.min() > 1e-3


def test_conversion_keeps_encoder_and_heads_only(converted):
    from safetensors.torch import load_file

    names = {name.split(".")[0] for name in load_file(converted / "model.safetensors")}
    assert names == {"base_model", "tri_layer", "bin_layer", "reg_layer"}


def test_judge_takes_the_folder_or_the_file_in_it(converted):
    signatures = set()
    for model in (converted, converted / "model.safetensors"):
        section = AlignmentJudge.model_validate({"kind": "alignment", "aligner": "alignscore", "model": str(model)})
        judge = open_alignment("judge", section, SharedModels())
        signatures.add(judge.signature)
        judge.close()
    assert len(signatures) == 1


def test_released_pickle_is_refused_before_it_is_opened(tmp_path):
    # there is no such file: the refusal goes by the name
    section = AlignmentJudge(kind="alignment", aligner="alignscore", model=str(tmp_path / "AlignScore-large.ckpt"))
    with pytest.raises(JudgeError, match=r"is a pickle.*convert_checkpoint"):
        open_alignment("judge", section, SharedModels())


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("write", [torch.save, lambda value, path: path.write_bytes(pickle.dumps(value, protocol=2))])
def test_conversion_runs_no_code_of_the_checkpoint(tmp_path, released, write):
    path, marker = tmp_path / "hostile.ckpt", tmp_path / "was-run"
    write({"state_dict": {}, "callbacks": Hostile(marker)}, path)
    with pytest.raises(JudgeError, match="holds more than tensors"):
        convert_checkpoint(path, str(released[1]), tmp_path / "out")
    assert not marker.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [({"state_dict": {}}, "no tri_layer"), ({"weights": 1}, "no 'state_dict'"), ([1], "no 'state_dict'")],
)
def test_other_checkpoint_is_refused(tmp_path, released, content, message):
    torch.save(content, tmp_path / "other.ckpt")
    with pytest.raises(JudgeError, match=message):
        convert_checkpoint(tmp_path / "other.ckpt", str(released[1]), tmp_path / "out")


def test_encoder_of_another_size_is_refused(released, tmp_path, roberta_config):
    path, encoder, _ = released
    roberta_config(hidden_size=32).save_pretrained(encoder)
    convert_checkpoint(path, str(encoder), tmp_path / "wrong")
    with pytest.raises(JudgeError, match="is no AlignScore checkpoint of the size"):
        AlignScoreAligner(str(tmp_path / "wrong"), 8)


def test_folder_without_weights_is_refused(released):
    with pytest.raises(JudgeError, match=r"has no model\.safetensors"):
        AlignScoreAligner(str(released[1]), 8)
