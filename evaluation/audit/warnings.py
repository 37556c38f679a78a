"""What a reader must know of the audit's numbers: warnings of one audit, and notes on what its measures and intervals mean."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ...corpora.leftovers import leftover_in_sets, leftover_in_summaries
from ...corpora.summaries import BY_ORDER, THOUGHTS
from ...corpora.summary_ids import SETS
from ...corpora.values import n_of_no_group
from ...fairness.content_tokens import share_borderless
from ...generate.refusals import is_refusal, refusals_told
from ...resampling import NOISE, too_few
from ...text import did_you_mean, some_of
from ...text.shown import shortened
from ..pages.numbers import FLAT
from ..pages.tables import grouped
from ..pages.value_names import noun
from ..pages.words import joined
from .cells import TOO_NARROW, is_too_narrow
from .contents import Audit, AuditNumber, SystemNote
from .coverage import TOO_FEW_UNITS, Covered
from .families import MEASURES, shown_name
from .figures import NO_WORD, Measured, as_read
from .input import AuditInput
from .kinds import AUC, BUR, COVERAGE_PARITY, SHORTFALL, SOF, UER
from .plan import AuditPlan
from .shares import Taken, ValueShares, one_valued_sets, unmatched_summaries

# values that a warning names
MOST_NAMED = 8
# share of documents that are doubled from which on it is said; some platforms have 0.1 % of their own
MANY_TWICE = 0.01
MORE_UNITS = (
    " A unit is one fact: a clause, or an item of a list. Audit longer summaries, or leave coverage out (--measures)."
)
# means over values, which small groups enter with the weight of large ones
SPREADS = (SOF, COVERAGE_PARITY)


def warnings(
    measured: Sequence[Measured], corpus: AuditInput, plan: AuditPlan, numbers: Sequence[AuditNumber]
) -> Iterator[str]:
    """All warnings."""
    yield from _of_sets(corpus)
    # families whose part of the page, made of examples, rests on something else than sets
    families = dict.fromkeys(measurement.family.name for measurement in measured)
    apart = [family for family in families if MEASURES[family].page.part] if plan.n_examples else []
    few_note = too_few(
        len(corpus.sets), subject=f"All but {joined(apart)}" if apart else "What is said beyond these sets"
    )
    if few_note:
        yield few_note
    yield from _of_few_sets(measured, plan)
    yield from _of_shares([measurement for measurement in measured if isinstance(measurement.family, ValueShares)])
    yield from _of_cuts(measured)
    yield from values_without_words(measured, corpus)
    yield from scripts(measured, corpus)
    yield from _left_out(measured)
    yield from _of_no_level(measured)
    # what is said of a family is said of each of its systems
    yield from dict.fromkeys(
        warning
        for measurement in measured
        for warning in MEASURES[measurement.family.name].page.warnings(measurement, plan.least_group)
    )
    scored = {
        (measurement.family.name, measurement.system) for measurement in measured if measurement.figures.scored.any()
    }
    # where no value can be in enough sets, and that is said of all but these families, it is not said of each
    if not (apart and few_note):
        yield from _of_small_groups([n for n in numbers if (n.family, n.system) in scored], corpus, plan)


def _of_no_level(measured: Sequence[Measured]) -> Iterator[str]:
    """A warning that shares name nobody where other shares are aimed at than the documents' own."""
    if any(
        isinstance(measurement.family, ValueShares) and measurement.family.target != "ratio" for measurement in measured
    ):
        yield (
            "Shares: nobody is named and no system called fairer, as what is expected is known of summaries that aim at the "
            "documents' shares, and --target has others."
        )


