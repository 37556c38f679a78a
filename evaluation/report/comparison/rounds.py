"""The rounds of a method as entries of their own: what it would have given, had it ended with an earlier round.

Everything a method said is in turns.jsonl, so one run of r rounds has the results of all numbers of rounds up to r. What the
turns say is judged by the run's judges in a folder `rounds` of its own beside the phase, with the same cache; a reward is made
anew among the candidates of a round.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from ....generate.contract import check_output
from ....judges import open_judges
from ....judges.combine import reward_ranges
from ....judges.stage import judge_by, refuse_unscored
from ....records import Candidate, Contract, SummaryRequest, Turn
from ....rerank.stage import score_group
from ....runfolder.files import with_judgements
from ....runfolder.phases import CANDIDATES, REQUESTS, TURNS, Phase
from ....runfolder.stages import Counts, Stage
from ....storage import file_digest, iter_jsonl, read_jsonl, write_jsonl
from ....text.digests import digest
from ..systems.systems import PolicyOutput, policy_output
from .contents import Cost
from .entries import Entry, compared, n_draws

ROUNDS = "rounds"


class RoundCounts(Counts):
    """Candidates of all rounds together."""

    candidates: int


def has_rounds(entry: Entry) -> bool:
    """Whether the entry's method asks in rounds."""
    return (entry.folder / TURNS).is_file()


def round_entries(entry: Entry) -> list[Entry]:
    """An entry for each round that gave candidates, the last one among them, judged where it was not; else the entry itself.

    Raises:
        LeftOutError: a judge left more unscored than limits.unscored allows.
    """
    turns = read_jsonl(entry.folder / TURNS, Turn)
    finals = read_jsonl(entry.folder / CANDIDATES, Candidate)
    contracts = {request.id: request.contract for request in iter_jsonl(entry.folder / REQUESTS, SummaryRequest)}
    speaking = sorted({turn.round for turn in turns if turn.is_candidate})
    by_round = {n: candidates for n in speaking if (candidates := list(_candidates(n, turns, finals, contracts)))}
    if not by_round:
        return [entry]
    phase = replace(entry.output.phase, name=f"{entry.output.phase.name}/{ROUNDS}")
    _judge(phase, [c for candidates in by_round.values() for c in candidates])
    entries = []
    for number, candidates in by_round.items():
        label, n = f"{entry.label} round {number}", n_draws(phase, len(candidates))
        so_far = [turn for turn in turns if turn.round <= number]
        # what of the prompts was shared is counted for the whole run alone
        tokens = sum(turn.n_tokens for turn in so_far)
        cost = Cost(label=label, calls=len(so_far) / n, tokens=tokens / n, prefilled=None)
        output = _output(entry, phase, {candidate.id for candidate in candidates})
        entries.append(replace(entry, label=label, round=number, output=output, cost=cost))
    return entries


def _candidates(
    number: int, turns: Sequence[Turn], finals: Sequence[Candidate], contracts: Mapping[str, Contract]
) -> Iterator[Candidate]:
    """The candidates as they were after that round; none of a candidate that had not been said by then."""
    last: dict[tuple[str, int], Turn] = {}
    for turn in sorted(turns, key=lambda turn: turn.round):
        if turn.is_candidate and turn.round <= number:
            last[turn.request_id, turn.index] = turn
    for final in finals:
        if answer := last.get((final.request_id, final.index)):
            checked = check_output(contracts[final.request_id], answer.text)
            yield final.model_copy(
                update={
                    "id": digest([final.id, number]),
                    "text": checked.text,
                    "raw_text": answer.text,
                    "issues": checked.issues,
                    "contract_ok": checked.ok,
                    "seed": answer.seed,
                    "prompt_digest": answer.prompt_digest,
                    "n_prompt_tokens": answer.n_prompt_tokens,
                    "token_ids": (),
                    "n_tokens": answer.n_tokens,
                    "finish_reason": answer.finish_reason,
                    "logps": answer.logps,
                }
            )


def _judge(phase: Phase, candidates: Sequence[Candidate]) -> None:
    """Have the candidates of all rounds judged."""
    source = phase.folder.parent
    by_request: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_request.setdefault(candidate.request_id, []).append(candidate)

    def write() -> RoundCounts:
        write_jsonl(phase.folder / REQUESTS, iter_jsonl(source / REQUESTS, SummaryRequest))
        order = (request.id for request in iter_jsonl(phase.folder / REQUESTS, SummaryRequest))
        write_jsonl(phase.folder / CANDIDATES, (c for request_id in order for c in by_request.get(request_id, ())))
        return RoundCounts(candidates=len(candidates))

    inputs = {
        "turns": file_digest(source / TURNS),
        "candidates": [candidate.id for candidate in candidates],
        "order": "requests",
    }
    Stage(ROUNDS, phase.folder, inputs, (REQUESTS, CANDIDATES)).run(write)
    receipt, _ = judge_by(
        phase, open_judges({name: phase.recipe.judges[name] for name in phase.judges}), is_isolated=True
    )
    refuse_unscored(phase, receipt)


def _output(entry: Entry, phase: Phase, ids: Set[str]) -> PolicyOutput:
    """The numbers of these of the judged candidates."""
    ranges = reward_ranges(phase.recipe.reward, phase.recipe.judges)
    groups = (
        (request, score_group(phase, request, [c for c in candidates if c.id in ids], judgements, ranges))
        for request, candidates, judgements in with_judgements(phase.folder)
    )
    output = policy_output(phase, groups, entry.output.signatures, compared)
    return replace(output, policy=entry.output.policy, phase=entry.output.phase)
