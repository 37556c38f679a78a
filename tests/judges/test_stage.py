"""The judging stage, on judges whose scores a person can count."""

from collections.abc import Callable

import pytest
from conftest import make_candidate, make_request

from evenhand.config import Recipe
from evenhand.errors import DataError, LeftOutError
from evenhand.judges.batch import reference_text
from evenhand.judges.judge import REQUESTS_PER_BATCH, Verdict
from evenhand.judges.stage import judge, judge_by, refuse_unscored
from evenhand.records import REFUSAL, Candidate, Judgement
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.runfolder.progress import progress_path, read_progress
from evenhand.storage import read_jsonl, write_jsonl

pytestmark = pytest.mark.usefixtures("own_cache")


class CountingJudge:
    """Scores by the number of words; remembers what it was asked, and fails or stops where it is told to."""

    low, high = 0.0, 100.0

    def __init__(self, name: str = "words", signature: str = "", **changes):
        self.name = name
        self.signature = signature or name
        self.against = changes.get("against", "source")
        self.loads = changes.get("loads", "")
        self.requests_per_batch = changes.get("requests_per_batch", REQUESTS_PER_BATCH)
        self.verdict: Callable = changes.get(
            "verdict", lambda each: Verdict(float(len(each.text.split())), raw=each.text)
        )
        self.dies_at = changes.get("dies_at")
        self.log = changes.get("log", [])
        self.asked: list[list[str]] = []

    def score(self, inputs):
        if self.dies_at == len(self.asked):
            raise KeyboardInterrupt
        self.asked.append([each.text for each in inputs])
        self.log.append(self.name)
        return [self.verdict(each) for each in inputs]

    def close(self):
        self.log.append(f"{self.name} closed")


def recipe(tmp_path, output="run", **changes):
    values = {
        "name": "small",
        "output": tmp_path / output,
        "model": {"name": "none"},
        "generate": {"backend": "scripted", "plans": {"nucleus": {}}},
        "judges": {
            "overlap": {"kind": "rouge"},
            "words": {"kind": "length"},
            "points": {"kind": "rouge", "against": "key_points"},
        },
        "reward": {"judges": ["overlap", "words"]},
        "evaluation": {"judges": ["overlap"]},
    }
    return Recipe.model_validate(values | changes)


@pytest.fixture
def phase(tmp_path, ferry):
    """Two requests with three candidates each, on disk."""
    return write(open_phase(recipe(tmp_path), "round-00"), ferry)


TEXTS = ("The ferry is cheap.", "The ferry.", "The ferry is cheap.")


def write(phase, documents, texts=TEXTS):
    requests = [make_request(documents, side) for side in ("left", "right")]
    write_jsonl(phase.folder / REQUESTS, requests)
    write_jsonl(
        phase.folder / CANDIDATES, [make_candidate(r, text, i) for r in requests for i, text in enumerate(texts)]
    )
    return phase


def judgements(phase):
    return read_jsonl(phase.folder / JUDGEMENTS, Judgement)


def test_every_candidate_is_scored_by_every_judge_in_canonical_order(phase):
    receipt, reused = judge(phase)
    found = judgements(phase)
    assert not reused
    assert [(j.candidate_id, j.judge) for j in found] == [
        (f"ferry/{side}#{i}", name) for side in ("left", "right") for i in range(3) for name in ("overlap", "words")
    ]
    # left source: the ferry is cheap / the town should keep it / nurses need the ferry at night: 15 words, of which
    # "the ferry is cheap" has 4 and "the ferry" 2
    assert [j.score for j in found[:6]] == pytest.approx([4 / 15, 4, 2 / 15, 2, 4 / 15, 4])
    assert receipt.counts["scored"] == {"overlap": 6, "words": 6}
    assert receipt.counts["left_out"] == []


def test_equal_texts_of_one_source_are_judged_once(phase):
    counting = CountingJudge()
    judge_by(phase, [counting])
    # once a source: both sides have their own
    assert counting.asked == [["The ferry is cheap.", "The ferry."] * 2]
    assert [j.score for j in judgements(phase)] == [4, 2, 4, 4, 2, 4]