def _of_sets(corpus: AuditInput) -> Iterator[str]:
    if by_order := [system.label for system in corpus.systems if system.by_order]:
        yield f"{', '.join(by_order)}: {BY_ORDER.format(of=SETS.many)}"
    yield from (
        f"{system.label}: {THOUGHTS.format(n=system.n_thoughts)}" for system in corpus.systems if system.n_thoughts
    )
    if leftover := leftover_in_sets(corpus.sets, [corpus.attribute]):
        yield leftover
    for system in corpus.systems:
        if leftover := leftover_in_summaries(system.summaries):
            yield f"{system.label}: {leftover}"
        if empty := sum(not text.strip() for text in system.summaries.values()):
            yield (
                f"{system.label}: {empty:,} of {len(system.summaries):,} summaries are empty; they are left out of every "
                "measure, which says nothing of them."
            )
        yield from (f"{system.label}: {note}" for note in _of_replies(system.summaries, corpus))
    n_documents = sum(len(documents.documents) for documents in corpus.sets)
    if (twice := _documents_twice(corpus)) >= MANY_TWICE * n_documents and twice:
        yield (
            f"{twice:,} of {n_documents:,} documents have the text of another of the same set, as where a join of tables doubled "
            "rows; each counts. Take them out, unless it is meant so."
        )
    if alike := _alike(corpus):
        yield (
            f"{len(alike):,} {'set has' if len(alike) == 1 else 'sets have'} the documents of another ({some_of(alike)}): what "
            "is concluded of shares counts them once, other numbers each time. Leave them out, unless it is meant so."
        )
    if corpus.n_not_drawn:
        yield f"{len(corpus.sets):,} sets were drawn; {corpus.n_not_drawn:,} others were left aside by --limit."
    if len(set(corpus.declared)) > 1:
        yield (
            f"Sets declare different values of {corpus.attribute}; rows and SOF go by name, where the released code goes by "
            "place."
        )
    if n := n_of_no_group(corpus.sets, corpus.attribute):
        n_all = n + sum(len(documents.documents) for documents in corpus.sets)
        yield f"{n:,} of {n_all:,} documents are in no group of {corpus.attribute} and are left out."
    values = _found_values(corpus)
    for value in corpus.values:
        if value not in values:
            yield f"No document has {corpus.attribute} {value!r}{did_you_mean(value, values)}"


def _of_replies(summaries: Mapping[str, str], corpus: AuditInput) -> Iterator[str]:
    """What a system wrote in place of summaries: refusals, and one text for sets of different documents."""
    # a file may have summaries of sets that were not drawn
    drawn = [
        (document_set, summaries[document_set.id].strip())
        for document_set in corpus.sets
        if document_set.id in summaries
    ]
    if warning := refusals_told([text for _, text in drawn]):
        yield warning
    n_sets = Counter(text for _, text in drawn if text)
    several = {text for text, n in n_sets.items() if n > 1 and not is_refusal(text)}
    documents: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for document_set, text in drawn:
        if text in several:
            documents[text].add(frozenset(as_read(document.text) for document in document_set.documents))
    repeats = {text: n_sets[text] for text, sources in documents.items() if len(sources) > 1}
    if repeats:
        yield (
            f"{sum(repeats.values()):,} of {len(drawn):,} summaries are the text of another set's "
            f"({shortened(max(repeats, key=repeats.__getitem__))}); they count like any other. Look whether something else "
            "stands in place of summaries, or the files were joined wrongly."
        )


def _documents_twice(corpus: AuditInput) -> int:
    """How many documents have the text of an earlier one of their set."""
    return sum(
        len(each.documents) - len({as_read(document.text) for document in each.documents}) for each in corpus.sets
    )


def _alike(corpus: AuditInput) -> list[str]:
    """The sets that have the documents and values of an earlier one, each as "'second' as 'first'"."""
    first: dict[tuple[tuple[str, str], ...], str] = {}
    alike = []
    for documents in corpus.sets:
        texts = ((as_read(document.text), document.attributes[corpus.attribute]) for document in documents.documents)
        earlier = first.setdefault(tuple(sorted(texts)), documents.id)
        if earlier != documents.id:
            alike.append(f"{shortened(documents.id)} as {shortened(earlier)}")
    return alike


