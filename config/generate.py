"""How candidates are made."""

from contextlib import suppress
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import (
    ConfigDict,
    Field,
    PlainValidator,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from ..doors import Door
from ..errors import PluginError
from .methods import EXTRACTED, MethodSection, Plan, ZeroShotSection
from .model import ReplicatedSection
from .python_code import PythonMethodSection
from .section import Section, one_of

S = TypeVar("S", bound=MethodSection)

# the method that a file of the user's own has; its options are no section `python`, which names an interpreter
PYTHON = "python"

# method -> its options
METHOD_SECTIONS: Door[type[MethodSection]] = Door(
    "methods",
    "method",
    lambda thing: is_method_section(getattr(thing, "options", None)),
    {
        "zero-shot": ZeroShotSection,
        PYTHON: PythonMethodSection,
    },
    lambda thing: thing.options,
)


def is_method_section(section: object) -> bool:
    """Whether this is a section of options of a method."""
    return isinstance(section, type) and issubclass(section, MethodSection)


def options_key(method: str) -> str:
    """The key of a method's options."""
    return "code" if method == PYTHON else method.replace("-", "_")


def asks_model(method: Any) -> bool:
    """Whether a language model writes the candidates of a method; True where there is no such method."""
    return not (isinstance(method, str) and method in METHOD_SECTIONS) or METHOD_SECTIONS[method].asks_model


class _Written(NamedTuple):
    """Options as a recipe has them, with what reads them."""

    section: type[MethodSection]
    values: Any


def _read(written: Any) -> MethodSection:
    """Options of a method, the only keys besides those of the section."""
    if not isinstance(written, _Written):
        raise PydanticKnownError("extra_forbidden")
    return written.section.model_validate(written.values)


class GenerateSection(ReplicatedSection):
    """How candidates are made; the options of its method stand under the method's name, "-" written "_"."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[SerializeAsAny[MethodSection], PlainValidator(_read)]]

    # how a candidate is made, see docs/methods.md
    method: str = "zero-shot"
    # a method that draws nothing, such as fair-extractive, has a plan for each of its summaries, which the recipe leaves out
    plans: dict[str, Plan] = Field(min_length=1)
    # interpreter of the generation process, when vLLM lives in another environment
    python: str | None = None

    @field_validator("method")
    @classmethod
    def _is_known(cls, method: str) -> str:
        return one_of("method", method, METHOD_SECTIONS)

    @model_validator(mode="before")
    @classmethod
    def _method_has_options(cls, raw: Any) -> Any:
        """The chosen method's options spelled out, so that a resolved recipe shows them; so are the plans of extraction."""
        if not isinstance(raw, dict):
            return raw
        methods, method = cls._methods(), raw.get("method")
        values = {
            key: _Written(METHOD_SECTIONS[methods[key]], value) if key in methods else value
            for key, value in raw.items()
            # null says that another method's options are left out
            if key not in methods or value is not None
        }
        if not isinstance(method, str) or method not in METHOD_SECTIONS:
            return values
        section, key = METHOD_SECTIONS[method], options_key(method)
        if section.model_fields:
            if key in cls.model_fields:
                raise PluginError(
                    f"method {method!r} has options, and {key!r} is a key of every recipe's 'generate'; have the method renamed"
                )
            values.setdefault(key, _Written(section, {}))
        if not section.asks_model:
            values["plans"] = _extraction_plans(method, section, values.get(key), raw.get("plans"))
        return values

    @classmethod
    def _methods(cls) -> dict[str, str]:
        """Key of options -> method; nothing is imported."""
        return {key: method for method in METHOD_SECTIONS if (key := options_key(method)) not in cls.model_fields}

    @classmethod
    def further_sections(cls) -> dict[str, type[Section]]:
        """The options of all methods that have some and can be imported, by key."""
        sections: dict[str, type[Section]] = {}
        for key, method in cls._methods().items():
            with suppress(PluginError):
                if METHOD_SECTIONS[method].model_fields:
                    sections[key] = METHOD_SECTIONS[method]
        return sections

    def refuse(self) -> None:
        """Options must be those of the method, and the method must be able to do what is asked."""
        super().refuse()
        for key in self.model_extra or {}:
            if key != options_key(self.method):
                raise ValueError(
                    f"{key} has no effect with method: {self.method}; write method: {self._methods()[key]}, or leave it out"
                )
        self.options.refuse_backend(self.backend)
        self.options.refuse_plans(self.plans)
        if self.server is not None:
            for plan in self.plans.values():
                self.server.refuse_drawing(plan)

    @property
    def options(self) -> MethodSection:
        """Options of the method."""
        options: MethodSection | None = (self.model_extra or {}).get(options_key(self.method))
        return METHOD_SECTIONS[self.method]() if options is None else options

    def options_as(self, section: type[S]) -> S:
        """Options of the method, which must be of the type `section`."""
        options = self.options
        assert isinstance(options, section), "the recipe chose another method"
        return options

    @property
    def can_train(self) -> bool:
        """Whether rounds can train on the candidates."""
        return self.options.can_train

    @property
    def unseen_method(self) -> str:
        """The method by which sets that were not trained on are summarised."""
        return self.method if self.options.for_unseen else "zero-shot"

    @property
    def has_model(self) -> bool:
        """Whether a language model writes the candidates."""
        return self.traits.has_model and self.options.asks_model

    @property
    def gpus_each(self) -> int:
        """GPUs that one engine takes where there are any; 0 without a model."""
        return super().gpus_each if self.has_model else 0

    @property
    def n_candidates(self) -> int:
        """Candidates of one request over all plans."""
        return sum(plan.candidates for plan in self.plans.values())


def _extraction_plans(
    method: str, section: type[MethodSection], options: _Written | None, plans: Any
) -> dict[str, dict[str, Any]]:
    """A plan for each summary that a method makes which draws nothing, in place of those that stand in a resolved recipe."""
    if plans is not None and not _are_extractions(plans):
        raise ValueError(f"plans have no effect with method: {method}, which draws nothing; leave them out")
    try:
        names = section.model_validate(options.values if options else {}).names
    except ValidationError:
        # is reported where it stands
        names = ("any",)
    return {name: EXTRACTED.model_dump() for name in names}


def _are_extractions(plans: Any) -> bool:
    """Whether these are plans such as extraction has, under whatever names: the mixes of another recipe."""
    try:
        return isinstance(plans, dict) and all(Plan.model_validate(plan) == EXTRACTED for plan in plans.values())
    except ValidationError:
        return False
