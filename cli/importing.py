"""`evenhand import`: somebody else's data becomes document sets, one JSON object a line."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..corpora.importers import IMPORTERS, Importer
from ..errors import PluginError
from . import completion
from .door import Verb, refusal
from .inputs import Group, SkipEmpty
from .set_files import File, Force, Out, Split, reading, say_left_out, write_sets
from .terminal import say
from .verbs import Verbs

if TYPE_CHECKING:
    from ..records import DocumentSet

app = Verbs(
    help="Turn tables and somebody else's data into document sets.\n\nWhat was repaired or left out is counted."
    " There are tables of your own, the formats that are named here, and any sets in another order.",
    epilog="Example: evenhand import table docs.csv --set topic --text text --attribute side --out docs.jsonl",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Attribute = Annotated[str | None, typer.Option(help="Keep this social attribute alone. Default: all.")]
# values of an attribute that are named with their documents
MOST_VALUES = 8


def table(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    file: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, Parquet, .xlsx or JSON lines with a row for each document; .gz is unpacked."),
    ],
    attribute: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="A social attribute of the document. Repeatable.")
    ],
    out: Out,
    set_: Annotated[
        str, typer.Option("--set", metavar="COLUMN", help="Which set the document belongs to.", show_default=True)
    ] = "set",
    text: Annotated[str, typer.Option(metavar="COLUMN", help="The document's text.", show_default=True)] = "text",
    group: Group = None,
    topic: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What the set is about, for prompts; may be the column of --set."),
    ] = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="The document's id. Default: numbers.")
    ] = None,
    split_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Split of each set, where the table has it.")
    ] = None,
    split: Split = None,
    skip_empty: SkipEmpty = False,
    force: Force = False,
) -> None:
    """Any table of documents: a row is a document, and rows of one set are summarised together."""
    from ..config import ColumnsSection
    from ..corpora.leftovers import leftover_in_sets
    from ..corpora.tables import read_table
    from ..corpora.values import settled

    columns = ColumnsSection(set=set_, text=text, topic=topic, id=id_, split=split_column)
    with reading(file, out, force=force):
        sets = settled(read_table(file, columns, attribute, skip_empty=skip_empty), attribute, group or (), f"{file}: ")
    write_sets(out, sets, f"{sum(len(documents.documents) for documents in sets)} documents", split=split)
    for name in attribute:
        _say_values(sets, name)
    if leftover := leftover_in_sets(sets, attribute):
        say(f"warning: {leftover}")


def coverage(
    file: File,
    labels: Annotated[
        str,
        typer.Option(
            help="Data set whose label order applies: amazon, mitweet, semeval, article-bias, news-stance.",
            autocompletion=completion.labels,
        ),
    ],
    out: Out,
    split: Split = None,
    force: Force = False,
) -> None:
    """Coverage fairness's documents as JSON lines; label numbers become values."""
    from ..corpora.coverage import read_coverage_sets

    with reading(file, out, force=force):
        sets = read_coverage_sets(file, labels, split=split)
    write_sets(out, sets)


VERBS = {
    "import.table": Verb(
        table,
        epilog="Example: evenhand import table docs.csv --set topic --text text --attribute side --topic topic --out docs.jsonl",
    ),
    "import.coverage": Verb(
        coverage, epilog="Example: evenhand import coverage semeval.jsonl --labels semeval --out semeval-sets.jsonl"
    ),
}


def with_importers(verbs: Mapping[str, Verb]) -> dict[str, Verb]:
    """The verbs, and one for each importer that has none with options of its own."""
    added: dict[str, Verb] = {}
    for name in sorted(IMPORTERS):
        verb = f"import.{name}"
        try:
            importer = IMPORTERS[name]
            if importer.read is not None and verb in verbs:
                raise PluginError(
                    f"importer {name!r}: `evenhand import {name}` is a verb already; have one of them renamed"
                )
        except PluginError as error:
            added[verb] = refusal(error)
        else:
            if importer.read is not None:
                added[verb] = _verb_of(name, importer)
    return {**verbs, **added}


def _verb_of(name: str, importer: Importer) -> Verb:
    def convert(file: File, out: Out, attribute: Attribute = None, split: Split = None, force: Force = False) -> None:
        from ..corpora.reader import import_sets

        with reading(file, out, force=force):
            built = import_sets(name, importer, file, attribute)
        write_sets(out, built.sets if attribute is None else _only(built.sets, attribute), split=split)
        say_left_out(built.left_out)

    convert.__doc__ = importer.about
    return Verb(convert, epilog=f"Example: evenhand import {name} FILE --out {name}.jsonl")


def _only(sets: Sequence["DocumentSet"], attribute: str) -> list["DocumentSet"]:
    """The sets with one social attribute alone."""
    return [
        documents.model_copy(
            update={
                "documents": tuple(
                    document.model_copy(update={"attributes": {attribute: document.attributes[attribute]}})
                    for document in documents.documents
                )
            }
        )
        for documents in sets
    ]


def _say_values(sets: Sequence["DocumentSet"], attribute: str) -> None:
    """Documents of each value, and sets that have a single one."""
    from ..evaluation.pages.words import counted, joined

    counts = Counter(document.attributes[attribute] for documents in sets for document in documents.documents)
    n = sum(len(documents.values(attribute)) == 1 for documents in sets)
    shown = joined([f"{value!r} {count:,}" for value, count in counts.most_common()], MOST_VALUES)
    single = f"; {counted(n, 'set')} with one value alone" if n else ""
    say(f"{attribute}: {shown} documents{single}")
