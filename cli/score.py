"""`evenhand score`: summaries made elsewhere before a recipe's judges."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..errors import DataError, RecipeError
from .inputs import Columns, labelled
from .terminal import say

EXAMPLE = "Example: evenhand score --documents reviews --summaries even-handed --judges rerank --out scores"


def score(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    documents: Annotated[
        Path,
        typer.Option(help="Document sets, or a table with a row for each document, as `evenhand audit` reads them."),
    ],
    summaries: Annotated[
        list[str],
        typer.Option(
            metavar="[LABEL=]FILE",
            help="A summary of each set, one file, as `evenhand audit` reads them; a LABEL= is taken and not kept.",
        ),
    ],
    judges: Annotated[Path, typer.Option(help="A recipe, or a YAML file, whose section 'judges' names the judges.")],
    out: Annotated[
        Path, typer.Option(help="Folder for requests, candidates, judgements and best (.jsonl) and scores.csv.")
    ],
    attribute: Annotated[
        str | None, typer.Option(help="Social attribute of the documents. Default: the only one that they have.")
    ] = None,
    columns: Columns = None,
    scope: Annotated[
        Literal["all", "side"],
        typer.Option(help="all: a summary of each set; side: one of each side, whose id is SET/SIDE."),
    ] = "all",
    force: Annotated[
        bool, typer.Option("--force", help="Replace scores of other summaries that lie in the folder.")
    ] = False,
) -> None:
    """Judge summaries that were made elsewhere; the folder can be given to people, to the audit and to anything that reads CSV.

    evenhand human page --system LABEL=FOLDER puts them on the page that people annotate; evenhand audit --summaries LABEL=FOLDER
    audits them.
    """
    from ..api.documents import load_documents
    from ..api.steps import given_candidates, judge
    from ..config.recipe import scope_mistakes
    from ..config.recipe_file import load_judges
    from ..evaluation.pages.folder import SCORES_TABLE, check_folder, is_scores
    from ..records import BestSummary
    from ..runfolder.phases import BEST, CANDIDATES, JUDGEMENTS, REQUESTS
    from ..storage import listed, write_jsonl, write_text

    if len(summaries) > 1:
        raise RecipeError(
            f"--summaries: {len(summaries)} files, and a folder holds the scores of one; run the command for each, with an --out "
            "of its own. `evenhand audit` compares several"
        )
    table, is_ours = out / SCORES_TABLE, is_scores(out / SCORES_TABLE)
    check_folder(out, [REQUESTS, CANDIDATES, JUDGEMENTS, BEST, table.name], "score", table.name, is_ours=is_ours)
    asked = load_judges(judges)
    if unfit := [f"{judges}: {mistake}" for mistake in scope_mistakes(asked, scope, "--scope")]:
        raise RecipeError(listed(unfit))
    task = {"scope": "side"} if scope == "side" else None
    known = columns.model_dump(exclude_unset=True) if columns else {}
    path = labelled(summaries[0], "--summaries")[1]
    given = given_candidates(str(path), load_documents(str(documents), attribute, **known), task)
    if is_ours:
        header, *earlier = _read(table)
        if not force and [row[header.index("text")] for row in earlier] != [candidate.text for candidate in given]:
            raise DataError(
                f"--out {out}: holds scores of other summaries than those of {path}; name another folder, or add --force to "
                "replace them"
            )
        say(f"{out} holds scores of {_scored(header, len(earlier))}; they will be replaced.")
    found = judge(given, asked)
    rows = found.rows()
    # first, so that what was left half written is known as ours
    write_text(table, _csv(rows))
    write_jsonl(out / REQUESTS, found.candidates.requests.values())
    write_jsonl(out / CANDIDATES, found.candidates)
    write_jsonl(out / JUDGEMENTS, found)
    # of one summary each, the best is that one, whatever its scores
    best = (
        BestSummary(
            request_id=candidate.request_id,
            set_id=row["set"],
            side=row["side"],
            text=candidate.text,
            candidate_id=candidate.id,
            reward=None,
            scores={name: row.get(name) for name in found.judges},
            n_candidates=1,
        )
        for candidate, row in zip(found.candidates, rows, strict=True)
    )
    write_jsonl(out / BEST, best)
    for name in found.judges:
        scores = [row[name] for row in rows if row.get(name) is not None]
        mean = f"{sum(scores) / len(scores):.3f}" if scores else "no score"
        say(f"{name:24} mean {mean}, {len(scores):,} scored, {len(rows) - len(scores):,} unscored")
    say(f"scores: {table}")


def _csv(rows: list[dict[str, Any]]) -> str:
    import csv
    import io

    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _read(table: Path) -> list[list[str]]:
    import csv

    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _scored(header: list[str], n: int) -> str:
    """How many summaries a table has, and by whom they were judged."""
    from ..evaluation.pages.words import counted

    judges = [name for name in header if name not in ("set", "side", "text", "unscored", "id")]
    return f"{counted(n, 'summary', 'summaries')} by {', '.join(judges)}"
