"""`evenhand score`: summaries made elsewhere before a recipe's judges, and side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import DataError, RecipeError
from . import completion
from .inputs import Columns, Dimensions, Group, Ratings, Scales, SkipEmpty, SummaryColumns, labelled, ratings_file
from .progress import say_judging
from .terminal import say, show, show_page

if TYPE_CHECKING:
    from ..api.results import Candidates, Judgements
    from ..config import JudgeOptions, Recipe
    from ..evaluation.report.people.ratings import RatingsFile

EXAMPLE = "Example: evenhand score --documents reviews --summaries even-handed --summaries praising --judges rerank --out scores"


def score(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    documents: Annotated[
        Path,
        typer.Option(
            help="Document sets, or a table with a row for each document, as `evenhand audit` reads them.",
            autocompletion=completion.documents,
        ),
    ],
    summaries: Annotated[
        list[str],
        typer.Option(
            metavar="[LABEL=]FILE",
            help="A summary of each set, as `evenhand audit` reads them. Repeatable; others are tested against the first.",
        ),
    ],
    judges: Annotated[
        Path,
        typer.Option(
            help="A recipe, or a YAML file, whose section 'judges' names the judges.", autocompletion=completion.recipes
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for requests, candidates, judgements and best (.jsonl) and scores.csv. Several files have a folder "
            "OUT/LABEL each, and OUT has index.html, comparison.json, comparison.md and tables/."
        ),
    ],
    attribute: Annotated[
        str | None, typer.Option(help="Social attribute of the documents. Default: the only one that they have.")
    ] = None,
    group: Group = None,
    columns: Columns = None,
    skip_empty: SkipEmpty = False,
    summary_columns: SummaryColumns = None,
    scope: Annotated[
        Literal["all", "side"],
        typer.Option(help="all: a summary of each set; side: one of each side, whose id is SET/SIDE."),
    ] = "all",
    ratings: Ratings = None,
    dimension: Dimensions = None,
    scale: Scales = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace scores of other summaries that lie in the folder.")
    ] = False,
) -> None:
    """Judge summaries that were made elsewhere, and compare those of several files.

    The comparison is by side and overall, with tests and length.

    evenhand human page --system LABEL=FOLDER puts what lies in the folder of one file on the page that people annotate; evenhand
    audit --summaries LABEL=FOLDER audits it. A function of your own is a judge, too: {kind: python, file: judge.py, function:
    score, better: higher, range: [0, 1], means: "..."}.
    """
    from ..api.documents import load_documents
    from ..api.steps import given_candidates, judge_each
    from ..evaluation.pages import terminal
    from ..evaluation.pages.folder import SCORES_TABLE
    from ..evaluation.pages.write import PAGE
    from ..evaluation.report.comparison.build import build_comparison
    from ..evaluation.report.comparison.given import SCORED, given_entry
    from ..evaluation.report.comparison.page import given_means, page
    from ..evaluation.report.people.page import people_blocks
    from ..judges.bradley_terry import fit_library
    from ..runfolder.processes import hold

    rated = ratings_file(ratings, dimension, scale)
    files = [labelled(entry, "--summaries") for entry in summaries]
    labels, is_several = [label for label, _ in files], len(files) > 1
    folders = _folders(out, labels) if is_several else [out]
    if is_several:
        fit_library()
        SCORED.check(out)
    for folder in folders:
        _check(folder)
    judge_options = _judges(judges, scope, labels)
    task = {"scope": "side"} if scope == "side" else None
    sets = load_documents(
        str(documents),
        attribute,
        group=group,
        skip_empty=skip_empty,
        **(columns.model_dump(exclude_unset=True) if columns else {}),
    )
    candidates = [given_candidates(str(path), sets, task, summary_columns=summary_columns) for _, path in files]
    _check_ratings(rated, dict(zip(labels, candidates, strict=True)))
    with hold(out):
        replaced = [_replaced(*arguments, force=force) for arguments in zip(folders, files, candidates, strict=True)]
        for message in filter(None, replaced):
            say(message)
        if is_several:
            SCORED.announce(out, labels, say)
        entries = []
        say_judging()
        for label, folder, judgements in zip(labels, folders, judge_each(candidates, judge_options), strict=True):
            _write(folder, judgements)
            entries.append(
                given_entry(
                    label,
                    folder,
                    _of_corpus(
                        judgements.recipe,
                        group,
                        {"path": str(documents), "columns": columns, "skip_empty": skip_empty},
                    ),
                    judgements.candidates.groups,
                    judgements,
                    judgements.candidates.notes,
                )
            )
        compared = build_comparison(entries, [1], ratings=rated)
        if is_several:
            comparison_page = page(compared)
            SCORED.write(out, compared, comparison_page, {})
            show_page(comparison_page, people_blocks(compared.people))
            say(f"comparison: {out / PAGE}")
        else:
            show(terminal.fragment([*given_means(compared), *people_blocks(compared.people)]))
            for warning in judgements.candidates.notes:
                say(f"warning: {labels[0]}: {warning}")
            _say_counts(judgements)
            say(f"scores: {out / SCORES_TABLE}")


def _judges(path: Path, scope: Literal["all", "side"], labels: Sequence[str]) -> "dict[str, JudgeOptions]":
    """The judges of a file, which can judge such summaries; a warning of those of the family that a system is called after."""
    from ..config.recipe import scope_mistakes
    from ..config.recipe_file import load_judges
    from ..judges.independence import kin_warning
    from ..text.mistakes import listed

    options = load_judges(path)
    if unfit := [f"{path}: {mistake}" for mistake in scope_mistakes(options, scope, "--scope")]:
        raise RecipeError(listed(unfit))
    for warning in filter(None, (kin_warning(options, label) for label in labels)):
        say(f"warning: {warning}")
    return options


def _check_ratings(file: "RatingsFile | None", candidates: "Mapping[str, Candidates]") -> None:
    """Refuse ratings that are wrong before judges are asked."""
    from ..evaluation.report.people.ratings import RatedTexts, rated_name, read_ratings

    if file is None:
        return
    texts = {
        label: {
            rated_name(request.document_set.id, request.side): candidate.text
            for request, (candidate, *_) in summaries.groups
        }
        for label, summaries in candidates.items()
    }
    first = next(iter(candidates.values()))
    documents = {request.document_set.id: request.document_set for request in first.requests.values()}
    read_ratings(file, RatedTexts([*documents.values()], first.recipe.corpus.attribute, texts))


def _of_corpus(recipe: "Recipe", group: Sequence[str] | None, corpus: dict[str, Any]) -> "Recipe":
    """The recipe of judgements with what its documents are."""
    from ..config.groups import groups_of

    values = groups_of(group, [recipe.corpus.attribute]).popitem()[1] if group else None
    return recipe.model_copy(update={"corpus": recipe.corpus.model_copy(update={**corpus, "group": values})})


def _folders(out: Path, labels: Sequence[str]) -> list[Path]:
    """Where the scores of each label lie, beside the files of their comparison."""
    from ..evaluation.pages.write import DETAILS, PAGE, TABLES
    from ..evaluation.report.comparison.given import SCORED
    from ..evaluation.report.comparison.runs import folder_name
    from ..text import repeated
    from ..text.mistakes import listed

    # on some disks "A" and "a" are one folder
    names = {label: folder_name(label).casefold() for label in labels}
    mistakes = [f"--summaries: two files are called {label!r}; write LABEL=FILE" for label in repeated(labels)]
    mistakes += [
        f"--summaries: two labels make the folder {name!r}; choose others" for name in repeated(names.values())
    ]
    comparison_files = {PAGE, DETAILS, TABLES, SCORED.json, SCORED.markdown}
    mistakes += [
        f"--summaries {label}=: a file of the comparison is called so; choose another label"
        for label, name in names.items()
        if name in comparison_files
    ]
    if mistakes:
        raise RecipeError(listed(mistakes))
    return [out / folder_name(label) for label in labels]


def _check(folder: Path) -> None:
    """Refuse a folder whose files no score wrote."""
    from ..evaluation.pages.folder import SCORES_TABLE, check_folder, is_scores
    from ..runfolder.phases import BEST, CANDIDATES, JUDGEMENTS, REQUESTS

    files = [REQUESTS, CANDIDATES, JUDGEMENTS, BEST, SCORES_TABLE]
    check_folder(folder, files, "score", SCORES_TABLE, is_ours=is_scores(folder / SCORES_TABLE))


def _replaced(folder: Path, file: tuple[str, Path], candidates: "Candidates", *, force: bool) -> str:
    """A sentence on earlier scores that will be replaced, "" without any; those of other summaries are by force alone."""
    from ..corpora.table_files import csv_rows
    from ..evaluation.pages.folder import SCORES_TABLE, is_scores

    table = folder / SCORES_TABLE
    if not is_scores(table):
        return ""
    earlier = [row for _, row in csv_rows(table, ("set", "text"))]
    if not force and [row["text"] for row in earlier] != [candidate.text for candidate in candidates]:
        raise DataError(
            f"--out {folder}: holds scores of other summaries than those of {file[1]}; name another folder, or add --force to "
            "replace them"
        )
    return f"{folder} holds scores of {_scored(earlier)}; they will be replaced."


def _write(folder: Path, judgements: "Judgements") -> None:
    """The table of scores, and the records as a phase of a run has them."""
    from ..evaluation.pages.folder import SCORES_TABLE
    from ..records import BestSummary
    from ..runfolder.phases import BEST, CANDIDATES, JUDGEMENTS, REQUESTS
    from ..storage import json_lines, write_together

    rows = judgements.rows()
    # of one summary each, the best is that one, whatever its scores
    best = (
        BestSummary(
            request_id=candidate.request_id,
            set_id=row["set"],
            side=row["side"],
            text=candidate.text,
            candidate_id=candidate.id,
            reward=None,
            scores={name: row.get(name) for name in judgements.judges},
            n_candidates=1,
        )
        for candidate, row in zip(judgements.candidates, rows, strict=True)
    )
    write_together(
        {
            # first, so that what was left half written is known as ours
            folder / SCORES_TABLE: [_csv(rows)],
            folder / REQUESTS: json_lines(judgements.candidates.requests.values()),
            folder / CANDIDATES: json_lines(judgements.candidates),
            folder / JUDGEMENTS: json_lines(judgements),
            folder / BEST: json_lines(best),
        }
    )


def _say_counts(judgements: "Judgements") -> None:
    rows = judgements.rows()
    for name in judgements.judges:
        n = sum(row.get(name) is not None for row in rows)
        n_cut = sum(name in (row.get("cut") or "").split("; ") for row in rows)
        of_cut = f", {n_cut:,} of texts that were cut" if n_cut else ""
        reasons = dict.fromkeys(
            judgement.unscored for judgement in judgements if judgement.judge == name and judgement.unscored
        )
        why = f" ({', '.join(reasons)})" if reasons else ""
        say(f"{name:24} {n:,} scored, {len(rows) - n:,} unscored{why}{of_cut}")


def _csv(rows: list[dict[str, Any]]) -> str:
    from ..text.cells import csv_text

    columns = list(dict.fromkeys(key for row in rows for key in row))
    return csv_text([columns, *([row.get(column) for column in columns] for row in rows)])


def _scored(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many summaries a table has, and by whom they were judged."""
    from ..evaluation.pages.words import counted

    judges = [
        name for name in (rows[0] if rows else ()) if name not in ("set", "side", "text", "cut", "unscored", "id")
    ]
    return f"{counted(len(rows), 'summary', 'summaries')} by {', '.join(judges)}"
