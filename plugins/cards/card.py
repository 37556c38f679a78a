"""The text of a card: metadata for the hub, blocks as Markdown, and between them the sections that the publisher writes.

What the publisher writes stays when the card is written anew: those sections, the licence, tags, and whatever metadata evenhand
has nothing to say of.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ...config.plain_yaml import NotYamlError, parse_yaml
from ...errors import DataError
from ...evaluation.pages.blocks import Facts
from ...evaluation.pages.cells import Text
from ...evaluation.pages.markdown import fragment, plain
from ...evaluation.pages.words import ALL, joined
from ...evaluation.report.systems.systems import SYSTEMS, TRAINED
from ...extras import need
from ...runfolder.phases import PAIRS
from ...storage import read_text, write_text
from .contents import UNKNOWN, data_blocks, model_blocks
from .files import CARDS
from .own_text import mistake
from .run import FinishedRun

CardKind = Literal["model", "data"]
# first line after the metadata; raised when the same run gives other text
MARK = "<!-- evenhand {kind} card, form 3: `evenhand run verify` holds it to its run -->"
# what it was in form 2, whose cards have the publisher's sections just so
_EARLIER = MARK.replace("form 3", "form 2").replace("run verify", "verify")
_MARK = "|".join(map(re.escape, (MARK, _EARLIER))).replace(re.escape("{kind}"), "(?:model|data)")
PARTS = re.compile(rf"---\n(.*?)\n---\n\s*({_MARK})\n(.*)", re.DOTALL)
# a section of the publisher's
BEGIN = "<!-- yours: {name} (kept when the card is written anew, and not checked) -->"
END = "<!-- end of yours -->"
SECTIONS = {
    "Intended use": "The publisher has not written here what this is meant for.",
    "Limitations": "The publisher has not written anything here.",
}
_BEGIN = re.escape(BEGIN).replace(re.escape("{name}"), f"({'|'.join(SECTIONS)})")
OWN = re.compile(rf"^{_BEGIN}\n(.*?)\n{re.escape(END)}$", re.DOTALL | re.MULTILINE)
# keys that the hub's library takes for something else
RESERVED = {"self", "ignore_metadata_errors"}
# what evenhand always writes, whether or not there is something to write
RESULTS = "model-index"
TAGS = {"model": ["dpo", "evenhand", "lora", "trl"], "data": ["dpo", "evenhand", "preference", "trl"]}
# pairs of a data set on the hub, by size
SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}


@dataclass(frozen=True)
class Card:
    """A card as it was read; without a file, one in which the publisher has said nothing."""

    kind: CardKind
    # all that stands there
    metadata: Mapping[str, Any] = field(default_factory=dict)
    # the publisher's, by heading
    sections: Mapping[str, str] = field(default_factory=lambda: SECTIONS)
    # without what stands in those sections
    lines: Sequence[str] = ()

    @property
    def licence(self) -> str:
        """As the publisher named it."""
        return str(self.metadata.get("license", UNKNOWN))

    @property
    def base(self) -> str | None:
        """What the publisher calls a base model that the run had in a folder; not what an earlier card said by itself."""
        named = str(self.metadata.get("base_model", ""))
        return None if fragment([Facts((("base model", Text(named)),))]) in self.lines else named or None


def write_cards(run: FinishedRun, licences: Mapping[CardKind, str | None]) -> list[Path]:
    """Write the cards of a run that has something for them: the adapter always, the pairs where the run made them.

    Raises:
        DataError: a file with the name of a card is something else.
        StorageError: a card cannot be written.
    """
    texts = {}
    for kind, licence in licences.items():
        if kind == "model" or run.n_pairs:
            path = run.folder / CARDS / f"{kind}.md"
            earlier = read_card(path) if path.exists() else Card(kind)
            metadata = {"license": licence} if licence else {}
            texts[path] = card_text(run, replace(earlier, metadata={**earlier.metadata, **metadata}))
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)


def card_text(run: FinishedRun, earlier: Card) -> str:
    """The card of a run's adapter, or of its pairs, with what the publisher has said."""
    is_model = earlier.kind == "model"
    first, last = model_blocks(run, earlier.licence, earlier.base) if is_model else data_blocks(run, earlier.licence)
    sections = (f"## {name}\n\n{BEGIN.format(name=name)}\n{text}\n{END}" for name, text in earlier.sections.items())
    body = [
        MARK.format(kind=earlier.kind),
        f"# {plain(_title(run, earlier.kind))}",
        fragment(first),
        *sections,
        fragment(last),
    ]
    hub = need("huggingface_hub", "a card")
    card = hub.ModelCard if is_model else hub.DatasetCard
    text = "\n\n".join([f"---\n{_metadata(hub, run, earlier).to_yaml()}\n---", *body])
    # which reads the metadata as the hub will
    return f"{str(card(text)).rstrip()}\n"


