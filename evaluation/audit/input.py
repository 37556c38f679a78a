"""What is audited: document sets, their attribute values, and the summaries of one or more systems, all checked together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ...config import ColumnsSection, SummaryColumnsSection
from ...corpora.bundled import DOCUMENTS, SUMMARIES, file_of
from ...corpora.coverage import read_units
from ...corpora.reader import read_any
from ...corpora.summaries import read_summaries
from ...corpora.summary_columns import USUAL
from ...corpora.values import groups_in
from ...errors import DataError, EvenhandError
from ...fairness.labelled import LabelledSource, LabelledSummary
from ...records import DocumentSet
from ...storage import file_digest
from ...text import did_you_mean, in_order, repeated
from ...text.digests import digest
from ...text.mistakes import listed
from ..pages.value_names import read_labels, value_name
from .oracle import oracle_summaries


@dataclass(frozen=True)
class AuditFiles:
    """What the command line asks to be read."""

    documents: Path
    attribute: str
    # further attributes, which are audited on the same page
    other_attributes: tuple[str, ...] = ()
    # groups that take the place of values
    group: tuple[str, ...] = ()
    # what the columns of a table of documents are called; None where it is none, or they have the usual names
    columns: ColumnsSection | None = None
    # rows of it with an empty cell are left out
    skip_empty: bool = False
    # label and file of each summaries file, and what their columns or keys are called
    summaries: tuple[tuple[str, Path], ...] = ()
    summary_columns: SummaryColumnsSection = USUAL
    # labels of those that models were asked for, which have summaries of the drawn sets alone
    asked: tuple[str, ...] = ()
    # label and file of units that somebody split each system's summaries into; () lets them be found
    units: tuple[tuple[str, Path], ...] = ()
    # of options that families bring
    of_families: tuple["SystemFiles", ...] = ()
    # places of the human references to audit, from 1
    references: tuple[int, ...] = ()
    # documents of a summary of the oracle test, which is audited in place of summaries; None for no such test
    oracle: int | None = None
    # declared values in the order of every table; () takes the file's own, else `in_order`
    values: tuple[str, ...] = ()
    # what values are to be called, "1=one star"
    labels: tuple[str, ...] = ()
    # sets without a summary are left out and counted
    allow_missing: bool = False
    # so many sets are drawn by the seed; None takes all
    limit: int | None = None
    seed: int = 0

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes, that of the page's first part first."""
        return (self.attribute, *self.other_attributes)


@dataclass(frozen=True)
class SystemFiles:
    """Files of systems that an option of a family names."""

    # label of a system, and file
    files: tuple[tuple[str, Path], ...]
    read: "SystemReader"


@dataclass(frozen=True)
class AuditedSystem:
    """One summaries file, or the human references."""

    label: str
    source: str
    # digest of the file
    digest: str
    # by set id; sets without a summary are absent
    summaries: Mapping[str, str]
    # whether the file has no ids, and its summaries went to the sets in their order
    by_order: bool = False
    # by set id, units of its summary as somebody split it; None where they have to be found
    units: Mapping[str, tuple[str, ...]] | None = None
    # by set id, where each document stood; None: as they stand in the file
    places: Mapping[str, tuple[int, ...]] | None = None
    # summaries of which a train of thought was taken off
    n_thoughts: int = 0


# the systems with what their files say: of systems, label and file of some of them, all that is asked for, sets, and a list of
# mistakes, to which what is wrong is added
SystemReader = Callable[
    [Sequence[AuditedSystem], Sequence[tuple[str, Path]], AuditFiles, Sequence[DocumentSet], list[str]],
    list[AuditedSystem],
]


