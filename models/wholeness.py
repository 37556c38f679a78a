"""What is wrong with a model that a library has loaded, told in one message: names and shapes that do not go together, numbers
that are none, and whatever the library itself raised.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import EvenhandError, ModelError, UnfitModelError
from .files import CONFIG, GET_AGAIN, TIED, read_settings, weight_in, weight_names

# names that an error shows; the rest are counted
MOST_NAMES = 3
# characters of a library's own words that an error shows
MOST_TOLD = 300
# errors whose text is a sentence; others need the error's name to be understood
SENTENCES = (ValueError, OSError, RuntimeError, ImportError)

# what transformers says of an attention that a family does not have
NO_ATTENTION = "does not support an attention implementation"

NUMBER = re.compile(r"\d+")


def refuse_misfit(
    model: Any, report: Mapping[str, Any], subject: str, may_lack: tuple[str, ...] = (), *, cut: bool = False
) -> None:
    """Refuse a model whose files do not hold its weights, or hold weights of its own that it left out.

    Args:
        model: of transformers.
        report: what its loader found, `output_loading_info`.
        subject: which model, as the error begins.
        may_lack: beginnings of names that need no weights.
        cut: the model has fewer layers than its files, on purpose.

    Raises:
        UnfitModelError: names and shapes do not go together; all of them are told.
    """
    missing = [key for key in report["missing_keys"] if not key.startswith(may_lack)]
    shapes = [
        f"{key} ({_shape(shape)} in the files, {_shape(wanted)} by its config.json)"
        for key, shape, wanted in report["mismatched_keys"]
    ]
    unread = [] if cut else _belonging(model, report["unexpected_keys"])
    wrong = [
        f"has no weights for {cut_names(missing)}, which would be drawn at random" if missing else "",
        f"has weights of other shapes: {cut_names(shapes)}" if shapes else "",
        f"has weights that its config.json leaves out: {cut_names(unread)}" if unread else "",
    ]
    mistakes = [mistake for mistake in wrong if mistake]
    if mistakes:
        raise UnfitModelError(
            f"{subject} {', and '.join(mistakes)}; {GET_AGAIN}, mend its config.json, or name a model that was trained for this"
        )


def refuse_another_head(model: Any, folder: Path | None, subject: str) -> None:
    """Refuse a model whose head is not what its config.json says: its embedding of words, or weights of its own.

    It is config.json that is asked, not transformers, which ties every T5, and keeps the two apart where the files hold both and
    they differ. Where config.json and the files disagree, engines differ in what they take.

    Args:
        model: of transformers.
        folder: of its files, read where the model has no numbers; None when there is none.
        subject: which model, as the error begins.

    Raises:
        UnfitModelError: head and embedding should be the same and differ, or the head should be in the files and is not.
    """
    modules = {id(module): f"{name}.weight" for name, module in model.named_modules()}
    head_name, words_name = (
        modules.get(id(m), "") for m in (model.get_output_embeddings(), model.get_input_embeddings())
    )
    if head_name not in model.get_expanded_tied_weights_keys(all_submodels=True):
        return
    pair: list[Any] = [model.get_parameter(name) for name in (head_name, words_name)]
    is_one = pair[0] is pair[1]
    if folder is not None and read_settings(folder / CONFIG).get(TIED) is False:
        if (
            is_one
            and (stored_names := weight_names(folder))
            and not any(name.endswith(head_name) for name in stored_names)
        ):
            raise UnfitModelError(
                f"{subject} has no weights for {head_name}, which by its config.json is no copy of the embedding of words "
                f"({TIED}: false); {GET_AGAIN}"
            )
        return
    if not is_one and pair[0].is_meta:
        aliases = {name for name, parameter in model.named_parameters(remove_duplicate=False) if parameter is pair[1]}
        pair = (
            [weight_in(folder, names, model.base_model_prefix) for names in ({head_name}, aliases)]
            if folder
            else [None]
        )
    if not is_one and all(weights is not None for weights in pair) and not pair[0].equal(pair[1].to(pair[0])):
        raise UnfitModelError(
            f"{subject} has other numbers in {head_name} than in {words_name}, which its config.json says are the same; write "
            f"{TIED}: false there if it was trained with a head of its own, or {GET_AGAIN}"
        )


def cut_names(names: Collection[str]) -> str:
    """The first few of several names in order, and how many more there are."""
    n_more = len(names) - MOST_NAMES
    return ", ".join(sorted(names)[:MOST_NAMES]) + (f" and {n_more} more" if n_more > 0 else "")


def _shape(size: Iterable[int]) -> str:
    return "x".join(map(str, size)) or "a single number"


def _belonging(model: Any, unexpected: Iterable[str]) -> list[str]:
    """Names of weights that the model left out though they belong to it: of a further layer, or of a part that it has.

    Heads of another task are none of them, nor are a quantised checkpoint's scales.
    """
    prefix = f"{model.base_model_prefix}."
    keys = {key.removeprefix(prefix) for key in model.state_dict()}
    layers = {NUMBER.sub("#", key) for key in keys}
    parts = set() if getattr(model, "hf_quantizer", None) else {key.rpartition(".")[0] for key in keys} - {""}
    names = []
    for key in unexpected:
        bare = key.removeprefix(prefix)
        if NUMBER.sub("#", bare) in layers or bare.rpartition(".")[0] in parts:
            names.append(key)
    return names


def refuse_strange_numbers(names: Collection[str], subject: str) -> None:
    """Refuse a model some of whose weights are no numbers.

    Args:
        names: of such weights, as `strange_numbers` finds them.
        subject: which model, as the error begins.

    Raises:
        UnfitModelError: there are some.
    """
    if names:
        raise UnfitModelError(
            f"{subject} holds NaN or infinite numbers in {cut_names(names)}; {GET_AGAIN}, or, where it was made "
            "for bfloat16, write dtype: bfloat16"
        )


def strange_numbers(model: Any) -> list[str]:
    """Names of the weights of a module of torch that hold NaN or infinity; one pass over them, where they lie.

    Quantised weights hold codes, which are no numbers of the type that they are kept as.
    """
    return [
        name
        for name, weight in model.named_parameters()
        if not hasattr(weight, "quant_state") and not is_finite(weight)
    ]


def is_finite(weight: Any) -> bool:
    """Whether a tensor of torch holds finite numbers alone; one that is packed, sharded away or empty counts as such."""
    import torch

    if not weight.is_floating_point() or weight.dtype.itemsize < 2 or weight.is_meta or not weight.numel():
        return True
    # both ends of the range are NaN where any number is, and no copy is made
    return bool(torch.isfinite(torch.stack(torch.aminmax(weight.detach()))).all())


@contextmanager
def told_once(failure: str, place: str, remedy: str = f"{GET_AGAIN}, or name another model") -> Iterator[None]:
    """Turn whatever a library raises over a model's files into one message.

    Any kind of error is caught: a damaged file breaks transformers and peft wherever the wrong value is used first, and
    tokenizers raises bare `Exception`.

    Args:
        failure: what could not be done, as the message begins.
        place: the folder that was read, or a Hugging Face id.
        remedy: how to mend it, where the folder is on this machine.

    Raises:
        UnfitModelError: the files are on this machine, so they are what must be mended.
        ModelError: they are not, or memory or disk failed.
    """
    try:
        yield
    except EvenhandError:
        raise
    except Exception as error:
        if NO_ATTENTION in str(error):
            raise UnfitModelError(
                f"{failure}: transformers has no such attention for it ({told(error)}); write attn_implementation: eager"
            ) from error
        if not Path(place).exists() or _may_pass(error):
            raise ModelError(f"{failure}: {told(error)}") from error
        raise UnfitModelError(f"{failure}: {told(error)}; {remedy}") from error


def _may_pass(error: Exception) -> bool:
    """Whether the machine failed rather than the files: memory, disk, rights."""
    short = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return short or (isinstance(error, OSError) and error.errno is not None)


def told(error: Exception) -> str:
    """A library's error on one line, cut; with its kind where its text alone says too little."""
    text = " ".join(str(error).split())
    if not isinstance(error, SENTENCES):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= MOST_TOLD else f"{text[: MOST_TOLD - 4]} ..."
