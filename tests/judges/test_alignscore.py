"""Alignment by an AlignScore checkpoint, on a tiny random one of the right shape."""

import copy
import math
import pickle

import numpy as np
import pytest
from judge_models import Hostile

from evenhand.config.judges import AlignmentJudge
from evenhand.errors import JudgeError, ModelError
from evenhand.fairness.groups.tokens import open_nltk
from evenhand.judges.aligner import Pairing
from evenhand.judges.alignment import open_alignment
from evenhand.judges.alignscore import AlignScore, AlignScoreAligner, convert_checkpoint
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

NAMES = ("base_model", "tri_layer", "bin_layer", "reg_layer")
PREMISES = ("The ferry is cheap.", "Nurses need it at night.")
CLAIMS = ("The ferry is dear.", "A bridge pays.")


def write_release(tmp_path, config, tokenizer):
    """A checkpoint file as AlignScore releases it, with the folder of its encoder, and its modules."""
    torch.manual_seed(0)
    modules = torch.nn.ModuleDict({
        "base_model": transformers.RobertaModel(config),
        "tri_layer": torch.nn.Linear(config.hidden_size, 3),
        "bin_layer": torch.nn.Linear(config.hidden_size, 2),
        "reg_layer": torch.nn.Linear(config.hidden_size, 1),
        "mlm_head": torch.nn.Linear(config.hidden_size, 20),
    })  # fmt: skip
    encoder = tmp_path / "encoder"
    config.save_pretrained(encoder)
    tokenizer.save_pretrained(encoder)
    path = tmp_path / "AlignScore-tiny.ckpt"
    torch.save({"state_dict": modules.state_dict(), "hyper_parameters": {"model": "roberta-base"}}, path)
    return path, encoder, modules.eval()


@pytest.fixture
def released(tmp_path, roberta_config, roberta_tokenizer):
    return write_release(tmp_path, roberta_config(), roberta_tokenizer)


@pytest.fixture
def release(tmp_path, roberta_config, roberta_tokenizer):
    """Makes a converted checkpoint that reads so many tokens; its folder and modules."""

    def make(most_tokens):
        tokenizer = copy.deepcopy(roberta_tokenizer)
        tokenizer.model_max_length = most_tokens
        # positions are counted from behind the padding token on
        config = roberta_config(max_position_embeddings=most_tokens + 2)
        path, encoder, modules = write_release(tmp_path, config, tokenizer)
        convert_checkpoint(path, str(encoder), tmp_path / "converted")
        return tmp_path / "converted", modules

    return make


@pytest.fixture
def converted(released, tmp_path):
    path, encoder, _ = released
    convert_checkpoint(path, str(encoder), tmp_path / "converted")
    return tmp_path / "converted"


def opened(folder, head="nli"):
    return AlignScoreAligner(head, 3, AlignScore(str(folder)))


# 12 and 4 sentences by Punkt, which parts quotations of several sentences and cuts ". . ." off
DOCUMENT = (
    'The ferry is cheap. "Nurses need it at night. A bridge pays," he says. It is dear. . . The bridge is dear.\n'
    "'Nurses pay. The night is dear! Is it cheap?\" A ferry pays at night, Mr. Ferry. 'The bridge pays."
)
SUMMARY = 'The Left: "The ferry is dear. Nurses need it." A bridge pays, it is cheap. . . At night it is dear.'


