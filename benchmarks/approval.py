"""Which measure of fairness predicts whether the worst-off opinion group approves of a summary: people's votes as the truth.

    python -m evenhand.benchmarks.approval polis polarized-issues \\
        --group "liberal=Very liberal,Slightly liberal; conservative=Very conservative,Slightly conservative"

makes the tables "Fairness and approval" of benchmarks/RESULTS.md, of folders in Polis's or Remesh's form. A summary is a
selection of statements; how far each group approves of it is measured on one half of the voters, and whatever is made or
measured by votes uses the other half. Rank correlations are within a conversation, mean over seeds; intervals are over
conversations. By chance: the votes of whole statements are dealt anew.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..config.command_line import SingleValues
from ..config.fairness import EntailerSection
from ..config.groups import read_groups
from ..errors import EvenhandError
from ..evaluation.audit.coverage import Covered, UnitCoverage
from ..fairness.content_tokens import content_tokens
from ..fairness.groups.coverage import over
from ..fairness.groups.masses import Masses, pack
from ..fairness.groups.quotas import group_quotas
from ..fairness.groups.shares import compare, unfair, unfair_error_rate
from ..fairness.labelled import LabelledSource, LabelledSummary
from ..judges.measures import Entailer, open_entailer
from ..judges.measures.words import WORDS_SIGNATURE, WordMatcher
from ..plugins.consultations.approval import VoteTable, approval
from ..resampling import Bootstrap, Scale, cluster_interval
from .report import count
from .selections import RANDOM, Conversation, Selection, conversations_of, majority, selections_of
from .simulate import print_heads, print_row

Floats = NDArray[np.float64]
K = TypeVar("K", bound=Hashable)
# by votes of the other half of the voters
WORST, CONSENSUS, OVERALL = "worst group's approval (leximin)", "group-informed consensus", "approval of all together"
LENGTH = "length"
DEALS = 200
WORDS = WordMatcher("words", WORDS_SIGNATURE, content_tokens)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One conversation, mean over seeds."""

    name: str
    form: str
    # measure -> rank correlation with the worst group's approval: as it is; beyond length and number of statements; the same
    # among random selections alone, nan where the measure never differs, (3,)
    by_measure: Mapping[str, Floats]
    # the second of these where whole statements' votes are dealt anew, (deals,)
    by_chance: Mapping[str, Floats]
    # way to select -> approval of the worst group and of all groups on average, (2,), by the number of statements
    by_choice: Mapping[tuple[str, int], Floats]


def items_of(conversation: Conversation, selections: Sequence[Selection]) -> list[LabelledSummary]:
    """The selections as summaries of the conversation, a unit each statement."""
    documents = tuple(map(LabelledSource, conversation.texts, conversation.authors))
    values = tuple(sorted(set(conversation.authors)))
    chosen = [tuple(conversation.texts[place] for place in selection.statements) for selection in selections]
    return [LabelledSummary(conversation.name, values, documents, "\n".join(units), units=units) for units in chosen]


def measures_by_text(
    conversation: Conversation, selections: Sequence[Selection], entailers: Sequence[Entailer]
) -> dict[str, Floats]:
    """What is measured without votes, (selections,) each, the higher the fairer; nan where a measure has no answer."""
    items = items_of(conversation, selections)
    table = pack([masses for masses in WORDS.masses(items) if isinstance(masses, Masses)])
    shares = compare(table.source, table.target, declared=table.declared)
    room = np.where(shares.kept, shares.target / np.where(shares.gold > 0, shares.gold, 1.0), np.inf).min(axis=1)
    by_name = {
        "UER, words": -unfair_error_rate(shares),
        "BUR, words": -unfair(shares),
        "least share against its due, words": room,
        "quota distance": -quota_distances(conversation, selections),
    }
    for entailer in entailers:
        family = UnitCoverage(entailer, "group", items[0].values, "released", given_units=True)
        covered = [answer.coverage if isinstance(answer, Covered) else None for answer in family.measure(items)]
        of_groups = [[v for v in answer.by_value if v is not None] if answer else [] for answer in covered]
        by_name |= {
            f"Equal Coverage, {entailer.name}": _floats([answer.ec if answer else None for answer in covered], -1.0),
            f"coverage of the least covered group, {entailer.name}": _floats([min(v, default=None) for v in of_groups]),
            f"coverage of all, {entailer.name}": _floats([answer.overall if answer else None for answer in covered]),
        }
    return by_name


def _floats(values: Sequence[float | None], sign: float = 1.0) -> Floats:
    return np.array([np.nan if value is None else sign * value for value in values])


def quota_distances(conversation: Conversation, selections: Sequence[Selection]) -> Floats:
    """Share of each selection's statements that another author's group should have had, by proportional quotas, (selections,)."""
    sizes = dict(sorted(Counter(conversation.authors).items()))
    distances = []
    for selection in selections:
        n = len(selection.statements)
        of_groups = Counter(conversation.authors[place] for place in selection.statements)
        quotas = group_quotas(sizes, n, "proportional")
        distances.append(sum(max(0, quota - of_groups[group]) for group, quota in quotas.items()) / n)
    return np.array(distances)


