"""Matching by a model, on tiny random ones: compared with transformers' own numbers."""

import json
import logging
import math
import os
import shutil

import numpy as np
import pytest
from labelled_sets import item

from evenhand.config import MatcherSection
from evenhand.errors import DataError, JudgeError
from evenhand.fairness.groups import Unscored
from evenhand.judges.measures import open_matcher
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
    assert seen == [1, 1]


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
        f"matcher '{kind}score': 1 of 3 texts were cut to 24 tokens; later ones are cut without a word"
    ]
    assert found.target == pytest.approx(masses(make(), item("The ferry.", cut))[0].target, abs=1e-5)
    with pytest.raises(DataError, match=r"reads 24 tokens, and 1 of 3 texts are longer: 'nurses nurses.*\(62 tokens\)"):
        masses(make(on_overflow="raise"), item("The ferry.", long))


def test_model_that_gives_no_number_is_unscored(bart, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(bart, broken)
    model = transformers.BartForConditionalGeneration.from_pretrained(broken)
    with torch.no_grad():
        model.model.encoder.layers[0].fc1.bias.fill_(float("nan"))
    model.save_pretrained(broken)
    assert masses(bart_section(broken), item("The ferry.", PAIRS)) == [Unscored("model gave no finite number")]


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
    assert plain.signature == "bertscore|model:org/m|layer:3|baseline:0.5|T:0.1|source:words|content-tokens|v:1|v:1"


@pytest.mark.skipif("EVENHAND_NLTK" not in os.environ, reason="needs NLTK's data; set EVENHAND_NLTK")
def test_sources_are_counted_by_the_published_pipeline_by_default(bart):
    section = bart_section(bart, tokens="ngram")
    pairs = (("left", "The dogs were running quickly."), ("right", "Cats sleep."))
    assert masses(section, item("A dog.", pairs))[0].source == (3.0, 2.0)
    assert np.isclose(sum(masses(section, item("A dog.", pairs))[0].target), 1)
