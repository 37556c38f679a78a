"""The summaries of a study's inputs: asked of a model, made by a rule, or read from a file of another system's.

A finished batch of a model's replies is one line of the stage's journal, so a kill loses the batch in flight alone.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ....config import SummaryColumnsSection, without_speed
from ....corpora.summaries import matched
from ....corpora.summary_columns import USUAL
from ....corpora.summary_entries import entries_of_file
from ....corpora.summary_ids import ID_KEYS, Targets
from ....errors import DataError
from ....generate.backend import Ask, Backend
from ....generate.backends import open_backend
from ....generate.method import seed_from
from ....generate.reply_text import THOUGHT
from ....records import Document, DocumentSet, LeftOut, Record, Text
from ....runfolder.journal import Batches, Journal
from ....runfolder.stages import Receipt, Stage
from ....runfolder.timing import booked
from ....storage import as_given, read_jsonl, write_jsonl
from ....text import has_words
from ....text.digests import digest
from ..recipe import BiasRecipe
from .inputs import BiasInput
from .replies import BY_ORDER, EMPTY, Read, draw_prompt, read_reply
from .summarizer import STAGE, SummaryCounts, simulate, summarizer_name, summarizer_signature

FILE = "summaries.jsonl"
NOT_GIVEN = "not in the file of summaries"

Opener = Callable[[BiasRecipe], Backend]


class Summary(Record):
    """What came of one input: a line of `summaries.jsonl`."""

    input_id: Text
    # None when there is no summary
    text: str | None
    # why there is none
    reason: str | None
    # what was cleaned away, or cut off
    notes: tuple[str, ...] = ()
    # as it came
    raw: str
    seed: int | None = None
    n_prompt_tokens: int = 0


class SummaryBatch(Record):
    """What came of one batch of inputs: a line of the journal."""

    summaries: tuple[Summary, ...]


# of a file of summaries
TARGETS = Targets("input", "inputs", "inputs", (*ID_KEYS, "input_id"))


def open_model(recipe: BiasRecipe) -> Backend:
    """The backend of the recipe's model, loaded."""
    assert recipe.model is not None, "a simulated or given system has no model"
    with booked("loading"):
        return open_backend(recipe.backend, recipe.model, recipe.model.adapter)


def summarise(
    recipe: BiasRecipe, inputs: Sequence[BiasInput], open_engine: Opener = open_model
) -> tuple[list[Summary], Receipt, bool]:
    """One record an input, in their order, with the receipt and whether all was there already.

    Raises:
        DataError: the file of summaries is wrong; all mistakes are listed.
        ModelError: the model cannot be opened.
    """
    is_model = recipe.model is not None
    depends_on = {
        "run": [recipe.name, recipe.seed],
        "inputs": digest([[bias_input.id, bias_input.text] for bias_input in inputs]),
        "summarizer": summarizer_signature(recipe),
        "backend": without_speed(recipe.backend.model_dump(mode="json")) if is_model else None,
        "sampling": recipe.sampling.model_dump(mode="json") if is_model else None,
    }
    stage = Stage(STAGE, recipe.output, depends_on, (FILE,))
    receipt, reused = stage.run(lambda: _work(recipe, stage, inputs, open_engine))
    return read_jsonl(recipe.output / FILE, Summary), receipt, reused


def read_given(path: Path, inputs: Sequence[BiasInput], columns: SummaryColumnsSection = USUAL) -> list[Summary]:
    """The summaries of a file, whole but for thoughts, one record an input; an input without one has the reason.

    Raises:
        DataError: as of `corpora.summaries.read_summaries`.
    """
    sets = {
        bias_input.id: DocumentSet(
            id=bias_input.id, documents=(Document(id=bias_input.original_id, text=bias_input.text),)
        )
        for bias_input in inputs
    }
    with as_given("key 'summaries': "):
        entries = list(entries_of_file(path, sets, columns, TARGETS.keys))
    if entries and all(isinstance(entry, Mapping) and _is_input(entry) for _, entry in entries):
        raise DataError(f"{path}: holds the inputs themselves; summarise each 'text' and give lines of id and summary")
    texts = matched(str(path), entries, sets, columns, targets=TARGETS, allow_missing=True)
    summaries = []
    for bias_input in inputs:
        text = texts.get(bias_input.id)
        if text is None:
            summaries.append(Summary(input_id=bias_input.id, text=None, reason=NOT_GIVEN, raw=""))
            continue
        notes = (*([BY_ORDER] if texts.by_order else []), *([THOUGHT] if bias_input.id in texts.thoughtful else []))
        read = Read(text, None, notes) if has_words(text) else Read(None, EMPTY, notes)
        summaries.append(_summary(bias_input.id, read, texts.raw[bias_input.id]))
    return summaries


