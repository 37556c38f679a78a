"""The comparison's first page: who is better than the first entry, how sure that is, and every entry under every judge."""

from collections.abc import Iterator, Mapping, Sequence

from ...pages.blocks import Block, Overview
from ...pages.picture import Picture, PictureRow, lane
from ...pages.words import UNSURE, capital, counted, few_label, headline, joined
from ..people.page import people_sentence
from ..systems.contents import Difference, JudgeNote, Score
from ..systems.look import to_look_at
from ..systems.roles import deciding
from ..systems.tables import better_is, of_judge, picture_parts
from ..systems.words import how_sure, plain_judges, rests_on_few
from .contents import Comparison
from .findings import verdict_counts
from .paired_tests import as_used

# lines of a picture, and entries of it: judges and entries beyond are on the second page
MOST_LANES, MOST_ENTRIES = 24, 10


def overview(comparison: Comparison) -> Overview:
    """The first page."""
    judges = deciding(comparison.judges) or list(comparison.judges)
    names = {judge.name for judge in judges}
    used = [test for test in as_used(comparison.tests) if test.measure in names]
    first = _headline(comparison, judges, used)
    # what the headline has no room for
    text = f"{comparison.title}." if first != capital(comparison.title) else " ".join(comparison.findings[:1])
    return Overview(
        headline=first,
        sure=how_sure(used, comparison.bootstrap.level),
        text=" ".join(filter(None, [text, people_sentence(comparison.people)])),
        picture=_picture(comparison, judges, used),
        blocks=tuple(_examples(comparison)),
    )


def _examples(comparison: Comparison) -> Iterator[Block]:
    if comparison.examples and comparison.examples.examples:
        has_sides = len(comparison.sides) > 1
        plain = plain_judges(next(iter(comparison.recipes.values())), comparison.judges, has_sides=has_sides)
        shown = [summary.system for summary in comparison.examples.examples[0].summaries]
        yield from to_look_at(comparison.examples, shown, plain, comparison.judges, has_sides=has_sides)


def _headline(comparison: Comparison, judges: Sequence[JudgeNote], used: Sequence[Difference]) -> str:
    by_entry = verdict_counts(used, judges)
    better, worse = (sum(verdicts[word] > 0 for verdicts in by_entry.values()) for word in ("better", "worse"))
    counts = f"of {counted(len(by_entry), 'entry', 'entries')} {better} better and {worse} worse by some judge"
    if not (better or worse):
        is_few = rests_on_few(used, comparison.bootstrap.level)
        short = (
            few_label("to tell entries apart", "document set", comparison.n_sets)
            if is_few
            else f"{UNSURE} between these entries"
        )
        return headline(comparison.title, short)
    first, judged = f"\u201c{comparison.entries[0].label}\u201d", counted(len(judges), "judge")
    if len(by_entry) == 1 and comparison.entries[0].label not in by_entry:
        ((label, verdicts),) = by_entry.items()
        words = [f"{word} by {verdicts[word]}" for word in ("better", "worse") if verdicts[word]]
        outcome = f"{' and '.join(words)} of {judged}" if len(judges) > 1 else words[0].split()[0]
        return headline(
            f"\u201c{label}\u201d is {outcome} than {first}"
            if len(words) == 1
            else f"{label} against {first}: {outcome}",
            outcome,
        )
    return headline(comparison.title, *_named(by_entry, first, judged), f"against {first}: {counts}", counts)


def _named(by_entry: Mapping[str, Mapping[str, int]], first: str, judged: str) -> Iterator[str]:
    """Who is better than the first entry, and who is worse; nothing where one is both, or where the first is its own rival."""
    labels = {
        word: [f"\u201c{label}\u201d" for label, verdicts in by_entry.items() if verdicts[word]]
        for word in ("better", "worse")
    }
    if set(labels["better"]) & {first, *labels["worse"]} or first in labels["worse"]:
        return
    claims = [f"{joined(names)} {'is' if len(names) == 1 else 'are'} {word}" for word, names in labels.items() if names]
    if len(claims) == 1:
        yield f"{claims[0]} than {first} by at least one of {judged}"
    yield f"against {first}: {' and '.join(claims)}"


def _picture(comparison: Comparison, judges: Sequence[JudgeNote], used: Sequence[Difference]) -> Picture | None:
    if not judges or not comparison.scores:
        return None
    labels = [entry.label for entry in comparison.entries][:MOST_ENTRIES]
    shown = judges[: max(1, MOST_LANES // len(labels))]
    plain = plain_judges(next(iter(comparison.recipes.values())), shown, has_sides=len(comparison.sides) > 1)
    clear = {(test.measure, test.system) for test in used if test.is_clear}

    def row_of(judge: JudgeNote) -> PictureRow:
        means = _most_drawn([e for e in of_judge(comparison.scores, judge) if e.side is None])
        lanes = (
            lane(means[label], label, place, is_clear=(judge.name, label) in clear)
            for place, label in enumerate(labels)
            if label in means
        )
        return PictureRow(plain[judge.name], tuple(lanes), note=better_is(judge))

    return Picture(
        name="overview",
        rows_are="judge",
        title="Mean scores of every entry, as it is used, by every judge that decides",
        parts=picture_parts(shown, row_of),
        keys=(
            f"clear: clearly better or worse than {labels[0]}",
            "unsure: no clear difference",
            f"interval: {100 * comparison.bootstrap.level:g} % interval",
        ),
    )


def _most_drawn(scores: Sequence[Score]) -> Mapping[str, Score]:
    """The score of each entry with as many candidates as it has."""
    by_entry: dict[str, Score] = {}
    for score in sorted(scores, key=lambda score: score.k):
        by_entry[score.system] = score
    return by_entry
