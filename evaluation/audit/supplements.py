"""Numbers beside those of an audit's families, from which nothing is concluded: packages bring them by `evenhand.supplements`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...config.section import Section
from ...doors import Door
from ...resampling import Bootstrap
from .contents import AuditNumber
from .family import CommandOption
from .figures import Measured
from .input import AuditInput
from .plan import AuditPlan


@dataclass(frozen=True)
class Supplement:
    """What asks for numbers beside those of the families, and makes them of what these found."""

    numbers: Callable[[Sequence[Measured], AuditInput, Bootstrap, Section], Iterable[AuditNumber]]
    # by their defaults nothing is asked for
    options: type[Section]
    command_options: tuple[CommandOption, ...] = ()
    # option -> the measure without which it does nothing
    effects: Mapping[str, str] = field(default_factory=dict)


SUPPLEMENTS: Door[Supplement] = Door("supplements", "supplement", lambda thing: isinstance(thing, Supplement))


def supplements() -> dict[str, Supplement]:
    """Those that can be had, by name."""
    return {name: SUPPLEMENTS[name] for name in sorted(SUPPLEMENTS.keys() - SUPPLEMENTS.broken().keys())}


def supplementary(measured: Sequence[Measured], corpus: AuditInput, plan: AuditPlan) -> Iterator[AuditNumber]:
    """The numbers that the plan asks for, system after system."""
    for name, supplement in supplements().items():
        options = plan.options.get(name, supplement.options())
        if options != supplement.options():
            yield from supplement.numbers(measured, corpus, plan.bootstrap, options)
