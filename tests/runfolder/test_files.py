"""Files of a phase read side by side."""

import pytest
from conftest import make_candidate, make_request

from evenhand.errors import DataError, EvenhandError
from evenhand.records import CandidateGroup, Judgement, ScoredCandidate
from evenhand.runfolder.files import (
    chosen_groups,
    scores_of,
    shortest_prompts,
    with_candidates,
    with_groups,
    with_judgements,
)
from evenhand.runfolder.phases import CANDIDATES, GROUPS, JUDGEMENTS, REQUESTS
from evenhand.storage import write_jsonl


def judgement(candidate, score=1.0):
    return Judgement(
        candidate_id=candidate.id, request_id=candidate.request_id, judge="fit", signature="fit", score=score
    )


@pytest.fixture
def requests(ferry):
    return [make_request(ferry, side) for side in ("left", "right")]


@pytest.fixture
def candidates(requests):
    left, right = requests
    return [make_candidate(left, "The Left a.", 0), make_candidate(left, "The Left b.", 1), make_candidate(right, "A.")]


@pytest.fixture
def folder(tmp_path, requests, candidates):
    write_jsonl(tmp_path / REQUESTS, requests)
    write_jsonl(tmp_path / CANDIDATES, candidates)
    write_jsonl(tmp_path / JUDGEMENTS, map(judgement, candidates))
    return tmp_path


def groups_of(requests, candidates):
    return [
        CandidateGroup(
            request_id=request.id, set_id=request.document_set.id, side=request.side, prompt=request.prompt,
            candidates=tuple(
                ScoredCandidate(candidate=c, scores={"fit": 0.5, "flow": None}, reward=0.5)
                for c in candidates
                if c.request_id == request.id
            ),
            best_id=None,
        )
        for request in requests
    ]  # fmt: skip


@pytest.mark.parametrize("line", [b"\xff\xfe{}", b"{]", b"{}"])
def test_lines_that_are_none_are_the_mistake_of_whoever_brought_them(folder, line):
    with (folder / CANDIDATES).open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(EvenhandError, match=r"candidates\.jsonl") as caught:
        list(with_candidates(folder))
    assert caught.value.exit_code == 2


def test_groups_without_texts_come_back_whole(folder, requests, candidates):
    groups = groups_of(requests, candidates)
    write_jsonl(folder / GROUPS, map(scores_of, groups))
    assert list(with_groups(folder)) == list(zip(requests, groups, strict=True))
    assert "The Left" not in (folder / GROUPS).read_text()
    assert chosen_groups(folder, {"ferry/right"}) == {"ferry/right": (requests[1], groups[1])}


def test_requests_come_with_their_candidates_and_judgements(folder, requests, candidates):
    left, right = with_judgements(folder)
    assert left == (requests[0], tuple(candidates[:2]), tuple(map(judgement, candidates[:2])))
    assert right == (requests[1], (candidates[2],), (judgement(candidates[2]),))


def test_a_request_that_stands_there_twice_is_refused(folder, requests):
    write_jsonl(folder / REQUESTS, [*requests, requests[0]])
    with pytest.raises(DataError, match=r"requests\.jsonl: request 'ferry/left' occurs there twice"):
        list(with_candidates(folder))


def test_request_without_candidates_has_none(folder, requests, candidates):
    write_jsonl(folder / CANDIDATES, candidates[2:])
    assert [found for _, found in with_candidates(folder)] == [(), (candidates[2],)]
    # judgements of candidates that are gone do not stand in the way
    assert [len(found) for _, _, found in with_judgements(folder)] == [2, 1]


def test_lines_apart_or_in_another_order_are_refused(folder, candidates):
    first, second, last = candidates
    for order in ([last, first, second], [first, last, second]):
        write_jsonl(folder / CANDIDATES, order)
        with pytest.raises(
            DataError, match=r"candidates\.jsonl: lines of request 'ferry/left' are separated or in another order"
        ):
            list(with_candidates(folder))


def test_two_judgements_of_a_candidate_by_one_judge_are_refused(folder, candidates):
    first, second, third = candidates
    write_jsonl(
        folder / JUDGEMENTS, [judgement(first), judgement(second, 0.2), judgement(second, 0.8), judgement(third)]
    )
    with pytest.raises(DataError, match=f"candidate '{second.id}' has 2 judgements by 'fit'"):
        list(with_judgements(folder))


def test_groups_of_other_candidates_are_refused(folder, requests, candidates):
    write_jsonl(folder / GROUPS, map(scores_of, groups_of(requests, candidates[1:])))
    with pytest.raises(DataError, match=r"groups\.jsonl: candidates of request 'ferry/left' are not those of"):
        list(with_groups(folder))


def test_shortest_prompts_come_with_the_first_candidate_that_is_wanted(folder, requests, candidates):
    left, right = requests
    assert shortest_prompts(folder, 1, lambda each: True) == [(left, candidates[0])]
    found = shortest_prompts(folder, 9, lambda each: each.index == 1 or each.text == "A.")
    assert found == [(left, candidates[1]), (right, candidates[2])]
