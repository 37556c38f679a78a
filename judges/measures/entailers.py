"""Entailment of a summary's units by windows of its documents: a classifier's, or a likeness in its place.

The published way is `nli`. `encoder` and `words` are light stand-ins with names of their own: cosine of sentence embeddings, and
the share of the unit's content words that the window has. Neither tells a claim from its negation.
Source: Li et al. 2025, eq. 2; docs/papers.md#li-entailment.
"""

from collections.abc import Sequence

import numpy as np

from ...config.fairness import EntailerSection
from ...fairness.content_tokens import VERSION
from ...fairness.groups.evidence import SetEvidence
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.groups.units import Windows, make_windows
from ...fairness.labelled import LabelledSource, LabelledSummary
from ...models import signature
from ...text import sentences
from ..aligner import Pairing
from ..encoder import lazy_encoder
from ..nli import lazy_nli
from ..shared import SharedModels
from ..splitters import sentence_signature
from ..support import DECIMALS, NO_NUMBER
from .comparers import ClaimComparer, Classifier, Compared, Likeness, SharedWords
from .measure import UnitEvidence
from .units import NO_UNIT, Units, UnitSplitter, open_splitter

NO_CONTENT = "no unit has a content word"


class UnitEntailer:
    """An entailer: splits summaries, makes windows, and has a comparer say what they have to do with each other.

    A summary that comes with units keeps them. Equal summaries are split once, the windows of a set made once for all of its
    summaries, and windows and units of equal text encoded once a call.
    """

    def __init__(
        self, section: EntailerSection, compares: str, splitter: UnitSplitter, comparer: ClaimComparer
    ) -> None:
        self.name: str = section.kind
        # of two models the language model is the larger
        self.loads = splitter.loads or comparer.loads
        dedupe = ",once-a-sample" if section.dedupe == "sample" else ""
        self.reads_pairs = isinstance(comparer, Classifier)
        self.signature = "|".join(
            (
                compares,
                f"units:{splitter.signature}",
                f"windows:{section.most_words}{dedupe},{sentence_signature()}",
                "v:2",
            )
        )
        self._section = section
        self._splitter = splitter
        self._comparer = comparer

    def evidence(self, items: Sequence[LabelledSummary], *, between: bool = True) -> list[UnitEvidence | Unscored]:
        """Evidence on each item's units; with `between` also on what they have to do with each other."""
        units = self._units(items)
        windows: dict[tuple[LabelledSource, ...], Windows] = {}
        for item in items:
            if item.documents not in windows:
                split = [document.sentences or sentences(document.text) for document in item.documents]
                windows[item.documents] = make_windows(split, self._section.most_words, dedupe=self._section.dedupe)
        pairings = {
            place: Pairing(windows[item.documents].texts, units_of_item)
            for place, (item, units_of_item) in enumerate(zip(items, units, strict=True))
            if not isinstance(units_of_item, Unscored)
        }
        compared = dict(zip(pairings, self._comparer.compare(list(pairings.values()), between=between), strict=True))
        found: list[UnitEvidence | Unscored] = []
        for place, (item, mine) in enumerate(zip(items, units, strict=True)):
            found.append(
                mine if isinstance(mine, Unscored) else _evidence(item, mine, windows[item.documents], compared[place])
            )
        return found

    def _units(self, items: Sequence[LabelledSummary]) -> list[Units | Unscored]:
        to_split = (item.summary for item in items if item.units is None and item.summary.strip())
        distinct = list(dict.fromkeys(to_split))
        by_summary = dict(zip(distinct, self._splitter.split(distinct), strict=True))
        return [
            by_summary.get(item.summary, Unscored(EMPTY_SUMMARY))
            if item.units is None
            else item.units or Unscored(NO_UNIT)
            for item in items
        ]

    def close(self) -> None:
        """Give the memory of the comparer's and the splitter's model back."""
        self._comparer.close()
        self._splitter.close()


def _evidence(
    item: LabelledSummary, units: Units, windows: Windows, compared: Compared | Unscored
) -> UnitEvidence | Unscored:
    if isinstance(compared, Unscored):
        return compared
    # float32 sums differ in the seventh digit with the batch they stood in
    classes = np.round(compared.classes, DECIMALS)
    between = None if compared.between is None else np.round(compared.between, DECIMALS)
    if not (np.isfinite(classes).all() and (between is None or np.isfinite(between).all())):
        return Unscored(NO_NUMBER)
    links = compared.links
    if (has_content := compared.has_content) is not None and not has_content.all():
        # "..." is no fact that documents could support or not
        if not has_content.any():
            return Unscored(NO_CONTENT)
        units = tuple(unit for unit, is_kept in zip(units, has_content, strict=True) if is_kept)
        classes, between = classes[has_content], None if between is None else between[has_content][:, has_content]
        if links is not None:
            links = (np.cumsum(has_content) - 1)[links[has_content[links].all(axis=1)]]
    evidence = SetEvidence(classes, windows.documents, item.labels, between_units=between, links=links)
    return UnitEvidence(units, windows.texts, evidence, compared.n_cut)


def open_nli(section: EntailerSection, models: SharedModels) -> UnitEntailer:
    """Entailment by a classifier.

    Raises:
        ModelError: a model is a path that holds none.
    """
    model = lazy_nli(models, section.model_name, section.batch_size, revision=section.revision)
    named = f"nli|model:{signature(section.model_name, section.revision)}"
    return UnitEntailer(section, named, open_splitter(section, models), Classifier(model))


def open_encoder(section: EntailerSection, models: SharedModels) -> UnitEntailer:
    """Entailment by cosines of sentence embeddings.

    Raises:
        ModelError: a model is a path that holds none.
    """
    model = lazy_encoder(models, section.model_name, section.batch_size, section.revision)
    named = f"encoder|model:{signature(section.model_name, section.revision)}"
    return UnitEntailer(section, named, open_splitter(section, models), Likeness(model))


def open_words(section: EntailerSection, models: SharedModels) -> UnitEntailer:
    """Entailment by content words in common.

    Raises:
        ModelError: the splitter's model is a path that holds none.
    """
    return UnitEntailer(section, f"words|content-tokens:{VERSION}", open_splitter(section, models), SharedWords())