@dataclass(frozen=True)
class AuditInput:
    """Sets and systems that hold together."""

    sets: tuple[DocumentSet, ...]
    attribute: str
    # all values, in the order of every table
    values: tuple[str, ...]
    # the values that each set declares, in its order
    declared: tuple[tuple[str, ...], ...]
    systems: tuple[AuditedSystem, ...]
    documents: str
    documents_digest: str
    n_not_drawn: int
    # what the user calls values
    labels: Mapping[str, str] = field(default_factory=dict)
    # the same by the page's other attributes
    others: tuple["AuditInput", ...] = ()

    @property
    def groups(self) -> str:
        """The groups that the values are, "critical=1,2; praising=4,5"; "" where they are values as they came."""
        return groups_in(self.sets, self.attribute)

    @property
    def has_units(self) -> bool:
        """Whether units of the summaries were given."""
        return any(system.units is not None for system in self.systems)

    @property
    def is_arranged(self) -> bool:
        """Whether systems are one summarizer with the documents in several orders."""
        return any(system.places is not None for system in self.systems)

    def name_of(self, value: str) -> str:
        """What a value is called in sentences."""
        return value_name(value, self.attribute, self.labels)

    def items(self, system: AuditedSystem) -> list[LabelledSummary | None]:
        """The system's summary of each set with its documents; None where there is none."""
        return [
            LabelledSummary(
                documents.id,
                values,
                self.labelled(documents),
                system.summaries[documents.id],
                documents.separator,
                # a set that a file of units lacks has none
                None if system.units is None else system.units.get(documents.id, ()),
                None if system.places is None else system.places[documents.id],
            )
            if documents.id in system.summaries
            else None
            for documents, values in zip(self.sets, self.declared, strict=True)
        ]

    def labelled(self, documents: DocumentSet) -> tuple[LabelledSource, ...]:
        """The documents of a set with their values."""
        return tuple(
            LabelledSource(d.text, d.attributes[self.attribute], documents.sentences_of(d)) for d in documents.documents
        )


def read_input(wanted: AuditFiles, *, is_before: bool = False) -> AuditInput:
    """Documents and summaries.

    Args:
        wanted: what is asked for.
        is_before: the models were not asked yet, and what they will write is left out; all else is checked.

    Raises:
        DataError: a file cannot be read, the documents have no such attribute or other values than were named, a summaries
            file does not fit them, a reference is missing, or two systems have one name; all are listed together.
    """
    absent = wanted.asked if is_before else ()
    files = [(label, path) for label, path in wanted.summaries if label not in absent]
    try:
        sets = read_any(
            wanted.documents,
            columns=wanted.columns,
            attributes=wanted.attributes,
            group=wanted.group,
            skip_empty=wanted.skip_empty,
        )
    except EvenhandError as error:
        raise DataError(listed([str(error), *_absent(path for _, path in files)])) from error
    mistakes: list[str] = []
    systems = []
    for label, path in files:
        try:
            is_asked = label in wanted.asked
            own_sets = _drawn(sets, wanted) if is_asked else sets
            # what a model was asked for is not in the user's columns
            columns = USUAL if is_asked else wanted.summary_columns
            summaries = read_summaries(path, own_sets, allow_missing=wanted.allow_missing, columns=columns)
            content = file_digest(file_of(path, SUMMARIES))
            n = summaries.n_thoughts
            systems.append(AuditedSystem(label, str(path), content, summaries, summaries.by_order, n_thoughts=n))
        except EvenhandError as error:
            mistakes.append(f"{error}{_if_missing(path, sets, wanted)}")
    systems = _with_units(systems, wanted, mistakes)
    for further in wanted.of_families:
        systems = further.read(systems, further.files, wanted, sets, mistakes)
    systems += [_references(sets, wanted, place, mistakes) for place in wanted.references]
    if wanted.oracle is not None:
        source = f"{wanted.oracle} documents of each set, seed {wanted.seed}"
        by_label = oracle_summaries(sets, wanted.attribute, wanted.oracle, wanted.seed)
        systems += [AuditedSystem(label, source, digest(texts), texts) for label, texts in by_label.items()]
    return input_of(sets, systems, wanted, file_digest(file_of(wanted.documents, DOCUMENTS)), mistakes)


