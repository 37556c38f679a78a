"""Models that several judges use: loaded when one of them is first needed, once for all of them."""

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, cast

from ..runfolder.timing import booked
from ..text.digests import canonical_json


class Closable(Protocol):
    """Anything that holds memory until it is closed."""

    def close(self) -> None:
        """Give the memory back."""
        ...


class Loadable(Closable, Protocol):
    """A model, or what works with some."""

    # what is of equal, not empty `loads` holds one model together
    loads: str


class NoModel:
    """What works without a model."""

    loads = ""

    def close(self) -> None:
        """Nothing to give back."""


M = TypeVar("M", bound=Closable)
# a Lazy[NliAligner] is a Lazy[Aligner]
M_co = TypeVar("M_co", bound=Closable, covariant=True)
W = TypeVar("W", bound=Closable)


class Lazy(Generic[M_co]):
    """A model that is loaded on first use; after `close`, the next use loads it again. Its `loads` names it and its settings."""

    def __init__(self, loads: str, load: Callable[[], M_co]) -> None:
        self.loads = loads
        self._load = load
        self._model: M_co | None = None

    def get(self) -> M_co:
        """The loaded model."""
        if self._model is None:
            with booked("loading"):
                self._model = self._load()
        return self._model

    def close(self) -> None:
        """Give the model's memory back, if it was loaded."""
        if self._model is not None:
            self._model.close()
            self._model = None


class LazyPart(Lazy[M_co]):
    """A part of a model that another `Lazy` holds: it has its `loads`, and is loaded and closed with it."""

    def __init__(self, model: Lazy[W], part: Callable[[W], M_co]) -> None:
        super().__init__(model.loads, lambda: part(model.get()))
        self._whole = model

    def get(self) -> M_co:
        """The part; nothing keeps it, so that it cannot outlive the whole."""
        return self._load()

    def close(self) -> None:
        """Give the memory of the whole back, if it was loaded."""
        self._whole.close()


class OneModel(Generic[M_co]):
    """What works with one model, and holds it."""

    def __init__(self, model: Lazy[M_co]) -> None:
        self.loads = model.loads
        self._model = model

    def close(self) -> None:
        """Give the model's memory back."""
        self._model.close()


class SharedModels:
    """One `Lazy` for each key: judges that name the same model with the same settings get the same one."""

    def __init__(self) -> None:
        self._lazy: dict[str, Lazy[Any]] = {}

    def lazy(self, key: str, load: Callable[[], M]) -> Lazy[M]:
        """The model of that key; `load` is kept for the first use if the key is new."""
        return cast(Lazy[M], self._lazy.setdefault(key, Lazy(key, load)))

    def of(self, make: Callable[..., M], *options: Any) -> Lazy[M]:
        """What `make` opens with these options, which JSON can hold."""
        return self.lazy(canonical_json([make.__name__, *options]), partial(make, *options))

    def load(self) -> None:
        """Load all of them now."""
        for lazy in self._lazy.values():
            lazy.get()

    def close(self) -> None:
        """Give the memory of those that were loaded back."""
        for lazy in self._lazy.values():
            lazy.close()
