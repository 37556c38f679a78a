"""Alignment by an AlignScore checkpoint: a RoBERTa encoder with three heads, of which one is read.

"nli" is the three-way head, whose class 0 is "aligned"; "bin" the two-way one, whose class 1 is; "reg" a regression, read as it
stands. Source: Zha et al. 2023 (arXiv:2305.16739) and its code; specification of the seed paper, section 6.

The released checkpoints (.ckpt) are pickles, and a pickle can run any code when it is opened. They are refused; turn one
into a folder with plain tensors once, with the encoder that it was trained from (the file's own hyper-parameters name
"roberta-base" or "roberta-large"; the published "large" needs the latter):

    from pathlib import Path
    from evenhand.judges.alignscore import convert_checkpoint
    convert_checkpoint(Path("AlignScore-large.ckpt"), "roberta-large", Path("alignscore-large"))

and name that folder, or the model.safetensors in it, in the recipe.
"""

import pickle
from pathlib import Path
from typing import Any

from ..errors import JudgeError, ModelError
from ..extras import need
from ..models import locate
from .aligner import PairAligner, device, most_tokens

ENCODER = "base_model."
HEADS = ("tri_layer.", "bin_layer.", "reg_layer.")
# head -> its tensors' prefix, its outputs, and which of them is "aligned"
READ = {"nli": ("tri_layer.", 3, 0), "bin": ("bin_layer.", 2, 1), "reg": ("reg_layer.", 1, 0)}
# a buffer that older transformers saved; it holds 0, 1, 2, ...
NOT_A_WEIGHT = "embeddings.position_ids"


class AlignScoreAligner(PairAligner):
    """A converted AlignScore checkpoint: config.json, model.safetensors and the tokenizer in one folder."""

    def __init__(self, model: str, batch_size: int, head: str = "nli") -> None:
        refuse_pickle(model)
        transformers = need("transformers", "aligner 'alignscore'")
        torch = need("torch", "aligner 'alignscore'")
        folder = Path(locate(checkpoint_folder(model)))
        weights = folder / "model.safetensors"
        if not weights.is_file():
            raise JudgeError(f"aligner 'alignscore': {folder} has no model.safetensors; convert the checkpoint first")
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            config = transformers.AutoConfig.from_pretrained(folder)
        except (ValueError, OSError) as error:
            raise ModelError(f"aligner 'alignscore' cannot open {folder}: {error}") from error
        if config.model_type != "roberta":
            raise JudgeError(
                f"aligner 'alignscore': {folder} holds a {config.model_type} model; AlignScore is a RoBERTa"
            )
        tensors = need("safetensors.torch", "aligner 'alignscore'").load_file(weights)
        self._encoder = transformers.RobertaModel(config, add_pooling_layer=True)
        prefix, outputs, self._aligned = READ[head]
        self._head = torch.nn.Linear(config.hidden_size, outputs)
        _fill(self._encoder, ENCODER, tensors, weights)
        _fill(self._head, prefix, tensors, weights)
        self._device = device()
        self._encoder.to(self._device).eval()
        self._head.to(self._device).eval()
        super().__init__(tokenizer, most_tokens(tokenizer, config), batch_size)

    def probabilities(self, encoded: Any) -> list[float]:
        """Probability of the class "aligned" for each row; the regression's value for that head."""
        pooled = self._encoder(**encoded.to(self._device)).pooler_output  # (rows, hidden)
        found = self._head(pooled)  # (rows, outputs)
        read = found.softmax(dim=-1) if found.shape[-1] > 1 else found
        return [float(value) for value in read[:, self._aligned]]

    def close(self) -> None:
        """Give the model's memory back."""
        del self._encoder, self._head


def _fill(module: Any, prefix: str, tensors: dict[str, Any], path: Path) -> None:
    """Load the tensors below a prefix into a module, all of them and no others."""
    own = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
    own.pop(NOT_A_WEIGHT, None)
    try:
        module.load_state_dict(own)
    except RuntimeError as error:
        raise JudgeError(
            f"{path}: is no AlignScore checkpoint of the size that its config.json says: {error}"
        ) from error


def checkpoint_folder(model: str) -> str:
    """The folder of a checkpoint that is named by its safetensors file; any other name as it stands."""
    path = Path(model)
    return str(path.parent) if path.name == "model.safetensors" else model


def refuse_pickle(model: str) -> None:
    """Refuse a checkpoint file that would have to be unpickled.

    Raises:
        JudgeError: the name ends like a pickle's.
    """
    if Path(model).suffix in {".ckpt", ".pt", ".pth", ".bin", ".pkl"}:
        raise JudgeError(
            f"aligner 'alignscore': {model!r} is a pickle, which can run any code when it is opened; convert it once with "
            "evenhand.judges.alignscore.convert_checkpoint and name the folder that it writes"
        )


def convert_checkpoint(checkpoint: Path, encoder: str, folder: Path) -> None:
    """Write the tensors of a released AlignScore checkpoint as a folder that the aligner reads.

    The file is opened with torch's restricted reader, which builds tensors and plain containers and nothing else.

    Args:
        checkpoint: the released .ckpt file.
        encoder: Hugging Face id or folder of the RoBERTa that it was trained from, for configuration and tokenizer.
        folder: where to write; made if it is not there.

    Raises:
        JudgeError: the file holds anything but tensors and plain values, or is no AlignScore checkpoint.
    """
    torch = need("torch", "the conversion of a checkpoint")
    transformers = need("transformers", "the conversion of a checkpoint")
    try:
        state = torch.load(checkpoint, map_location="cpu", weights_only=True)["state_dict"]
    except pickle.UnpicklingError as error:
        raise JudgeError(
            f"{checkpoint}: holds more than tensors and plain values, so it was not opened; save its state_dict alone, on a "
            "machine where you would run its code"
        ) from error
    except (KeyError, TypeError) as error:
        raise JudgeError(f"{checkpoint}: has no 'state_dict', so it is no AlignScore checkpoint") from error
    # clones: tensors that share memory cannot be saved
    kept = {key: value.clone() for key, value in state.items() if key.startswith((ENCODER, *HEADS))}
    if "tri_layer.weight" not in kept:
        raise JudgeError(f"{checkpoint}: has no tri_layer, so it is no AlignScore checkpoint")
    folder.mkdir(parents=True, exist_ok=True)
    place = locate(encoder)
    transformers.AutoConfig.from_pretrained(place).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(place).save_pretrained(folder)
    need("safetensors.torch", "the conversion of a checkpoint").save_file(kept, folder / "model.safetensors")