def published(folder, modules, document, summary):
    """The score of nli_sp on whole texts, as AlignScore's own program computes it; written from its description."""
    nltk = open_nltk("the test", ("punkt_tab",))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    claims, sentences = nltk.sent_tokenize(summary), nltk.sent_tokenize(document)
    size = max(len(sentences) // (len(document.split()) // 350 + 1), 1)
    chunks = [" ".join(sentences[start : start + size]) for start in range(0, len(sentences), size)]
    best = []
    for claim in claims:
        rows = tokenizer(
            chunks,
            [claim] * len(chunks),
            truncation="only_first",
            padding="max_length",
            max_length=512,
            return_tensors="pt",
        )
        with torch.no_grad():
            best.append(modules["tri_layer"](modules["base_model"](**rows).pooler_output).softmax(-1)[:, 0].max())
    return float(sum(best) / len(best)), len(chunks)


@pytest.mark.needs("nltk")
@pytest.mark.parametrize(("repeats", "n_chunks"), [(1, 1), (12, 2), (30, 5)])
def test_nltk_splitter_gives_the_published_score_of_whole_documents(release, repeats, n_chunks):
    folder, modules = release(512)
    document = "\n\n".join([DOCUMENT] * repeats)
    expected, n = published(folder, modules, document, SUMMARY)
    found, other = (
        made(folder, "nli_sp", splitter=name).score([JudgeInput("c", "r", SUMMARY, True, document)])[0].score
        for name in ("nltk", "sentencex")
    )
    assert n == n_chunks
    assert found == pytest.approx(expected, abs=5e-6)
    assert abs(found - other) > 2e-5


def test_support_is_class_0_of_the_three_way_head(released, converted):
    _, encoder, modules = released
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    expected = np.zeros((2, 2))
    with torch.no_grad():
        for i, premise in enumerate(PREMISES):
            for j, claim in enumerate(CLAIMS):
                pooled = modules["base_model"](**tokenizer(premise, claim, return_tensors="pt")).pooler_output
                expected[i, j] = modules["tri_layer"](pooled).softmax(-1)[0, 0]
    aligner = opened(converted)
    found = aligner.align([Pairing(PREMISES, CLAIMS)])[0].matrix
    aligner.close()
    assert found == pytest.approx(expected, abs=1e-5)
    # a random head that gave every pair the same share would prove nothing
    assert expected.max() - expected.min() > 1e-3


@pytest.mark.parametrize(("mode", "head", "aligned"), [("bin", "bin_layer", 1), ("reg", "reg_layer", 0)])
def test_other_heads_are_read_as_released(released, converted, mode, head, aligned):
    _, encoder, modules = released
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    with torch.no_grad():
        pooled = modules["base_model"](**tokenizer(PREMISES[0], CLAIMS[0], return_tensors="pt")).pooler_output
        found = modules[head](pooled)
        # the regression is read as it stands
        expected = float((found.softmax(-1) if mode == "bin" else found)[0, aligned])
    aligner = opened(converted, mode)
    assert aligner.align([Pairing(PREMISES[:1], CLAIMS[:1])])[0].matrix[0, 0] == pytest.approx(expected, abs=1e-5)
    aligner.close()


def made(converted, mode, **changes):
    options = {"kind": "alignment", "aligner": "alignscore", "model": str(converted), "mode": mode, **changes}
    return open_alignment("judge", AlignmentJudge.model_validate(options), SharedModels())


def test_modes_without_splitting_compare_the_whole_texts(released, converted):
    whole, split = (made(converted, mode) for mode in ("nli", "nli_sp"))
    each = JudgeInput("c", "r", " ".join(CLAIMS), True, "\n".join(PREMISES))
    found, parts = whole.score([each])[0], split.score([each])[0]
    aligner = opened(converted)
    expected = aligner.align([Pairing((each.reference,), (each.text,))])[0].matrix[0, 0]
    assert found.score == pytest.approx(expected, abs=1e-5)
    assert abs(found.score - parts.score) > 1e-4
    assert whole.signature != split.signature
    assert "|mode:" not in split.signature


def test_regression_has_no_bounds_and_the_other_heads_have(converted):
    assert [(made(converted, mode).low, made(converted, mode).high) for mode in ("reg_sp", "bin_sp")] == [
        (-math.inf, math.inf),
        (0.0, 1.0),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aligner": "nli", "mode": "bin_sp"}, "is one of AlignScore's; write aligner: alignscore"),
        ({"aligner": "alignscore", "mode": "nli", "chunks": "sentence"}, "have no effect; write mode: nli_sp"),
        ({"aligner": "alignscore", "mode": "reg", "direction": "recall"}, "have no effect; write mode: reg_sp"),
        ({"aligner": "alignscore", "mode": "bin", "splitter": "nltk"}, "splitter have no effect; write mode: bin_sp"),
        ({"aligner": "alignscore", "revision": "v2"}, "no effect of revision except with aligner: encoder or nli"),
    ],
)
def test_modes_that_would_have_no_effect_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AlignmentJudge.model_validate({"kind": "alignment", **options})


