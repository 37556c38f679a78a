"""Self-refine: a summary, then rounds of feedback on it and revision in the light of the feedback.

Round 0 is the zero-shot answer. Each later round makes two calls of the same model, feedback and refine; the candidate is the
last round's summary. Every round's replies are kept in turns.jsonl, so one run tells all numbers of rounds up to its own.
Source: Madaan et al. 2023 (arXiv:2303.17651), as used by Ri et al. 2025, section 4; docs/papers.md#ri-self-refine.
"""

from pathlib import Path

from ...generate.backend import Reply
from ...generate.method import Job, Method
from ...generate.reply_text import answer_of
from ...generate.step_prompts import ask_step
from ...generate.threads import (
    Call,
    ask_round,
    candidates,
    first_answers,
    going,
    open_threads,
)
from ...prompts import load_template
from .sections import SelfRefineSection

STEPS = Path(__file__).parent / "prompts"


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw, each with its turns."""
    options = job.recipe.generate.options_as(SelfRefineSection)
    feedback, feedback_all, refine = (load_template(name, STEPS) for name in ("feedback", "feedback-all", "refine"))
    threads = open_threads(job)
    first_answers(job.backend, going(threads))
    for number in range(1, options.rounds + 1):
        calls = []
        for thread in going(threads):
            template = feedback if thread.request.perspective else feedback_all
            prompt = ask_step(job.recipe, "feedback", template, thread, {"summary": thread.summary()})
            sampling = thread.sampling.model_copy(update={"max_tokens": options.feedback_tokens})
            calls.append(Call(thread, "feedback", prompt, sampling, is_candidate=False))
        replies = ask_round(job.backend, number, calls)
        thread_replies = [
            (call.thread, reply) for call, reply in zip(calls, replies, strict=True) if not call.thread.has_failed
        ]
        calls = []
        for thread, reply in thread_replies:
            texts = {"summary": thread.summary(), "feedback": answer_of(reply.text).text}
            prompt = ask_step(job.recipe, "refine", refine, thread, texts)
            calls.append(Call(thread, "refine", prompt, thread.sampling))
        ask_round(job.backend, number, calls)
    return candidates(threads)


SELF_REFINE = Method(summarise, SelfRefineSection, STEPS)