def measures_by_votes(chosen: NDArray[np.bool_], choosing: VoteTable) -> dict[str, Floats]:
    """What the voters say by whom selections are made, (selections,) each."""
    n = chosen.sum(axis=1)
    return {
        WORST: approval(chosen, choosing.likely_rates).min(axis=1),
        CONSENSUS: chosen @ choosing.consensus / n,
        OVERALL: chosen @ majority(choosing) / n,
    }


def residuals(columns: Floats, controls: Floats) -> Floats:
    """Ranks of each column less what those of the controls explain, with length 1, (rows, columns); nan where nothing is left.

    Args:
        columns: values, (rows, columns).
        controls: values, (rows, controls).
    """
    from scipy.stats import rankdata

    ranks = rankdata(columns, axis=0)
    basis = np.column_stack([np.ones(len(ranks)), *([rankdata(controls, axis=0)] if controls.size else [])])
    rest = ranks - basis @ np.linalg.lstsq(basis, ranks, rcond=None)[0]
    lengths = np.linalg.norm(rest, axis=0)
    return np.asarray(rest / np.where(lengths > 1e-6 * len(ranks), lengths, np.nan))


def correlation(measure: Floats, truths: Floats, controls: Floats) -> Floats:
    """Rank correlation of a measure with each truth beyond the controls, (truths,), over the selections that have all.

    Args:
        measure: of each selection, (selections,); nan for none.
        truths: of each selection, (selections, truths); one that lacks the first is left out.
        controls: of each selection, (selections, controls).
    """
    has = ~np.isnan(measure) & ~np.isnan(truths[:, 0])
    # a deal may leave other selections without votes of a group
    known = np.where(np.isnan(truths[has]), np.nanmedian(truths[has], axis=0), truths[has])
    return residuals(measure[has, None], controls[has])[:, 0] @ residuals(known, controls[has])


def outcome_of(
    conversation: Conversation, seeds: int, sizes: Sequence[int], n_random: int, entailers: Sequence[Entailer]
) -> Outcome:
    """The conversation, mean over seeds."""
    by_seed = [_under_seed(conversation, seed, sizes, n_random, entailers) for seed in range(seeds)]
    of_measures, by_chance, of_choices = zip(*by_seed, strict=True)
    return Outcome(
        conversation.name, conversation.form, _mean_by(of_measures), _mean_by(by_chance), _mean_by(of_choices)
    )


def _mean_by(tables: Sequence[Mapping[K, Floats]]) -> dict[K, Floats]:
    return {key: _mean([table[key] for table in tables]) for key in tables[0]}


def _mean(values: Sequence[Floats]) -> Floats:
    """Mean over seeds, nan left out; nan where nothing is left."""
    table = np.array(values)
    known = ~np.isnan(table)
    return over(np.where(known, table, 0.0).sum(axis=0), known.sum(axis=0))


def _under_seed(
    conversation: Conversation, seed: int, sizes: Sequence[int], n_random: int, entailers: Sequence[Entailer]
) -> tuple[dict[str, Floats], dict[str, Floats], dict[tuple[str, int], Floats]]:
    """What `Outcome` has, of one division of the voters."""
    generator = np.random.default_rng(seed)
    choosing, measuring = conversation.table.halves(generator)
    selections = [made for n in sizes for made in selections_of(conversation, choosing, n, n_random, generator)]
    chosen = np.zeros((len(selections), len(conversation.texts)), dtype=bool)
    for row, selection in enumerate(selections):
        chosen[row, list(selection.statements)] = True
    rates = measuring.rates
    dealt = [rates[:, generator.permutation(rates.shape[1])] for _ in range(DEALS)]
    truths = np.column_stack([approval(chosen, each).min(axis=1) for each in (rates, *dealt)])
    n_characters = chosen @ np.array([float(len(text)) for text in conversation.texts])
    controls = np.column_stack([n_characters, chosen.sum(axis=1)])
    is_random = np.array([selection.how == RANDOM for selection in selections])
    of_measures, by_chance = dict[str, Floats](), dict[str, Floats]()
    measures = measures_by_votes(chosen, choosing) | measures_by_text(conversation, selections, entailers)
    for name, measure in measures.items():
        beyond = correlation(measure, truths, controls)
        plain = correlation(measure, truths[:, :1], controls[:, :0])
        at_random = correlation(measure[is_random], truths[is_random, :1], controls[is_random])
        of_measures[name], by_chance[name] = np.array([plain[0], beyond[0], at_random[0]]), beyond[1:]
    of_measures[LENGTH] = np.array([correlation(controls[:, 0], truths[:, :1], controls[:, 1:])[0], np.nan, np.nan])
    gains = np.column_stack([truths[:, 0], approval(chosen, rates).mean(axis=1)])
    return of_measures, by_chance, _by_choice(selections, gains)