def test_scores_of_a_shortened_source_are_counted(phase):
    # as judges with overflow: truncate flag them
    flag = '{"cut_words":3,"reply":"4"}'
    short = CountingJudge("short", verdict=lambda each: Verdict(4.0, raw=flag if "cheap" in each.text else "4"))
    receipt, _ = judge_by(phase, [short, CountingJudge()])
    # two of the three texts of both requests
    assert receipt.counts["cut"] == {"short": 4}


def test_finished_stage_is_reused_without_asking(phase):
    judge_by(phase, [CountingJudge()])
    again = CountingJudge()
    assert judge_by(phase, [again])[1]
    assert again.asked == []


def test_other_judge_makes_the_stage_run_again(phase):
    judge_by(phase, [CountingJudge()])
    again = CountingJudge(signature="words, second version")
    assert not judge_by(phase, [again])[1]
    assert judgements(phase)[0].signature == "words, second version"


def test_other_run_takes_scores_from_the_cache_and_gives_the_same_bytes(phase, tmp_path, ferry):
    judge_by(phase, [CountingJudge()])
    other = write(open_phase(recipe(tmp_path, output="other"), "round-00"), ferry)
    again = CountingJudge()
    receipt, _ = judge_by(other, [again])
    assert again.asked == []
    assert receipt.counts["cached"] == {"words": 4}
    assert (other.folder / JUDGEMENTS).read_bytes() == (phase.folder / JUDGEMENTS).read_bytes()


def test_unscored_verdicts_are_asked_for_again_in_another_run(phase, tmp_path, ferry):
    judge_by(phase, [CountingJudge(verdict=lambda each: Verdict(None, "unreadable reply", "hm", 3))])
    assert {(j.unscored, j.raw, j.attempts) for j in judgements(phase)} == {("unreadable reply", "hm", 3)}
    other = write(open_phase(recipe(tmp_path, output="other"), "round-00"), ferry)
    receipt, _ = judge_by(other, [CountingJudge()])
    assert receipt.counts["cached"] == {"words": 0}
    assert receipt.counts["scored"] == {"words": 6}


def test_judges_that_look_at_the_summary_alone_are_not_cached_and_see_every_candidate(phase):
    counting = CountingJudge(against=None)
    receipt, _ = judge_by(phase, [counting])
    assert len(counting.asked[0]) == 6
    assert not receipt.counts["cached"]["words"]


def test_empty_summary_is_unscored_except_by_rules(tmp_path, ferry):
    phase = write(open_phase(recipe(tmp_path, limits={"unscored": 1}), "round-00"), ferry, ("", "The ferry."))
    receipt, _ = judge(phase)
    assert [(j.score, j.unscored) for j in judgements(phase)[:2]] == [(None, "empty summary"), (0.0, None)]
    assert receipt.counts["left_out"] == [
        {
            "stage": "judge",
            "judge": "overlap",
            "what": "judgement",
            "side": side,
            "reason": "overlap: empty summary",
            "count": 1,
        }
        for side in ("left", "right")
    ]


def test_rejected_candidate_is_0_to_rules_and_counts_as_unscored_for_every_other_judge(tmp_path, ferry):
    judges = {"overlap": {"kind": "rouge"}, "words": {"kind": "length"}, "kept": {"kind": "contract"}}
    own = recipe(tmp_path, judges=judges, reward={"judges": list(judges)}, limits={"unscored": 0.4})
    phase = write(open_phase(own, "round-00"), ferry, ("I cannot write about that.", "The ferry."))
    given = read_jsonl(phase.folder / CANDIDATES, Candidate)
    rejected = {"text": "", "issues": (REFUSAL,), "contract_ok": False}
    write_jsonl(
        phase.folder / CANDIDATES,
        [each.model_copy(update=rejected) if each.text.startswith("I cannot") else each for each in given],
    )
    with pytest.raises(LeftOutError, match=r"2 of 4 .*overlap: empty summary"):
        judge(phase)
    assert {j.judge: j.score for j in judgements(phase)[:3]} == {"overlap": None, "words": 0.0, "kept": 0.0}


