"""A picture as SVG, drawn for a width: on the page once for a screen and once for a phone, and as a file of its own.

Nothing is asked of a plotting library: matplotlib and Vega-Altair write an SVG of one width in colours of one scheme, name no
line where it stands, and cost 0.4 to 0.8 s of import and 80 to 95 MB. Colours are classes, which the page's style and the file's
own one fill in, in the light, in the dark and on paper.
"""

import unicodedata
from collections.abc import Iterator
from html import escape
from pathlib import Path

from ...text.controls import visible
from . import numbers
from .cells import MARKS, Mark
from .charts import Scale, scale
from .picture import Lane, Picture, PicturePart, PictureRow, between, lane_words

# of a screen and of a phone, in CSS pixels; from here on rows are named on their left
WIDE, NARROW, NAMED_LEFT = 1024, 358, 640
STYLE = Path(__file__).parent / "templates" / "picture.css"
# heights: a line with its label beside the mark, or above it; a row's own room; text
LANE, TALL_LANE, ROOM, TEXT = 27, 37, 22, 17
# of a picture of more lines than this, so that it stays on a screen
MOST_LANES, NARROW_LANE, NARROW_ROOM = 16, 20, 10
# of a mark, and of where it was before: told apart without their colours
LARGE, SMALL = 5.5, 3.2
# how much wider bold letters are
BOLD = 1.13
# from a mark to its label; half of a band that has no width
GAP, LEAST_BAND = 10, 1.5
# of a name or a note
MOST_TEXT_LINES = 6
NARROW_LETTERS, WIDE_LETTERS = frozenset("ijlt.,:;'|!()[] fr"), frozenset("mwMW%@\u2192")


def picture_file(picture: Picture) -> str:
    """The picture as an SVG file that stands alone."""
    style = f"<style>{STYLE.read_text(encoding='utf-8')} .picture {{ background: var(--paper); }}</style>"
    # XML knows no control characters
    return visible(f"{_svg(picture, WIDE, style, 'alone')}\n")


def drawings(picture: Picture) -> dict[str, str]:
    """ "wide" and "narrow" -> SVG for the page, which shows one of them."""
    return {name: _svg(picture, width, "", name) for name, width in (("wide", WIDE), ("narrow", NARROW))}


def description(picture: Picture) -> str:
    """The numbers of the picture in sentences."""
    return " ".join(
        f"{row.name}: {'; '.join(_said(picture, part, row))}." for part in picture.parts for row in part.rows
    )


def _said(picture: Picture, part: PicturePart, row: PictureRow) -> Iterator[str]:
    if row.reference:
        yield f"{picture.reference} {between(row.reference, part)}"
    if row.band:
        yield f"{picture.band} {numbers.interval(*row.band, part.places, part.unit)}"
    for lane in row.lanes:
        if lane.marks:
            low, high = lane.marks[-1].number.low, lane.marks[-1].number.high
            drawn = (
                f" ({numbers.interval(low, high, part.places, part.unit)})"
                if low is not None and len(lane.marks) == 1
                else ""
            )
            yield f"{lane.name} {lane_words(lane, part)}{drawn}{', clear' if lane.is_clear else ''}"
    if row.verdict:
        yield row.verdict.text


def _svg(picture: Picture, width: int, style: str, name: str) -> str:
    drawn, y = [], 4.0
    for part in picture.parts:
        shapes, y = _part(part, picture, width, y)
        drawn += shapes
    keys, y = _keys(picture, width, y)
    key = f"{numbers.slug(picture.name)}-{name}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture {name}" viewBox="0 0 {width} {y:g}" role="img" '
        f'aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{escape(picture.title)}</title><desc id="{key}-desc">{escape(description(picture))}</desc>'
        f"{style}{''.join(drawn)}{keys}</svg>"
    )


class _Frame:
    """Where names, plot and verdicts of a part stand."""

    def __init__(self, part: PicturePart, picture: Picture, width: int) -> None:
        self.width, self.is_named_left = width, width >= NAMED_LEFT
        is_full = sum(len(row.lanes) for row in picture.rows) > MOST_LANES
        self.lane, self.room = (NARROW_LANE, NARROW_ROOM) if is_full else (LANE, ROOM)
        widest = max((text_width(row.name, 14.5 * BOLD) for row in part.rows), default=0)
        concluded = max((text_width(line, 13 * BOLD) for row in part.rows for line in _verdict_lines(row)), default=0)
        self.left = min(max(widest, 90) + 24, width * 0.34) if self.is_named_left else 8
        self.right = width - (min(concluded + 28, width * 0.3) if self.is_named_left and concluded else 12)
        self.scale = _scale(part, 8 if self.is_named_left else 4)

    def at(self, value: float) -> float:
        """Place of a value, from the left."""
        return round(self.left + (self.right - self.left) * self.scale.at(value) / 100, 1)


