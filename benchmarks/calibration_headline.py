"""How often a whole page of an audit says something falsely: all families that name, several systems, and orders.

    python -m evenhand.benchmarks.calibration_headline --trials 10
    python -m evenhand.benchmarks.calibration_headline --trials 10 --page systems

Documents and manners of writing are those of `calibration`, with words of HELM's lists as in `calibration_word_lists`; the
documents of a set stand in a random order. An audit measures shares, coverage, places and word lists, which is what
`evenhand audit` does where nothing else is asked for, but for opinions, which name nobody. Other pages have two or three systems
that write in one manner ("systems"), summaries of the documents in three orders ("orders"), or tone besides ("tone").
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from itertools import product
from typing import get_args

import numpy as np

from ..evaluation.audit.build import build_audit
from ..evaluation.audit.contents import Audit
from ..evaluation.audit.figures import Family
from ..evaluation.audit.input import AuditedSystem, AuditInput
from ..evaluation.audit.kinds import SHARES
from ..evaluation.audit.plan import AuditPlan
from ..fairness.labelled import LabelledSource
from ..plugins.bias.demographic.word_lists import WordLists
from ..plugins.bias.word_list_family import ListedWords
from ..plugins.order.places import turned_places
from ..records import Document, DocumentSet
from ..resampling import Bootstrap
from .calibration import LEVEL, OWN, Corpus, Manner, coverage, generators, shares, summary
from .calibration_order import ORDER
from .calibration_tone import family as tone
from .calibration_tone import toned
from .calibration_word_lists import gendered_sets
from .simulate import asked, print_heads, print_row

# documents of each value
ALL_SIZES = ((4, 4), (7, 1), (5, 2, 1))
ATTRIBUTE = "side"
# intervals of numbers beside the gaps, which name nobody, need few draws
PLAN = AuditPlan(bootstrap=Bootstrap(level=LEVEL, resamples=20), n_examples=0)
HEADS = (
    "page", "documents", "sets", "trials", "says something falsely", "names a value", "compares systems",
    "place or documents", "published measures differ", "last halves: named", "less fair", "something of the others",
)  # fmt: skip
CLEAR = ("higher", "lower")
COMPARED = ("fairer", "less fair", "differs")


@dataclass(frozen=True)
class Kinds:
    """What a page may have besides one system by the usual families."""

    # summarizers of the same manner, or orders of the documents
    n_systems: int = 1
    are_orders: bool = False
    has_tone: bool = False

    def __str__(self) -> str:
        what = "order" if self.are_orders else "system"
        return f"{self.n_systems} {what}{'s' if self.n_systems > 1 else ''}{', tone' if self.has_tone else ''}"


PAGES = {
    "one": (Kinds(),),
    "systems": (Kinds(2), Kinds(3)),
    "orders": (Kinds(3, are_orders=True), Kinds(3, are_orders=True, has_tone=True)),
    "tone": (Kinds(1, has_tone=True), Kinds(2, has_tone=True)),
}


@dataclass(frozen=True)
class Pages:
    """Pages in which something was said."""

    trials: int
    # anything, of summaries that take no side: who is named, which system is fairer, places or documents, published measures
    false: int = 0
    named: int = 0
    compared: int = 0
    causes: int = 0
    differs: int = 0
    # where the last system halves the smallest value: that is named, the system is less fair, and something is said of the others
    found: int = 0
    less_fair: int = 0
    others: int = 0


@dataclass(frozen=True)
class Said:
    """What a page says, by the part that says it."""

    # systems and values that are named
    named: frozenset[tuple[str, str]]
    # systems that are said to differ from the first one, and those that are less fair
    compared: frozenset[str]
    less_fair: frozenset[str]
    # of places and documents; of published measures
    causes: bool
    differs: bool

    @property
    def something(self) -> bool:
        """Whether anything is concluded at all."""
        return bool(self.named or self.compared or self.causes or self.differs)


def families(values: tuple[str, ...], *, has_tone: bool = False) -> list[Family]:
    """All that name somebody where an audit is asked for nothing else."""
    found: list[Family] = [shares(values), coverage(values), ORDER, ListedWords(WordLists())]
    return [*found, tone(values)] if has_tone else found


def sets_of(
    corpus: Corpus, generator: np.random.Generator, *, has_tone: bool = False
) -> list[tuple[LabelledSource, ...]]:
    """Documents of every set, in a random order."""
    drawn = gendered_sets(corpus, generator)
    if has_tone:
        drawn = [tuple(toned(its, corpus.values[0], generator)) for its in drawn]
    return [tuple(its[int(k)] for k in generator.permutation(len(its))) for its in drawn]


def audit_of(
    corpus: Corpus,
    documents: Sequence[Sequence[LabelledSource]],
    generator: np.random.Generator,
    halved: Sequence[str | None] = (None,),
    of: Kinds = Kinds(),
) -> Audit:
    """An audit of a summary of every set by each system.

    Args:
        corpus: values, and the manner of writing.
        documents: of every set.
        generator: of the summaries.
        halved: by each system, a value of whose sentences only half are read.
        of: what the page has.
    """
    sets = tuple(
        DocumentSet(
            id=f"s{place}",
            documents=tuple(
                Document(id=f"s{place}/{k}", text=each.text, attributes={ATTRIBUTE: each.value})
                for k, each in enumerate(its)
            ),
            notes={"sentences": "lines"},
        )
        for place, its in enumerate(documents)
    )
    systems = []
    for place, value in enumerate(halved):
        texts = {
            each.id: summary(its, corpus.manner, generator, value) for each, its in zip(sets, documents, strict=True)
        }
        is_turned = of.are_orders and place > 0
        places = (
            {each.id: turned_places(len(each.documents), place, of.n_systems) for each in sets} if is_turned else None
        )
        systems.append(AuditedSystem(f"system-{place}", "", "", texts, places=places))
    given = AuditInput(
        sets=sets, attribute=ATTRIBUTE, values=corpus.values, declared=(corpus.values,) * len(sets),
        systems=tuple(systems), documents="", documents_digest="", n_not_drawn=0,
    )  # fmt: skip
    return build_audit(given, PLAN, families(corpus.values, has_tone=of.has_tone))


def said_by(found: Audit) -> Said:
    """What a page says."""
    return Said(
        named=frozenset((each.system, value) for each in found.represented for value in (*each.under, *each.over)),
        compared=frozenset(each.system for each in found.votes if each.verdict in COMPARED),
        less_fair=frozenset(each.system for each in found.votes if each.verdict == "less fair"),
        causes=any(each.verdict in CLEAR for each in found.orders),
        differs=any(each.verdict in CLEAR for each in found.differences),
    )


def _is_told(found: Audit, value: str, system: str) -> bool:
    return any(value in each.under for each in found.represented if (each.family, each.system) == (SHARES, system))


def count_pages(of: Kinds, corpus: Corpus, trials: int, *, planted: bool = True) -> Pages:
    """How often pages say something of summaries that take no side, all in one manner, and what of a system that does."""
    counts = dict.fromkeys((each.name for each in fields(Pages)[1:]), 0)
    fair: list[str | None] = [None] * of.n_systems
    for generator in generators(corpus, trials):
        documents = sets_of(corpus, generator, has_tone=of.has_tone)
        said = said_by(audit_of(corpus, documents, generator, fair, of))
        found = {"false": said.something, "named": said.named, "compared": said.compared}
        found |= {"differs": said.differs, "causes": said.causes}
        if planted and not of.are_orders:
            page = audit_of(corpus, documents, generator, [*fair[1:], corpus.values[-1]], of)
            said, last = said_by(page), f"system-{of.n_systems - 1}"
            others = {system for system, _ in said.named} | said.compared
            found |= {"found": _is_told(page, corpus.values[-1], last), "less_fair": last in said.less_fair}
            found["others"] = others - {last}
        for name, is_so in found.items():
            counts[name] += bool(is_so)
    return Pages(trials, **counts)


def main() -> None:
    """Print the table."""
    given = asked(
        __doc__,
        (10, "corpora of each kind"),
        ([12, 30], "document sets of a corpus"),
        page={"choices": tuple(PAGES), "default": "one", "help": "what it has (%(default)s)"},
    )
    manners: tuple[Manner, ...] = get_args(Manner)
    print_heads(*HEADS)
    for of, n_sets, sizes in product(PAGES[given.page], given.sets, ALL_SIZES):
        kinds = [Corpus(sizes, n_sets, own, manner) for own, manner in product(OWN, manners)]
        counts = [astuple(count_pages(of, each, given.trials)) for each in kinds]
        print_row(of, ":".join(map(str, sizes)), n_sets, *map(sum, zip(*counts, strict=True)))


if __name__ == "__main__":
    main()
