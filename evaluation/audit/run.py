"""An audit from what was asked to its files: the one way that the command line and Python take."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ...config.fairness import EntailerSection, MatcherSection
from ...config.section import Section
from ...corpora.values import single_valued
from ...errors import DataError
from ...resampling import Bootstrap
from ...text import did_you_mean
from ...text.mistakes import explained
from ..gate.decide import Gating
from ..gate.subject import MeasureMethod, Subject
from ..pages.folder import Say
from ..pages.words import joined
from .build import Progress, build_audit
from .contents import Audit
from .families import MEASURES, absent_measures, families, idle_measures, measure_names, open_tools
from .figures import Family
from .input import AuditInput
from .named import AUDIT_PAGE, subject_names
from .options import (
    arrangements,
    own_options,
    read_code,
    read_measures,
    read_own_options,
    read_sections,
    usual_measures,
)
from .own_file import PYTHON
from .plan import AuditPlan, read_target
from .report import AUDIT, key_of, write_audit
from .supplements import SUPPLEMENTS

logger = logging.getLogger(__name__)

DRAWN = tuple(asdict(Bootstrap()))
# what is asked for besides the fields of a plan and how it is drawn
OPENED = ("matcher", "entailer", "models")
OPTIONS = (
    *(option.name for option in fields(AuditPlan) if option.name not in ("bootstrap", "options")),
    *DRAWN,
    *OPENED,
)
# keyword arguments of `evenhand.audit`, which may be misspelt like these
KEYWORDS = (
    *OPTIONS,
    "documents",
    "summaries",
    "attribute",
    "out",
    "say",
    "allow_missing",
    "summary_columns",
    "labels",
    "group",
)
# option -> the measure without which it does nothing
EFFECTS = {"units": "coverage"}


@dataclass(frozen=True)
class AuditMeasures:
    """What is to be measured, checked as far as it can be before a document is read."""

    measures: tuple[str, ...]
    # None takes the usual ones
    matcher: MatcherSection | None
    entailer: EntailerSection | None
    # what cannot be measured here, in a sentence each
    notes: tuple[str, ...]
    # measure -> its own options
    measure_options: Mapping[str, Section]
    # other fields of the plan, as they were given
    options: Mapping[str, Any]

    def plan(self, corpus: AuditInput) -> AuditPlan:
        """The plan of an audit, with the target's weights in the order of the values.

        Raises:
            DataError: an option is wrong; all mistakes are listed.
        """
        options = {key: value for key, value in self.options.items() if key not in (*DRAWN, "target")}
        if corpus.others and self.options.get("target", "ratio") not in ("ratio", "equal"):
            raise DataError(
                "--target: weights are of the values of one attribute; give a single --attribute, or write equal"
            )
        drawn = asdict(Bootstrap()) | {key: self.options[key] for key in DRAWN if key in self.options}
        target = read_target(self.options.get("target", "ratio"), corpus.values)
        options |= {"measures": self.measures, "options": self.measure_options, "target": target, "bootstrap": drawn}
        with explained("audit"):
            return TypeAdapter(AuditPlan).validate_python(options)


def ask(options: Mapping[str, Any], files: Collection[str] = ()) -> AuditMeasures:
    """What the options ask for.

    Args:
        options: those of `evenhand audit` that say what is measured, by name; None is as one that is not given.
        files: options that name files besides documents and summaries, "units" and those of families, where they are given.

    Raises:
        DataError: an option is not known, is wrong or has no effect.
        RecipeError: a file of keys is wrong; all mistakes are listed.
    """
    owners = own_options(OPTIONS)
    if unknown := [key for key in options if key not in OPTIONS and key not in owners]:
        known = (*KEYWORDS, *owners)
        raise DataError(f"audit: option {unknown[0]!r} is not known{did_you_mean(unknown[0], known)}")
    settings = {key: value for key, value in options.items() if value is not None}
    for name in ("measures", "matcher", "entailer", "target"):
        if not isinstance(settings.get(name, ""), str):
            raise DataError(f"audit: {name} is {settings[name]!r}; write it as text, as the command line has it")
    named = settings.pop("measures", None)
    named, code = (None, {}) if named is None else read_code(named)
    measures, notes = usual_measures() if named is None else (read_measures(named), ())
    for error in (*absent_measures().values(), *SUPPLEMENTS.broken().values()):
        logger.warning("%s", error)
    measure_options = {key: settings.pop(key) for key in owners if key in settings}
    if named is None:
        # one that is measured on request alone is asked for by an option of its own, too
        kinds = {name: MEASURES[name] for key in measure_options if (name := owners[key]) in MEASURES}
        wanted = {*measures, *(name for name, kind in kinds.items() if kind.on_request and kind.are_requests)}
        measures = tuple(name for name in measure_names() if name in wanted)
    usual = vars(AuditPlan())
    changed = {*files, *(key for key, value in settings.items() if key in usual and value != usual[key])}
    for option, measure in (EFFECTS | {option: name for option, (name, _) in arrangements().items()}).items():
        if option in changed and measure not in measures:
            raise DataError(f"--{option} has no effect without measure {measure!r}; add it to --measures")
    matcher, entailer, models = (settings.pop(name, None) for name in OPENED)
    sections = read_sections(measures, matcher, entailer, [models] if isinstance(models, str) else models or ())
    return AuditMeasures(measures, *sections, notes, read_own_options(measure_options, measures) | code, settings)


def _refuse_single(corpus: AuditInput, measures: Sequence[str]) -> None:
    """Refuse documents in which measures have nothing to compare by some attribute, before anything is opened for them.

    Raises:
        DataError: every set has documents of one value, or a single one.
    """
    for of_attribute in (corpus, *corpus.others):
        _refuse_single_by(of_attribute, measures)


def _refuse_single_by(corpus: AuditInput, measures: Sequence[str]) -> None:
    why, single = (
        single_valued(corpus.sets, corpus.attribute),
        all(len(documents.documents) < 2 for documents in corpus.sets),
    )
    lacking = ("values", "documents") if single else ("values",)
    if idle := idle_measures(measures, lacking) if why else []:
        useless = {PYTHON, *idle_measures(measure_names(), lacking)}
        measurable = [name for name in measure_names() if name not in useless]
        others = f", or measure {','.join(measurable)}, which need no two values in a set" if measurable else ""
        remedy = "put documents of one topic into one set" if single else "name another --attribute"
        raise DataError(
            f"{corpus.documents}: {why}, so {joined(idle)} {'has' if len(idle) == 1 else 'have'} nothing to compare; "
            f"{remedy}{others}"
        )


def check_before(audit_measures: AuditMeasures, read: Callable[[], AuditInput], out: Path) -> AuditInput:
    """What is to be audited, as far as it is there: all that an audit would refuse is refused before models are asked.

    Args:
        audit_measures: what is measured.
        read: documents and summaries without those that models will write.
        out: the audit's folder.

    Raises:
        DataError: the folder, the documents, summaries or an option would be refused.
    """
    AUDIT.check(out)
    corpus = read()
    _refuse_single(corpus, audit_measures.measures)
    audit_measures.plan(corpus)
    return corpus


def _subject(corpus: AuditInput, measures: Sequence[Family], defaults: Mapping[str, str]) -> Subject:
    """What is audited, and how."""
    methods = {}
    for family in measures:
        # its default depends on the machine
        option = MEASURES[family.name].named_by
        methods[family.name] = MeasureMethod(
            family.signature, family.by, option and f"--{option}", defaults.get(option)
        )
    systems = tuple(system.label for system in corpus.systems)
    sets = tuple(documents.id for documents in corpus.sets)
    attribute, groups = subject_names(corpus)
    return Subject(corpus.documents_digest, sets, attribute, groups, systems=systems, methods=methods)


def run_audit(
    audit_measures: AuditMeasures,
    read: Callable[[], AuditInput],
    out: Path | None,
    *,
    say: Say | None = None,
    gating: Gating[Audit] | None = None,
    progress: Progress | None = None,
) -> Audit:
    """The audit, after it was written.

    Args:
        audit_measures: what is measured.
        read: documents and summaries, which are read once it is known that the folder can be written.
        out: folder for audit.json, audit.md and index.html; None writes nothing.
        say: called with a line on the earlier audit that will be replaced.
        gating: what the audit is held against.
        progress: called after every batch.

    Raises:
        DataError: the folder is refused, what is read is wrong, or nothing can be measured.
        MissingExtra: a library that a named matcher or entailer needs is not installed.
    """
    if out is not None:
        AUDIT.check(out)
    corpus = read()
    _refuse_single(corpus, audit_measures.measures)
    plan = audit_measures.plan(corpus)
    with closing(open_tools(corpus, plan, audit_measures.matcher, audit_measures.entailer)) as tools:
        hints, measures = (*audit_measures.notes, *tools.notes), families(corpus, plan, tools)
        # what has groups of its own says the same by every attribute
        without_groups = replace(plan, measures=tuple(name for name in plan.measures if not MEASURES[name].page.groups))
        others = [(of_attribute, families(of_attribute, without_groups, tools)) for of_attribute in corpus.others]
        gating = gating or Gating(AUDIT_PAGE)
        gating.refuse_before(lambda: _subject(corpus, measures, tools.defaults))
        with nullcontext() if out is None else AUDIT.begun(out, key_of(corpus), say):
            audit = gating.judged(build_audit(corpus, plan, measures, hints, progress, others))
            if out is not None:
                write_audit(audit, out)
    return audit
