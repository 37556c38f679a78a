from pathlib import Path
from typing import Any

import pytest

from evenhand.config import BackendSection
from evenhand.errors import DataError, ModelError
from evenhand.evaluation.report.checkpoint.probe import (
    comparable_pairs,
    compared,
    engine_sentence,
    inactive_because,
    probe,
    probe_pairs,
    verdict,
)
from evenhand.evaluation.report.checkpoint.report import PROBE, read_report, report
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.records import Candidate, Sampling, SummaryRequest
from evenhand.runfolder.phases import CANDIDATES, REQUESTS, open_phase
from evenhand.storage import file_digest, read_jsonl, write_jsonl


def save_adapter(model: Path, folder: Path, *, active: bool) -> None:
    """A LoRA adapter; an inactive one has the zero matrix that training starts from."""
    peft = pytest.importorskip("peft")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    base = transformers.AutoModelForCausalLM.from_pretrained(model)
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=not active)
    peft.get_peft_model(base, config).save_pretrained(folder)


@pytest.fixture
def trained_run(make_run: Any, tiny_model: Path) -> Any:
    """The small run on a tiny model; its adapter is left to the test."""
    run = make_run(model={"name": str(tiny_model)})
    run.write("evaluation/base", run.UNTRAINED)
    run.write("evaluation/round-00", run.TRAINED)
    return run


def trained_phase(run: Any) -> Any:
    return open_phase(run.recipe, "evaluation/round-00")


def test_trained_adapter_moves_log_probabilities(trained_run: Any, tiny_model: Path):
    phase = trained_phase(trained_run)
    save_adapter(tiny_model, phase.adapter, active=True)
    result = probe(phase)
    assert result["active"]
    assert len(result["probes"]) == 3
    for row in result["probes"]:
        assert row["untrained"] < 0
        assert row["difference"] == pytest.approx(row["trained"] - row["untrained"])
    assert result["trained"].startswith(result["untrained"] + "+")


def test_untrained_log_probabilities_equal_those_of_the_bare_model(trained_run: Any, tiny_model: Path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    phase = trained_phase(trained_run)
    save_adapter(tiny_model, phase.adapter, active=True)
    request, candidate = probe_pairs(phase)[0]
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.bfloat16)
    prompt = tokenizer.apply_chat_template(
        [m.model_dump() for m in request.prompt], add_generation_prompt=True, return_dict=True
    )["input_ids"]
    text = tokenizer(candidate.raw_text)["input_ids"]
    # labels of -100 are left out; the loss is the mean negative log-probability of the others
    labels = torch.tensor([[-100] * len(prompt) + text])
    with torch.no_grad():
        loss = model(input_ids=torch.tensor([prompt + text]), labels=labels).loss
    assert probe(phase)["probes"][0]["untrained"] == pytest.approx(-float(loss) * len(text), rel=1e-3)


def test_probing_against_the_adapter_of_the_start(make_run: Any, tiny_model: Path, tmp_path: Path):
    start = tmp_path / "start"
    save_adapter(tiny_model, start, active=True)
    run = make_run(model={"name": str(tiny_model), "adapter": str(start)})
    run.write("evaluation/round-00", run.TRAINED)
    phase = trained_phase(run)
    # a trained adapter equal to the start's has moved nothing, though it differs from the bare model
    save_adapter(tiny_model, phase.adapter, active=True)
    assert file_digest(start) == file_digest(phase.adapter)
    assert not probe(phase)["active"]


@pytest.mark.parametrize("served", ["trained", "untrained", None])
def test_policy_that_the_engine_served_is_found_out(make_run: Any, tiny_model: Path, served: str | None):
    run = make_run(model={"name": str(tiny_model), "dtype": "float32"})
    run.write("evaluation/round-00", run.TRAINED)
    phase = trained_phase(run)
    save_adapter(tiny_model, phase.adapter, active=True)
    if served:
        write_jsonl(phase.folder / CANDIDATES, generated(phase, phase.adapter if served == "trained" else None))
    result = probe(phase)
    assert result["engine"]["served"] == served
    assert len(result["engine"]["candidates"]) == (4 if served else 0)
    assert result["active"] == (served != "untrained")
    for row in result["engine"]["candidates"]:
        assert row["engine"] == pytest.approx(row[served], abs=1e-3)


def generated(phase: Any, adapter: Path | None) -> list[Candidate]:
    """The phase's candidates with tokens and log-probabilities of an engine that serves this adapter."""
    requests = {r.id: r for r in read_jsonl(phase.folder / REQUESTS, SummaryRequest)}
    candidates = read_jsonl(phase.folder / CANDIDATES, Candidate)
    backend = open_backend(BackendSection(backend="transformers"), phase.recipe.model, adapter)
    replies = backend.complete([Ask(requests[c.request_id].prompt, Sampling(max_tokens=8), c.seed) for c in candidates])
    return [
        c.model_copy(update={"token_ids": reply.token_ids, "logps": reply.logps})
        for c, reply in zip(candidates, replies, strict=True)
    ]


def test_adapter_that_was_not_served_is_refused_after_the_report_says_so(trained_run: Any, tiny_model: Path):
    phase = trained_phase(trained_run)
    save_adapter(tiny_model, phase.adapter, active=True)
    write_jsonl(phase.folder / CANDIDATES, generated(phase, None))
    trained_run.finish()
    with pytest.raises(ModelError, match=r"INACTIVE: the engine .* reported the untrained model's"):
        report(trained_run.recipe)
    found = read_report(trained_run.recipe)
    assert "INACTIVE" in found.warnings[0]
    assert found.probe["engine"]["served"] == "untrained"


