"""`evenhand import polisum` and `annotation`: what the authors released, and what they gave to annotators."""

from typing import Annotated

import typer

from ...cli.door import Verb
from ...cli.set_files import REVIEWED, File, Force, Out, Split, reading, write_sets
from ...cli.terminal import say
from ...errors import DataError


def polisum(
    file: File,
    out: Out,
    split: Split = None,
    faithful_to_release: Annotated[
        bool,
        typer.Option(
            "--faithful-to-release",
            help="Also keep the released prompts, labels exchanged as they are, in the sets' notes.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """The PoliSum authors' JSON; exchanged labels are repaired."""
    from .importer import import_polisum

    with reading(file, out, force=force):
        result = import_polisum(file, split=split, faithful_to_release=faithful_to_release)
    write_sets(out, result.sets, str(result.report))


def annotation(
    file: File,
    out: Out,
    articles: Annotated[
        bool,
        typer.Option(
            "--articles",
            help="Write articles without excerpts instead, one a line: a person marks the excerpts (passage and text of each), "
            "and judges controlled makes controlled sets of them.",
        ),
    ] = False,
    split: Split = None,
    force: Force = False,
) -> None:
    """The documents that PoliSum's authors gave to annotators; both sides of a topic become one set."""
    from .importer import import_annotation

    if articles and split:
        raise DataError("--split is for document sets, and --articles writes none; leave one of them out")
    with reading(file, out, force=force, remark=REVIEWED if articles else ""):
        result = import_annotation(file)
    if articles:
        from ...storage import write_jsonl

        drafts = result.articles()
        write_jsonl(out, drafts)
        say(f"{out}: {len(drafts)} articles; {result}")
        say("next: write each article's excerpts, then evenhand judges controlled RECIPE --set input=" + str(out))
    else:
        write_sets(out, result.sets(split), str(result))


POLISUM = Verb(polisum, epilog="Example: evenhand import polisum dev.json --out polisum-dev.jsonl --split test")
ANNOTATION = Verb(annotation, epilog="Example: evenhand import annotation annotation.json --out topics.jsonl")