def _is_input(entry: Mapping[str, object]) -> bool:
    return "entities" in entry and entry.keys() <= BiasInput.model_fields.keys()


def summary_seed(recipe: BiasRecipe, bias_input: BiasInput) -> int:
    """Seed of an input's summary, from 0 to 2**48 - 1; it depends on study and input alone."""
    return seed_from(recipe.name, recipe.seed, bias_input.id)


def asks_of(recipe: BiasRecipe, inputs: Sequence[BiasInput]) -> list[Ask]:
    """The request to a model for a summary of each input."""
    seeds = [summary_seed(recipe, bias_input) for bias_input in inputs]
    return [
        Ask(draw_prompt(bias_input.text, seed, recipe.instruction), recipe.sampling, seed)
        for bias_input, seed in zip(inputs, seeds, strict=True)
    ]


def _work(recipe: BiasRecipe, stage: Stage, inputs: Sequence[BiasInput], open_engine: Opener) -> SummaryCounts:
    if recipe.summaries is not None:
        summaries = read_given(recipe.summaries, inputs, recipe.summary_columns or USUAL)
    elif recipe.simulated is not None:
        summaries = []
        for bias_input in inputs:
            seed = summary_seed(recipe, bias_input)
            text = simulate(recipe.simulated, bias_input.text, seed)
            summaries.append(Summary(input_id=bias_input.id, text=text, reason=None, raw=text, seed=seed))
    else:
        journal = Journal(stage.journal_path(), SummaryBatch)
        done = range(sum(len(batch.summaries) for batch in journal))
        batches = Batches(inputs, recipe.backend.requests_per_batch, "summaries", stage.progress_path)
        if open_batches := batches.open(done):
            with closing(open_engine(recipe)) as engine:
                for places in batches.counted(open_batches).through(open_batches):
                    journal.append([_batch(recipe, engine, batches.of(places))])
        journal.close()
        summaries = [summary for batch in journal for summary in batch.summaries]
    write_jsonl(recipe.output / FILE, summaries)
    reasons = Counter((summary.reason,) for summary in summaries if summary.reason is not None)
    return SummaryCounts(
        summarizer=summarizer_name(recipe),
        summaries=sum(summary.text is not None for summary in summaries),
        prompt_tokens=sum(summary.n_prompt_tokens for summary in summaries),
        left_out=LeftOut.rows(("reason",), reasons),
    )


def _batch(recipe: BiasRecipe, engine: Backend, inputs: Sequence[BiasInput]) -> SummaryBatch:
    asks = asks_of(recipe, inputs)
    summaries = []
    for bias_input, reply, ask in zip(inputs, engine.complete(asks), asks, strict=True):
        failed = reply.finish_reason == "failed"
        read = Read(None, reply.reason) if failed else read_reply(reply.text, reply.finish_reason)
        summaries.append(_summary(bias_input.id, read, reply.text, ask.seed, reply.n_prompt_tokens))
    return SummaryBatch(summaries=tuple(summaries))


def _summary(input_id: str, read: Read, raw: str, seed: int | None = None, n_prompt_tokens: int = 0) -> Summary:
    return Summary(
        input_id=input_id,
        text=read.text,
        reason=read.reason,
        notes=read.notes,
        raw=raw,
        seed=seed,
        n_prompt_tokens=n_prompt_tokens,
    )