def input_of(
    sets: Sequence[DocumentSet],
    systems: Sequence[AuditedSystem],
    wanted: AuditFiles,
    documents_digest: str,
    mistakes: Sequence[str],
) -> AuditInput:
    """What was read, checked together.

    Args:
        sets: all of them.
        systems: those that could be read.
        wanted: what was asked for.
        documents_digest: of the sets' file.
        mistakes: what is wrong with the others.

    Raises:
        DataError: there are mistakes, or other ones; all are listed together.
    """
    if all_mistakes := [*_attribute_mistakes(sets, wanted), *_label_mistakes(wanted), *mistakes]:
        raise DataError(listed(all_mistakes))
    drawn = _drawn(sets, wanted)
    by_attribute = [
        _by_attribute(drawn, systems, replace(wanted, attribute=name), documents_digest, len(sets))
        for name in wanted.attributes
    ]
    first, *others = _with_labels(by_attribute, wanted.labels)
    return replace(first, others=tuple(others))


def _with_labels(by_attribute: Sequence[AuditInput], entries: Sequence[str]) -> Iterator[AuditInput]:
    """Each with the labels of its values; an entry that is of none is a mistake."""
    beginnings = [tuple(f"{value}=" for value in corpus.values) for corpus in by_attribute]
    if len(by_attribute) > 1 and (stray := [entry for entry in entries if not any(map(entry.startswith, beginnings))]):
        values = [value for corpus in by_attribute for value in corpus.values]
        read_labels(stray, " or ".join(corpus.attribute for corpus in by_attribute), values)
    for corpus, starts in zip(by_attribute, beginnings, strict=True):
        labels = entries if len(by_attribute) == 1 else [entry for entry in entries if entry.startswith(starts)]
        yield replace(corpus, labels=read_labels(labels, corpus.attribute, corpus.values))


def _by_attribute(
    drawn: Sequence[DocumentSet],
    systems: Sequence[AuditedSystem],
    wanted: AuditFiles,
    documents_digest: str,
    n_sets: int,
) -> AuditInput:
    """The drawn sets with the values of one attribute."""
    common = wanted.values or in_order(v for documents in drawn for v in documents.values(wanted.attribute))
    declared = tuple(common if wanted.values else _declared(documents, wanted.attribute, common) for documents in drawn)
    values = tuple(dict.fromkeys(value for values in declared for value in values))
    return AuditInput(
        sets=tuple(drawn),
        attribute=wanted.attribute,
        values=values,
        declared=declared,
        systems=tuple(systems),
        documents=str(wanted.documents),
        documents_digest=documents_digest,
        n_not_drawn=n_sets - len(drawn),
    )


def _drawn(sets: Sequence[DocumentSet], wanted: AuditFiles) -> Sequence[DocumentSet]:
    """The sets that are audited."""
    if wanted.limit is None or wanted.limit >= len(sets):
        return sets
    chosen = np.random.default_rng(wanted.seed).choice(len(sets), size=wanted.limit, replace=False)
    return [sets[place] for place in sorted(chosen.tolist())]


def reference_label(place: int) -> str:
    """What a human reference is called in the tables."""
    return f"reference {place}"


def _absent(paths: Iterable[Path]) -> Iterable[str]:
    """What there is to say of summaries files that are not there."""
    for path in paths:
        try:
            if not file_of(path, SUMMARIES).is_file():
                yield f"{path}: is not a file"
        except DataError as error:
            yield str(error)


def _if_missing(path: Path, sets: Sequence[DocumentSet], wanted: AuditFiles) -> str:
    """How an error goes on whose only reason are sets without a summary; "" for other errors."""
    if wanted.allow_missing:
        return ""
    try:
        read_summaries(path, sets, allow_missing=True, columns=wanted.summary_columns)
    except EvenhandError:
        return ""
    return "; or give --allow-missing to leave sets without a summary out, counted"


def _attribute_mistakes(sets: Sequence[DocumentSet], wanted: AuditFiles) -> Iterable[str]:
    if wanted.other_attributes:
        yield from (f"--attribute {name} is given twice; give each once" for name in repeated(wanted.attributes))
        one_only = {"--values": bool(wanted.values), "--oracle": wanted.oracle is not None}
        yield from (
            f"{option} is of one attribute; give a single --attribute" for option in one_only if one_only[option]
        )
    for name in dict.fromkeys(wanted.attributes):
        yield from _mistakes_of(name, sets, wanted)