def test_key_points_of_the_side_are_the_reference(ferry):
    left, right = make_request(ferry, "left"), make_request(ferry, "right")
    assert reference_text(left, "key_points") == "The ferry is cheap."
    assert reference_text(right, "key_points") == "The ferry is dear."
    everyone = left.model_copy(update={"perspective": None})
    assert reference_text(everyone, "key_points") == "The ferry is cheap.\nThe ferry is dear."
    assert reference_text(left, "opposing") == right.source
    assert reference_text(everyone, "opposing") == ""


@pytest.mark.parametrize(
    ("against", "reason"), [("key_points", "no key points listed"), ("opposing", "no documents of other sides")]
)
def test_absent_reference_is_unscored_with_its_reason(phase, ferry, against, reason):
    lonely = ferry.model_copy(update={"key_points": {}, "documents": ferry.documents[:2]})
    write(phase, lonely)
    write_jsonl(phase.folder / REQUESTS, [make_request(lonely, "left")])
    write_jsonl(phase.folder / CANDIDATES, [make_candidate(make_request(lonely, "left"), "The ferry.")])
    counting = CountingJudge(against=against)
    judge_by(phase, [counting])
    assert [j.unscored for j in judgements(phase)] == [reason]
    assert counting.asked == []


def test_judge_that_leaves_too_much_unscored_ends_the_stage_with_its_file_in_place(tmp_path, ferry):
    bare = ferry.model_copy(update={"key_points": {"left": ("The ferry is cheap.",)}})
    own = recipe(tmp_path, reward={"judges": ["words", "points"]}, limits={"unscored": 0.4})
    phase = write(open_phase(own, "round-00"), bare)
    with pytest.raises(LeftOutError, match=r"3 of 6 .*points: no key points listed \(right 3\)") as caught:
        judge(phase)
    assert caught.value.exit_code == 3
    assert len(judgements(phase)) == 12
    # a finished stage is refused again, and accepted without judging anew once the limit is raised
    with pytest.raises(LeftOutError):
        judge(phase)
    raised = recipe(tmp_path, reward={"judges": ["words", "points"]}, limits={"unscored": 0.5})
    assert judge(open_phase(raised, "round-00"))[1]


def test_share_at_the_limit_is_allowed(tmp_path, ferry):
    phase = write(open_phase(recipe(tmp_path, limits={"unscored": 0.5}), "round-00"), ferry, ("", "The ferry."))
    receipt, _ = judge(phase)
    refuse_unscored(phase, receipt)


def many(tmp_path, ferry, output="run", n=5):
    """A phase with n requests of different sources, two candidates each."""
    phase = open_phase(recipe(tmp_path, output=output), "round-00")
    sets = [
        ferry.model_copy(
            update={"id": f"ferry-{i}", "documents": (d.model_copy(update={"text": f"{d.text} {i}"}), *rest)}
        )
        for i, (d, *rest) in enumerate([ferry.documents] * n)
    ]
    requests = [make_request(each) for each in sets]
    write_jsonl(phase.folder / REQUESTS, requests)
    write_jsonl(
        phase.folder / CANDIDATES,
        [make_candidate(r, text, i) for r in requests for i, text in enumerate(("A b.", "C."))],
    )
    return phase


