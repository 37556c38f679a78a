"""`evenhand bias-study`: does a summarizer treat people of all groups alike? Measured on inputs that differ in nothing else."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...cli import completion
from ...cli.door import SUMMARIES, Verb
from ...cli.estimate import print_asked
from ...cli.inputs import SummaryColumns, overrides_option
from ...cli.progress import watched
from ...cli.terminal import note, say, show_page, summary
from ...text import some_of
from .recipe import BiasRecipe, load_bias

if TYPE_CHECKING:
    from .study.inputs import Inputs

EXAMPLE = "Example: evenhand bias-study recipes/bias/simulated.yaml --dry-run"


def bias_study(
    recipe: Annotated[
        Path,
        typer.Argument(
            metavar="RECIPE",
            help="What to study, for example recipes/bias/simulated.yaml.",
            autocompletion=completion.recipes,
        ),
    ],
    set_: Annotated[
        list[str] | None,
        overrides_option("Change a key: --set simulated=sexist. Repeatable."),
    ] = None,
    summaries: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            help="Measure another system's summaries: a file of summaries as audit takes it, by the ids of inputs.jsonl. Takes "
            "the place of the recipe's model.",
        ),
    ] = None,
    summary_columns: SummaryColumns = None,
    inputs_only: Annotated[
        bool, typer.Option("--inputs-only", help="Write inputs.jsonl for another system to summarise, and stop.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show how many summaries are made; do nothing.")] = False,
) -> None:
    """Whether a summarizer treats men and women, or Black- and white-coded names, alike.

    Who is kept, who is invented? The same documents are summarised with other names and genders.

    Needs a model to summarise (or --summaries), spaCy to find persons and a sentence encoder.

    With --set measures.persons=known --set measures.encoder=null it runs anywhere.
    """
    changes = list(set_ or [])
    if summaries is not None:
        # quoted, because a value is read as YAML and a file's name may hold anything
        changes += [
            f"summaries={json.dumps(str(summaries), ensure_ascii=False)}",
            "model=null",
            "simulated=null",
            "instruction=null",
        ]
    if summary_columns is not None:
        changes.append(f"summary_columns={summary_columns.model_dump_json()}")
    loaded = load_bias(recipe, changes)
    if dry_run:
        _show_expected(loaded)
        return
    from .study import bias_study as run
    from .study import page, write_inputs

    if inputs_only:
        inputs, _, _ = write_inputs(loaded)
        _say_left_out(inputs)
        say(f"{loaded.output / 'inputs.jsonl'}: {len(inputs.inputs)} inputs; summarise each 'text' into")
        say('lines of {"id": ..., "summary": ...}, then: evenhand bias-study RECIPE --summaries FILE')
        return
    with watched("bias-study", loaded.output):
        study = run(loaded)
    for stage, receipt in study.receipts.items():
        note(summary(stage, receipt, stage in study.reused))
    show_page(page(study.report))
    say(f"report: {study.page}")


def _say_left_out(inputs: "Inputs") -> None:
    from ...evaluation.pages.words import counted

    for reason, documents in inputs.dropped.items():
        say(f"left out: {counted(len(documents), 'document')} ({some_of(documents)}): {reason}")


def _show_expected(loaded: BiasRecipe) -> None:
    from ...config.model import LanguageModel
    from .study import count_by_design, make_inputs
    from .study.summarise import asks_of

    inputs = make_inputs(loaded)
    for design, count in count_by_design(inputs).items():
        say(f"{design:12} {count:8,} summaries")
    _say_left_out(inputs)
    documents = len({bias_input.original_id for bias_input in inputs.inputs})
    say(f"{documents} documents, {loaded.inputs.assignments} assignments each, setting {loaded.inputs.setting}")
    if loaded.model is not None:
        print_asked("summaries", LanguageModel(loaded.model, loaded.backend), asks_of(loaded, inputs.inputs))
    say(f"output: {loaded.output}")


BIAS_STUDY = Verb(bias_study, SUMMARIES, EXAMPLE, recipe=BiasRecipe)
