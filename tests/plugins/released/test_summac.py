"""SummaC: its arithmetic by hand, its classifier a tiny random one."""

import math
import re

import numpy as np
import pytest

from evenhand.config.judges import AlignmentJudge
from evenhand.errors import JudgeError
from evenhand.fairness.groups.tokens import open_nltk
from evenhand.judges import open_judge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels
from evenhand.plugins.released.sections import SummacJudge
from evenhand.plugins.released.summac import BINS, ReadOut, convert_weights, open_summac, read_weights

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
save_file = pytest.importorskip("safetensors.torch").save_file

LABELS = {0: "SUPPORTS", 1: "REFUTES", 2: "NOT ENOUGH INFO"}
SOURCE = "The ferry is cheap. Nurses need it at night."
SUMMARY = "The ferry is dear. A bridge pays."


def judge(**options):
    return open_summac("judge", SummacJudge.model_validate({"kind": "summac", **options}), SharedModels())


def verdict(folder, **options):
    made = judge(model=str(folder), **options)
    try:
        return made.score([JudgeInput("c", "r", SUMMARY, True, SOURCE)])[0]
    finally:
        made.close()


def entailments(folder):
    """Shape (source sentences, summary sentences), by transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return np.array([
            [
                float(model(**tokenizer(premise, claim, return_tensors="pt")).logits.softmax(-1)[0, 0])
                for claim in ("The ferry is dear.", "A bridge pays.")
            ]
            for premise in ("The ferry is cheap.", "Nurses need it at night.")
        ])  # fmt: skip


def layers(**changes):
    """A read-out in torch's names and shapes."""
    values = {"mlp.weight": (1, 23), "mlp.bias": (1,), "layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    generator = torch.Generator().manual_seed(1)
    return {name: torch.randn(*shape, generator=generator) for name, shape in (values | changes).items()}


@pytest.fixture
def weights(tmp_path):
    """A converted read-out and its tensors."""
    torch.save(layers(), tmp_path / "released.bin")
    convert_weights(tmp_path / "released.bin", tmp_path / "made" / "conv.safetensors")
    return tmp_path / "made" / "conv.safetensors", layers()


def test_zs_is_the_mean_of_the_best_entailments(nli_folder):
    folder = nli_folder(LABELS)
    matrix = entailments(folder)
    assert verdict(folder).score == pytest.approx((max(matrix[:, 0]) + max(matrix[:, 1])) / 2, abs=1e-5)


def test_read_out_worked_by_hand():
    # bins 0 (below 0.01), 7 (0.37 to 0.90) and 22 (0.995 and more, 1 included) weigh 1, 10 and 100; the others 0; bias 0.5
    bins = np.zeros(23)
    bins[[0, 7, 22]] = 1, 10, 100
    assert BINS[7:9] == (0.37, 0.90)
    # first column: 0.005 and 0.5, 11.5; second: 1.0 and 0.02, 100.5; mean 56
    support = np.array([[0.005, 1.0], [0.5, 0.02]])
    # logits 0 and (0.01 + 0.02 - 0.02) * 56 - 0.1 = 0.46
    read_out = ReadOut(bins, 0.5, np.array([[0.0, 0, 0], [0.01, 0.02, -0.02]]), np.array([0.0, -0.1]))
    assert read_out.score(support) == pytest.approx(1 / (1 + math.exp(-0.46)))


# the bins of the released SummaCConv
EDGES = [
    0, .01, .02, .03, .04, .07, .13, .37, .90, .91, .92, .93, .94, .95, .955, .96, .965, .97, .975, .98, .985, .99, .995, 1,
]  # fmt: skip


def test_bins_are_the_released_ones_with_their_lower_edge_and_the_last_with_both():
    assert list(BINS) == EDGES
    support = [0.0, 0.0099, 0.01, 0.0399, 0.04, 0.069, 0.07, 0.37, 0.8999, 0.90, 0.9549, 0.955, 0.9949, 0.995, 1.0]
    # 0-.01: two; .01-.02 and .03-.04: one; .04-.07: two; .07-.13: one; .37-.90: two; .90-.91, .95-.955, .955-.96 and
    # .99-.995: one; .995-1: two
    expected = {0: 2, 1: 1, 3: 1, 4: 2, 5: 1, 7: 2, 8: 1, 13: 1, 14: 1, 21: 1, 22: 2}
    found = {}
    for i in range(23):
        read_out = ReadOut(np.eye(23)[i], 0.0, np.array([[0.0, 0, 0], [1, 0, 0]]), np.zeros(2))
        share = read_out.score(np.array(support)[:, None])
        # the count stands in the exponent
        found[i] = round(math.log(share / (1 - share)), 6)
    assert {i: count for i, count in found.items() if count} == expected


def test_share_a_hair_above_one_is_counted():
    bins = np.zeros(23)
    bins[22] = 1
    read_out = ReadOut(bins, 0.0, np.array([[0.0, 0, 0], [1, 0, 0]]), np.zeros(2))
    assert read_out.score(np.array([[1.0000001]])) == pytest.approx(1 / (1 + math.exp(-1)))


def test_conv_is_the_released_architecture(nli_folder, weights):
    path, tensors = weights
    folder = nli_folder(LABELS)
    counts = np.stack([np.histogram(column, bins=BINS)[0] for column in entailments(folder).T])
    mlp, final = torch.nn.Linear(23, 1), torch.nn.Linear(3, 2)
    mlp.load_state_dict({"weight": tensors["mlp.weight"], "bias": tensors["mlp.bias"]})
    final.load_state_dict({"weight": tensors["layer_final.weight"], "bias": tensors["layer_final.bias"]})
    with torch.no_grad():
        mean = mlp(torch.tensor(counts, dtype=torch.float32)).mean()
        expected = float(final(mean.expand(3)).softmax(-1)[1])
    assert verdict(folder, variant="conv", weights=path).score == pytest.approx(expected, abs=1e-5)


def published(folder, tensors, document, summary):
    """ZS (of entailment alone) and Conv on whole texts, as SummaC's own program computes them; written from its description."""
    nltk = open_nltk("the test", ("punkt_tab",))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    premises, claims = ([s for s in nltk.sent_tokenize(text) if len(s) > 10] for text in (document, summary))
    premises = premises[:100]
    with torch.no_grad():
        columns = [
            model(**tokenizer(premises, [claim] * len(premises), padding=True, return_tensors="pt")).logits.softmax(-1)[
                :, 0
            ]
            for claim in claims
        ]
        counts = torch.tensor(np.stack([np.histogram(column, bins=EDGES)[0] for column in columns[:10]]))
        mean = (counts.float() @ tensors["mlp.weight"].T + tensors["mlp.bias"]).mean()
        logits = tensors["layer_final.weight"] @ mean.expand(3) + tensors["layer_final.bias"]
    return {"zs": float(torch.stack(columns).max(1).values.mean()), "conv": float(logits.softmax(-1)[1])}


@pytest.mark.needs("nltk")
@pytest.mark.parametrize("variant", ["zs", "conv"])
def test_nltk_splitter_gives_the_published_score_of_whole_documents(nli_folder, weights, variant):
    path, tensors = weights
    # small weights: a count of a hundred would drive the share to 0 or 1
    tensors = {name: tensor / 50 if name == "mlp.weight" else tensor for name, tensor in tensors.items()}
    save_file(tensors, path)
    folder = nli_folder(LABELS)
    # "It is so." and ". ." are too short to count, and of 120 sentences of the text the last are not read
    document = " ".join(
        ['The ferry is cheap. "Nurses need it. The night is dear," he says. It is so. A bridge pays. . .'] * 29
    )
    document += " Nurses need the ferry and the bridge at night. The bridge is the ferry at night!" * 4
    summary = "\n".join(['The ferry is dear. "A bridge pays. It is so. Nurses need a bridge."'] * 5)
    options = {"variant": "conv", "weights": path} if variant == "conv" else {}
    found, other = (
        judge(model=str(folder), splitter=name, **options)
        .score([JudgeInput("c", "r", summary, True, document)])[0]
        .score
        for name in ("nltk", "sentencex")
    )
    assert found == pytest.approx(published(folder, tensors, document, summary)[variant], abs=1e-5)
    assert abs(found - other) > 1e-4


@pytest.mark.needs("nltk")
def test_splitter_is_part_of_the_signature():
    signatures = [judge(model="org/model", splitter=name).signature for name in ("sentencex", "nltk")]
    assert "|sentences:sentencex-" in signatures[0]
    assert re.search(r"\|sentences:nltk-3\.9\.\d,punkt-[0-9a-f]{6},normal-form-2,as-published\|", signatures[1])


def test_conv_without_weights_does_not_exist(tmp_path):
    with pytest.raises(ValueError, match="conv needs weights, because an untrained read-out scores at random"):
        SummacJudge(kind="summac", variant="conv")
    with pytest.raises(JudgeError, match="no such file, and untrained Conv is refused"):
        judge(variant="conv", weights=tmp_path / "absent.safetensors", model="org/model")
    with pytest.raises(ValueError, match="weights have no effect with variant: zs"):
        SummacJudge(kind="summac", weights=tmp_path / "w.safetensors")


def test_released_pickle_is_refused_before_it_is_opened(tmp_path):
    with pytest.raises(JudgeError, match="is not a safetensors file, and a pickle can run any code"):
        judge(variant="conv", weights=tmp_path / "summac_conv.bin", model="org/model")


@pytest.mark.parametrize("change", [{"mlp.weight": (1, 50)}, {"layer_final.weight": (2, 4)}, {"other": (1,)}])
def test_weights_of_another_shape_are_refused(tmp_path, change):
    from safetensors.torch import save_file

    torch.save(layers(**change), tmp_path / "other.bin")
    with pytest.raises(JudgeError, match="SummaC read-out has"):
        convert_weights(tmp_path / "other.bin", tmp_path / "out.safetensors")
    save_file(layers(**change), tmp_path / "other.safetensors")
    with pytest.raises(JudgeError, match="the read-out has"):
        read_weights(tmp_path / "other.safetensors")


def test_readout_that_holds_no_numbers_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file(
        {name: tensor.clone().fill_(float("nan")) for name, tensor in layers().items()}, tmp_path / "w.safetensors"
    )
    with pytest.raises(JudgeError, match=r"w\.safetensors' hold NaN or infinite numbers"):
        read_weights(tmp_path / "w.safetensors")


def test_damaged_weights_are_refused(tmp_path):
    (tmp_path / "damaged.safetensors").write_bytes(b"no tensors")
    with pytest.raises(JudgeError, match="cannot be read"):
        read_weights(tmp_path / "damaged.safetensors")


def test_class_is_found_by_the_name_given(nli_folder):
    folder = nli_folder({0: "yes", 1: "no"})
    with pytest.raises(JudgeError, match=r"exactly one class named 'entailment' or 'supports'.*'yes'.*key label"):
        verdict(folder)
    matrix = entailments(folder)
    found = verdict(folder, label="YES").score
    assert found == pytest.approx((max(matrix[:, 0]) + max(matrix[:, 1])) / 2, abs=1e-5)


def test_model_without_finite_numbers_is_unscored(nli_folder):
    folder = nli_folder(LABELS)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        # tanh gives 1 for each of 16 numbers, and their sum has no place in float32
        model.classifier.dense.bias.fill_(100.0)
        model.classifier.out_proj.weight.fill_(3e38)
    model.save_pretrained(folder)
    found = verdict(folder)
    assert (found.score, found.unscored) == (None, "model gave no finite number")


def test_weights_that_are_no_tensors_are_refused(tmp_path):
    torch.save(layers() | {"mlp.bias": 3}, tmp_path / "other.bin")
    with pytest.raises(JudgeError, match=r"'mlp\.bias' should be tensors"):
        convert_weights(tmp_path / "other.bin", tmp_path / "out.safetensors")


def test_what_changes_scores_changes_the_signature(weights):
    plain = judge(model="org/model").signature
    assert judge(model="org/model", batch_size=1).signature == plain
    changed = [
        {"label": "yes"}, {"against": "opposing"}, {"variant": "conv", "weights": weights[0]}, {"revision": "v2"},
    ]  # fmt: skip
    assert len({plain, *(judge(model="org/model", **change).signature for change in changed)}) == 5


def test_it_shares_the_classifier_of_other_judges_with_the_same_label():
    models = SharedModels()
    sections = (
        AlignmentJudge(kind="alignment", aligner="nli", model="org/nli"),
        SummacJudge(kind="summac", model="org/nli"),
        SummacJudge(kind="summac", model="org/nli", label="yes"),
    )
    alignment, summac, other = (open_judge("judge", section, models) for section in sections)
    assert alignment.loads == summac.loads != other.loads
