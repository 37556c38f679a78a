"""Alignment by an AlignScore checkpoint: a RoBERTa encoder with three heads, of which one is read.

"nli" is the three-way head, whose class 0 is "aligned"; "bin" the two-way one, whose class 1 is; "reg" a regression, read as it
stands. Source: Zha et al. 2023 and its code; docs/papers.md#ri-metrics.

The released checkpoints (.ckpt) are pickles, and a pickle can run any code when it is opened. They are refused; turn one
into a folder with plain tensors once:

    evenhand judges convert alignscore AlignScore-large.ckpt --out alignscore-large

and name that folder, or the model.safetensors in it, in the recipe.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..doors import command
from ..errors import JudgeError
from ..extras import need
from ..models import check, locate
from ..models.files import CONFIG, read_settings
from ..models.opening import refuse_damaged_files
from ..models.wholeness import refuse_strange_numbers, strange_numbers, told_once
from .aligner import Aligner, PairAligner, device, most_tokens, release
from .released import FEATURE, differing_tensor, only_tensors, read_released, refuse_filled, write_model
from .shared import Lazy, LazyPart, SharedModels
from .tokens import open_tokenizer

WEIGHTS = "model.safetensors"
ENCODER = "base_model."
HEADS = ("tri_layer.", "bin_layer.", "reg_layer.")
# head -> its tensors' prefix, its outputs, and which of them is "aligned"
READ = {"nli": ("tri_layer.", 3, 0), "bin": ("bin_layer.", 2, 1), "reg": ("reg_layer.", 1, 0)}
# a buffer that older transformers saved; it holds 0, 1, 2, ...
NOT_A_WEIGHT = "embeddings.position_ids"


class AlignScore:
    """A converted AlignScore checkpoint, held once for all of its heads.

    config.json, model.safetensors and the tokenizer lie in one folder.
    """

    def __init__(self, model: str) -> None:
        transformers = need("transformers", "aligner 'alignscore'")
        torch = need("torch", "aligner 'alignscore'")
        refuse_other_checkpoint(model)
        folder = Path(locate(checkpoint_folder(model)))
        weights = folder / WEIGHTS
        cannot = f"aligner 'alignscore' cannot open {folder}"
        self.tokenizer = open_tokenizer(str(folder), None, "aligner 'alignscore'")
        with told_once(cannot, str(folder)):
            config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        tensors = need("safetensors.torch", "aligner 'alignscore'").load_file(weights)
        self._device = device()
        with told_once(cannot, str(folder)):
            self._encoder = transformers.RobertaModel(config, add_pooling_layer=True)
        _fill(self._encoder, ENCODER, tensors, weights)
        refuse_strange_numbers(strange_numbers(self._encoder), f"aligner 'alignscore': {folder}")
        self._encoder.to(self._device).eval()
        self._heads = {name: torch.nn.Linear(config.hidden_size, outputs) for name, (_, outputs, _) in READ.items()}
        for name, head in self._heads.items():
            _fill(head, READ[name][0], tensors, weights)
            refuse_strange_numbers(strange_numbers(head), f"aligner 'alignscore': {folder}")
            head.to(self._device).eval()
        self.most_tokens = most_tokens(self.tokenizer, self._encoder)

    def read(self, encoded: Any, head: str) -> list[float]:
        """Probability of the class "aligned" for each row; the regression's value for that head."""
        pooled = self._encoder(**encoded.to(self._device)).pooler_output  # (rows, hidden)
        outputs = self._heads[head](pooled)  # (rows, outputs)
        values = outputs.softmax(dim=-1) if outputs.shape[-1] > 1 else outputs
        return [float(value) for value in values[:, READ[head][2]]]

    def close(self) -> None:
        """Give the model's memory back."""
        release(self, "_encoder", "_heads")


class AlignScoreAligner(PairAligner):
    """One head of a checkpoint."""

    def __init__(self, head: str, batch_size: int, checkpoint: AlignScore) -> None:
        super().__init__(checkpoint.tokenizer, checkpoint.most_tokens, batch_size)
        self._checkpoint = checkpoint
        self._head = head

    def probabilities(self, encoded: Any) -> list[float]:
        """Probability of the class "aligned" for each row; the regression's value for that head."""
        return self._checkpoint.read(encoded, self._head)

    def close(self) -> None:
        """Give the memory of the whole checkpoint back."""
        self._checkpoint.close()


def lazy_alignscore(models: SharedModels, model: str, head: str, batch_size: int) -> Lazy[Aligner]:
    """One head of the checkpoint, which all judges that name it share."""
    network = models.of(AlignScore, model)
    part: Callable[[AlignScore], Aligner] = partial(AlignScoreAligner, head, batch_size)
    return LazyPart(network, part)


def _fill(module: Any, prefix: str, tensors: dict[str, Any], path: Path) -> None:
    """Load the tensors below a prefix into a module, all of them and no others."""
    weights = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
    weights.pop(NOT_A_WEIGHT, None)
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        raise JudgeError(
            f"{path}: is not an AlignScore checkpoint of the size that its config.json says: {error}"
        ) from error


def checkpoint_folder(model: str) -> str:
    """The folder of a checkpoint that is named by its safetensors file; any other name as it stands."""
    path = Path(model)
    return str(path.parent) if path.name == WEIGHTS else model


