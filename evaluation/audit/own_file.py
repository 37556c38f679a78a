"""A measure of the user's own: a function in a file, which runs in a process of its own, `--measures FILE.py:FUNCTION`."""

from functools import partial
from typing import Any, Literal

from ...config.python_code import CodeFile, CodeSection, allow
from ...errors import PluginError
from ...fairness.labelled import LabelledSummary
from ...runfolder.own_functions import CallForm
from ...runfolder.python_code import CodeProcess
from .family import FamilyKind, FamilyPage, Opening
from .kinds import NumberKind
from .own import OwnMeasure

# the family's name
PYTHON = "python"
# of one summary, and of a dict of its documents' texts by attribute value
FORM = CallForm({"summary": "summary", "documents": "documents"}, is_batch=False, by_name=True)
OWN_MEASURE = NumberKind("own measure", is_share=False)


class MeasureSection(CodeSection):
    """The function, in a file for `evenhand audit --measures`."""

    kind: Literal["python"] = "python"


class CodeScore:
    """Calls of the function, each about one summary."""

    def __init__(self, code: CodeFile, label: str) -> None:
        self._process, self._label = CodeProcess(code, [FORM], label, PluginError), label

    def __call__(self, item: LabelledSummary) -> Any:
        """Numbers by attribute value, or why there are none.

        Raises:
            PluginError: the function raised or gave anything else, or its process ended.
        """
        documents: dict[str, list[str]] = {}
        for document in item.documents:
            documents.setdefault(document.value, []).append(document.text)
        kind, answer, *details = self._process.call([{"summary": item.summary, "documents": documents}])[0]
        if kind == "fault":
            detail = "".join(f" ({detail})" for detail in details if detail)
            raise PluginError(
                f"{self._label}, set {item.id!r}: {answer}{detail}; it must give a dict of numbers by value, or a text that says "
                "why there is none"
            )
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.stop()


def _open(opening: Opening) -> OwnMeasure:
    section = opening.options
    assert isinstance(section, MeasureSection), "options.read_code has it"
    # who names it for an audit has asked to run it
    allow([section])
    code = section.code()
    by = f"{code.file.name}:{code.function}"
    label = f"measure {by!r}"
    return OwnMeasure(
        name=opening.name,
        label=label,
        kind=OWN_MEASURE,
        # among what is closed with the models
        score=opening.tools.models.lazy(f"{label} {code.digest}", partial(CodeScore, code, label)).get(),
        values=opening.audited.values,
        signature=f"{PYTHON}|{code.function}|sha256:{code.digest}|v:1",
        by=by,
    )


FAMILY = FamilyKind(_open, (OWN_MEASURE,), page=FamilyPage(zero_is_fair=False))