def _of_few_sets(measured: Sequence[Measured], plan: AuditPlan) -> Iterator[str]:
    """Families tested by signs of sets of which nothing can be clear, though all sets agree."""
    for family in dict.fromkeys(measurement.family.name for measurement in measured):
        figures = [
            measurement.figures
            for measurement in measured
            if measurement.family.name == family and measurement.figures.naming
        ]
        n_sets = max(
            (
                int(system_figures.rests_on[:, system_figures.naming].sum(axis=0).max())
                for system_figures in figures
                if not system_figures.leftover
            ),
            default=0,
        )
        # half of the level is for shares
        few_note = too_few(n_sets, (1 + plan.bootstrap.level) / 2, subject=f"The test of {family.replace('-', ' ')}")
        if few_note and not too_few(n_sets):
            yield few_note


def _found_values(corpus: AuditInput) -> dict[str, None]:
    return dict.fromkeys(value for documents in corpus.sets for value in documents.values(corpus.attribute))


def _of_shares(measured: Sequence[Measured]) -> Iterator[str]:
    for measurement in measured:
        unmatched = unmatched_summaries(measurement.answers)
        if unmatched:
            yield (
                f"{measurement.system}: {unmatched:,} of {int(measurement.figures.scored.sum()):,} summaries have no word that "
                "the tokenizer finds in any document (another script, emoji, stop words alone); by definition they count as "
                "taking up all values alike, and they are not shown among the most unfair."
            )
    one_valued = max((one_valued_sets(measurement.answers) for measurement in measured), default=0)
    if one_valued:
        yield (
            f"{one_valued:,} scored sets have words of one value only; by definition of BUR, UER, AUC and SOF their summaries "
            "count as fair."
        )


