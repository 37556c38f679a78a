"""What a page's judges are worth, as reports and comparisons carry it."""

from collections.abc import Iterator, Mapping, Sequence

from ..config import Recipe
from ..corpora.reader import load_corpus
from ..errors import EvenhandError
from ..judges.calibration import (
    VERDICTS,
    Calibration,
    JudgeCalibration,
    Worth,
    how,
    known_of,
    read_calibrations,
    unlike,
)
from .pages.blocks import Block, Heading, Prose, items
from .pages.cells import Column, Table, Text
from .pages.tables import estimate, listing
from .pages.words import few_label, joined

HEADING = "What the judges are worth"
CONSTANT, NONE_SHOWN, NO_SCORE = "constant", "no agreement could be shown", "scores nothing"
# of a judge of which the data say nothing, and of one that no probe could be tried on
TOO_FEW, NOT_TRIED = few_label("to say", "topic"), "not tried"


def read_worth(recipes: Sequence[Recipe], signatures: Mapping[str, str]) -> Worth:
    """The known worth of the judges of a page.

    Args:
        recipes: name the calibrations; the first says what judges are to measure.
        signatures: judge -> signature of its scores.

    Raises:
        DataError: a calibration cannot be read.
    """
    recipe = recipes[0]
    files = read_calibrations(list(dict.fromkeys(path for recipe in recipes for path in recipe.calibration)))
    known = known_of(signatures, files, {name: recipe.judges[name].purpose for name in signatures})
    return Worth(
        known=known,
        unknown=tuple(name for name in signatures if name not in known and recipe.judges[name].purpose is not None),
        data=tuple(map(based_on, files)),
        unlike=_unlike(recipe) if known else (),
    )


def _unlike(recipe: Recipe) -> tuple[str, ...]:
    """Calibrations on documents of another kind than the recipe's corpus; none of a corpus that is not here any more."""
    try:
        sets = load_corpus(recipe.corpus)
    except EvenhandError:
        return ()
    return tuple(unlike(recipe.calibration, sets))


def based_on(calibration: Calibration) -> str:
    """The file, articles and date that a calibration rests on."""
    return f"{calibration.file}: {calibration.n_articles} articles, {calibration.date}"


def standing(calibration: JudgeCalibration) -> Text:
    """A judge beside length, as a verdict."""
    if calibration.scores_nothing:
        return Text(NO_SCORE, tone="worse")
    if calibration.is_constant:
        return Text(CONSTANT, tone="worse")
    if not calibration.has_interval:
        return Text(TOO_FEW, tone="unsure")
    if not calibration.has_agreement:
        return Text(NONE_SHOWN, tone="worse")
    verdict = calibration.standing
    if verdict == "no clear difference":
        return Text(verdict, tone="unsure")
    return Text(f"{verdict} length", tone="better" if verdict == "above" else "worse")


def accused_of(calibration: JudgeCalibration) -> Text:
    """The habits that a judge is accused of; without any, how many probes it passed. Below, what could not be tried."""
    n = sum(probe.verdict in VERDICTS for probe in calibration.probes)
    accused = joined(list(dict.fromkeys(accusation.measure for accusation in calibration.accusations)))
    nothing = f"nothing of {n} tried" if n else NOT_TRIED
    untried = joined(list(calibration.untried)) if n else ""
    return Text(accused or nothing, f"not tried: {untried}" if untried else "")


def worth_blocks(worth: Worth | None) -> Iterator[Block]:
    """The section of a report or comparison; none of a page of judges that measure neither coverage nor faithfulness."""
    if worth is None or not (worth.known or worth.unknown):
        return
    yield Heading(
        HEADING,
        lead="Agreement with summaries whose coverage and faithfulness are known, within articles, compared with that "
        "of length alone; and the faults of a judge. A difference by a judge that is not above length may be one of length."
        if worth.known
        else "",
    )
    if worth.known:
        yield from known_blocks(worth)
    if worth.unknown:
        yield Prose(
            f"No calibration is known of {joined(list(worth.unknown))}: how well the scores agree with known truth was not "
            f"measured. {how()} does, and the recipe's key calibration names its calibration.json."
        )


def worth_table(name: str, judges: Mapping[str, JudgeCalibration], level: float | None = None) -> Table:
    """Judges beside length, and what they are accused of.

    Args:
        name: of the table.
        judges: by name.
        level: of the intervals, where it is to be told.
    """
    note = f"{100 * level:g} % interval" if level else ""
    return listing(
        name,
        judges.items(),
        {
            "judge": lambda pair: pair[0],
            "is to measure": lambda pair: pair[1].purpose,
            Column("\u03c1 within", note=note): lambda pair: estimate(pair[1].own.within, 2),
            Column("length's", note=note): lambda pair: estimate(pair[1].length.within, 2),
            "beside length": lambda pair: standing(pair[1]),
            "accused of": lambda pair: accused_of(pair[1]),
        },
    )


def known_blocks(worth: Worth) -> Iterator[Block]:
    """The judges of which something is known, with their figures."""
    yield worth_table("judges' worth", worth.known)
    yield Prose(f"From {joined(list(worth.data))}.", "small")
    yield from items(Prose(f"{sentence}.") for sentence in worth.unlike)