def test_interrupted_stage_asks_only_for_what_was_in_flight(tmp_path, ferry):
    whole = many(tmp_path, ferry, "undisturbed")
    judge_by(whole, [CountingJudge(against=None, requests_per_batch=2)])
    phase = many(tmp_path, ferry)
    # looking at the summary alone keeps the shared cache out of it
    dying = CountingJudge(against=None, requests_per_batch=2, dies_at=2)
    with pytest.raises(KeyboardInterrupt):
        judge_by(phase, [dying])
    again = CountingJudge(against=None, requests_per_batch=2)
    judge_by(phase, [again])
    # five requests in batches of two: the third batch was in flight
    assert [len(batch) for batch in dying.asked] == [4, 4]
    assert [len(batch) for batch in again.asked] == [2]
    assert (phase.folder / JUDGEMENTS).read_bytes() == (whole.folder / JUDGEMENTS).read_bytes()
    assert not list(phase.folder.glob("receipts/*.partial.jsonl"))


def test_what_an_earlier_process_judged_is_done_when_the_stage_goes_on(tmp_path, ferry):
    phase, seen = many(tmp_path, ferry), []

    def look(each):
        seen.append(read_progress(progress_path(phase.folder, "judge")))
        return Verdict(1.0)

    with pytest.raises(KeyboardInterrupt):
        judge_by(phase, [CountingJudge(against=None, requests_per_batch=2, dies_at=2), CountingJudge("other")])
    # five requests of two candidates; both judges had finished two batches of two
    judge_by(phase, [CountingJudge(against=None, requests_per_batch=2, verdict=look), CountingJudge("other")])
    assert (seen[0].done, seen[0].total) == ({"words": 8, "other": 8}, {"words": 10, "other": 10})


def test_batch_size_may_change_between_an_interruption_and_its_continuation(tmp_path, ferry):
    phase = many(tmp_path, ferry)
    with pytest.raises(KeyboardInterrupt):
        judge_by(phase, [CountingJudge(requests_per_batch=2, dies_at=1)])
    judge_by(phase, [CountingJudge(requests_per_batch=3)])
    assert [j.score for j in judgements(phase)] == [2, 1] * 5


def test_interrupted_judges_are_closed(tmp_path, ferry):
    dying = CountingJudge(dies_at=0)
    with pytest.raises(KeyboardInterrupt):
        judge_by(many(tmp_path, ferry), [dying])
    assert dying.log == ["words closed"]


def test_judges_on_one_model_take_turns_and_are_closed_before_the_next_model_is_used(tmp_path, ferry):
    log = []
    judges = [
        CountingJudge("coverage", loads="model a", requests_per_batch=3, log=log),
        CountingJudge("other", loads="model b", requests_per_batch=5, log=log),
        CountingJudge("faithfulness", loads="model a", requests_per_batch=4, log=log),
    ]
    phase = many(tmp_path, ferry)
    judge_by(phase, judges)
    # the smaller batch size of the two, three requests, holds for both
    assert log == [
        "coverage", "faithfulness", "coverage", "faithfulness", "faithfulness closed", "coverage closed",
        "other", "other closed",
    ]  # fmt: skip
    assert [j.judge for j in judgements(phase)[:3]] == ["coverage", "other", "faithfulness"]


def test_stage_without_candidates_on_disk_names_the_stage_to_run(tmp_path):
    with pytest.raises(
        DataError, match=r"requests\.jsonl: is not there; run `evenhand generate RECIPE --phase round-00` first"
    ):
        judge(open_phase(recipe(tmp_path), "round-00"))


def test_candidates_that_do_not_belong_are_all_listed(phase, ferry):
    stranger = make_candidate(make_request(ferry), "A.", 0, id="x", request_id="bridge/left")
    twice = make_candidate(make_request(ferry), "A.", 0, id="y")
    write_jsonl(phase.folder / CANDIDATES, [stranger, twice, twice])
    with pytest.raises(DataError) as caught:
        judge(phase)
    assert "'x' belongs to request 'bridge/left', which requests.jsonl does not have" in str(caught.value)
    assert "'y' occurs 2 times" in str(caught.value)


def test_phase_without_candidates_ends_with_an_empty_file(phase):
    write_jsonl(phase.folder / CANDIDATES, [])
    receipt, _ = judge(phase)
    assert judgements(phase) == []
    assert receipt.counts["scored"] == {"overlap": 0, "words": 0}
