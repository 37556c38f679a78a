"""The terminal as all verbs see it: whatever a text, a label or a file's name holds, it obeys evenhand alone."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ..text.controls import visible


class Terminal(Console):
    """A console that takes texts for data: no markup, no codes of emoji, and control characters written as escapes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments as rich renders them, with their control characters visible; rich's own control codes stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))

    def render_str(self, text: str, **options: Any) -> Text:
        """Text as rich renders it, with control characters visible, of which rich would take some out of a cell."""
        return super().render_str(visible(text), **options)
