"""`evenhand audit`: any summaries against their documents."""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..config import ColumnsSection, SummaryColumnsSection
from ..extras import no_bars, verbosity
from ..text import one_spelling
from . import completion
from .gate import BaselineFile, FailIf, Junit, Markdown, Options, Profile, Strict, read_earlier
from .inputs import columns_option, group_option, labelled, skip_empty_option, summary_columns_option
from .progress import run_with_progress
from .terminal import console, note, say, show, show_page

if TYPE_CHECKING:
    from rich.progress import TaskID

    from ..api.asked import AskedModel
    from ..config import Recipe
    from ..evaluation.audit.build import Progress

# what options are shown under
INPUT, MEASURES, SAID = "Documents and summaries", "Measures", "What is said of them, and where"
EXAMPLE = (
    "Example: evenhand audit --documents reviews --attribute sentiment --summaries even-handed --summaries praising"
)


def _folder(text: str) -> Path:
    if not text:
        raise typer.BadParameter("is empty; name a folder, . for this one")
    return Path(text)


def audit(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    documents: Annotated[
        Path,
        typer.Option(
            rich_help_panel=INPUT,
            help="Document sets: evenhand's JSON lines, coverage-fairness files, those that an importer recognises, or a table "
            "(.csv, .tsv, .parquet, .xlsx) with a row for each document; .gz too. reviews is bundled; importers may have some.",
            autocompletion=completion.documents,
        ),
    ],
    attribute: Annotated[
        list[str],
        typer.Option(
            rich_help_panel=INPUT,
            help="Social attribute of the documents to be fair to, for example sentiment. Repeatable: one page, and one "
            "correction of all tests.",
        ),
    ],
    summaries: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LABEL=]FILE",
            rich_help_panel=INPUT,
            help="One summary of each set: by id, or in the order of the sets; or a folder of evenhand score or of a phase. "
            "Repeatable; the first is what others are tested against. even-handed and praising are bundled, for reviews.",
            autocompletion=completion.summaries,
        ),
    ] = None,
    group: Annotated[list[str] | None, group_option(INPUT)] = None,
    columns: Annotated[ColumnsSection | None, columns_option(INPUT)] = None,
    skip_empty: Annotated[bool, skip_empty_option(INPUT)] = False,
    summary_columns: Annotated[SummaryColumnsSection | None, summary_columns_option(INPUT)] = None,
    units: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LABEL=]FILE",
            rich_help_panel=INPUT,
            help="For coverage, units that somebody split the summaries into: a JSON object, set id -> list of texts. Once for "
            "each --summaries. Default: the entailer's own.",
        ),
    ] = None,
    references: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=INPUT,
            help="Audit the N-th human reference of each set too. Repeatable.",
        ),
    ] = None,
    oracle: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=INPUT,
            help="Audit, in place of summaries, N documents of each set: balanced ones, and ones of a single value. Measures "
            "that do not tell these apart tell nothing of these documents.",
        ),
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME|FILE.py:FUNCTION",
            autocompletion=completion.measures,
            rich_help_panel=MEASURES,
            help="value-shares (BUR, UER, AUC, SOF), coverage (Equal Coverage, Coverage Parity), a function of yours, or what "
            "plug-ins and packages bring: of evenhand's own order (room by place), opinions (needs networkx), tone (how it "
            "speaks of each value), word-lists (words of men and women, or of --word-lists). Default: all before tone.",
        ),
    ] = None,
    matcher: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE.yaml",
            autocompletion=completion.matchers,
            rich_help_panel=MEASURES,
            help="For value-shares, order. ngram: needs NLTK's data; words: runs anywhere; bertscore, bartscore: need a model; "
            "or a YAML file with the keys of a recipe's matcher. Default: ngram where NLTK's data is found (evenhand models "
            "fetch nltk gets it), else words, and says so.",
        ),
    ] = None,
    entailer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE.yaml",
            autocompletion=completion.entailers,
            rich_help_panel=MEASURES,
            help="For coverage. words: runs anywhere; encoder: needs a sentence encoder; nli: needs a classifier; or a YAML file "
            "with the keys of a recipe's entailer, for units of a language model (units: llm). Default: encoder where its "
            "embedded model is installed and the documents have at most 20,000 words in Latin letters, else words.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LABEL=]MODEL",
            rich_help_panel=INPUT,
            help="Audit a model: each set is summarised by it first, greedily, in about 100 words, and kept in OUT/models, "
            "also when it is interrupted. NAME@http://HOST/v1 of a server, a folder, an id of a hub, embedded:NAME, or a "
            "recipe.yaml that says how it is asked. Repeatable. matcher=NAME and entailer=NAME are the models of those "
            "measures. Default: the published ones.",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            metavar="V,V",
            rich_help_panel=INPUT,
            help="Declared values in the order of every table; repeat the option, one value each, where one has a comma. "
            "Default: the file's own.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE=NAME",
            rich_help_panel=SAID,
            help="What a value is called in sentences, tables and pictures: --label '1=one star'. Repeatable. Default: the "
            "value; a bare number after its attribute.",
        ),
    ] = None,
    mode: Annotated[
        Literal["drop_zero", "released", "paper"],
        typer.Option(
            rich_help_panel=MEASURES,
            help="drop_zero: sound; released: as published tables were made; paper: as the papers are written.",
        ),
    ] = "drop_zero",
    tau: Annotated[
        float,
        typer.Option(min=0, max=1, rich_help_panel=MEASURES, help="Share of its due that a value may not fall to."),
    ] = 0.8,
    target: Annotated[
        str,
        typer.Option(
            rich_help_panel=MEASURES,
            help="What is due: ratio (the sources' shares), equal, or weights: pos=0.5,neg=0.5.",
        ),
    ] = "ratio",
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            rich_help_panel=MEASURES,
            help="An option of a measure that a package brings. Repeatable.",
        ),
    ] = None,
    least_group: Annotated[
        int,
        typer.Option(
            min=1, rich_help_panel=SAID, help="Values in fewer scored sets are marked few and get no verdict."
        ),
    ] = 5,
    examples: Annotated[
        int, typer.Option(min=0, rich_help_panel=SAID, help="Most unfair summaries shown by each family.")
    ] = 5,
    limit: Annotated[
        int | None, typer.Option(min=1, rich_help_panel=INPUT, help="Audit only this many sets, drawn by the seed.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, rich_help_panel=SAID, help="Of that draw and of the tests.")] = 0,
    resamples: Annotated[
        int,
        typer.Option(
            min=100,
            rich_help_panel=SAID,
            help="Draws of intervals; systems are exchanged 20,000 times or more, for tests.",
        ),
    ] = 1000,
    level: Annotated[
        float,
        typer.Option(
            min=0.5, max=0.999, rich_help_panel=SAID, help="Of the intervals; 1 - level is that of the tests."
        ),
    ] = 0.95,
    allow_missing: Annotated[
        bool,
        typer.Option(
            "--allow-missing",
            rich_help_panel=INPUT,
            help="Leave sets without a summary out, counted, instead of refusing.",
        ),
    ] = False,
    fail_if: FailIf = None,
    profile: Profile = None,
    baseline: BaselineFile = None,
    strict: Strict = False,
    junit: Junit = None,
    markdown: Markdown = None,
    out: Annotated[
        Path,
        typer.Option(
            parser=_folder,
            metavar="FOLDER",
            rich_help_panel=SAID,
            help="Folder for index.html, details.html, audit.json, audit.md and tables/.",
        ),
    ] = Path("audit"),
    **plugin_options: Any,
) -> None:
    """Audit any summaries: who gets less room than their documents, how sure, in which.

    Start with what is bundled, as in the example below: two made-up systems, of which one leans to praise. To audit a
    model and not a file, give --model in place of --summaries.

    Runs anywhere: opinions, word-lists, order, value-shares with matcher words, coverage with entailer words.
    Needs NLTK's data, no model: matcher ngram, the one of published numbers.
    Needs a model: matchers bertscore and bartscore (with Proportional Representation), entailers encoder and nli.

    Languages: words and opinions read every script, Chinese, Japanese, Thai, Lao, Khmer and Burmese as pairs of characters.
    ngram, stop words and word-lists are made for English.
    """
    from ..api.asked import asked_models, write_summaries
    from ..corpora.summary_columns import columns_of
    from ..evaluation.audit.input import AuditFiles, SystemFiles, read_input
    from ..evaluation.audit.named import AUDIT_PAGE
    from ..evaluation.audit.options import arrangements, for_measures, read_option_entries
    from ..evaluation.audit.page import page
    from ..evaluation.audit.run import ask, check_before, run_audit
    from ..evaluation.gate.calibrated import refuse_llm_units
    from ..evaluation.gate.decide import Gating
    from ..evaluation.pages import terminal
    from ..evaluation.pages.write import PAGE

    gate = Options(fail_if, profile, baseline, junit, markdown, strict)
    limits = gate.read(AUDIT_PAGE)
    earlier = read_earlier(limits, AUDIT_PAGE)
    of_measures, of_systems = for_measures(model or (), matcher, entailer)
    models = asked_models(of_systems, out) if of_systems else []
    options = {
        "measures": measures, "matcher": matcher, "entailer": entailer, "models": of_measures or None, "mode": mode, "tau": tau,
        "target": target, "least_group": least_group,
        "n_examples": examples, "level": level, "resamples": resamples, "seed": seed,
    }  # fmt: skip
    readers = {name: arrangement.read for name, (_, arrangement) in arrangements().items()}
    files = {name: entries for name in readers if (entries := plugin_options.pop(name, None))}
    options |= {name: value for name, value in plugin_options.items() if value is not None}
    options |= read_option_entries(option or (), options | plugin_options)
    request = ask(options, [*(["units"] if units else []), *files])
    wanted = AuditFiles(
        documents=documents,
        attribute=attribute[0],
        other_attributes=tuple(attribute[1:]),
        group=tuple(group or ()),
        columns=columns,
        skip_empty=skip_empty,
        summaries=(
            *(labelled(entry, "--summaries") for entry in summaries or []),
            *((asked.label, asked.summaries) for asked in models),
        ),
        summary_columns=columns_of(summary_columns),
        asked=tuple(asked.label for asked in models),
        units=tuple(labelled(entry, "--units") for entry in units or []),
        of_families=tuple(
            SystemFiles(tuple(labelled(entry, f"--{name}") for entry in entries), readers[name])
            for name, entries in files.items()
        ),
        references=tuple(references or ()),
        oracle=oracle,
        values=_values(values or []),
        labels=tuple(label or ()),
        allow_missing=allow_missing,
        limit=limit,
        seed=seed,
    )
    refuse_llm_units(limits, is_by_model=request.entailer is not None and request.entailer.units == "llm")
    if models:
        write_summaries(models, check_before(request, lambda: read_input(wanted, is_before=True), out), out, _write_one)
    with _progress() as progress:
        report = run_audit(
            request,
            lambda: read_input(wanted),
            out,
            say=say,
            gating=Gating(AUDIT_PAGE, limits, earlier),
            progress=progress,
        )
    show_page(page(report))
    # a whole page has them where it says how it was made
    for hint in () if verbosity() else report.hints:
        show(terminal.RichText(hint))
    remark = "" if verbosity() else " (every measure, tests and the most unfair summaries; -v prints the page here)"
    say(f"audit: {out / PAGE}{remark}")
    gate.end(report.gate, "audit")


def _write_one(model: "AskedModel", recipe: "Recipe", cost: str) -> None:
    note(cost)
    run_with_progress(recipe, verbs=("generate",), name=model.label)


def plugin_options() -> dict[str, list[inspect.Parameter]]:
    """Options that measures bring, by the option after which each stands, under whose heading it is."""
    from ..evaluation.audit.options import command_options

    own = inspect.signature(audit).parameters
    options: dict[str, list[inspect.Parameter]] = {}
    for option in command_options(own.keys()):
        (before,) = (info for info in own[option.after].annotation.__metadata__)
        # a flag has no name for its opposite
        names = (f"--{option.name.replace('_', '-')}",) if option.type is bool else ()
        info = typer.Option(
            *names,
            help=option.help,
            metavar=option.metavar,
            show_default=option.default,
            rich_help_panel=before.rich_help_panel,
        )
        kind: Any = option.type
        annotation: Any = Annotated[kind, info]
        parameter = inspect.Parameter(
            option.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=False if option.type is bool else None,
            annotation=annotation,
        )
        options.setdefault(option.after, []).append(parameter)
    return options


@contextmanager
def _progress() -> "Iterator[Progress]":
    """A bar for each family in a terminal, elsewhere a line."""
    from rich.progress import Progress as Bars

    from ..evaluation.pages.words import counted

    has_bars = console().is_terminal and not no_bars()
    with Bars(console=console(), transient=True, disable=not has_bars) as bars:
        tasks: dict[str, TaskID] = {}

        def step(family: str, done: int, total: int) -> None:
            if family not in tasks:
                tasks[family] = bars.add_task(family, total=total)
                if not has_bars:
                    note(f"measuring {family}: {counted(total, 'document set')}")
            bars.update(tasks[family], completed=done)

        yield step


def _values(entries: Sequence[str]) -> tuple[str, ...]:
    """A single list with commas, or one value for each time that the option is given."""
    parts = entries[0].split(",") if len(entries) == 1 else entries
    return tuple(filter(None, map(one_spelling, parts)))
