"""The transformers backend against transformers' own generation and against itself."""

from contextlib import closing

import pytest

from evenhand.config import BackendSection, ModelSection
from evenhand.generate import transformers_backend
from evenhand.generate.backend import Ask, prompt_tokens
from evenhand.generate.backends import open_backend
from evenhand.records import Message, Sampling
from evenhand.runfolder.timing import account

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

PROMPTS = [
    (Message(role="user", content=text),) for text in ("The ferry is cheap.", "A bridge pays for itself, they say.")
]


@pytest.fixture(scope="module")
def backend(tiny_model):
    section = BackendSection(backend="transformers", max_model_len=128)
    opened = open_backend(section, ModelSection(name=str(tiny_model), dtype="float32"))
    yield opened
    opened.close()


def ask(prompt, seed=0, **sampling):
    return Ask(prompt=prompt, sampling=Sampling(**{"max_tokens": 12, **sampling}), seed=seed)


def test_greedy_reply_equals_transformers_own(backend, tiny_model):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(tiny_model, dtype="float32")
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    for prompt, reply in zip(PROMPTS, backend.complete([ask(p, temperature=0) for p in PROMPTS]), strict=True):
        ids = tokenizer.apply_chat_template(
            [m.model_dump() for m in prompt], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        expected = model.generate(**ids, do_sample=False, max_new_tokens=12)[0, ids["input_ids"].shape[1] :]
        assert list(reply.token_ids) == expected.tolist()


def test_logps_equal_a_plain_forward_pass(backend, tiny_model):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (reply,) = backend.complete([ask(PROMPTS[0], seed=3)])
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    prompt = tokenizer.apply_chat_template(
        [m.model_dump() for m in PROMPTS[0]], add_generation_prompt=True, tokenize=True, return_dict=True
    )["input_ids"]
    model = AutoModelForCausalLM.from_pretrained(tiny_model, dtype="float32")
    ids = torch.tensor([prompt + list(reply.token_ids)])
    with torch.no_grad():
        logps = model(ids).logits.log_softmax(-1)[0, len(prompt) - 1 : -1]
    expected = logps.gather(1, ids[0, len(prompt) :, None]).sum().item()
    assert reply.logps == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    "sampling", [{"no_repeat_ngram_size": 2}, {"no_repeat_ngram_size": 3, "repetition_penalty": 1.3}]
)
def test_greedy_reply_without_repeats_equals_transformers_own_where_the_prompt_counts(backend, tiny_model, sampling):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_model, dtype="float32")
    # every pair of tokens of a reply may be in this one's prompt
    prompt = (Message(role="user", content="The ferry, the ferry, the ferry is cheap."),)
    (free,) = backend.complete([ask(prompt, temperature=0, max_tokens=30)])
    (reply,) = backend.complete([ask(prompt, temperature=0, max_tokens=30, include_prompt=True, **sampling)])
    ids = prompt_tokens(backend._tokenizer, prompt)
    expected = model.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=30, **sampling)[0, len(ids) :]
    assert list(reply.token_ids) == expected.tolist()
    assert reply.token_ids != free.token_ids


def test_same_seed_same_text_whatever_shares_the_batch(backend):
    wanted = ask(PROMPTS[0], seed=11)
    (alone,) = backend.complete([wanted])
    among = backend.complete([ask(PROMPTS[1], seed=1), wanted, ask(PROMPTS[0], seed=2)])
    assert among[1].token_ids == alone.token_ids
    assert among[2].token_ids != alone.token_ids


def test_constrained_reply_is_a_choice_with_probabilities_that_sum_to_one(backend):
    (reply,) = backend.complete([Ask(prompt=PROMPTS[0], sampling=Sampling(), seed=5, choices=("1", "2", "3"))])
    assert reply.text in {"1", "2", "3"}
    assert set(reply.choice_probabilities) == {"1", "2", "3"}
    assert sum(reply.choice_probabilities.values()) == pytest.approx(1)


def test_too_long_prompt_fails_alone(backend):
    long = (Message(role="user", content="ferry " * 200),)
    first, second = backend.complete([ask(long), ask(PROMPTS[0])])
    assert first.finish_reason == "failed"
    assert "exceed max_model_len 128" in first.error
    assert second.finish_reason in {"stop", "length"}


