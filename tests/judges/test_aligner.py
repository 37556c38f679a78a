"""What all aligners share."""

import pytest

from evenhand.judges.aligner import most_tokens, release

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SMALL = {
    "vocab_size": 20, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
    "max_position_embeddings": 26, "pad_token_id": 1,
}  # fmt: skip


class Tokenizer:
    def __init__(self, model_max_length=10**30):
        self.model_max_length = model_max_length


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        # these count positions from behind the padding index 1 on
        (lambda: transformers.RobertaModel(transformers.RobertaConfig(**SMALL)), 24),
        (lambda: transformers.MPNetModel(transformers.MPNetConfig(**SMALL)), 24),
        (lambda: transformers.BertModel(transformers.BertConfig(**SMALL)), 26),
        (lambda: transformers.AlbertModel(transformers.AlbertConfig(embedding_size=8, **SMALL)), 26),
        (lambda: transformers.DebertaV2Model(transformers.DebertaV2Config(position_biased_input=False, **SMALL)), 26),
    ],
)
def test_longest_input_is_what_the_positions_allow(model, expected):
    assert most_tokens(Tokenizer(), model()) == expected
    assert most_tokens(Tokenizer(20), model()) == 20


def test_model_without_positions_is_bound_by_its_tokenizer():
    config = transformers.XLNetConfig(vocab_size=20, d_model=16, n_layer=1, n_head=2, d_inner=32)
    assert most_tokens(Tokenizer(512), transformers.XLNetModel(config)) == 512
    assert most_tokens(Tokenizer(), transformers.XLNetModel(config)) == 2**20


def test_memory_of_the_gpu_is_given_back_after_the_models_are_gone(monkeypatch):
    class Holder:
        def __init__(self):
            self.model, self.head, self.name = object(), object(), "kept"

    holder, seen = Holder(), []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: seen.append(vars(holder).copy()))
    release(holder, "model", "head")
    # a second time does no harm
    release(holder, "model", "head")
    assert seen == [{"name": "kept"}] * 2