def _by_choice(selections: Sequence[Selection], gains: Floats) -> dict[tuple[str, int], Floats]:
    """Mean of the rows of each way to select with each number of statements."""
    keys = [(selection.how, len(selection.statements)) for selection in selections]
    return {
        key: _mean([gain for gain, of in zip(gains, keys, strict=True) if of == key]) for key in dict.fromkeys(keys)
    }


def over_conversations(values: Sequence[float] | Floats, digits: int, scale: Scale | None) -> str:
    """Mean with its 95 % interval over conversations, nan left out, and how many had one where not all did; "-" for none."""
    known = [float(value) for value in values if not np.isnan(value)]
    if not known:
        return "-"
    mean = cluster_interval(known, [str(place) for place in range(len(known))], Bootstrap(), scale=scale)
    bounds = "" if mean.low is None or mean.high is None else f" [{mean.low:.{digits}f}, {mean.high:.{digits}f}]"
    return f"{mean.estimate:.{digits}f}{bounds}" + (f" ({len(known)})" if len(known) < len(values) else "")


def _rho(values: Sequence[float] | Floats) -> str:
    return over_conversations(values, 2, (-1, 1))


def print_measures(outcomes: Sequence[Outcome], forms: Sequence[str]) -> None:
    """Print the table of measures."""
    beyond = "beyond length and number"
    print_heads("measure", "rho", beyond, "by chance less than", "less approval of all", "random selections", *forms)
    form_of = np.array([outcome.form for outcome in outcomes])
    of_all = np.array([outcome.by_measure[OVERALL][1] for outcome in outcomes])
    for name in outcomes[0].by_measure:
        plain, rest, at_random = np.array([outcome.by_measure[name] for outcome in outcomes]).T
        deals = _mean([outcome.by_chance[name] for outcome in outcomes]) if name != LENGTH else np.array([np.nan])
        chance = "-" if np.isnan(deals).any() else f"{np.quantile(np.abs(deals), 0.95):.2f}"
        less = "-" if name == OVERALL else over_conversations(rest - of_all, 2, (-2, 2))
        of_forms = [_rho(rest[form_of == form]) for form in forms]
        print_row(name, _rho(plain), _rho(rest), chance, less, _rho(at_random), *of_forms)
    print()


def print_choices(outcomes: Sequence[Outcome], sizes: Sequence[int], forms: Sequence[str]) -> None:
    """Print what each way to select that all conversations have gives the worst group, and how much more than random ones."""
    print_heads("selection", "statements", *(f"worst group, %, {form}" for form in forms), "less random", "all groups")
    form_of = np.array([outcome.form for outcome in outcomes])
    for how, n in ((how, n) for how, first in outcomes[0].by_choice if first == sizes[0] for n in sizes):
        if not all((how, n) in outcome.by_choice for outcome in outcomes):
            continue
        worst = 100 * np.array([outcome.by_choice[how, n][0] for outcome in outcomes])
        gains = 100 * np.array([outcome.by_choice[how, n] - outcome.by_choice[RANDOM, n] for outcome in outcomes]).T
        less = ["-"] * 2 if how == RANDOM else [over_conversations(gain, 1, (-100, 100)) for gain in gains]
        print_row(how, n, *(over_conversations(worst[form_of == form], 0, (0, 100)) for form in forms), *less)
    print()


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = SingleValues(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="in Polis's or Remesh's form")
    parser.add_argument(
        "--group", default="", help="groups of voters that are taken together: NAME=GROUP,GROUP; NAME=..."
    )
    parser.add_argument("--entailers", nargs="+", choices=("words", "encoder"), default=["words", "encoder"])
    parser.add_argument("--seeds", **count(5, "divisions of the voters"))
    parser.add_argument("--random", **count(100, "random selections of each size and seed"))
    parser.add_argument("--sizes", **count([5, 10], "statements of a selection"))
    arguments = parser.parse_args(argv)
    left_out: Counter[str] = Counter()
    try:
        groups = read_groups(arguments.group) if arguments.group else {}
        conversations = [talk for folder in arguments.folders for talk in conversations_of(folder, groups, left_out)]
    except (EvenhandError, ValueError) as error:
        parser.error(str(error))
    entailers = [open_entailer(EntailerSection(kind=kind)) for kind in arguments.entailers]
    outcomes = []
    for conversation in conversations:
        table = conversation.table
        voters = ", ".join(
            f"{n} of {g}" for g, n in zip(table.groups, np.bincount(table.group_of).tolist(), strict=True)
        )
        print(f"{conversation.name}: {len(conversation.texts)} statements; {voters}", flush=True)
        outcomes.append(outcome_of(conversation, arguments.seeds, arguments.sizes, arguments.random, entailers))
    for reason, n in (+left_out).items():
        print(f"left out: {n:,} {reason}")
    print()
    forms = tuple(dict.fromkeys(conversation.form for conversation in conversations))
    print_measures(outcomes, forms)
    print_choices(outcomes, arguments.sizes, forms)


if __name__ == "__main__":
    main()