def read_card(path: Path) -> Card:
    """A card of evenhand's.

    Raises:
        DataError: it is something else, or its metadata cannot be read.
        StorageError: it cannot be read.
    """
    return parse_card(path, read_text(path))


def parse_card(path: Path, text: str) -> Card:
    """The card that a text is; `path` is where it comes from. Raises what `read_card` does of a file that can be read."""
    parts = PARTS.fullmatch(text)
    if parts is None:
        raise DataError(f"{path}: is not a card of this version of evenhand; `evenhand run card RUN` writes one")
    try:
        metadata = parse_yaml(parts[1])
    except NotYamlError as error:
        raise DataError(f"{path}:{error.line + 1}: metadata {error}") from error
    if not isinstance(metadata, dict):
        raise DataError(f"{path}: its metadata are not keys and values")
    if reserved := sorted(RESERVED & metadata.keys()):
        raise DataError(f"{path}: its metadata have the key {reserved[0]!r}, which the hub cannot read; take it away")
    if not isinstance(metadata.get("tags", []), list):
        raise DataError(f"{path}: its metadata have tags that are not a list; write one tag a line, each after '- '")
    kind: CardKind = "model" if " model card" in parts[2] else "data"
    sections = OWN.findall(parts[3])
    if [name for name, _ in sections] != list(SECTIONS):
        raise DataError(
            f"{path}: the lines around the sections {joined(list(SECTIONS))} that begin with '<!-- yours' and '<!-- end' are "
            "not as they were written; put them back, or move the file away"
        )
    for name, content in sections:
        if wrong := mistake(content):
            raise DataError(f"{path}: in the section {name!r} {wrong}")
    lines = OWN.sub(lambda match: f"<!-- yours: {match[1]} -->", parts[3]).splitlines()
    return Card(kind, metadata, dict(sections), lines)


def _title(run: FinishedRun, kind: CardKind) -> str:
    return run.report.name if kind == "model" else f"{run.report.name}: preference pairs"


def _metadata(hub: Any, run: FinishedRun, earlier: Card) -> Any:
    known: dict[str, Any] = {"license": earlier.licence, "tags": earlier.metadata.get("tags", TAGS[earlier.kind])}
    if earlier.kind == "model":
        known |= {"library_name": "peft", "pipeline_tag": "summarization"}
        known |= {"base_model": run.base or earlier.base, "model_name": run.report.name}
        known |= {"eval_results": list(_results(hub, run)) or None}
    else:
        size = next((name for limit, name in SIZES.items() if run.n_pairs < limit), "n>1M")
        files = [{"split": name.replace("-", "_"), "path": f"{name}/{PAIRS}"} for name in run.rounds]
        known |= {
            "pretty_name": _title(run, earlier.kind),
            "task_categories": ["summarization"],
            "size_categories": [size],
        }
        known |= {"configs": [{"config_name": "default", "data_files": files}]}
    further = {key: value for key, value in earlier.metadata.items() if key not in {*known, RESULTS}}
    return (hub.ModelCardData if earlier.kind == "model" else hub.DatasetCardData)(**known, **further)


def _results(hub: Any, run: FinishedRun) -> Iterator[Any]:
    """The trained model's mean scores, of one draw, by the judges that were not trained on, by side, with their intervals."""
    corpus = Path(run.recipe["corpus"]["path"]).stem
    evaluating = {judge.name: judge for judge in run.report.judges if judge.role != "reward"}
    for score in run.report.scores:
        if score.measure in evaluating and score.system == SYSTEMS[TRAINED][0] and score.value is not None:
            side = score.side or ALL
            about = {
                "system": score.system, "side": side, "better": evaluating[score.measure].better,
                "low": score.low, "high": score.high, "level": run.report.bootstrap.level, "document_sets": score.n_sets,
                "signature": evaluating[score.measure].signature,
            }  # fmt: skip
            yield hub.EvalResult(
                task_type="summarization",
                dataset_type=corpus,
                dataset_name=corpus,
                dataset_split="test",
                metric_type=score.measure,
                metric_name=f"{score.measure}, {score.system}, {side}",
                metric_value=score.value,
                metric_args=about,
            )
