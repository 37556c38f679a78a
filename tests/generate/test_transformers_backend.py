"""The transformers backend against transformers' own generation and against itself."""

import pytest

from evenhand.config import BackendSection, ModelSection
from evenhand.errors import ModelError
from evenhand.generate.backend import Ask, choice_ids
from evenhand.generate.backends import open_backend
from evenhand.records import Message, Sampling

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


def test_answer_of_several_tokens_is_refused(tiny_model):
    from transformers import AutoTokenizer

    with pytest.raises(ModelError, match=r"answer 'excellent summary' is .* constrained answers must be single tokens"):
        choice_ids(AutoTokenizer.from_pretrained(tiny_model), ["1", "excellent summary"])


@pytest.mark.parametrize(
    ("sampling", "allowed"),
    [
        # probabilities .5 .3 .15 .05: what is left after each filter
        ({"top_k": 2}, {0, 1}),
        ({"top_p": 0.6}, {0, 1}),
        ({"top_p": 0.5}, {0}),
        ({"min_p": 0.35}, {0, 1}),
        ({}, {0, 1, 2, 3}),
    ],
)
def test_filters_leave_the_tokens_they_should(sampling, allowed):
    import torch

    from evenhand.generate.transformers_backend import _sample

    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    generator = torch.Generator().manual_seed(0)
    drawn = {_sample(torch, logits.clone(), [], Sampling(**sampling), generator) for _ in range(300)}
    assert drawn == allowed


def test_penalty_lowers_generated_tokens_only():
    import torch

    from evenhand.generate.transformers_backend import _sample

    # token 0 leads with 2.0 against 1.5; divided by 2 it falls to 1.0
    logits = torch.tensor([2.0, 1.5])
    sampling = Sampling(temperature=0, repetition_penalty=2.0)
    assert _sample(torch, logits.clone(), [], sampling, None) == 0
    assert _sample(torch, logits.clone(), [0], sampling, None) == 1