def _together(messages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Systems and what is to be said of them; those of which the same is to be said are named together."""
    for message, pairs in grouped(messages, lambda pair: pair[1]).items():
        yield f"{', '.join(system for system, _ in pairs)}, {message}"


def _of_cuts(measured: Sequence[Measured]) -> Iterator[str]:
    """Families whose model did not read all."""
    messages = []
    for measurement in measured:
        if n_cut := sum(isinstance(answer, Covered | Taken) and answer.n_cut > 0 for answer in measurement.answers):
            message = (
                f"{measurement.family.name}: in {n_cut:,} of {int(measurement.figures.scored.sum()):,} scored "
                f"summaries a text is longer than {measurement.family.by} reads; its end was not compared."
            )
            messages.append((measurement.system, message))
    return _together(messages)


def _left_out(measured: Sequence[Measured]) -> Iterator[str]:
    """Families that rest on less than half of the sets; those of which the same is to be said are named together, too."""
    messages = []
    for measurement in measured:
        n, n_sets = int(measurement.figures.scored.sum()), len(measurement.figures.scored)
        if 2 * n < n_sets:
            counts = Counter(reason for reason in measurement.figures.left_out if reason is not None)
            why = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
            message = (
                f"rests on {n:,} of {n_sets:,} sets; left out: {why}.{MORE_UNITS if TOO_FEW_UNITS in counts else ''}"
            )
            messages.append((measurement.system, shown_name(measurement.family.name, measurement.family.by), message))
    for message, rows in grouped(messages, lambda row: row[2]).items():
        by_system = grouped(rows, lambda row: row[0])
        yield from _together(
            (system, f"{', '.join(family for _, family, _ in of)}: {message}") for system, of in by_system.items()
        )


def _of_small_groups(numbers: Sequence[AuditNumber], corpus: AuditInput, plan: AuditPlan) -> Iterator[str]:
    """Values with too few scored sets, by family and system; systems with the same values are named together."""
    small: dict[tuple[str, str], dict[str, bool]] = {}
    for number in numbers:
        if number.is_small and not number.kind.is_of_lists and number.side in _found_values(corpus):
            values = small.setdefault((number.family, number.system), {})
            values[number.side] = values.get(number.side, False) or (number.n_sets > 0 and not number.kind.of_several)
    # a value that takes no part for want of words is named for that reason alone
    silent = {(n.family, n.system, n.side) for n in numbers if n.n_sets == 0 and NO_WORD in n.reasons}
    spreads = {number.family: number.kind.name for number in numbers if number.kind in SPREADS}
    shown = {number.family: shown_name(number.family, number.by) for number in numbers}
    messages = []
    for (family, system), values in small.items():
        alike = f"; {spreads[family]} counts them like any other value" if family in spreads else ""
        for is_scored in (True, False):
            few_values = [v for v, has in values.items() if has == is_scored and (family, system, v) not in silent]
            names = _named([corpus.name_of(value) for value in few_values])
            message = (
                f"fewer than {plan.least_group} scored sets (--least-group) have {names}. Such values are marked few and get no "
                f"verdict{alike}."
            )
            messages += (
                [(system, f"{shown[family]}: {message if is_scored else f'no scored set has {names}.'}")]
                if few_values
                else []
            )
    return _together(messages)


def _named(values: Sequence[str]) -> str:
    n_more = len(values) - MOST_NAMED
    return ", ".join(values[:MOST_NAMED]) + (f" and {n_more} others" if n_more > 0 else "")


# share of the documents' letters from which a script without borders is spoken of
MUCH = 0.1
SCRIPTS = "scripts without borders between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese)"


def values_without_words(measured: Sequence[Measured], corpus: AuditInput) -> Iterator[str]:
    """A warning for each value with documents in a scored set that hold no word for the matcher."""
    n_silent = Counter[str]()
    for measurement in measured:
        if isinstance(measurement.family, ValueShares):
            for place, quantity in enumerate(measurement.figures.quantities):
                if quantity.side is not None and quantity.kind == SHORTFALL:
                    silent = np.flatnonzero(
                        measurement.figures.scored & ~measurement.figures.rests_on[:, place]
                    ).tolist()
                    n = sum(quantity.side in corpus.sets[row].values(corpus.attribute) for row in silent)
                    n_silent |= Counter({quantity.side: n})
    for value, n in n_silent.items():
        yield (
            f"{corpus.name_of(value)}: in {n:,} sets no document of this {noun(corpus.attribute)} has a word that counts; there "
            "it takes no part in BUR, UER, AUC and SOF."
        )


def scripts(measured: Sequence[Measured], corpus: AuditInput) -> Iterator[str]:
    """A warning where much of the documents is in scripts between whose words a tokenizer finds no borders."""
    readers = {(measurement.family.name, measurement.family.by) for measurement in measured}
    by_words = sorted(
        {
            f"{name} by words" if by == "words" else name
            for name, by in readers
            if by == "words" or MEASURES[name].page.compares_words
        }
    )
    by_ngrams = ("value-shares", "ngram") in readers
    if not (by_words or by_ngrams):
        return
    share = share_borderless(document.text for documents in corpus.sets for document in documents.documents)
    if share < MUCH:
        return
    where = f"{100 * share:.0f} % of the documents' letters are of {SCRIPTS}"
    if by_ngrams:
        yield (
            f"{where}: matcher ngram takes a whole clause for one word, so value-shares by ngram say nothing of these texts; "
            "take --matcher words."
        )
    if by_words:
        yield (
            f"{where}: there {', '.join(by_words)} compare pairs of neighbouring characters, which separate contents less "
            "well than words do."
        )


# what the short names of measures stand for
NAMES = {
    BUR: "binary unfair rate",
    UER: "unfair error rate",
    AUC: "area under the curve of the unfair rate over all tolerances",
    SOF: "second-order fairness",
}


def notes(audit: Audit) -> str:
    """All notes on what the measures mean."""
    sentences = (short_names(audit), fairest(audit), of_wholes(audit), rising(audit), unusual_intervals(audit))
    return " ".join(filter(None, sentences))


def short_names(audit: Audit) -> str:
    """What the short names of the audit's measures stand for; "" where it has none."""
    kinds = {number.kind for number in audit.aggregates}
    meanings = [f"{kind.name}: {name}" for kind, name in NAMES.items() if kind in kinds]
    return f"{'; '.join(meanings)}." if meanings else ""


def fairest(audit: Audit) -> str:
    """Which value of the measures is fair."""
    unknown = dict.fromkeys(n.kind.name for n in audit.aggregates if not MEASURES[n.family].page.zero_is_fair)
    sentences = [f"0 is fair{f', but for {joined(list(unknown))}, of which that is not known' if unknown else ''}."]
    any_zero = any(MEASURES[note.family].page.zero_is_fair for note in audit.measures)
    if len(unknown) == len({n.kind.name for n in audit.aggregates}) and (unknown or not any_zero):
        sentences = ["Which number is fair is not known."]
    if any(n.kind == AUC for n in audit.aggregates) and audit.options["mode"] != "paper":
        sentences.append(
            "AUC is at least 5 %: at tolerance 1 a value that gets no more than its due counts as under-represented, and in "
            "every summary there is one."
        )
    sentences += dict.fromkeys(n.kind.note for n in audit.aggregates if n.kind.note)
    return " ".join(sentences)


def of_wholes(audit: Audit) -> str:
    """That nothing is concluded from whole measures, and what a gap below 0 is not; "" where no gap is shown."""
    if not any(number.gap.reference for number in audit.aggregates):
        return ""
    return (
        "Nothing is concluded from these measures of a whole, so their gaps to what is expected have no p; who is represented "
        "less or more is said by value. A gap below 0 does not show that the summaries are fair."
    )


def rising(audit: Audit) -> str:
    """Which measures grow by chance alone; "" where there is none."""
    kinds = (n.kind for n in audit.aggregates if n.value is not None)
    names = dict.fromkeys(kind.name for kind in kinds if kind.grows_by_chance)
    if not names:
        return ""
    return (
        f"Measures of absolute gaps ({', '.join(names)}) grow by chance alone, so their intervals lie too high when a "
        "system is fair."
    )


def unusual_intervals(audit: Audit) -> str:
    """What intervals mean that are not those of Student's t; "" where all are."""
    shown = (*audit.numbers, *audit.differences)
    is_flat = any(n.low is not None and n.high is not None and n.high - n.low <= NOISE for n in shown)
    is_exact = any(n.kind.is_rate and n.low is not None for n in audit.numbers)
    sentences = (
        f'"{FLAT.capitalize()}": all sets agree, and their spread says nothing of its uncertainty.' if is_flat else "",
        "Intervals of rates are the exact ones of Clopper and Pearson." if is_exact else "",
        too_narrow([*audit.aggregates, *audit.by_value]),
    )
    return " ".join(filter(None, sentences))


def too_narrow(numbers: Sequence[AuditNumber]) -> str:
    """Of which measures intervals cover the true value less often than stated, by the simulation; "" where none does."""
    marked = dict.fromkeys(number.kind for number in numbers if is_too_narrow(number))
    measures = joined([f"{kind.name} of fewer than {kind.holds_from} sets" for kind in marked])
    if not measures:
        return ""
    return (
        f'"{TOO_NARROW.capitalize()}": the interval of {measures} covers the true value less often than stated: 95 % intervals '
        "covered it in 81 to 89 % of simulated audits of 12 to 30 sets."
    )


def aim(audit: Audit) -> str:
    """Where the summaries' share of a value is fair, beside its share in the sources."""
    return {
        "ratio": "Where sides write unlike, a summarizer that knows no side need not give them the sources' shares: see the gap.",
        "equal": "Fair is here an equal share of each: the share aimed at is in the table.",
    }.get(
        str(audit.options["target"]),
        "Fair are here the weights that were given: the share aimed at is in the table.",
    )


def length(system: SystemNote) -> str:
    """How long its summaries are."""
    return f"A summary has {system.n_words:.1f} words in {system.n_sentences:.1f} sentences on average."
