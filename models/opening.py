"""Opening a model that others made with transformers: whole or not at all, and never with code of its own.

transformers draws a weight that the files lack at random and leaves out one that the configuration has no place for. Either
gives a model that answers and says nothing, so both are refused here, as are shapes that differ and numbers that are none.
`check_weights` finds all but the last from headers alone: transformers' own loader, which knows what is renamed, tied or made
anew in each family, runs on a device without memory.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ..errors import UnfitModelError
from ..extras import need, without_load_report
from .dates import date_options
from .files import CONFIG, GET_AGAIN, damage, read_settings, refuse_damaged
from .places import file_at_hand, locate
from .switches import NO_SWITCHES, Switches, set_switches
from .templates import refuse_long
from .wholeness import refuse_another_head, refuse_misfit, refuse_strange_numbers, strange_numbers, told_once

# key of a configuration: the bound of attention's scores, which Gemma 2 has
BOUND = "attn_logit_softcapping"
# what a template is tried with
TRIAL = "A trial."
# of a vocabulary that is not looked at closely
LEAST_TOKENS = 300

_is_without_numbers: ContextVar[bool] = ContextVar("_is_without_numbers", default=False)


@contextmanager
def without_numbers() -> Iterator[None]:
    """Within it `open_model` opens as `check_weights` does: models of which all can be asked but an answer, in no memory."""
    token = _is_without_numbers.set(True)
    try:
        yield
    finally:
        _is_without_numbers.reset(token)


def open_model(
    architecture: str,
    name: str,
    feature: str,
    *,
    revision: str | None = None,
    may_lack: tuple[str, ...] = (),
    **options: Any,
) -> Any:
    """A model of transformers with all of its weights, each a number, in evaluation mode.

    Args:
        architecture: the class of transformers that loads it ("AutoModelForCausalLM").
        name: Hugging Face id or local folder.
        feature: what the user asked for, as errors name it ("judge 'bertscore'").
        revision: branch, tag or commit of a Hugging Face id.
        may_lack: beginnings of names that need no weights, because nothing reads them.
        options: of `from_pretrained`; where `config` has fewer layers than the files hold, the others are not missed.

    Raises:
        MissingExtra: torch or transformers is not installed.
        UnfitModelError: its files are damaged, do not hold every weight, or hold weights that the model has no place for.
        ModelError: it could not be opened for another reason: the hub does not answer, memory is short.
    """
    if _is_without_numbers.get():
        return check_weights(architecture, name, feature, revision=revision, may_lack=may_lack, **options)
    loaded = _load(architecture, name, feature, revision, may_lack, options)
    refuse_strange_numbers(strange_numbers(loaded), f"{feature}: model {name!r}")
    return loaded


def check_weights(
    architecture: str,
    name: str,
    feature: str,
    *,
    revision: str | None = None,
    may_lack: tuple[str, ...] = (),
    **options: Any,
) -> Any:
    """The model without its numbers, every name and shape of which is in its files; headers alone are read.

    Arguments are those of `open_model`.

    Raises:
        MissingExtra, UnfitModelError, ModelError: as `open_model`, but for numbers that are none.
    """
    need("accelerate", feature)
    return _load(architecture, name, feature, revision, may_lack, options | {"device_map": "meta"})


def _load(
    architecture: str,
    name: str,
    feature: str,
    revision: str | None,
    may_lack: tuple[str, ...],
    options: dict[str, Any],
) -> Any:
    transformers = need("transformers", feature)
    need("torch", feature)
    folder = locate(name)
    cannot = f"{feature} cannot open model {name!r}"
    refuse_damaged_files(folder, cannot)
    settings = file_at_hand(name, revision, CONFIG)
    if "attn_implementation" in options and settings:
        options |= {"attn_implementation": fitting_attention(options["attn_implementation"], read_settings(settings))}
    with told_once(cannot, folder), without_load_report():
        loaded, report = getattr(transformers, architecture).from_pretrained(
            folder,
            revision=revision,
            trust_remote_code=False,
            output_loading_info=True,
            # told below with all the rest
            ignore_mismatched_sizes=True,
            **options,
        )
    subject = f"{feature}: model {name!r}"
    refuse_misfit(loaded, report, subject, may_lack, cut="config" in options)
    refuse_another_head(loaded, settings and settings.parent, subject)
    return loaded


def fitting_attention(attention: str, settings: Mapping[str, Any]) -> str:
    """The attention implementation to open a model with; transformers' sdpa leaves bounds of scores out, or refuses them.

    Args:
        attention: the one that is asked for.
        settings: the model's config.json.
    """
    return "eager" if attention == "sdpa" and settings.get(BOUND) is not None else attention


def open_tokenizer(folder: str, feature: str, revision: str | None = None, **options: Any) -> Any:
    """A model's tokenizer, tried on a short text.

    Args:
        folder: of the model, or a Hugging Face id.
        feature: what the user asked for, as errors name it.
        revision: branch, tag or commit of a Hugging Face id.
        options: of `from_pretrained`.

    Raises:
        MissingExtra: transformers is not installed.
        UnfitModelError: its files are damaged.
        ModelError: it could not be opened for another reason.
    """
    transformers = need("transformers", feature)
    cannot = f"{feature} cannot open the tokenizer of model {folder!r}"
    for path in sorted(Path(folder).glob("*tokenizer*")):
        if path.is_file() and (why := damage(path)):
            raise UnfitModelError(f"{cannot}: {path.name} {why}")
    with told_once(cannot, folder):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, revision=revision, trust_remote_code=False, **options
        )
        tokenizer(TRIAL)
    # some classes make one of special tokens alone where the vocabulary is not there
    if tokenizer.vocab_size < LEAST_TOKENS and not (tokenizer.get_vocab().keys() - set(tokenizer.all_special_tokens)):
        raise UnfitModelError(
            f"{cannot}: it has special tokens alone, so its vocabulary (tokenizer.json, tokenizer.model or vocab.json) is not "
            f"there; {GET_AGAIN}"
        )
    return tokenizer


def open_chat_tokenizer(name: str, feature: str, revision: str | None = None, switches: Switches = NO_SWITCHES) -> Any:
    """The tokenizer of a model that is asked in turns; its chat template is tried on one.

    Args:
        name: Hugging Face id or local folder of the model.
        feature: what the user asked for, as errors name it.
        revision: branch, tag or commit of a Hugging Face id.
        switches: of its chat template.

    Raises:
        MissingExtra, UnfitModelError, ModelError: as `open_tokenizer`.
    """
    folder = locate(name)
    refuse_damaged_files(folder, f"{feature} cannot open model {name!r}")
    tokenizer = open_tokenizer(folder, feature, revision)
    set_switches(tokenizer, switches, f"{feature}: model {name!r}")
    if tokenizer.chat_template is not None:
        refuse_long(tokenizer.chat_template, f"{feature} cannot use model {name!r}")
        with told_once(f"{feature} cannot use the chat template of model {name!r}", folder):
            chat = [{"role": "user", "content": TRIAL}]
            options = {"add_generation_prompt": True, **date_options(tokenizer.chat_template)}
            tokenizer.apply_chat_template(chat, **options)
            text = tokenizer.apply_chat_template(chat, tokenize=False, **options)
        if TRIAL not in text:
            raise UnfitModelError(
                f"{feature} cannot use the chat template of model {name!r}: it leaves out what a user says, so that no document "
                "would be read; mend the template, or name another model"
            )
    return tokenizer


def refuse_other_tokenizer(tokenizer: Any, model: Any, subject: str) -> None:
    """Refuse a tokenizer with more words than the model has rows for them: it is another model's.

    Tokens that were added to it do not count: some models have a padding token that they never read.

    Raises:
        UnfitModelError: it has more.
    """
    rows = getattr(model.get_input_embeddings(), "num_embeddings", None)
    if rows is not None and tokenizer.vocab_size > rows:
        raise UnfitModelError(
            f"{subject} has a tokenizer of {tokenizer.vocab_size} tokens and embeds {rows}, so it is another model's; put the "
            "tokenizer's own files there"
        )


def refuse_damaged_files(place: str, subject: str) -> None:
    """Refuse a damaged folder before a library looks at it; a Hugging Face id is not looked at.

    Raises:
        UnfitModelError: its settings cannot be read, or its weights are not whole.
    """
    if Path(place).is_dir():
        try:
            refuse_damaged(Path(place))
        except UnfitModelError as error:
            raise UnfitModelError(f"{subject}: {error}") from error
