"""The vLLM backend: a real engine with a tiny model, in a process of its own as in a stage."""

import json
import subprocess
import sys

import pytest

from evenhand.generate.vllm_backend import converts_bfloat16

pytest.importorskip("vllm")
pytestmark = pytest.mark.slow

SCRIPT = """
import json, sys
from evenhand.config import BackendSection, ModelSection
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.records import Message, Sampling

FILTERED = json.loads(sys.argv[2])

def main(model):
    section = BackendSection(max_model_len=128)
    backend = open_backend(section, ModelSection(name=model, dtype="float32"))
    prompt = (Message(role="user", content="The ferry is cheap."),)
    long = (Message(role="user", content="ferry " * 200),)
    def ask(seed, p=prompt, **sampling):
        return Ask(prompt=p, sampling=Sampling(**{"max_tokens": 12, **sampling}), seed=seed)
    seeds = [ask(s) for s in range(8)]
    copies = [ask(s, (Message(role="user", content="ferry " * 28),)) for s in range(4)]
    n = backend.complete(copies)[0].n_prompt_tokens
    usage = [n, backend.usage.prompt_tokens, backend.usage.prefilled_tokens]
    backend.complete(copies)
    usage += [backend.usage.prompt_tokens, backend.usage.prefilled_tokens]
    out = {
        "sampled": [list(r.token_ids) for r in backend.complete([ask(s, **FILTERED) for s in range(8)])],
        "first": [r.text for r in backend.complete(seeds)],
        "again": [r.text for r in backend.complete(seeds)],
        "greedy": [list(r.token_ids) for r in backend.complete([ask(0, temperature=0)])],
        "penalised": [list(r.token_ids) for r in backend.complete([ask(0, temperature=0, repetition_penalty=20.0)])],
    }
    repeats = [ask(0, temperature=0, max_tokens=40, **sampling) for sampling in json.loads(sys.argv[3])]
    out["repeats"] = [list(r.token_ids) for r in backend.complete(repeats)]
    graded = backend.complete([Ask(prompt=prompt, sampling=Sampling(), seed=1, choices=("1", "2", "3"))])[0]
    out["choice"], out["probabilities"] = graded.text, graded.choice_probabilities
    mixed = backend.complete([ask(0, long), ask(1)])
    out["mixed"] = [(r.finish_reason, r.error) for r in mixed]
    out["digest"], out["logps"] = mixed[1].prompt_digest, mixed[1].logps
    out["usage"] = usage
    out["other_runner"] = backend._engine.llm_engine.vllm_config.use_v2_model_runner
    backend.close()
    print("RESULT" + json.dumps(out))

if __name__ == "__main__":
    main(sys.argv[1])
"""


# every filter takes something away
FILTERED = {"temperature": 1.2, "top_p": 0.9, "top_k": 300, "min_p": 0.001, "repetition_penalty": 1.3}
# asked for side by side
REPEATS = [
    {},
    {"no_repeat_ngram_size": 3},
    {"no_repeat_ngram_size": 1},
    {"no_repeat_ngram_size": 2, "include_prompt": True},
    {"no_repeat_ngram_size": 3, "repetition_penalty": 1.2, "include_prompt": True},
]


@pytest.fixture(scope="module")
def replies(tiny_model, tmp_path_factory):
    script = tmp_path_factory.mktemp("vllm") / "ask.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), str(tiny_model), json.dumps(FILTERED), json.dumps(REPEATS)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    return json.loads(line.removeprefix("RESULT"))


@pytest.fixture(scope="module")
def control(tiny_model):
    """The transformers backend with the same model."""
    from evenhand.config import BackendSection, ModelSection
    from evenhand.generate.backends import open_backend

    section = BackendSection(backend="transformers", max_model_len=128)
    return open_backend(section, ModelSection(name=str(tiny_model), dtype="float32"))


def greedy(control, **sampling):
    from evenhand.generate.backend import Ask
    from evenhand.records import Message, Sampling

    prompt = (Message(role="user", content="The ferry is cheap."),)
    wanted = Sampling(**{"temperature": 0, "max_tokens": 12, **sampling})
    return control.complete([Ask(prompt=prompt, sampling=wanted, seed=0)])[0]


def test_engine_has_the_runner_that_takes_our_logits_processors(replies):
    # without a word from us it has the other one wherever Triton is installed
    assert replies["other_runner"] is False


def test_equal_batches_give_equal_texts_and_seeds_differ(replies):
    assert replies["first"] == replies["again"]
    assert len(set(replies["first"])) > 1


def test_greedy_reply_equals_the_transformers_backends(replies, control):
    assert replies["greedy"][0] == list(greedy(control).token_ids)


def test_seeded_replies_equal_the_transformers_backends(replies, control):
    from evenhand.generate.backend import Ask
    from evenhand.records import Message, Sampling

    prompt = (Message(role="user", content="The ferry is cheap."),)
    asks = [Ask(prompt=prompt, sampling=Sampling(max_tokens=12, **FILTERED), seed=seed) for seed in range(8)]
    assert replies["sampled"] == [list(reply.token_ids) for reply in control.complete(asks)]


def test_copies_of_a_prompt_share_its_whole_blocks(replies):
    n, asked, prefilled, asked_twice, prefilled_twice = replies["usage"]
    shared = 32 * ((n - 1) // 32)
    assert shared >= 64
    assert (asked, prefilled) == (4 * n, n + 3 * (n - shared))
    # a second call starts with an empty cache
    assert (asked_twice, prefilled_twice) == (2 * asked, 2 * prefilled)


def test_repetition_penalty_equals_the_transformers_backends(replies, control):
    assert replies["penalised"][0] == list(greedy(control, repetition_penalty=20.0).token_ids)
    assert replies["penalised"] != replies["greedy"]


def test_replies_without_repeats_equal_the_transformers_backends(replies, control):
    expected = [list(greedy(control, max_tokens=40, **sampling).token_ids) for sampling in REPEATS]
    assert replies["repeats"] == expected
    assert len(set(map(tuple, expected))) == len(REPEATS)


def test_constrained_grade_has_the_models_own_distribution(replies, control):
    from evenhand.generate.backend import Ask
    from evenhand.records import Message, Sampling

    prompt = (Message(role="user", content="The ferry is cheap."),)
    expected = control.complete([Ask(prompt=prompt, sampling=Sampling(), seed=1, choices=("1", "2", "3"))])[0]
    assert replies["choice"] in {"1", "2", "3"}
    assert replies["probabilities"] == pytest.approx(expected.choice_probabilities, abs=1e-3)


def test_one_prompt_that_does_not_fit_fails_alone(replies):
    (first, error), (second, _) = replies["mixed"]
    assert first == "failed"
    assert "exceed max_model_len 128" in error
    assert second in {"stop", "length"}
    assert replies["logps"] < 0


def test_prompt_tokens_are_those_of_the_other_backend(replies, control):
    assert replies["digest"] == greedy(control).prompt_digest


@pytest.mark.parametrize(
    ("said", "converts"),
    [
        ("model name\t: EPYC\nflags\t\t: fpu sse2 avx avx2\n", True),
        ("flags\t\t: fpu avx2 avx512f\n", False),
        # not of x86
        ("Features\t: fp asimd\n", False),
        (None, False),
    ],
)
def test_a_processor_without_avx_512_converts_bfloat16(tmp_path, said, converts):
    if said is not None:
        (tmp_path / "cpuinfo").write_text(said)
    assert converts_bfloat16(tmp_path / "cpuinfo") is converts
