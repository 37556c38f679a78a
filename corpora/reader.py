"""Document sets from a file, checked before anything is made from them; its format is told by content and not by name.

A corpus is read whole and every mistake in it is reported at once, each with file and line: mending a file should take
one pass, not one pass a mistake.
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..config import ColumnsSection, CorpusSection
from ..errors import DataError, PluginError
from ..records import DocumentSet
from ..storage import as_given, local_path, read_numbered, read_text
from ..text import did_you_mean, one_spelling
from ..text.mistakes import listed, listed_lines
from ..text.shown import counted_as, shortened
from .bundled import DOCUMENTS, document_names, file_of, is_packaged, refuse_near
from .coverage import UNNAMED, read_coverage_sets
from .entries import BuiltSets, refuse_entries
from .importers import FileHead, Importer, head_of, recognised, working_importers
from .packaged import packaged_corpus, read_packaged
from .table_files import is_table, refuse_office
from .tables import read_table
from .values import settled

logger = logging.getLogger(__name__)

# formats that can be read, besides those of importers
OWN_FORMATS = (
    "evenhand's JSON lines (objects with 'id' and 'documents'), coverage-fairness JSON lines (objects with 'entity_id' and "
    "'reviews'), tables with a row for each document (.csv, .tsv, .parquet, .xlsx, or JSON)"
)


def load_corpus(section: CorpusSection) -> list[DocumentSet]:
    """The document sets that a recipe names, each with at least one document of every side asked for.

    Raises:
        DataError: the file cannot be read, or lines, sets or sides of the corpus are wrong; all are listed.
    """
    if section.path in DOCUMENTS:
        sets = read_document_sets(DOCUMENTS[section.path], section.attribute)
    elif packaged_corpus(section.path):
        sets = read_packaged(section.path, section.attribute)
    else:
        path = local_path(section.path)
        refuse_near(path, document_names, "key 'corpus.path': ")
        with as_given("key 'corpus.path': "):
            if section.columns or is_table(path):
                sets = read_table(
                    path, section.columns or ColumnsSection(), (section.attribute,), skip_empty=section.skip_empty
                )
            else:
                sets = read_document_sets(path, section.attribute)
    sets = settled(sets, [section.attribute], [section.group] if section.group else [], f"{section.path}: ")
    check_sides(sets, section)
    return sets


def read_document_sets(path: Path, attribute: str | None = None) -> list[DocumentSet]:
    """The document sets of a JSON-lines file, in order.

    Args:
        path: one set a line; blank lines are skipped.
        attribute: social attribute that every document must have; None asks for none.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file holds no set, a line is no document set (broken JSON, unknown key, empty document, document id
            twice), a set id occurs twice, or a document lacks the attribute. All mistakes are listed with file and line.
    """
    numbered, mistakes = read_numbered(path, DocumentSet)
    mistakes.extend(check_sets(numbered, attribute))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    if not numbered:
        raise DataError(f"{path}: holds no document set; one JSON object a line is expected")
    return [documents for _, documents in numbered]


@as_given()
def read_any(
    path: Path,
    attribute: str | None = None,
    *,
    columns: ColumnsSection | None = None,
    attributes: Sequence[str] = (),
    group: Sequence[Any] = (),
    skip_empty: bool = False,
) -> list[DocumentSet]:
    """The document sets of a file in evenhand's format, that of coverage fairness or of an importer, or of a table, in order.

    Declared values of attributes, where the format has them, are in each set's notes["values"] and their order is that of
    every table.

    Args:
        path: the file; one whose name ends in .gz is unpacked. "sample" and "reviews" are the bundled corpora, and importers have
            names for those of a package, as in recipes, unless files are called so.
        attribute: social attribute that every document must have; None asks for none.
        columns: what the columns of a table are called; with it JSON lines are read as a table, which they also are where the
            first has a key "text". A JSON array of objects is a table, unless an importer recognises it.
        attributes: columns of a table that are social attributes.
        skip_empty: leave rows of a table out that have an empty cell in a column that is needed; they are counted in the log.
        group: groups that take the place of values, as `config.groups.groups_of` reads them.

    Raises:
        DataError: the file cannot be read, has none of these formats, or something in it is wrong, values of the attributes that
            differ by capitals alone or are in no group among it; every mistake is listed.
    """
    sets = _read_any(path, attribute, columns, attributes, skip_empty)
    return settled(sets, attributes or filter(None, [attribute]), group, f"{path}: ")


def _read_any(
    path: Path, attribute: str | None, columns: ColumnsSection | None, attributes: Sequence[str], skip_empty: bool
) -> list[DocumentSet]:
    if is_packaged(path):
        return read_packaged(str(path), attribute)
    path = file_of(path, DOCUMENTS)
    refuse_office(path)
    if columns or is_table(path):
        return read_table(path, columns or ColumnsSection(), attributes, skip_empty=skip_empty)
    head = head_of(path, read_text(path))
    if not _is_own(head) and (importer := recognised(head)):
        return _recognised_sets(path, *importer, attribute)
    if head.is_array:
        return _sets_of_array(head, attributes, skip_empty=skip_empty)
    if head.start != "{":
        forms = [importer.form for importer in working_importers().values() if importer.read and importer.recognises]
        mistake = "is not one of" if head.start else "is empty; document sets stand there in one of"
        raise DataError(
            f"{path}: {mistake} the formats of documents that can be read: {', '.join([OWN_FORMATS, *forms])}; all but "
            "Parquet may be packed as .gz"
        )
    if "text" in head.keys:
        return read_table(head.path, ColumnsSection(), attributes, skip_empty=skip_empty)
    return _coverage_sets(path, attribute) if "reviews" in head.keys else read_document_sets(path, attribute)


def _is_own(head: FileHead) -> bool:
    """Whether JSON lines are a table, sets of coverage fairness or evenhand's own, whatever importers think of them."""
    return not head.is_array and not head.keys.isdisjoint({"text", "reviews", "documents"})