def n_nodes(prompts):
    """Nodes of the tree that the prompts' tokens form: the least that must be run."""
    return len({prompt[:n] for prompt in map(tuple, prompts) for n in range(1, len(prompt) + 1)})


def test_what_prompts_share_is_prefilled_once(tiny_model):
    section = BackendSection(backend="transformers", max_model_len=1024)
    backend = open_backend(section, ModelSection(name=str(tiny_model), dtype="float32"))
    documents = ["The ferry is cheap, and nurses need it at night. " * n for n in (9, 5)]
    prompts = [
        (Message(role="user", content=f"{document}\n{rubric * 8}\n{summary}"),)
        for document in documents
        for rubric in ("Grade what is covered. ", "Is it faithful? ")
        for summary in ("Cheap.", "Dear, they say.")
    ]
    replies = backend.complete([ask(prompt, seed) for prompt in prompts for seed in (1, 2, 3)])
    tokens = [prompt_tokens(backend._tokenizer, prompt) for prompt in prompts]
    assert [reply.n_prompt_tokens for reply in replies] == [len(t) for t in tokens for _ in range(3)]
    asked, least = 3 * sum(map(len, tokens)), n_nodes(tokens)
    assert backend.usage.prompt_tokens == asked
    assert least <= backend.usage.prefilled_tokens < 1.25 * least < 0.2 * asked
    assert backend.usage.hit_rate == 1 - backend.usage.prefilled_tokens / asked
    # another call begins anew, and the totals go on
    backend.complete([ask(prompts[0])])
    assert backend.usage.prompt_tokens == asked + len(tokens[0])


def test_more_asks_than_rows_are_answered_in_their_order(backend, monkeypatch):
    asks = [ask(PROMPTS[i % 2], seed=i, max_tokens=3 + i) for i in range(7)]
    expected = backend.complete(asks)
    monkeypatch.setattr(transformers_backend, "MOST_ROWS", 3)
    before = backend.usage.prefilled_tokens
    assert [r.token_ids for r in backend.complete(asks)] == [r.token_ids for r in expected]
    # three rounds of rows, and still each prompt once
    assert backend.usage.prefilled_tokens - before == sum({r.n_prompt_tokens for r in expected})


def test_rows_that_go_on_are_not_disturbed_by_those_that_end(backend):
    asks = [ask(PROMPTS[i % 2], seed=i, max_tokens=40 if i == 4 else 2 + i) for i in range(6)]
    for wanted, found in zip(asks, backend.complete(asks), strict=True):
        (alone,) = backend.complete([wanted])
        assert found.token_ids == alone.token_ids
        assert found.logps == pytest.approx(alone.logps, abs=1e-3)


def test_row_that_has_ended_is_not_led_beyond_the_last_position(tmp_path, tiny_model):
    """Learned positions, as many as `max_model_len`; the longest prompt's row ends first."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    size = {"n_positions": 160, "n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": len(tokenizer)}
    transformers.GPT2LMHeadModel(transformers.GPT2Config(**size)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    section = BackendSection(backend="transformers", max_model_len=160)
    model = ModelSection(name=str(tmp_path), dtype="float32")
    short, long = ((Message(role="user", content="ferry " * n),) for n in (1, 40))
    with closing(open_backend(section, model)) as backend:
        n_long = len(prompt_tokens(backend._tokenizer, long))
        n_short = len(prompt_tokens(backend._tokenizer, short))
        assert n_short + 80 < n_long < 160
        asks = [ask(long, max_tokens=160 - n_long), *(ask(short, seed, max_tokens=160 - n_short) for seed in range(5))]
        replies = backend.complete(asks)
    assert [reply.finish_reason in ("stop", "length") for reply in replies] == [True] * 6


def test_seconds_in_the_model_are_booked(backend):
    with account() as spent:
        backend.complete([ask(PROMPTS[0])])
    assert spent["models"] > 0


def test_no_asks_no_replies(backend):
    assert backend.complete([]) == []
