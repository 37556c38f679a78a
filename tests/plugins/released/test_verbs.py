"""`evenhand judges convert`: released checkpoints become what the judges read, and damaged or foreign files one message."""

import math
import pickle
from collections import OrderedDict
from functools import partial

import pytest
from commands import invoked, started
from judge_models import Hostile

from evenhand.errors import DataError
from evenhand.plugins.released.sections import SummacJudge
from evenhand.plugins.released.summac import read_weights

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

VERBS = ("alignscore", "bleurt", "summac")
run = partial(invoked, "judges", "convert")


def read_out():
    """The layers of SummaC-Conv, as its authors' module holds them."""
    torch.manual_seed(0)
    return torch.nn.ModuleDict({"mlp": torch.nn.Linear(23, 1), "layer_final": torch.nn.Linear(3, 2)})


@pytest.mark.parametrize("is_zip", [True, False])
def test_released_read_out_of_summac(tmp_path, is_zip):
    state = read_out().state_dict()
    assert isinstance(state, OrderedDict)
    source, out = tmp_path / "summac_conv_vitc_sent_perc_e.bin", tmp_path / "models" / "conv"
    torch.save(state, source, _use_new_zipfile_serialization=is_zip)
    # the released file has 1.8 kB
    assert source.stat().st_size < 3000
    done = run("summac", source, "--out", out)
    weights = out / "model.safetensors"
    assert done.stdout == f"{out}: write in the recipe {{kind: summac, variant: conv, weights: {weights}}}\n"
    found = read_weights(SummacJudge(kind="summac", variant="conv", weights=weights).weights)
    assert found.bins.tolist() == state["mlp.weight"][0].tolist()
    assert found.final.tolist() == state["layer_final.weight"].tolist()


def test_released_checkpoint_of_alignscore_names_its_encoder(tmp_path):
    config = transformers.RobertaConfig(
        vocab_size=20, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    modules = torch.nn.ModuleDict({"base_model": transformers.RobertaModel(config)})
    for name, n in (("tri_layer", 3), ("bin_layer", 2), ("reg_layer", 1)):
        modules[name] = torch.nn.Linear(16, n)
    encoder = tmp_path / "roberta"
    config.save_pretrained(encoder)
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.models.WordLevel({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}, unk_token="<unk>")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(words)).save_pretrained(encoder)
    # what Lightning keeps beside the weights
    rest = {"epoch": 3, "optimizer_states": [{"state": {}, "param_groups": []}], "pytorch-lightning_version": "1.7.7"}
    source = tmp_path / "AlignScore-tiny.ckpt"
    torch.save({"state_dict": modules.state_dict(), "hyper_parameters": {"model": str(encoder)}, **rest}, source)
    done = run("alignscore", source, "--out", tmp_path / "made")
    assert "{kind: alignment, aligner: alignscore, model: " in done.stdout
    assert (tmp_path / "made" / "model.safetensors").is_file()
    torch.save({"state_dict": modules.state_dict()}, source)
    with pytest.raises(DataError, match="does not name the encoder that it was trained from; name it with --encoder"):
        run("alignscore", source, "--out", tmp_path / "other")
    run("alignscore", source, "--encoder", encoder, "--out", tmp_path / "other")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"PK\x03\x04 cut short",
        b"no checkpoint",
        b"hello\n" * 20,
        pickle.dumps({"a": 1}),
        pickle.dumps([1], protocol=0),
    ],
    ids=["absent", "empty", "cut short", "text", "text that begins like a pickle", "pickle", "old pickle"],
)
def test_damaged_and_foreign_files_are_one_message(tmp_path, verb, content):
    source = tmp_path / "model.bin"
    (tmp_path / "config.json").write_text('{"model_type": "bleurt"}', encoding="utf-8")
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(DataError, match=r"model\.bin: "):
        run(verb, source, "--out", tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "state", [{1: torch.ones(1)}, {"tri_layer.weight": torch.tensor([math.nan])}, {"tri_layer.weight": 1}]
)
def test_files_of_other_tensors_are_one_message(tmp_path, verb, state):
    (tmp_path / "config.json").write_text('{"model_type": "bleurt"}', encoding="utf-8")
    torch.save({"state_dict": state} if verb == "alignscore" else state, tmp_path / "model.bin")
    with pytest.raises(DataError, match=r"model\.bin: "):
        run(verb, tmp_path / "model.bin", "--out", tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("verb", VERBS)
def test_no_pickle_is_run(tmp_path, verb):
    (tmp_path / "config.json").write_text('{"model_type": "bleurt"}', encoding="utf-8")
    torch.save({"state_dict": Hostile(tmp_path / "was-run")}, tmp_path / "model.bin")
    with pytest.raises(DataError, match="holds more than tensors and plain values"):
        run(verb, tmp_path / "model.bin", "--out", tmp_path / "made")
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("verb", VERBS)
def test_folder_with_something_in_it_is_left_alone(tmp_path, verb):
    torch.save(read_out().state_dict(), tmp_path / "model.bin")
    with pytest.raises(DataError, match="already exists and is not empty; name a new folder"):
        run(verb, tmp_path / "model.bin", "--out", tmp_path)


def test_mistake_ends_with_exit_code_2(tmp_path):
    done = started("judges", "convert", "summac", tmp_path / "absent.bin", "--out", tmp_path / "made")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {tmp_path / 'absent.bin'}: is not there")
    assert "Traceback" not in done.stderr
