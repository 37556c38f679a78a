"""The page of an audit by several attributes: a part for each, and a first screen that says for which attribute and whom."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..pages.blocks import Block, Details, Heading, Overview, Page, Prose
from ..pages.cells import Table
from ..pages.picture import Picture
from ..pages.words import TOO_FEW, joined
from .contents import Audit
from .findings import by_distance, large
from .overview import numbers_shown


def joined_page(audits: Sequence[Audit], pages: Sequence[Page]) -> Page:
    """One page of those of each attribute, which were corrected together.

    Args:
        audits: of each attribute, with the names of their values.
        pages: theirs.
    """
    attributes = [audit.attribute for audit in audits]
    overview, first = _overview(audits, pages), pages[0]
    return replace(
        first,
        about=f"{first.about.removesuffix(attributes[0])}{joined(attributes)}",
        title=f"{overview.headline}.",
        warnings=tuple(_warnings(attributes, pages)),
        findings=tuple(
            block
            for attribute, page in zip(attributes, pages, strict=True)
            for block in (Prose(page.title, head=f"By {attribute}:"), *page.findings)
        ),
        body=tuple(
            told for attribute, page in zip(attributes, pages, strict=True) for told in _told(page.body, attribute)
        ),
        overview=overview,
    )


def _overview(audits: Sequence[Audit], pages: Sequence[Page]) -> Overview:
    """The first screen of the attribute with the gap that is told first, and a sentence for each other."""
    gaps = [large(numbers_shown(audit)) for audit in audits]
    foremost = by_distance(of_attribute[0] for of_attribute in gaps if of_attribute)[:1]
    place = next((k for k, of_attribute in enumerate(gaps) if of_attribute[:1] == foremost), 0)
    screens = [page.overview for page in pages if page.overview]
    others = [
        f"By {audit.attribute}: {audit.title}"
        + ("." if screen.sure == TOO_FEW else f" ({screen.sure[:1].lower()}{screen.sure[1:]}).")
        for k, (audit, screen) in enumerate(zip(audits, screens, strict=True))
        if k != place
    ]
    return replace(
        screens[place],
        headline=f"By {audits[place].attribute}: {audits[place].title}",
        text=" ".join((screens[place].text, *others)),
        picture=_picture(audits, screens, place),
    )


def _picture(audits: Sequence[Audit], screens: Sequence[Overview], place: int) -> Picture | None:
    """The rows of all attributes whose picture has the columns of the one at the place, each with its attribute before it."""
    first = screens[place].picture
    if first is None:
        return None
    alike = [
        (audit.attribute, screen.picture)
        for audit, screen in zip(audits, screens, strict=True)
        if screen.picture and (screen.picture.reference, screen.picture.band) == (first.reference, first.band)
    ]
    if len(alike) == 1:
        return first
    parts = (
        replace(part, rows=tuple(replace(row, name=f"{attribute}: {row.name}") for row in part.rows))
        for attribute, picture in alike
        for part in picture.parts
    )
    names = joined([attribute for attribute, _ in alike])
    return replace(
        first, name=f"overview by {names}", rows_are=names, parts=tuple(parts),
        title="; ".join(picture.title for _, picture in alike),
    )  # fmt: skip


def _warnings(attributes: Sequence[str], pages: Sequence[Page]) -> Iterator[str]:
    """What every attribute's page warns of once, then what is of one of them."""
    common = [text for text in pages[0].warnings if all(text in page.warnings for page in pages)]
    yield from common
    for attribute, page in zip(attributes, pages, strict=True):
        yield from (f"By {attribute}: {text}" for text in page.warnings if text not in common)


def _told(blocks: Iterable[Block], attribute: str) -> tuple[Block, ...]:
    """The blocks, whose headings and tables say of which attribute they are."""

    def named(text: str) -> str:
        return text if f"by {attribute}".casefold() in text.casefold() else f"{text}, by {attribute}"

    def told(block: Block) -> Block:
        match block:
            case Heading():
                return replace(block, text=named(block.text))
            case Table():
                return replace(block, name=named(block.name))
            case Details():
                return replace(block, blocks=_told(block.blocks, attribute))
            case _:
                return block

    return tuple(map(told, blocks))