def _sets_of_array(head: FileHead, attributes: Sequence[str], *, skip_empty: bool) -> list[DocumentSet]:
    if "documents" in head.keys and "text" not in head.keys:
        raise DataError(f"{head.path}: is a JSON array of document sets; write one of them a line, as JSON lines")
    return read_table(head.path, ColumnsSection(), attributes, skip_empty=skip_empty)


def _coverage_sets(path: Path, attribute: str | None) -> list[DocumentSet]:
    if attribute not in (None, UNNAMED):
        raise DataError(
            f"{path}: its labels are numbers, which do not say what they mean, so there is no attribute {attribute!r}; "
            f"make document sets with `evenhand import coverage {path} --labels NAME --out docs.jsonl` and give "
            f"these, or name the attribute {UNNAMED!r}"
        )
    return read_coverage_sets(path)


def _recognised_sets(path: Path, name: str, importer: Importer, attribute: str | None) -> list[DocumentSet]:
    if importer.read is None:
        raise DataError(
            f"{path}: is {importer.form}; make document sets with `evenhand import {name} {path} --out docs.jsonl` "
            "and give these; if it is a table of yours, name its columns"
        )
    built = import_sets(name, importer, path, attribute)
    for reason, count in sorted(built.left_out.items()):
        logger.warning("%s: left out: %s", path, counted_as(count, reason))
    return built.sets


def import_sets(name: str, importer: Importer, path: Path, attribute: str | None = None) -> BuiltSets:
    """The document sets that an importer makes of a file, all of whose documents have the attribute, if one is asked for.

    Raises:
        DataError: the file is no such file, or its sets do not hold together.
        PluginError: the importer gives something else than sets.
    """
    assert importer.read is not None
    built = importer.read(path, attribute)
    if not isinstance(built, BuiltSets):
        raise PluginError(f"importer {name!r}: gives {type(built).__name__} and no BuiltSets; see docs/plugins.md")
    refuse_entries(path, "set", check_sets(enumerate(built.sets, start=1), attribute, "set"))
    if not built.sets:
        raise DataError(f"{path}: importer {name!r} finds no document set in it")
    return built


def check_sides(sets: Sequence[DocumentSet], section: CorpusSection) -> None:
    """Refuse sets that have no document of a side that summaries are asked for.

    Without `corpus.sides` each set is asked for the sides that it has, and nothing can be missing.

    Raises:
        DataError: sides are missing; every set and side is listed.
    """
    sides = section.sides or ()
    known = list(dict.fromkeys(value for documents in sets for value in documents.values(section.attribute)))
    unknown = [side for side in sides if side not in known]
    if unknown:
        raise DataError(
            "\n".join(
                f"corpus.sides names {shortened(side)}, but no document of the corpus has it as {section.attribute!r}"
                f"{did_you_mean(side, known)} Values of {section.attribute!r} are {', '.join(known)}."
                for side in unknown
            )
        )
    missing = [
        f"set {shortened(documents.id)}: no document with {section.attribute} {shortened(side)}"
        for documents in sets
        for side in sides
        if not documents.select(section.attribute, side)
    ]
    if missing:
        raise DataError(
            listed(missing)
            + f"\ncorpus.sides asks for {', '.join(sides)} of every set: add documents of the missing side, "
            "take the set out of the corpus, or take the side out of corpus.sides"
        )


def check_sets(
    numbered: Iterable[tuple[int, DocumentSet]], attribute: str | None = None, unit: str = "line"
) -> Iterable[tuple[int, str]]:
    """What is wrong with sets that are well-formed in themselves: number and text; `unit` is what numbers count."""
    numbered = list(numbered)
    known = list(dict.fromkeys(name for _, sets in numbered for d in sets.documents for name in d.attributes))
    if attribute is not None and numbered and attribute not in known:
        has = (
            f"Attributes of the documents are {', '.join(known)}; name one, in a recipe as corpus.attribute"
            if known
            else "The documents have no attribute; give them one"
        )
        yield numbered[0][0], f"no document has the attribute {attribute!r}{did_you_mean(attribute, known)} {has}"
        attribute = None
    first_line: dict[str, int] = {}
    # one spelling of an id -> the first id that has it
    first_look: dict[str, str] = {}
    for line, documents in numbered:
        earlier = first_line.setdefault(documents.id, line)
        if earlier != line:
            yield line, f"set id {documents.id!r} occurs in {unit} {earlier} already; rename one or take one out"
        looks = first_look.setdefault(one_spelling(documents.id), documents.id)
        if looks != documents.id:
            yield (
                line,
                f"set id {documents.id!a} looks like {looks!a} in {unit} {first_line[looks]}; rename one of them",
            )
        if attribute is None:
            continue
        for document in documents.documents:
            if attribute not in document.attributes:
                has = ", ".join(sorted(document.attributes)) or "none"
                yield (
                    line,
                    f"document {document.id!r} has no attribute {attribute!r} (it has {has}); "
                    "add it, or name another attribute",
                )
