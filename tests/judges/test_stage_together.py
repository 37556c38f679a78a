"""The judging stage with rubrics that are asked together on one language model."""

import pytest
from answering import AnsweringBackend, GivenModels, grades
from conftest import make_candidate, make_request

from evenhand.config import Recipe
from evenhand.config.judges import RubricJudge
from evenhand.judges import open_judge
from evenhand.judges.cache import VerdictCache, cache_counts
from evenhand.judges.stage import judge_by
from evenhand.records import Judgement
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.storage import read_jsonl, write_jsonl
from evenhand.text.digests import digest

pytestmark = pytest.mark.usefixtures("own_cache")

RUBRICS = ("coverage", "faithfulness")


@pytest.fixture
def five_requests(tmp_path, ferry):
    """Makes a phase with five requests of two candidates each, in a folder of that name."""

    def make(name, monkeypatch):
        # a cache of its own, so that every run asks
        monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / name / "cache"))
        values = {
            "name": "small", "output": tmp_path / name, "model": {"name": "none"}, "judges": {"overlap": {"kind": "rouge"}},
            "generate": {"backend": "scripted", "plans": {"nucleus": {}}}, "reward": {"judges": ["overlap"]},
            "evaluation": {"judges": ["overlap"]},
        }  # fmt: skip
        phase = open_phase(Recipe.model_validate(values), "round-00")
        first, *rest = ferry.documents
        sets = [
            ferry.model_copy(
                update={
                    "id": f"ferry-{i}",
                    "documents": (first.model_copy(update={"text": f"{first.text} {i}"}), *rest),
                }
            )
            for i in range(5)
        ]
        requests = [make_request(each) for each in sets]
        write_jsonl(phase.folder / REQUESTS, requests)
        write_jsonl(
            phase.folder / CANDIDATES,
            [make_candidate(r, text, i) for r in requests for i, text in enumerate(("The ferry.", "A bridge."))],
        )
        return phase

    return make


def in_company(asks):
    """Grades that depend on all asks of a call, as an engine's rounding does, each in its own way."""
    company = digest([[m.content for m in ask.prompt] for ask in asks])

    def answer(ask):
        share = int(digest([company, ask.prompt[0].content]), 16) % 1000 / 1000
        return grades(share, 0, 0, 0, 1 - share)

    return answer


class SensitiveBackend(AnsweringBackend):
    """What it answers depends on the company in which it is asked."""

    def complete(self, asks):
        self._answer = in_company(asks)
        return super().complete(asks)


def judges_on(backend, requests_per_batch=2):
    models = GivenModels(backend)
    section = {"backend": "vllm", "requests_per_batch": requests_per_batch}
    return [
        open_judge(
            name,
            RubricJudge.model_validate(
                {"kind": "rubric", "rubric": name, "model": {"name": "org/model"}, "backend": section}
            ),
            models,
        )
        for name in RUBRICS
    ]


def judge_twice(make, monkeypatch, dies_at):
    """Judgements of an undisturbed run and of one that was interrupted; the calls of the interrupted one and of its rest."""
    whole = make("whole", monkeypatch)
    judge_by(whole, judges_on(SensitiveBackend(None)))
    broken = make("broken", monkeypatch)
    dying, rest = SensitiveBackend(None, dies_at=dies_at), SensitiveBackend(None)
    with pytest.raises(KeyboardInterrupt):
        judge_by(broken, judges_on(dying))
    receipt, _ = judge_by(broken, judges_on(rest))
    return whole, broken, (dying.batches, rest.batches), receipt


def test_a_batch_of_requests_is_one_call_for_all_rubrics(five_requests, monkeypatch):
    backend = SensitiveBackend(None)
    phase = five_requests("run", monkeypatch)
    receipt, _ = judge_by(phase, judges_on(backend))
    # five requests in batches of two, two candidates and two rubrics each
    assert [len(batch) for batch in backend.batches] == [8, 8, 4]
    assert receipt.counts["scored"] == {"coverage": 10, "faithfulness": 10}
    found = read_jsonl(phase.folder / JUDGEMENTS, Judgement)
    assert [(j.candidate_id, j.judge) for j in found[:4]] == [
        (f"ferry-0/left#{i}", name) for i in (0, 1) for name in RUBRICS
    ]