def refuse_other_checkpoint(model: str) -> None:
    """Refuse what is not a converted AlignScore checkpoint, as far as its settings and the header of its weights tell.

    Raises:
        ModelError: the model is a path that holds none, or its files are damaged.
        JudgeError: it is a pickle, has no weights as plain tensors, is not a RoBERTa, or lacks a head.
    """
    refuse_pickle(model)
    folder = Path(locate(checkpoint_folder(model)))
    if not (folder / WEIGHTS).is_file():
        raise JudgeError(f"aligner 'alignscore': {folder} has no {WEIGHTS}; convert the checkpoint first")
    refuse_damaged_files(str(folder), f"aligner 'alignscore' cannot open {folder}")
    kind = read_settings(folder / CONFIG).get("model_type")
    if kind != "roberta":
        raise JudgeError(f"aligner 'alignscore': {folder} holds a {kind} model; AlignScore is a RoBERTa")
    with need("safetensors", "aligner 'alignscore'").safe_open(folder / WEIGHTS, framework="np") as tensors:
        names = set(tensors.keys())
    lacking = [f"{head}weight" for head in HEADS if f"{head}weight" not in names]
    if lacking:
        raise JudgeError(
            f"aligner 'alignscore': {folder / WEIGHTS} has no {', '.join(lacking)}, so it is not an AlignScore checkpoint; "
            f"{command('judges convert alignscore FILE --out FOLDER')} writes one"
        )


def refuse_pickle(model: str) -> None:
    """Refuse a checkpoint file that would have to be unpickled.

    Raises:
        JudgeError: the name ends like a pickle's.
    """
    if Path(model).suffix in {".ckpt", ".pt", ".pth", ".bin", ".pkl"}:
        raise JudgeError(
            f"aligner 'alignscore': {model!r} is a pickle, which can run any code when it is opened; turn it once "
            f"into plain tensors, {command(f'judges convert alignscore {model} --out FOLDER')}, and name that folder"
        )


def refuse_absent(model: str) -> None:
    """Refuse a checkpoint that is not there, is damaged, or is a pickle as it was released."""
    refuse_pickle(model)
    check(checkpoint_folder(model))


def convert_checkpoint(checkpoint: Path, encoder: str | None, folder: Path) -> None:
    """Write the tensors of a released AlignScore checkpoint as a folder that the aligner reads.

    Args:
        checkpoint: the released .ckpt file.
        encoder: Hugging Face id or folder of the RoBERTa that it was trained from, for configuration and tokenizer; None takes
            the one that the file's own hyper-parameters name.
        folder: where to write; made if it is not there.

    Raises:
        JudgeError: the file cannot be read or is not an AlignScore checkpoint, or its encoder has another size.
        ModelError: the encoder cannot be opened.
        DataError: the folder already exists and is not empty, or cannot be written.
    """
    transformers = need("transformers", FEATURE)
    refuse_filled(folder)
    content = read_released(checkpoint)
    state = content.get("state_dict") if isinstance(content, dict) else None
    if not isinstance(state, dict):
        raise JudgeError(f"{checkpoint}: has no 'state_dict', so it is not an AlignScore checkpoint")
    tensors = only_tensors(
        checkpoint, {key: value for key, value in state.items() if str(key).startswith((ENCODER, *HEADS))}
    )
    lacking = [f"{head}weight" for head in HEADS if f"{head}weight" not in tensors]
    if lacking:
        raise JudgeError(f"{checkpoint}: has no {', '.join(lacking)}, so it is not an AlignScore checkpoint")
    settings = content.get("hyper_parameters")
    settings = settings if isinstance(settings, dict) else {}
    encoder = encoder or settings.get("model")
    if not isinstance(encoder, str):
        raise JudgeError(f"{checkpoint}: does not name the encoder that it was trained from; name it with --encoder")
    place = locate(encoder)
    with told_once(f"the conversion of {checkpoint} cannot open encoder {encoder!r}", place):
        config = transformers.AutoConfig.from_pretrained(place, trust_remote_code=False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    _refuse_other_size(checkpoint, tensors, encoder, config, settings)
    write_model(folder, config, tokenizer, tensors)


def _refuse_other_size(
    checkpoint: Path, tensors: dict[str, Any], encoder: str, config: Any, settings: dict[str, Any]
) -> None:
    """Refuse an encoder whose tensors are not those of the checkpoint, in name and shape."""
    torch = need("torch", FEATURE)
    transformers = need("transformers", FEATURE)
    trained_from = repr(settings["model"]) if "model" in settings else "an encoder that it does not name"
    if config.model_type != "roberta":
        raise JudgeError(
            f"{checkpoint}: was trained from {trained_from}, but encoder {encoder!r} is a {config.model_type} model; name the "
            "RoBERTa that it was trained from"
        )
    # tensors of this device have a shape and no memory
    with torch.device("meta"):
        model = transformers.RobertaModel(config, add_pooling_layer=True)
    weights = {name.removeprefix(ENCODER): tensor for name, tensor in tensors.items() if name.startswith(ENCODER)}
    weights.pop(NOT_A_WEIGHT, None)
    if differing := differing_tensor(weights, model):
        name, shape, wanted = differing
        raise JudgeError(
            f"{checkpoint}: was trained from {trained_from}, and encoder {encoder!r} has another size: {name} is "
            f"{shape} in the checkpoint and {wanted} in the encoder; name the encoder that it was trained from"
        )
