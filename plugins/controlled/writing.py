"""Single sentences written by a model: asked for until they keep their form, a few times at most.

A text that never keeps it is left out, with what was wrong each time; nothing is repaired or put in its place. The texts of a
step go to the engine in fixed batches, and a finished batch is one line of the step's journal.
"""

from collections.abc import Callable, Sequence

from ...config import without_speed
from ...generate.backend import Ask, Backend, Reply
from ...generate.backends import backend_signature
from ...generate.contract import UNCOUNTED, check_output
from ...generate.method import seed_from
from ...generate.reply_text import PREAMBLE, THOUGHT, TRAILING
from ...records import Contract, Message, Record, Text
from ...runfolder.journal import Batches, Journal
from ...runfolder.stages import Counts, Receipt, Stage
from ...storage import read_jsonl, write_jsonl
from ...text import words
from ...text.digests import digest
from .recipe import ControlledRecipe

# what the contract check cleans away and what does no harm
HARMLESS = frozenset({THOUGHT, PREAMBLE, TRAILING, UNCOUNTED})
# what stands before each point that a prompt lists
LIST_ITEM = "\n- "


class Task(Record):
    """A sentence to be written: a line of `<step>-prompts.jsonl`."""

    id: Text
    article_id: Text
    # the article's side, "all" when it has none
    side: str
    prompt: tuple[Message, ...]
    # words that the sentence begins with
    opening: str
    # whether the sentence may stand in the prompt as it is
    may_copy: bool = False


class Written(Record):
    """What came of a task: a line of `<step>.jsonl`."""

    id: Text
    article_id: Text
    side: str
    # None when no attempt kept the form
    text: str | None
    # what was wrong with each attempt that was not taken, in order
    issues: tuple[str, ...]
    # the last reply as it came
    raw: str
    # of the last attempt
    seed: int
    attempts: int
    model: str
    n_prompt_tokens: int


class WrittenBatch(Record):
    """What came of one batch of tasks: a line of the journal."""

    written: tuple[Written, ...]


class WrittenCounts(Counts):
    """Tasks of a step, those that were written, and what they took."""

    asked: int
    written: int
    attempts: int
    prompt_tokens: int


def write_step(
    recipe: ControlledRecipe, step: str, tasks: Sequence[Task], engine: Callable[[], Backend]
) -> tuple[list[Written], Receipt]:
    """The texts of a step, in the order of its tasks; what was written already is read from the disk.

    Args:
        recipe: model, sampling, attempts and folder.
        step: name of the step and of its files.
        tasks: what is to be written.
        engine: the backend, opened by the first call; not called when nothing is left to write.
    """
    inputs = {
        "run": [recipe.name, recipe.seed, step],
        "tasks": digest([task.model_dump(mode="json") for task in tasks]),
        "backend": without_speed(recipe.backend.model_dump(mode="json")),
        "model": backend_signature(recipe.backend, recipe.model, recipe.model.adapter),
        "sampling": recipe.sampling.model_dump(mode="json"),
        "attempts": recipe.attempts,
    }
    names = (f"{step}-prompts.jsonl", f"{step}.jsonl")
    stage = Stage(step, recipe.output, inputs, names)
    receipt, _ = stage.run(lambda: _work(recipe, stage, tasks, engine))
    return read_jsonl(recipe.output / names[1], Written), receipt


def _work(
    recipe: ControlledRecipe, stage: Stage, tasks: Sequence[Task], engine: Callable[[], Backend]
) -> WrittenCounts:
    prompts, texts = (stage.folder / name for name in stage.outputs)
    write_jsonl(prompts, tasks)
    journal = Journal(stage.journal_path(), WrittenBatch)
    done = range(sum(len(batch.written) for batch in journal))
    batches = Batches(tasks, recipe.backend.requests_per_batch, "texts", stage.progress_path)
    if open_batches := batches.open(done):
        # other steps ask the same engine, so it stays open
        backend = engine()
        for places in batches.counted(open_batches).through(open_batches):
            journal.append([WrittenBatch(written=tuple(write_texts(backend, batches.of(places), recipe)))])
    written = [sentence for batch in journal for sentence in batch.written]
    write_jsonl(texts, written)
    journal.close()
    return WrittenCounts(
        asked=len(written),
        written=sum(sentence.text is not None for sentence in written),
        attempts=sum(sentence.attempts for sentence in written),
        prompt_tokens=sum(sentence.n_prompt_tokens * sentence.attempts for sentence in written),
    )


def write_texts(backend: Backend, tasks: Sequence[Task], recipe: ControlledRecipe) -> list[Written]:
    """The sentence of each task, in order; tasks whose reply breaks the form are asked again together, with new seeds."""
    sentences: dict[str, Written] = {}
    issues: dict[str, tuple[str, ...]] = {task.id: () for task in tasks}
    pending = list(tasks)
    for attempt in range(1, recipe.attempts + 1):
        if not pending:
            break
        asks = asks_of(recipe, pending, attempt)
        again = []
        for task, ask, reply in zip(pending, asks, backend.complete(asks), strict=True):
            text, issue = read_sentence(task, reply)
            issues[task.id] += (issue,) if issue else ()
            sentences[task.id] = Written(
                id=task.id,
                article_id=task.article_id,
                side=task.side,
                text=text,
                issues=issues[task.id],
                raw=reply.text,
                seed=ask.seed,
                attempts=attempt,
                model=backend.signature,
                n_prompt_tokens=reply.n_prompt_tokens,
            )
            # what was refused would be refused again
            if text is None and reply.finish_reason != "failed":
                again.append(task)
        pending = again
    return [sentences[task.id] for task in tasks]


def asks_of(recipe: ControlledRecipe, tasks: Sequence[Task], attempt: int) -> list[Ask]:
    """The request to a model for each task at an attempt, counted from 1."""
    return [Ask(task.prompt, recipe.sampling, task_seed(recipe, task, attempt)) for task in tasks]


def task_seed(recipe: ControlledRecipe, task: Task, attempt: int) -> int:
    """Seed of an attempt, from 0 to 2**48 - 1; it depends on run, prompt and attempt alone."""
    prompt = [message.model_dump(mode="json") for message in task.prompt]
    return seed_from(recipe.name, recipe.seed, task.id, prompt, attempt)


def read_sentence(task: Task, reply: Reply) -> tuple[str | None, str | None]:
    """The sentence of a reply, cleaned of what stands around it; or None and what is wrong with it.

    It must be one sentence that begins with the task's opening and says something behind it, was not cut off by the limit of
    tokens, and is not copied from the prompt: a worked example, the statement to be turned, one of several points to be merged.
    """
    if reply.finish_reason == "failed":
        return None, reply.reason
    checked = check_output(Contract(opening=task.opening, sentences=1), reply.text)
    wrong = [issue for issue in checked.issues if issue not in HARMLESS]
    if wrong:
        return None, wrong[0]
    if reply.finish_reason == "length" and TRAILING not in checked.issues:
        return None, "cut_off"
    if not task.may_copy and is_copy(checked.text, task.prompt[-1].content):
        return None, "copied"
    return checked.text, None


def is_copy(text: str, prompt: str) -> bool:
    """Whether the words of the text stand in the prompt unchanged; several points of a list in a row are not a copy of one."""
    wanted = f" {' '.join(words(text))} "
    return any(wanted in f" {' '.join(words(part))} " for part in prompt.split(LIST_ITEM))