def _mistakes_of(name: str, sets: Sequence[DocumentSet], wanted: AuditFiles) -> Iterable[str]:
    known = dict.fromkeys(a for documents in sets for d in documents.documents for a in d.attributes)
    if name not in known:
        has = f"Attributes of its documents are {', '.join(known)}." if known else "Its documents have no attribute."
        yield f"{wanted.documents}: no document has the attribute {name!r}{did_you_mean(name, known)} {has}"
        return
    for documents in sets:
        lacking = [d.id for d in documents.documents if name not in d.attributes]
        if lacking:
            yield (
                f"{wanted.documents}: set {documents.id!r}: document {', '.join(map(repr, lacking[:5]))} has no attribute "
                f"{name!r}; give it one or take it out"
            )
    present = dict.fromkeys(value for documents in sets for value in documents.values(name))
    for value in present if wanted.values else ():
        if value not in wanted.values:
            yield f"--values {','.join(wanted.values)}: documents also have {name} {value!r}; name all of {', '.join(present)}"


def _label_mistakes(wanted: AuditFiles) -> Iterable[str]:
    labels = [label for label, _ in wanted.summaries]
    labels += map(reference_label, wanted.references)
    if wanted.oracle is not None and (labels or wanted.units):
        yield "--oracle is a test of its own, on documents alone; leave --summaries, --units and --references out"
    if not labels and wanted.oracle is None:
        yield (
            "nothing to audit: give --summaries FILE, --model MODEL to have them written, --references 1 for the first human "
            "reference of each set, or --oracle 4 for summaries of 4 documents"
        )
    for label in sorted({label for label in labels if labels.count(label) > 1}):
        yield f"two systems are called {label!r}; name them, --summaries NAME=FILE, and give each reference once"


def _with_units(systems: Sequence[AuditedSystem], wanted: AuditFiles, mistakes: list[str]) -> list[AuditedSystem]:
    """The systems with the units that were given for them; all or none, since other units would be another measure."""
    if not wanted.units:
        return list(systems)
    # a single file belongs to a single system, whatever either is called
    is_single = len(wanted.units) == len(wanted.summaries) == 1
    files = {wanted.summaries[0][0] if is_single else label: path for label, path in wanted.units}
    labels = [label for label, _ in wanted.summaries]
    if set(files) != set(labels) or len(files) < len(wanted.units) or wanted.references:
        systems_of = ", ".join([*labels, *map(reference_label, wanted.references)])
        mistakes.append(
            f"--units are there for {', '.join(files)}, but {systems_of} are audited: give --units NAME=FILE once for each of "
            "--summaries and no --references, or no --units; with other units it is another measure"
        )
        return list(systems)
    return changed_systems(systems, lambda s: replace(s, units=read_units(files[s.label], list(s.summaries))), mistakes)


def changed_systems(
    systems: Sequence[AuditedSystem], change: Callable[[AuditedSystem], AuditedSystem], mistakes: list[str]
) -> list[AuditedSystem]:
    """The systems as they are made again; those that cannot be are absent, and among the mistakes."""
    changed = []
    for system in systems:
        try:
            changed.append(change(system))
        except EvenhandError as error:
            mistakes.append(str(error))
    return changed


def _references(sets: Sequence[DocumentSet], wanted: AuditFiles, place: int, mistakes: list[str]) -> AuditedSystem:
    references = {
        documents.id: documents.references[place - 1] for documents in sets if len(documents.references) >= place
    }
    missing = [documents.id for documents in sets if documents.id not in references]
    if missing and (not wanted.allow_missing or not references):
        problem = (
            f"{len(missing):,} of {len(sets):,} sets have no reference {place}, for example {missing[0]!r}; "
            "--allow-missing leaves them out and counts them"
            if references
            else f"no set has a reference {place}"
        )
        mistakes.append(f"{wanted.documents}: {problem}")
    return AuditedSystem(
        reference_label(place), str(wanted.documents), file_digest(file_of(wanted.documents, DOCUMENTS)), references
    )


def _declared(documents: DocumentSet, attribute: str, common: tuple[str, ...]) -> tuple[str, ...]:
    """The values that a set's file declares, in its order; without a declaration those of all sets."""
    noted = documents.notes.get("values")
    is_declared = isinstance(noted, dict) and isinstance(noted.get(attribute), list | tuple)
    return documents.declared_values(attribute) if is_declared else common
