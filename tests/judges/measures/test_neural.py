"""Matching by a model, on tiny random ones: compared with transformers' own numbers."""

import json
import logging
import math
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_sets import item

from evenhand.config.fairness import MatcherSection
from evenhand.errors import DataError, JudgeError
from evenhand.fairness.groups.masses import Unscored
from evenhand.judges.aligner import in_batches
from evenhand.judges.checkpoint import STACKED, open_checkpoint
from evenhand.judges.measures import neural, open_matcher
from evenhand.judges.measures.bert import precision
from evenhand.judges.measures.neural import in_flight
from evenhand.judges.shared import SharedModels

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PAIRS = (("left", "The ferry is cheap."), ("right", "A bridge pays."), ("left", "Nurses need it at night."))
LEFT, RIGHT = "The ferry is cheap. || Nurses need it at night.", "A bridge pays."
SUMMARIES = ("The ferry is dear.", "A bridge is cheap and the ferry pays.", "Nurses.")


@pytest.fixture(scope="module")
def bart(tmp_path_factory, roberta_tokenizer):
    """A random BART that reads 24 tokens."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("bart")
    config = transformers.BartConfig(
        vocab_size=20, d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=24, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        decoder_start_token_id=2, forced_eos_token_id=None, init_std=0.7,
    )  # fmt: skip
    transformers.BartForConditionalGeneration(config).save_pretrained(folder)
    roberta_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def roberta(tmp_path_factory, roberta_tokenizer, roberta_config):
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("roberta")
    transformers.RobertaModel(roberta_config()).save_pretrained(folder)
    roberta_tokenizer.save_pretrained(folder)
    return folder


# each tiny model is loaded once for all tests
MODELS = SharedModels()


def bart_section(folder, **changes):
    values = {"kind": "bartscore", "model": str(folder), "tokens": "words", "batch_size": 2}
    return MatcherSection(**values | changes)


def bert_section(folder, **changes):
    values = {
        "kind": "bertscore",
        "model": str(folder),
        "tokens": "words",
        "layer": 1,
        "baseline": 0.2,
        "batch_size": 2,
    }
    return MatcherSection(**values | changes)


def masses(section, *items):
    return open_matcher(section, MODELS).masses(items)


def shares(scores, temperature):
    weights = [math.exp((score - max(scores)) / temperature) for score in scores]
    return [weight / sum(weights) for weight in weights]


def bart_directly(folder, source, summary):
    """Mean log-probability by transformers' own loss."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BartForConditionalGeneration.from_pretrained(folder).eval()
    asked = tokenizer(source, return_tensors="pt", truncation=True)
    with torch.no_grad():
        return -float(model(**asked, labels=tokenizer(summary, return_tensors="pt", truncation=True).input_ids).loss)


