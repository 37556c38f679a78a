"""Conversion of BLEURT checkpoints: tiny random ones in the layout of the public PyTorch port."""

import io
import json
import math
import pickle

import pytest
from judge_models import Hostile

from evenhand.errors import JudgeError, UnfitModelError
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels
from evenhand.plugins.released.bleurt import open_bleurt
from evenhand.plugins.released.bleurt_checkpoint import convert_bleurt, sentencepiece_tokenizer
from evenhand.plugins.released.sections import BleurtJudge

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
save_file = pytest.importorskip("safetensors.torch").save_file
sentencepiece = pytest.importorskip("sentencepiece")
pytest.importorskip("google.protobuf")

HIDDEN, EMBEDDED, LAYERS, HEADS, POSITIONS = 16, 8, 2, 2, 64
SOURCE, SUMMARY = "The ferry is cheap. Nurses need it at night.", "A bridge pays: it is dear\u2026"
LINES = [
    SOURCE,
    "A bridge pays. The ferry is dear.",
    "It is night; the bridge is cheap!",
    'A "dear" (cheap) ferry...',
] * 20


@pytest.fixture(scope="module")
def spm():
    """A SentencePiece model with the special tokens of BLEURT-20, as bytes."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=48, hard_vocab_limit=False, model_type="unigram",
        pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, pad_piece="[PAD]", unk_piece="[UNK]",
        control_symbols=["[CLS]", "[SEP]", "[MASK]"], minloglevel=2,
    )  # fmt: skip
    return model.getvalue()


def port_tensors(n_pieces, embedded):
    """Random tensors under the names of the port; without `embedded` there is no projection, as in the older checkpoints."""
    generator = torch.Generator().manual_seed(0)

    def random(*shape):
        return torch.randn(*shape, generator=generator) * 0.4

    width = embedded or HIDDEN
    tensors = {
        "bleurt.embeddings.word_embeddings.weight": random(n_pieces, width),
        "bleurt.embeddings.position_embeddings.weight": random(POSITIONS, width),
        "bleurt.embeddings.token_type_embeddings.weight": random(2, width),
        "bleurt.embeddings.LayerNorm.weight": random(width),
        "bleurt.embeddings.LayerNorm.bias": random(width),
        "bleurt.embeddings.position_ids": torch.arange(POSITIONS)[None],
    }
    linear = {"bleurt.pooler.dense": (HIDDEN, HIDDEN), "classifier": (1, HIDDEN)}
    if embedded:
        linear["bleurt.encoder.embedding_projection"] = (HIDDEN, embedded)
    for i in range(LAYERS):
        layer = f"bleurt.encoder.layer.{i}"
        linear |= {f"{layer}.attention.self.{name}": (HIDDEN, HIDDEN) for name in ("query", "key", "value")}
        linear |= {
            f"{layer}.attention.output.dense": (HIDDEN, HIDDEN),
            f"{layer}.intermediate.dense": (32, HIDDEN),
            f"{layer}.output.dense": (HIDDEN, 32),
        }
        for norm in ("attention.output", "output"):
            tensors |= {f"{layer}.{norm}.LayerNorm.{name}": random(HIDDEN) for name in ("weight", "bias")}
    for name, shape in linear.items():
        tensors |= {f"{name}.weight": random(*shape), f"{name}.bias": random(shape[0])}
    return tensors


def forward(tensors, ids, types):
    """The port's arithmetic on one pair, written from BERT's definition."""
    functional = torch.nn.functional

    def linear(name, values):
        return values @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def norm(name, values):
        return functional.layer_norm(
            values, values.shape[-1:], tensors[f"{name}.weight"], tensors[f"{name}.bias"], eps=1e-12
        )

    at = "bleurt.embeddings"
    state = tensors[f"{at}.word_embeddings.weight"][ids] + tensors[f"{at}.token_type_embeddings.weight"][types]
    state = norm(f"{at}.LayerNorm", state + tensors[f"{at}.position_embeddings.weight"][: len(ids)])
    if "bleurt.encoder.embedding_projection.weight" in tensors:
        state = linear("bleurt.encoder.embedding_projection", state)
    for i in range(LAYERS):
        layer = f"bleurt.encoder.layer.{i}"
        query, key, value = (
            linear(f"{layer}.attention.self.{name}", state).reshape(len(ids), HEADS, -1).transpose(0, 1)
            for name in ("query", "key", "value")
        )
        weights = (query @ key.transpose(1, 2) / math.sqrt(HIDDEN // HEADS)).softmax(-1)
        mixed = linear(f"{layer}.attention.output.dense", (weights @ value).transpose(0, 1).reshape(len(ids), HIDDEN))
        state = norm(f"{layer}.attention.output.LayerNorm", state + mixed)
        wide = functional.gelu(linear(f"{layer}.intermediate.dense", state))
        state = norm(f"{layer}.output.LayerNorm", state + linear(f"{layer}.output.dense", wide))
    return float(linear("classifier", torch.tanh(linear("bleurt.pooler.dense", state[0]))))


@pytest.fixture
def port(tmp_path, spm):
    """Writes a checkpoint of the port; its folder and tensors."""
    n_pieces = sentencepiece.SentencePieceProcessor(model_proto=spm).get_piece_size()

    def write(embedded=EMBEDDED, weights="model.safetensors", **changes):
        folder = tmp_path / "port"
        folder.mkdir()
        settings = {
            "model_type": "bleurt", "architectures": ["BleurtForSequenceClassification"], "vocab_size": n_pieces,
            "embedding_size": embedded, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "intermediate_size": 32, "hidden_act": "gelu", "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
            "layer_norm_eps": 1e-12, "pad_token_id": 0, **changes,
        }  # fmt: skip
        (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
        (folder / "spm.model").write_bytes(spm)
        tensors = port_tensors(n_pieces, embedded)
        if weights.endswith(".bin"):
            torch.save(tensors, folder / weights)
        else:
            save_file(tensors, folder / weights)
        return folder, tensors

    return write


def score(folder):
    judge = open_bleurt("judge", BleurtJudge(kind="bleurt", model=str(folder)), SharedModels())
    try:
        return judge.score([JudgeInput("c", "r", SUMMARY, True, SOURCE)])[0].score
    finally:
        judge.close()


@pytest.mark.parametrize("embedded", [EMBEDDED, None], ids=["BLEURT-20", "older"])
@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin"])
def test_converted_checkpoint_scores_as_the_port_does(port, tmp_path, spm, embedded, weights):
    folder, tensors = port(embedded, weights)
    convert_bleurt(folder if embedded else folder / weights, tmp_path / "made")
    pieces = sentencepiece.SentencePieceProcessor(model_proto=spm)
    first, second = pieces.encode(SOURCE), pieces.encode(SUMMARY)
    ids = [pieces.piece_to_id("[CLS]"), *first, pieces.piece_to_id("[SEP]"), *second, pieces.piece_to_id("[SEP]")]
    types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    assert len(ids) <= POSITIONS
    assert score(tmp_path / "made") == pytest.approx(forward(tensors, ids, types), abs=1e-5)


def test_checkpoint_with_transformers_names_already_is_converted_alike(port, tmp_path):
    folder, tensors = port()
    convert_bleurt(folder, tmp_path / "made")
    names = {
        name.replace("bleurt.", "rembert.").replace("embedding_projection", "embedding_hidden_mapping_in"): tensor
        for name, tensor in tensors.items()
    }
    save_file(names, folder / "model.safetensors")
    convert_bleurt(folder, tmp_path / "other")
    assert score(tmp_path / "other") == score(tmp_path / "made")


@pytest.mark.parametrize(
    "text",
    ["The ferry  is\tcheap.", " It is\n", "\uff26erry \ufb01ne\u2026", "a na\u00efve caf\u00e9 \u4e2d", '"(dear)"'],
)
def test_tokens_are_those_of_sentencepiece(tmp_path, spm, text):
    (tmp_path / "spm.model").write_bytes(spm)
    found = sentencepiece_tokenizer(tmp_path / "spm.model")(text, add_special_tokens=False)["input_ids"]
    assert found == sentencepiece.SentencePieceProcessor(model_proto=spm).encode(text)


def break_it(folder, how):
    weights = folder / "model.safetensors"
    if how == "cut short":
        weights.write_bytes(weights.read_bytes()[:1000])
    elif how == "pickle":
        weights.unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Hostile(folder / "was-run"), protocol=2))
    elif how == "a list":
        weights.unlink()
        torch.save([torch.ones(1)], folder / "pytorch_model.bin")
    elif how == "tensorflow":
        weights.unlink()
        (folder / "saved_model.pb").touch()
    elif how == "no tokenizer":
        (folder / "spm.model").unlink()
    elif how == "tokenizer":
        (folder / "spm.model").write_bytes(b"no model")
    elif how == "config":
        (folder / "config.json").unlink()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("cut short", r"model\.safetensors: is not there, or cut short or damaged .*download it again"),
        ("pickle", r"pytorch_model\.bin: holds more than tensors and plain values"),
        ("a list", r"pytorch_model\.bin: holds no table of tensors"),
        ("tensorflow", r"holds TensorFlow's files, which are not read here; take .* from the PyTorch port"),
        ("no tokenizer", r"has no spm\.model, sent_piece\.model or vocab\.txt"),
        ("tokenizer", r"spm\.model: (is not a SentencePiece model|has no piece)"),
        ("config", r"needs its config\.json next to the weights"),
    ],
)
def test_damaged_and_foreign_checkpoints_are_refused_and_nothing_is_written(port, tmp_path, how, message):
    folder, _ = port()
    break_it(folder, how)
    with pytest.raises(JudgeError, match=message):
        convert_bleurt(folder, tmp_path / "made")
    assert not (tmp_path / "made").exists()
    assert not (folder / "was-run").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "roberta"}, "says model_type 'roberta', not 'bleurt'"),
        ({"num_hidden_layers": 3}, r"rembert\.encoder\.layer\.2\.attention\.output\.LayerNorm\.bias is absent"),
        ({"embedding_size": None}, r"bert\.embeddings\.LayerNorm\.bias is \(8,\) in it and should be \(16,\)"),
    ],
)
def test_configuration_of_another_model_is_refused(port, tmp_path, changes, message):
    folder, _ = port(
        **({"embedded": EMBEDDED} | {key: value for key, value in changes.items() if key != "embedding_size"})
    )
    if "embedding_size" in changes:
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8")) | changes
        (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(JudgeError, match=message):
        convert_bleurt(folder, tmp_path / "made")


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": "a"},
        {"hidden_size": 7},
        {"hidden_size": -16},
        {"num_attention_heads": 0},
        {"pad_token_id": 1000},
        {"hidden_act": "nonsense"},
        {"embedding_size": [4]},
        {"vocab_size": None},
    ],
)
def test_damaged_configuration_is_one_message(port, tmp_path, changes):
    folder, _ = port()
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8")) | changes
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(UnfitModelError, match=r"config\.json: is not a configuration of BLEURT"):
        convert_bleurt(folder, tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe", "is not a vocabulary of BERT"), (b"[PAD]\na\n", r"has no piece \[CLS\] and no \[SEP\]")],
)
def test_damaged_vocabulary_is_one_message(port, tmp_path, content, message):
    folder, _ = port(embedded=None)
    (folder / "spm.model").unlink()
    (folder / "vocab.txt").write_bytes(content)
    with pytest.raises((JudgeError, UnfitModelError), match=rf"vocab\.txt: {message}"):
        convert_bleurt(folder, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_judge_says_how_a_checkpoint_of_the_port_becomes_readable(port):
    folder, _ = port()
    with pytest.raises(
        JudgeError, match=r"is a checkpoint of the PyTorch port .*evenhand judges convert bleurt .* --out FOLDER"
    ):
        score(folder)