@pytest.mark.parametrize("dies_at", [0, 1, 2])
def test_interrupted_run_ends_with_the_same_bytes_and_asks_in_the_same_company(five_requests, monkeypatch, dies_at):
    whole, broken, (before, after), _ = judge_twice(five_requests, monkeypatch, dies_at)
    assert len(before) == dies_at
    assert [len(batch) for batch in after] == [8, 8, 4][dies_at:]
    assert (broken.folder / JUDGEMENTS).read_bytes() == (whole.folder / JUDGEMENTS).read_bytes()


def test_batch_whose_journal_line_was_torn_is_asked_again_in_the_same_company(five_requests, monkeypatch):
    whole = five_requests("whole", monkeypatch)
    judge_by(whole, judges_on(SensitiveBackend(None)))
    torn = five_requests("torn", monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        judge_by(torn, judges_on(SensitiveBackend(None, dies_at=2)))
    (journal,) = torn.folder.glob("receipts/*.partial.jsonl")
    data = journal.read_bytes()
    # the second batch's line lacks its end, and the verdicts were not yet in the cache
    journal.write_bytes(data[:-40])
    monkeypatch.setenv("EVENHAND_CACHE", str(torn.folder / "empty cache"))
    rest = SensitiveBackend(None)
    judge_by(torn, judges_on(rest))
    assert [len(batch) for batch in rest.batches] == [8, 4]
    assert (torn.folder / JUDGEMENTS).read_bytes() == (whole.folder / JUDGEMENTS).read_bytes()


def test_verdicts_that_reached_the_journal_reach_the_cache(five_requests, monkeypatch):
    phase = five_requests("run", monkeypatch)
    keep = VerdictCache.keep
    kept = []

    def die_at_the_third(self, signature, verdicts):
        kept.append(signature)
        if len(kept) == 3:
            raise KeyboardInterrupt
        keep(self, signature, verdicts)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(VerdictCache, "keep", die_at_the_third)
        judge_by(phase, judges_on(SensitiveBackend(None)))
    judge_by(phase, judges_on(SensitiveBackend(None)))
    assert [count.scored for count in cache_counts()] == [10, 10]


def test_prefill_is_counted_for_each_model_also_over_an_interruption(five_requests, monkeypatch):
    backend = SensitiveBackend(None)
    undisturbed, _ = judge_by(five_requests("once", monkeypatch), judges_on(backend))
    _, _, _, resumed = judge_twice(five_requests, monkeypatch, dies_at=2)
    (model,) = undisturbed.counts["prefill"]
    assert model == "org/model|bfloat16|vllm"
    figures = undisturbed.counts["prefill"][model]
    assert figures["prompt_tokens"] == backend.usage.prompt_tokens
    assert figures["prefilled_tokens"] == backend.usage.prefilled_tokens
    assert figures["prefix_cache_hit_rate"] == pytest.approx(0.5, abs=0.01)
    assert resumed.counts["prefill"] == undisturbed.counts["prefill"]


def test_receipt_says_nothing_of_prefill_when_no_language_model_was_asked(five_requests, monkeypatch, tmp_path):
    judge_by(five_requests("first", monkeypatch), judges_on(SensitiveBackend(None)))
    again = five_requests("second", monkeypatch)
    # everything is in the first run's cache
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "first" / "cache"))
    backend = SensitiveBackend(None)
    receipt, _ = judge_by(again, judges_on(backend))
    assert backend.batches == []
    assert receipt.counts["cached"] == {"coverage": 10, "faithfulness": 10}
    assert "prefill" not in receipt.counts


def test_only_what_is_not_cached_is_asked(five_requests, monkeypatch, tmp_path):
    first = five_requests("first", monkeypatch)
    judge_by(first, judges_on(SensitiveBackend(None))[:1])
    again = five_requests("second", monkeypatch)
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "first" / "cache"))
    backend = SensitiveBackend(None)
    receipt, _ = judge_by(again, judges_on(backend))
    assert [len(batch) for batch in backend.batches] == [4, 4, 2]
    assert all("grade faithfulness" in ask.prompt[0].content for batch in backend.batches for ask in batch)
    assert receipt.counts["cached"] == {"coverage": 10, "faithfulness": 0}


def test_time_inside_the_model_and_loading_it_is_on_the_receipt(five_requests, monkeypatch):
    receipt, _ = judge_by(five_requests("run", monkeypatch), judges_on(SensitiveBackend(None)))
    assert receipt.spent.keys() == {"loading", "models"}
    assert sum(receipt.spent.values()) <= receipt.seconds + 0.01
