"""How the adapter was asked: prompt, sampling plans, the form asked for, and one example; all of the run's own files."""

from collections.abc import Iterator

from ...evaluation.pages.blocks import Block, Code, Facts, Heading, Prose
from ...evaluation.pages.cells import Text
from ...evaluation.pages.words import counted
from ...records import SummaryRequest
from ...runfolder.phases import REQUESTS
from ...storage import iter_jsonl
from ...text import n_words
from .run import FinishedRun

# the phase whose requests every run has
TEST = "evaluation/base"
# values that change nothing
NEUTRAL: dict[str, object] = {"top_k": 0, "min_p": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
# words of a message that are shown where its documents cannot be told from the rest
MOST_WORDS = 150


def usage(run: FinishedRun) -> Iterator[Block]:
    """The section of the model card; an adapter answers best what it was trained to answer."""
    yield Heading("How to ask it", note=f"the recipe in report/report.json, {TEST}/{REQUESTS}")
    examples = run.report.examples
    example = examples.examples[-1] if examples and examples.examples else None
    request = _request(run, example.request_id if example else None)
    if request:
        yield Prose("The prompt, with each document\u2019s place named in place of its text:")
        yield Code(
            "\n".join(f"[{message.role}]\n{_without_documents(message.content, request)}" for message in request.prompt)
        )
    plans = run.recipe["generate"]["plans"]
    task = {key: value for key, value in run.recipe["task"].items() if value not in (None, "", [], {}, False)}
    yield Facts(
        (
            *((f"sampling plan {name}", Text(_settings(plan))) for name, plan in plans.items()),
            ("asked form", Text(_settings(task))),
        )
    )
    if example:
        summary = next((summary for summary in reversed(example.summaries)), None)
        if summary:
            yield Prose(
                f"{example.topic}, {example.side}: {_shortened(summary.text)}", head=f"One answer ({summary.system})."
            )


def _request(run: FinishedRun, request_id: str | None) -> SummaryRequest | None:
    path = run.folder / TEST / REQUESTS
    if not path.is_file():
        return None
    requests = iter_jsonl(path, SummaryRequest)
    return next((request for request in requests if request_id in (None, request.id)), None)


def _without_documents(text: str, request: SummaryRequest) -> str:
    for place, document in enumerate(request.document_set.documents, start=1):
        named = ", ".join(document.attributes.values())
        text = text.replace(
            document.text,
            f"\u2039document {place}{f', {named}' if named else ''}: {counted(n_words(document.text), 'word')}\u203a",
        )
    return _shortened(text)


def _shortened(text: str) -> str:
    words = text.split(" ")
    return text if len(words) <= MOST_WORDS else f"{' '.join(words[:MOST_WORDS])} [...]"


def _settings(section: dict[str, object]) -> str:
    settings = (f"{key} {value}" for key, value in section.items() if value is not None and NEUTRAL.get(key) != value)
    return "; ".join(settings) or "none"