def _scale(part: PicturePart, most_ticks: int) -> Scale:
    marks = [mark for row in part.rows for lane in row.lanes for mark in lane.marks]
    values = [value for mark in marks for value in (mark.value, mark.number.low, mark.number.high)]
    values += [value for row in part.rows for value in (*(row.reference or ()), *(row.band or ()))]
    axis = scale(values, zero=part.has_zero or part.unit == "%", most_ticks=most_ticks)
    known = [value for value in values if value is not None]
    # a share is never below 0
    return (
        Scale(0.0, axis.high, tuple(t for t in axis.ticks if t >= 0))
        if part.unit == "%" and min(known, default=0) >= 0
        else axis
    )


def _part(part: PicturePart, picture: Picture, width: int, y: float) -> tuple[list[str], float]:
    """The rows of a part with their axis below, and where they end."""
    frame, first, drawn = _Frame(part, picture, width), y, []
    for row in part.rows:
        shapes, y = _row(row, part, frame, y)
        drawn += shapes
    ticks = [
        f'<line class="grid{" zero" if tick == 0 else ""}" x1="{x}" x2="{x}" y1="{first:g}" y2="{y:g}"/>'
        f'<text class="small middle" x="{x}" y="{y + 16:g}">{_tick(tick, part)}</text>'
        for x, tick in ((frame.at(tick), tick) for tick in frame.scale.ticks)
    ]
    y += 22
    lines = wrapped(part.axis, frame.right - frame.left, 12.5)
    axis = [
        f'<text class="small" x="{frame.left:g}" y="{y + 14 + TEXT * k:g}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    ]
    return [*ticks, *drawn, *axis], y + TEXT * len(lines) + 14


def _row(row: PictureRow, part: PicturePart, frame: _Frame, y: float) -> tuple[list[str], float]:
    first, drawn = y + frame.room / 2, []
    if frame.is_named_left:
        names, ends = _names(row, 0, first + 14, frame.left - 16)
        verdict, concluded = _verdict(row, frame.right + 24, first + 14, frame.width - frame.right - 24)
        y = first
    else:
        names, y = _names(row, 0, first + 14, frame.width)
        verdict, y = _verdict(row, 0, y + 4, frame.width) if row.verdict else ([], y)
        y, ends, concluded = y - 6, 0.0, 0.0
    top = y
    for lane in row.lanes:
        shapes, y = _lane(lane, part, frame, y)
        drawn += shapes
    y = max(y, ends - 6, concluded - 6)
    back = []
    if row.band and None not in row.band:
        low, high = sorted(frame.at(bound) for bound in row.band if bound is not None)
        low, high = min(low, (low + high) / 2 - LEAST_BAND), max(high, (low + high) / 2 + LEAST_BAND)
        back.append(
            f'<rect class="expected" x="{low:g}" y="{top:g}" width="{high - low:g}" height="{y - top:g}" rx="3"/>'
        )
    for x in dict.fromkeys(frame.at(bound) for bound in row.reference or () if bound is not None):
        back.append(f'<line class="reference" x1="{x}" x2="{x}" y1="{top:g}" y2="{y:g}"/>')
    return [*back, *names, *drawn, *verdict], y + frame.room / 2


def _names(row: PictureRow, x: float, y: float, room: float) -> tuple[list[str], float]:
    """Name and note, and where they end."""
    drawn = []
    for text, style, size in ((row.name, "name", 14.5 * BOLD), (row.note, "small", 12.5)):
        for line in wrapped(text, room, size):
            drawn.append(f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(line)}</text>')
            y += TEXT
    return drawn, y


def _verdict_lines(row: PictureRow) -> list[str]:
    """Its mark and text, and below them its note."""
    if not row.verdict:
        return []
    return [f"{MARKS[row.verdict.tone or 'neutral']} {row.verdict.text}", *row.verdict.note.split("\n")]


def _verdict(row: PictureRow, x: float, y: float, room: float) -> tuple[list[str], float]:
    if not row.verdict:
        return [], y
    drawn, lines = [], _verdict_lines(row)
    for text, style in zip(
        lines, (f"verdict {row.verdict.tone or 'neutral'}", *["small"] * (len(lines) - 1)), strict=True
    ):
        for line in wrapped(text, room, 13 * BOLD):
            drawn.append(f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(line)}</text>')
            y += TEXT
    return drawn, y


def _lane(lane: Lane, part: PicturePart, frame: _Frame, y: float) -> tuple[list[str], float]:
    if not lane.marks:
        return [], y
    drawn, places = [], [frame.at(mark.value) for mark in lane.marks]
    low, high = _ends(lane.marks, frame)
    size, value = 13 * (BOLD if lane.is_clear else 1), lane_words(lane, part)
    text = f"{_cut(lane.name, frame.width - text_width(value, size) - 3 * GAP, size)} {value}".strip()
    wide = text_width(text, size) + GAP
    if frame.is_named_left and (high + wide <= frame.right or low - wide >= frame.left):
        middle, height = y + frame.lane / 2, frame.lane
        after = high + wide <= frame.right
        x, anchor, base = (high + GAP, "", middle + 4.5) if after else (low - GAP, " end", middle + 4.5)
    else:
        middle, height = y + TALL_LANE - 10, TALL_LANE
        x = min(max(places[-1] - wide / 2, 0), frame.width - wide)
        anchor, base = "", middle - 10
    style, clear = _class(lane.marks[-1]), " clear" if lane.is_clear else ""
    for mark, place in zip(lane.marks, places, strict=True):
        is_last = mark is lane.marks[-1]
        start, end = mark.number.low, mark.number.high
        if start is not None and end is not None:
            ends = frame.at(start), frame.at(end)
            drawn.append(
                f'<line class="interval {style}" x1="{ends[0]}" x2="{ends[1]}" y1="{middle:g}" y2="{middle:g}"/>'
            )
        if not is_last:
            drawn.append(
                f'<line class="joint {style}" x1="{place}" x2="{places[-1]}" y1="{middle:g}" y2="{middle:g}"/>'
            )
    for mark, place in zip(lane.marks, places, strict=True):
        filled = clear if mark is lane.marks[-1] else ""
        drawn.append(
            f'<circle class="dot {style if mark is lane.marks[-1] else "before"}{filled}" cx="{place}" cy="{middle:g}" '
            f'r="{LARGE if mark is lane.marks[-1] else SMALL}"/>'
        )
    drawn.append(f'<text class="label {style}{clear}{anchor}" x="{x:g}" y="{base:g}">{escape(text)}</text>')
    return drawn, y + height


def _ends(marks: tuple[Mark, ...], frame: _Frame) -> tuple[float, float]:
    places = [
        frame.at(value)
        for mark in marks
        for value in (mark.value, mark.number.low, mark.number.high)
        if value is not None
    ]
    return min(places) - 5, max(places) + 5


def _class(mark: Mark) -> str:
    return mark.style if isinstance(mark.style, str) else f"style-{(mark.style or 0) % 4}"


def _keys(picture: Picture, width: int, y: float) -> tuple[str, float]:
    """The meaning of reference, band and marks, in as many lines as they take."""
    entries = []
    if picture.reference and any(row.reference for row in picture.rows):
        entries.append(('<line class="reference" x1="8" x2="8" y1="-11" y2="3"/>', picture.reference))
    if picture.band and any(row.band for row in picture.rows):
        entries.append(('<rect class="expected" x="1" y="-10" width="14" height="12" rx="2"/>', picture.band))
    shapes = {
        "clear": '<circle class="dot neutral clear" cx="8" cy="-4" r="5"/>',
        "unsure": '<circle class="dot neutral" cx="8" cy="-4" r="5"/>',
        "before": f'<circle class="dot before" cx="8" cy="-4" r="{SMALL}"/>',
        "interval": '<line class="interval neutral" x1="0" x2="16" y1="-4" y2="-4"/>',
    }
    for key in picture.keys:
        shape, _, text = key.partition(": ")
        entries.append((shapes[shape], text))
    drawn, x, y = [], 0.0, y + 20
    for shape, text in entries:
        room = 22 + text_width(text, 12.5) + 18
        if x and x + room > width:
            x, y = 0.0, y + 20
        drawn.append(
            f'<g transform="translate({x:g} {y:g})">{shape}<text class="small" x="22" y="0">{escape(text)}</text></g>'
        )
        x += room
    return "".join(drawn), y + 10


def wrapped(text: str, room: float, size: float) -> list[str]:
    """The text in lines no wider than the room, words whole where they fit, of a very long one its first; none of no text."""
    lines: list[str] = []
    for word in (_cut(word, room, size) for word in text.split()):
        if lines and text_width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        elif len(lines) < MOST_TEXT_LINES:
            lines.append(word)
        else:
            lines[-1] = _cut(f"{lines[-1]} \u2026", room, size)
            break
    return lines


def _cut(line: str, room: float, size: float) -> str:
    """The line, or as much of it as there is room for, at least a letter; of a file's worst name no letter is looked at twice."""
    width, end = 0.0, 1
    for n, letter in enumerate(line, 1):
        width += size * _share(letter)
        if width > room:
            return line if len(line) <= 2 else f"{line[:end]}\u2026"
        end = n if width + size * _share("\u2026") <= room else end
    return line


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in a sans-serif typeface of this size."""
    return size * sum(map(_share, text))


def _share(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if unicodedata.combining(letter):
        return 0.0
    if letter in NARROW_LETTERS:
        return 0.34
    return 0.9 if letter in WIDE_LETTERS else 0.68 if letter.isupper() else 0.57


def _tick(value: float, part: PicturePart) -> str:
    shown = 100 * value if part.unit == "%" else value
    return f"{shown:g}".replace("-", numbers.MINUS) + (" %" if part.unit == "%" else "")
