"""Opening metric models: no code of theirs, the revision that was named."""

import io
import json
import shutil
from contextlib import suppress

import pytest
from conformance import of_plugins

from evenhand.config.judges import AlignmentJudge
from evenhand.errors import EvenhandError, ModelError
from evenhand.judges import open_judge
from evenhand.judges.alignscore import AlignScore, convert_checkpoint
from evenhand.judges.checkpoint import open_checkpoint
from evenhand.judges.encoder import EncoderAligner
from evenhand.judges.judge import JudgeInput
from evenhand.judges.nli import NliAligner

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

LABELS = {0: "contradiction", 1: "neutral", 2: "entailment"}
OPENERS = {
    "nli": lambda folder: NliAligner(folder, 4),
    "alignscore": AlignScore,
    "encoder": lambda folder: EncoderAligner(folder, 4),
    **of_plugins("OPENERS"),
}


@pytest.fixture
def with_code(nli_folder, tmp_path):
    """A folder whose model and tokenizer are classes of its own, and the file that their code writes."""
    folder, marker = nli_folder(LABELS), tmp_path / "was-run"
    code = f"open({str(marker)!r}, 'w').close()\n"
    (folder / "own.py").write_text(
        code + "from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification\n"
        "class Config(RobertaConfig):\n    model_type = 'own'\n"
        "class Model(RobertaForSequenceClassification):\n    config_class = Config\n"
        "class Tokenizer(PreTrainedTokenizerFast):\n    pass\n"
    )
    models = ("AutoModel", "AutoModelForSequenceClassification", "AutoModelForSeq2SeqLM")
    own = {"AutoConfig": "own.Config", **dict.fromkeys(models, "own.Model")}
    for name, changes in (
        ("config.json", {"model_type": "own", "auto_map": own}),
        ("tokenizer_config.json", {"tokenizer_class": "Tokenizer", "auto_map": {"AutoTokenizer": [None, "own.Tokenizer"]}}),
    ):  # fmt: skip
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder, marker


@pytest.fixture
def consent(monkeypatch):
    """Somebody who answers yes to every question."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 20))


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("also_the_model", [True, False])
def test_code_that_lies_beside_the_weights_is_never_run(with_code, consent, opener, also_the_model):
    folder, marker = with_code
    if not also_the_model:
        # the tokenizer's code alone
        path = folder / "config.json"
        config = json.loads(path.read_text())
        del config["auto_map"]
        path.write_text(json.dumps(config | {"model_type": "roberta"}))
    # some are opened without that code, as what their configuration says that they are
    with suppress(EvenhandError):
        OPENERS[opener](str(folder)).close()
    assert not marker.exists()


def test_conversion_runs_no_code_of_the_encoder(with_code, consent, tmp_path):
    folder, marker = with_code
    state = {f"{head}.weight": torch.zeros(n, 16) for head, n in (("tri_layer", 3), ("bin_layer", 2), ("reg_layer", 1))}
    torch.save({"state_dict": state}, tmp_path / "released.ckpt")
    with pytest.raises(ModelError, match="cannot open encoder"):
        convert_checkpoint(tmp_path / "released.ckpt", str(folder), tmp_path / "out")
    assert not marker.exists()


def test_half_precision_is_run_in_full(nli_folder):
    folder = nli_folder(LABELS)
    transformers.AutoModelForSequenceClassification.from_pretrained(folder).half().save_pretrained(folder)
    _, model = open_checkpoint("AutoModelForSequenceClassification", str(folder), "a test")
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_revision_decides_which_weights_are_read(nli_folder, tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    folder = nli_folder(LABELS)
    place = tmp_path / "hub" / "models--org--nli"
    other = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        other.classifier.out_proj.bias.copy_(torch.tensor([0.0, 0.0, -3.0]))
    for commit, name in (("a" * 40, "main"), ("b" * 40, "v2")):
        shutil.copytree(folder, place / "snapshots" / commit)
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / name).write_text(commit)
    other.save_pretrained(place / "snapshots" / ("b" * 40))
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))

    def score(revision):
        judge = open_judge("judge", AlignmentJudge(kind="alignment", aligner="nli", model="org/nli", revision=revision))
        verdict = judge.score([JudgeInput("c", "r", "A bridge pays.", True, "The ferry is cheap.")])[0]
        judge.close()
        return verdict.score

    assert score(None) == score("main")
    # three less for entailment's logit
    assert score("v2") < score(None) - 0.1


@pytest.mark.parametrize("offline", [True, False])
def test_a_model_out_of_reach_is_asked_for_once_and_told_with_what_to_do(monkeypatch, tmp_path, capfd, offline):
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", offline)
    # a port of this machine where nobody listens
    monkeypatch.setattr(hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"classifier 'nli' cannot open model 'org/nli': .* --model entailer=FOLDER"):
        NliAligner("org/nli", 4)
    assert "Retrying" not in "".join(capfd.readouterr())
