"""The comparison's first page: who is better than the first entry, how sure that is, and every entry under every judge."""

from collections.abc import Iterator, Mapping, Sequence

from ...pages.blocks import Block, Overview, Picture, PictureRow, lane
from ...pages.words import UNSURE, counted, few_label, headline
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


def overview(found: Comparison) -> Overview:
    """The first page."""
    judges = deciding(found.judges) or list(found.judges)
    names = {judge.name for judge in judges}
    used = [test for test in as_used(found.tests) if test.measure in names]
    return Overview(
        headline=_headline(found, judges, used),
        sure=how_sure(used, found.bootstrap.level),
        text=" ".join((f"{found.title}.", *found.findings[:1])),
        picture=_picture(found, judges, used),
        blocks=tuple(_examples(found)),
    )


def _examples(found: Comparison) -> Iterator[Block]:
    if found.examples and found.examples.examples:
        has_sides = len(found.sides) > 1
        plain = plain_judges(next(iter(found.recipes.values())), found.judges, has_sides=has_sides)
        shown = [each.system for each in found.examples.examples[0].summaries]
        yield from to_look_at(found.examples, shown, plain, has_sides=has_sides)


def _headline(found: Comparison, judges: Sequence[JudgeNote], used: Sequence[Difference]) -> str:
    said = verdict_counts(used, judges)
    better, worse = (sum(each[word] > 0 for each in said.values()) for word in ("better", "worse"))
    counts = f"of {counted(len(said), 'entry', 'entries')} {better} better and {worse} worse by some judge"
    if not (better or worse):
        is_few = rests_on_few(used, found.bootstrap.level)
        short = (
            few_label("to tell entries apart", "document set", found.n_sets)
            if is_few
            else f"{UNSURE} between these entries"
        )
        return headline(found.title, short)
    first, judged = f"\u201c{found.entries[0].label}\u201d", counted(len(judges), "judge")
    if len(said) == 1 and found.entries[0].label not in said:
        ((label, mine),) = said.items()
        words = [f"{word} by {mine[word]}" for word in ("better", "worse") if mine[word]]
        whole = f"{' and '.join(words)} of {judged}" if len(judges) > 1 else words[0].split()[0]
        return headline(
            f"\u201c{label}\u201d is {whole} than {first}" if len(words) == 1 else f"{label} against {first}: {whole}",
            whole,
        )
    return headline(found.title, f"against {first}: {counts}", counts)


def _picture(found: Comparison, judges: Sequence[JudgeNote], used: Sequence[Difference]) -> Picture | None:
    if not judges or not found.scores:
        return None
    labels = [entry.label for entry in found.entries][:MOST_ENTRIES]
    shown = judges[: max(1, MOST_LANES // len(labels))]
    plain = plain_judges(next(iter(found.recipes.values())), shown, has_sides=len(found.sides) > 1)
    clear = {(test.measure, test.system) for test in used if test.is_clear}

    def row_of(judge: JudgeNote) -> PictureRow:
        means = _most_drawn([e for e in of_judge(found.scores, judge) if e.side is None])
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
            f"interval: {100 * found.bootstrap.level:g} % interval",
        ),
    )


def _most_drawn(scores: Sequence[Score]) -> Mapping[str, Score]:
    """Of each entry the score with as many candidates as it has."""
    found: dict[str, Score] = {}
    for each in sorted(scores, key=lambda each: each.k):
        found[each.system] = each
    return found