def test_probes_are_the_shortest_prompts(trained_run: Any):
    assert [request.id for request, _ in probe_pairs(trained_phase(trained_run))] == ["a/left", "b/left", "c/left"]


def test_phase_without_adapter_is_refused(trained_run: Any):
    with pytest.raises(DataError, match="train the round first"):
        probe(trained_phase(trained_run))


def test_folder_that_is_no_adapter_is_refused(trained_run: Any):
    trained_phase(trained_run).adapter.mkdir(parents=True)
    with pytest.raises(ModelError, match=r"round-00/adapter: has no adapter_config\.json"):
        probe(trained_phase(trained_run))


def test_inactive_adapter_is_refused_after_the_report_says_so(trained_run: Any, tiny_model: Path):
    save_adapter(tiny_model, trained_phase(trained_run).adapter, active=False)
    trained_run.finish()
    with pytest.raises(ModelError, match="INACTIVE"):
        report(trained_run.recipe)
    assert any("INACTIVE" in warning for warning in read_report(trained_run.recipe).warnings)
    with pytest.raises(ModelError, match="INACTIVE"):  # a reused report is no better
        report(trained_run.recipe)


def test_new_page_does_not_probe_again(trained_run: Any, tiny_model: Path):
    save_adapter(tiny_model, trained_phase(trained_run).adapter, active=True)
    trained_run.finish()
    report(trained_run.recipe)
    probed = trained_run.recipe.output / "report" / PROBE
    before = probed.stat().st_mtime_ns
    trained_run.receipt("evaluation/base", "extra", {"groups": 8})  # something the page shows
    _, reused = report(trained_run.recipe)
    assert not reused
    assert probed.stat().st_mtime_ns == before


@pytest.fixture
def made(make_run: Any) -> Any:
    """Makes the row of a candidate from the sums of engine, untrained and trained policy."""
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)]}, candidate=lambda r, i: {"token_ids": (1, 2), "logps": -9.0})
    ((_, candidate),) = comparable_pairs(open_phase(run.recipe, "evaluation/base"))
    return lambda engine, untrained, trained: compared(
        candidate.model_copy(update={"logps": engine}), untrained, trained
    )


@pytest.mark.parametrize(
    ("sums", "nearer", "clearly"),
    [
        ((-10.0, -14.0, -10.5), "trained", True),  # gaps 4 and 0.5
        ((-10.0, -10.5, -14.0), "untrained", True),
        ((-10.0, -12.0, -11.0), "trained", False),  # gaps 2 and 1: less than threefold
        ((-10.0, -9.0, -12.0), "untrained", False),
        ((-10.0, -10.0, -10.0), None, False),  # the adapter changes nothing
        ((-10.0, -10.0, -10.1), "untrained", True),
    ],
)
def test_nearer_policy_by_hand(made: Any, sums: tuple[float, ...], nearer: str | None, clearly: bool):
    found = made(*sums)
    assert (found["nearer"], found["clearly"], found["engine"]) == (nearer, clearly, -10.0)


TRAINED, UNTRAINED, UNSURE = (-10.0, -14.0, -10.5), (-10.0, -10.5, -14.0), (-10.0, -9.0, -12.0)


@pytest.mark.parametrize(
    ("sums", "served"),
    [
        ([TRAINED] * 4, "trained"),
        ([TRAINED, TRAINED, TRAINED, UNTRAINED], "trained"),
        ([TRAINED, TRAINED, UNTRAINED, UNTRAINED], "unclear"),  # no majority
        ([UNTRAINED, UNTRAINED, UNTRAINED, TRAINED], "untrained"),
        ([UNTRAINED, UNTRAINED, UNSURE, UNSURE], "unclear"),  # rounding must not convict
        ([UNTRAINED], "untrained"),
        ([], None),
    ],
)
def test_majority_decides(made: Any, sums: list[tuple[float, ...]], served: str | None):
    assert verdict([made(*each) for each in sums])["served"] == served


def test_candidates_without_tokens_or_log_probabilities_are_not_compared(make_run: Any):
    run = make_run(rounds=0)
    told = {"a/left": {"token_ids": (1,)}, "b/left": {"logps": -3.0}}
    run.write("evaluation/base", {r: [(0.1, 0.2)] for r in told}, candidate=lambda request, index: dict(told[request]))
    assert comparable_pairs(open_phase(run.recipe, "evaluation/base")) == []


def test_four_requests_are_compared_by_their_first_comparable_candidate(make_run: Any):
    run = make_run(rounds=0)
    told = [{}, {"token_ids": (1,), "logps": -1.0}, {"token_ids": (2,), "logps": -2.0}]
    run.write("evaluation/base", run.UNTRAINED, candidate=lambda request, index: dict(told[index]))
    pairs = comparable_pairs(open_phase(run.recipe, "evaluation/base"))
    assert [(request.id, candidate.index) for request, candidate in pairs] == [
        ("a/left", 1), ("b/left", 1), ("c/left", 1), ("d/left", 1),
    ]  # fmt: skip


def test_adapter_that_was_not_served_is_inactive_though_it_moves_probes(made: Any):
    engine = verdict([made(*UNTRAINED), made(*UNTRAINED)])
    probed = {"active": False, "probes": [{"difference": 2.0}], "engine": engine}
    assert "(2 of 2" in inactive_because(probed)
    assert "not serve it" in engine_sentence(probed)