def test_conversion_keeps_encoder_and_heads_only(converted):
    from safetensors.torch import load_file

    names = {name.split(".")[0] for name in load_file(converted / "model.safetensors")}
    assert names == set(NAMES)


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
    with pytest.raises(JudgeError, match=r"is a pickle.*evenhand judges convert alignscore"):
        open_alignment("judge", section, SharedModels())


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


def test_encoder_of_another_size_is_refused_with_both_names_before_anything_is_written(
    released, tmp_path, roberta_config
):
    path, encoder, _ = released
    roberta_config(hidden_size=32).save_pretrained(encoder)
    with pytest.raises(JudgeError, match=r"was trained from 'roberta-base', and encoder '.*encoder' has another size"):
        convert_checkpoint(path, str(encoder), tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()


@pytest.mark.parametrize("layers", [1, 3])
def test_encoder_with_more_or_fewer_layers_is_refused(released, tmp_path, roberta_config, layers):
    path, encoder, _ = released
    roberta_config(num_hidden_layers=layers).save_pretrained(encoder)
    with pytest.raises(JudgeError, match=r"encoder\.layer\.\d.*absent"):
        convert_checkpoint(path, str(encoder), tmp_path / "wrong")


def test_encoder_of_another_kind_or_none_is_refused(released, tmp_path):
    path, encoder, _ = released
    transformers.BertConfig().save_pretrained(encoder)
    with pytest.raises(JudgeError, match=r"trained from 'roberta-base', but encoder .* is a bert model"):
        convert_checkpoint(path, str(encoder), tmp_path / "wrong")
    with pytest.raises(ModelError, match="cannot open encoder 'nobody/roberta'"):
        convert_checkpoint(path, "nobody/roberta", tmp_path / "wrong")


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut short"])
def test_absent_or_damaged_checkpoint_is_to_be_downloaded_again(tmp_path, released, content):
    if content is not None:
        (tmp_path / "other.ckpt").write_bytes(content)
    with pytest.raises(JudgeError, match=r"other\.ckpt: .*download it again"):
        convert_checkpoint(tmp_path / "other.ckpt", str(released[1]), tmp_path / "out")


def test_checkpoint_whose_tensors_are_none_is_refused(tmp_path, released):
    state = torch.load(released[0], weights_only=True)["state_dict"] | {"base_model.extra": 3}
    torch.save({"state_dict": state}, tmp_path / "other.ckpt")
    with pytest.raises(JudgeError, match=r"'base_model\.extra' should be tensors"):
        convert_checkpoint(tmp_path / "other.ckpt", str(released[1]), tmp_path / "out")


def test_folder_whose_weights_have_another_size_is_refused(converted, roberta_config):
    roberta_config(hidden_size=32).save_pretrained(converted)
    with pytest.raises(JudgeError, match="is not an AlignScore checkpoint of the size"):
        AlignScore(str(converted))


def test_heads_of_one_checkpoint_are_held_together(converted):
    models = SharedModels()
    judges = [
        open_alignment(
            mode,
            AlignmentJudge(kind="alignment", aligner="alignscore", model=str(converted), mode=mode, batch_size=size),
            models,
        )
        for mode, size in (("nli_sp", 2), ("bin_sp", 2), ("reg", 5))
    ]
    assert len({judge.loads for judge in judges}) == 1
    each = JudgeInput("c", "r", CLAIMS[0], True, PREMISES[0])
    scores = [judge.score([each])[0].score for judge in judges]
    assert len(set(scores)) == 3
    whole = models.lazy(judges[0].loads, None).get()
    assert isinstance(whole, AlignScore)
    judges[0].close()
    assert not hasattr(whole, "_encoder")
    # the next use loads it again, for all
    assert [judge.score([each])[0].score for judge in judges[1:]] == scores[1:]
    judges[1].close()
    judges[2].close()


def test_folder_without_weights_is_refused(released):
    with pytest.raises(JudgeError, match=r"has no model\.safetensors"):
        AlignScore(str(released[1]))