def bert_directly(folder, source, summary, baseline):
    """Rescaled precision with the encoder cut behind its first layer, token by token."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.RobertaModel.from_pretrained(folder).eval()
    model.encoder.layer = model.encoder.layer[:1]
    with torch.no_grad():
        theirs, ours = (
            model(**tokenizer(text, return_tensors="pt", truncation=True)).last_hidden_state[0]
            for text in (source, summary)
        )
    best = [max(float(torch.cosine_similarity(token, other, dim=0)) for other in theirs) for token in ours[1:-1]]
    return (sum(best) / len(best) - baseline) / (1 - baseline)


def test_bart_masses_are_shares_by_mean_log_probability(bart):
    found = masses(bart_section(bart, temperature=0.5), *(item(s, PAIRS) for s in SUMMARIES))
    for summary, each in zip(SUMMARIES, found, strict=True):
        expected = shares([bart_directly(bart, text, summary) for text in (LEFT, RIGHT)], 0.5)
        assert each.target == pytest.approx(expected, abs=1e-4)
        # ferry cheap nurses need night | bridge pays
        assert (each.source, each.names) == ((5.0, 2.0), ("left", "right"))
    # the model tells the values apart, so the comparison can fail
    assert max(abs(each.target[0] - 0.5) for each in found) > 0.05


def test_bert_masses_are_shares_by_rescaled_precision(roberta):
    found = masses(bert_section(roberta), *(item(s, PAIRS) for s in SUMMARIES))
    for summary, each in zip(SUMMARIES, found, strict=True):
        expected = shares([bert_directly(roberta, text, summary, 0.2) for text in (LEFT, RIGHT)], 0.1)
        assert each.target == pytest.approx(expected, abs=1e-4)
    assert max(abs(each.target[0] - 0.5) for each in found) > 0.05


def test_precision_counts_own_tokens_and_may_match_special_ones():
    # own tokens (0,1) and (1,1)/sqrt2; text's own token (1,0), special ones (0,1): best cosines 1 and 1/sqrt2
    summary = torch.nn.functional.normalize(torch.tensor([[1.0, 0], [0, 2], [3, 3], [1, 0]]), dim=-1)
    text = torch.tensor([[0.0, 1], [1, 0], [0, 1]])
    assert float(precision(summary, text)) == pytest.approx((1 + 1 / np.sqrt(2)) / 2)
    # special tokens alone match nothing
    assert float(precision(text[:2], text)) == float(precision(text, text[:2])) == 0


def test_value_without_text_scores_as_nothing_but_special_tokens(roberta, bart):
    absent = item("The ferry is dear.", PAIRS, values=("left", "middle", "right"))
    (found,) = masses(bert_section(roberta, temperature=1.0), absent)
    left, right = (bert_directly(roberta, text, absent.summary, 0.2) for text in (LEFT, RIGHT))
    # precision 0, rescaled -0.2/0.8
    assert found.target == pytest.approx(shares([left, -0.25, right], 1.0), abs=1e-4)
    (found,) = masses(bart_section(bart, temperature=1.0), absent)
    assert found.source[1] == 0
    assert found.target[1] > 0


@pytest.mark.parametrize("kind", ["bart", "bert"])
def test_company_does_not_matter_and_empty_summaries_are_unscored(kind, bart, roberta):
    section = bart_section(bart) if kind == "bart" else bert_section(roberta)
    together = masses(section, item(SUMMARIES[0], PAIRS), item("", PAIRS), item(SUMMARIES[1], PAIRS[:2]))
    assert together[1] == Unscored("empty summary")
    assert together[0].target == pytest.approx(masses(section, item(SUMMARIES[0], PAIRS))[0].target, abs=1e-5)
    assert together[2].target == pytest.approx(masses(section, item(SUMMARIES[1], PAIRS[:2]))[0].target, abs=1e-5)


def test_text_of_a_value_is_encoded_once_for_all_summaries(bart):
    matcher = open_matcher(bart_section(bart), MODELS)
    encoder = matcher._model.get()._model.get_encoder()
    seen = []
    hook = encoder.register_forward_hook(lambda model, given, out: seen.append(out.last_hidden_state.shape[0]))
    matcher.masses([item(summary, PAIRS) for summary in (*SUMMARIES, SUMMARIES[0])])
    hook.remove()
    # both values in one batch
    assert seen == [2]


@pytest.mark.parametrize("kind", ["bart", "bert"])
def test_tokenizer_that_pads_in_front_changes_nothing(kind, bart, roberta, tmp_path):
    make, folder = (bart_section, bart) if kind == "bart" else (bert_section, roberta)
    turned = tmp_path / "turned"
    shutil.copytree(folder, turned)
    config = turned / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"padding_side": "left"}))
    assert transformers.AutoTokenizer.from_pretrained(turned).padding_side == "left"
    # of unlike length, so that one is padded
    items = [item(summary, PAIRS) for summary in SUMMARIES]
    for usual, found in zip(masses(make(folder), *items), masses(make(turned), *items), strict=True):
        assert found.target == pytest.approx(usual.target, abs=1e-6)


@pytest.mark.parametrize("kind", ["bart", "bert"])
def test_overlong_texts_are_cut_with_one_warning_or_refused(kind, bart, roberta, caplog):
    make = (lambda **c: bart_section(bart, **c)) if kind == "bart" else (lambda **c: bert_section(roberta, **c))
    long = (("left", "nurses " * 60), ("right", "A bridge pays."))
    # 24 tokens hold two special ones
    cut = (("left", "nurses " * 22), ("right", "A bridge pays."))
    matcher = open_matcher(make(), MODELS)
    with caplog.at_level(logging.WARNING):
        (found,) = matcher.masses([item("The ferry.", long)])
        matcher.masses([item("Nurses.", long)])
    assert [r.getMessage() for r in caplog.records if "were cut" in r.getMessage()] == [
        f"matcher '{kind}score': 1 of 3 texts were cut to 24 tokens; later ones are truncated without a further warning"
    ]
    assert found.target == pytest.approx(masses(make(), item("The ferry.", cut))[0].target, abs=1e-5)
    # of the two comparisons the left value's; a summary that is cut is cut in both
    both, none = masses(make(), item("nurses " * 60, long), item("The ferry.", cut))
    assert [each.n_cut for each in (found, both, none)] == [1, 2, 0]
    with pytest.raises(DataError, match=r"reads 24 tokens, and 1 of 3 texts are longer: 'nurses nurses.*\(62 tokens\)"):
        masses(make(on_overflow="raise"), item("The ferry.", long))


def test_model_that_gives_no_number_is_unscored(bart, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(bart, broken)
    model = transformers.BartForConditionalGeneration.from_pretrained(broken)
    with torch.no_grad():
        # their distance has no place in float32
        model.model.encoder.layers[0].fc2.bias.copy_(torch.tensor([3e38, -3e38]).repeat(8))
    model.save_pretrained(broken)
    assert masses(bart_section(broken), item("The ferry.", PAIRS)) == [Unscored("model gave no finite number")]


def test_encoder_that_gives_no_number_stops_nobody(roberta, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(roberta, broken)
    model = transformers.RobertaModel.from_pretrained(broken)
    with torch.no_grad():
        # "nurses" is the tenth word of the tokenizer
        model.embeddings.word_embeddings.weight[9].copy_(torch.tensor([3e38, -3e38]).repeat(8))
    model.save_pretrained(broken)
    pairs = (("left", "The ferry is cheap."), ("right", "A bridge pays."))
    found = masses(bert_section(broken), item("Nurses.", pairs), item("The ferry.", pairs))
    assert found[0] == Unscored("model gave no finite number")
    assert sum(found[1].target) == pytest.approx(1)


def random_encoder(folder, family, tokenizer):
    """A random encoder of three layers of a family."""
    torch.manual_seed(0)
    changes = {"position_biased_input": False} if family.startswith("deberta") else {}
    config = transformers.AutoConfig.for_model(
        family, vocab_size=20, hidden_size=16, intermediate_size=32, num_hidden_layers=3, num_attention_heads=2,
        max_position_embeddings=26, pad_token_id=1, initializer_range=0.5, **changes,
    )  # fmt: skip
    model = transformers.AutoModel.from_config(config).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


@pytest.mark.parametrize("family", sorted(STACKED))
def test_later_layers_are_not_loaded_and_change_nothing(family, roberta_tokenizer, tmp_path):
    whole = random_encoder(tmp_path, family, roberta_tokenizer)
    _, cut = open_checkpoint("AutoModel", str(tmp_path), "a test", n_layers=2)
    assert (len(whole.encoder.layer), len(cut.encoder.layer)) == (3, 2)
    ids = roberta_tokenizer([SUMMARIES[0], SUMMARIES[1]], padding=True, return_tensors="pt")
    ids.pop("token_type_ids", None)
    with torch.no_grad():
        states = whole(**ids, output_hidden_states=True).hidden_states
        found = cut(**ids).last_hidden_state
    own = ids["attention_mask"].bool()
    assert torch.allclose(found[own], states[2][own], atol=1e-5)
    # the last layer does something, so the comparison can fail
    assert not torch.allclose(states[3][own], states[2][own], atol=1e-2)


def test_family_whose_layers_depend_on_their_number_is_read_at_the_layer(roberta_tokenizer, tmp_path):
    # ALBERT with two groups of layers: a model of two would have one layer of each group
    torch.manual_seed(0)
    config = transformers.AlbertConfig(
        vocab_size=20, embedding_size=8, hidden_size=16, intermediate_size=32, num_hidden_layers=4, num_hidden_groups=2,
        num_attention_heads=2, max_position_embeddings=26, pad_token_id=1, initializer_range=0.5,
    )  # fmt: skip
    model = transformers.AlbertModel(config).eval()
    model.save_pretrained(tmp_path)
    roberta_tokenizer.save_pretrained(tmp_path)
    (found,) = masses(bert_section(tmp_path, layer=2, baseline=0, temperature=1), item(SUMMARIES[0], PAIRS))
    vectors = {}
    for text in (LEFT, RIGHT, SUMMARIES[0]):
        with torch.no_grad():
            ids = roberta_tokenizer(text, return_tensors="pt")
            states = model(**ids, output_hidden_states=True).hidden_states[2][0]
            vectors[text] = torch.nn.functional.normalize(states, dim=-1)
    expected = shares([float(precision(vectors[SUMMARIES[0]], vectors[text])) for text in (LEFT, RIGHT)], 1)
    assert found.target == pytest.approx(expected, abs=1e-5)


def test_nothing_is_said_of_layers_that_are_left_out(roberta_tokenizer, tmp_path, caplog):
    random_encoder(tmp_path, "roberta", roberta_tokenizer)
    # transformers hands nothing on to the root logger
    library = logging.getLogger("transformers.modeling_utils")
    library.addHandler(caplog.handler)
    try:
        masses(bert_section(tmp_path), item("The ferry.", PAIRS))
        assert "LOAD REPORT" not in caplog.text
        # what would have been said
        transformers.AutoModel.from_pretrained(tmp_path, num_hidden_layers=1)
        assert "LOAD REPORT" in caplog.text
    finally:
        library.removeHandler(caplog.handler)


@pytest.mark.parametrize("kind", ["bart", "bert"])
def test_items_share_full_batches(kind, bart, roberta):
    make, folder = (bart_section, bart) if kind == "bart" else (bert_section, roberta)
    items = [item(summary, PAIRS[k:]) for summary in SUMMARIES for k in range(2)]
    matcher = open_matcher(make(folder, batch_size=4), MODELS)
    model = matcher._model.get()._model
    seen = []
    hook = model.register_forward_pre_hook(
        lambda module, given, named: seen.append(len(named.get("input_ids", named.get("decoder_input_ids")))),
        with_kwargs=True,
    )
    together = matcher.masses(items)
    hook.remove()
    # left has two texts, right one, and there are three summaries: six texts, nine pairs
    assert seen == ([4, 2] if kind == "bert" else [4, 4, 1])
    for each, found in zip(items, together, strict=True):
        assert found.target == pytest.approx(matcher.masses([each])[0].target, abs=1e-5)


def test_call_in_parts_finds_the_same(roberta, monkeypatch):
    items = [item(summary, PAIRS) for summary in SUMMARIES]
    whole = masses(bert_section(roberta), *items)
    # a summary and both values: up to 22 tokens
    monkeypatch.setattr(neural, "MOST_IN_FLIGHT", 20)
    for one, other in zip(whole, masses(bert_section(roberta), *items), strict=True):
        assert other.target == pytest.approx(one.target, abs=1e-5)


def test_layer_that_is_not_there_is_refused(roberta):
    with pytest.raises(JudgeError, match=r"layer 9 is not there, model .* has 2"):
        masses(bert_section(roberta, layer=9), item("The ferry.", PAIRS))


def test_what_changes_masses_changes_the_signature_and_nothing_is_loaded():
    base = {"kind": "bertscore", "model": "org/m", "layer": 3, "baseline": 0.5, "tokens": "words"}
    changes = [{"model": "org/n"}, {"revision": "v2"}, {"layer": 4}, {"baseline": 0.1}, {"temperature": 1}]
    signatures = {open_matcher(MatcherSection(**base | change)).signature for change in ({}, *changes)}
    assert len(signatures) == len(changes) + 1
    plain = open_matcher(MatcherSection(**base))
    assert open_matcher(MatcherSection(**base, batch_size=1, on_overflow="raise")).signature == plain.signature
    assert plain.signature == "bertscore|model:org/m|layer:3|baseline:0.5|T:0.1|source:words|content-tokens|v:4|v:2"


@pytest.mark.needs("nltk")
def test_sources_are_counted_by_the_published_pipeline_by_default(bart):
    section = bart_section(bart, tokens="ngram")
    pairs = (("left", "The dogs were running quickly."), ("right", "Cats sleep."))
    assert masses(section, item("A dog.", pairs))[0].source == (3.0, 2.0)
    assert np.isclose(sum(masses(section, item("A dog.", pairs))[0].target), 1)


COMPARED = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("stuv")), unique=True)
LENGTHS = {text: n for n, text in enumerate("abcdstuv", start=1)}


@given(COMPARED, st.integers(1, 40))
def test_parts_hold_all_pairs_in_order_and_few_tokens(pairs, most):
    parts = list(in_flight(pairs, LENGTHS, most))
    assert [pair for part in parts for pair in part] == pairs
    for part in parts:
        assert len(part) == 1 or sum(LENGTHS[text] for text in {text for pair in part for text in pair}) <= most


def test_a_text_counts_once_for_all_of_its_pairs():
    # a 1, b 2, s 5: 8 tokens in both pairs
    assert list(in_flight([("a", "s"), ("b", "s")], LENGTHS, 8)) == [[("a", "s"), ("b", "s")]]
    assert list(in_flight([("a", "s"), ("b", "s")], LENGTHS, 7)) == [[("a", "s")], [("b", "s")]]


def test_texts_of_like_length_stand_together_once():
    texts = ["four", "a", "three", "a", "bb"]
    assert list(in_batches(texts, lambda text: (len(text),), 2)) == [["a", "bb"], ["four", "three"]]
