"""Debate: agents answer the request, then revise their answers in rounds, each in sight of what the others said last.

All agents are the same model with seeds of their own. `final` says what the candidate is: the first agent's last answer, the
answer of one more call that sees all last answers, or, for "judge", each agent's last answer a candidate of its own, of which
reranking takes the best: there the draws r*agents to (r+1)*agents-1 of a plan are the agents of its debate r.
All agents of a round share the prompt up to the last line, which tells an agent which of the answers is its own.
Source: Du et al. 2023 (arXiv:2305.14325), as used by Ri et al. 2025, section 4; docs/papers.md#ri-debate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...config import Recipe
from ...generate.backend import Reply
from ...generate.method import Job, Method
from ...generate.step_prompts import ask_step
from ...generate.threads import (
    Call,
    Thread,
    ask_round,
    candidates,
    open_threads,
    quoted_summary,
)
from ...prompts import PromptTemplate, load_template
from ...records import Message, SummaryRequest
from .sections import DebateSection

STEPS = Path(__file__).parent / "prompts"


@dataclass
class _Debate:
    """The agents that talk to each other, each with the thread that its turns belong to."""

    agents: Sequence[Thread]
    # each agent's last answer, as the backend gave it
    answers: list[Reply] = field(default_factory=list)

    @property
    def request(self) -> SummaryRequest:
        return self.agents[0].request

    @property
    def has_failed(self) -> bool:
        return any(thread.has_failed for thread in self.agents)

    def listed(self, recipe: Recipe, step: str, without: int | None = None) -> str:
        """All last answers as they stand in the prompt of a step, in the order of the agents, or all but that of one place."""
        numbered = [(n, self.answer(n - 1)) for n in range(1, len(self.answers) + 1) if n - 1 != without]
        item, joint = load_template("answer", STEPS / "item"), "\n"
        if (options := recipe.generate.options_as(DebateSection).prompts) and getattr(options, step) is not None:
            item, joint = PromptTemplate("item", options.item), options.join
        item = replace(item, sections=self.agents[0].sections)
        return joint.join(item.fill({"number": str(number)}, {"answer": answer}) for number, answer in numbered)

    def answer(self, place: int) -> str:
        """An agent's last answer."""
        return quoted_summary(self.request, self.answers[place])


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw, each with its turns."""
    options = job.recipe.generate.options_as(DebateSection)
    revise, final = (load_template(name, STEPS) for name in ("revise", "final"))
    threads = open_threads(job)
    debates = [debate for row in threads for debate in _debates(row, options)]
    for number in range(options.rounds + 1):
        _round(job, number, [debate for debate in debates if not debate.has_failed], revise)
    open_debates = [debate for debate in debates if not debate.has_failed]
    if options.final == "final_agent":
        calls = []
        for debate in open_debates:
            thread = debate.agents[0]
            prompt = ask_step(job.recipe, "final", final, thread, own={"answers": debate.listed(job.recipe, "final")})
            calls.append(Call(thread, "final_agent", prompt, thread.sampling))
        ask_round(job.backend, options.rounds + 1, calls)
    else:
        for debate in open_debates:
            # from the last agent to the first, so that of agents with one thread the first has the last word
            for thread, answer in zip(reversed(debate.agents), reversed(debate.answers), strict=True):
                thread.result = answer
    for debate in debates:
        # an agent that answered before another failed has not finished its debate
        failed = next((thread.result for thread in debate.agents if thread.has_failed), None)
        for thread in debate.agents if failed else ():
            thread.result = failed
    return candidates(threads)


def _debates(row: Sequence[Thread], options: DebateSection) -> Iterator[_Debate]:
    """The debates of one request: one for each draw, or one for as many draws of a plan as there are agents."""
    if options.final != "judge":
        for thread in row:
            yield _Debate([thread] * options.agents)
        return
    by_plan: dict[str, list[Thread]] = {}
    for thread in row:
        by_plan.setdefault(thread.draw.name, []).append(thread)
    for plan_threads in by_plan.values():
        for first in range(0, len(plan_threads), options.agents):
            yield _Debate(plan_threads[first : first + options.agents])


def _round(job: Job, number: int, debates: Sequence[_Debate], revise: PromptTemplate) -> None:
    """Ask every agent of every debate once: for a first answer in round 0, for a revised one later."""
    calls = []
    for debate in debates:
        for place, thread in enumerate(debate.agents):
            prompt = _revision(job.recipe, debate, place, revise) if number else debate.request.prompt
            # agents of one thread differ in their seeds; the first of them speaks for it, and begins as zero-shot does
            speaks = thread not in debate.agents[:place]
            calls.append(
                Call(
                    thread,
                    f"agent-{place + 1}",
                    prompt,
                    thread.sampling,
                    is_candidate=speaks,
                    is_first=speaks and number == 0,
                )
            )
    replies = iter(ask_round(job.backend, number, calls))
    for debate in debates:
        debate.answers = [next(replies) for _ in debate.agents]


def _revision(recipe: Recipe, debate: _Debate, place: int, revise: PromptTemplate) -> tuple[Message, ...]:
    """The chat that asks an agent for a revised answer."""
    slots = {
        "answers": debate.listed(recipe, "revise"),
        "others": debate.listed(recipe, "revise", without=place),
        "number": str(place + 1),
    }
    return ask_step(recipe, "revise", revise, debate.agents[place], {"answer": debate.answer(place)}, slots)


DEBATE = Method(summarise, DebateSection, STEPS)
