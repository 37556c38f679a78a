"""Chain of thought in four fixed steps, each a call of its own: key points, a summary of them, a critique, a revision.

A call for each step instead of one long reply: nothing need be found in a text, and no step can be skipped or run into the next.
Source: docs/papers.md#ri-extras.
"""

from pathlib import Path

from ...generate.backend import Reply
from ...generate.method import Job, Method
from ...generate.reply_text import answer_of
from ...generate.threads import Call, Thread, ask_round, candidates, follow_up, going, open_threads
from ...prompts import load_template
from .sections import ChainOfThoughtSection

FOLDER = Path(__file__).parent / "prompts"
# the steps in order: a round each, its role the name of its prompt; and whether what comes is a summary
STEPS = (("points", False), ("summary", True), ("critique", False), ("revise", True))


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw, each with its turns."""
    options = job.recipe.generate.options_as(ChainOfThoughtSection)
    threads = open_threads(job)
    # what each thread has said, by role, as a prompt may quote it
    answers: dict[Thread, dict[str, str]] = {each: {} for each in going(threads)}
    for number, (role, is_summary) in enumerate(STEPS):
        template = load_template(role, FOLDER)
        calls = []
        for thread in going(threads):
            sampling = thread.sampling
            if not is_summary:
                sampling = sampling.model_copy(update={"max_tokens": options.thought_tokens})
            prompt = follow_up(template, thread, answers[thread])
            calls.append(Call(thread, role, prompt, sampling, is_candidate=is_summary))
        for call, reply in zip(calls, ask_round(job.backend, number, calls), strict=True):
            if not call.thread.has_failed:
                answers[call.thread][role] = call.thread.summary() if is_summary else answer_of(reply.text).text
    return candidates(threads)


CHAIN_OF_THOUGHT = Method(summarise, ChainOfThoughtSection, FOLDER)
