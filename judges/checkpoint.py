"""Opening a metric's trained model with transformers, whole or not at all; code that lies beside the weights is never run."""

from typing import Any

from ..errors import JudgeError, ModelError
from ..extras import need
from ..models import locate
from .aligner import device
from .tokens import open_tokenizer


def open_checkpoint(
    architecture: str, model: str, feature: str, revision: str | None = None, may_lack: tuple[str, ...] = ()
) -> tuple[Any, Any]:
    """Tokenizer and model in float32, on the first GPU or the CPU, set to evaluate.

    Args:
        architecture: the class of transformers that loads it ("AutoModel").
        model: Hugging Face id or local folder.
        feature: what the user asked for, as errors name it ("judge 'bertscore'").
        revision: branch, tag or commit of a Hugging Face id.
        may_lack: parts without weights that do no harm, because nothing reads them.

    Raises:
        MissingExtra: transformers or torch is not installed.
        ModelError: the model cannot be opened, or needs code of its own.
        JudgeError: it lacks weights and would judge at random, or its tokenizer cannot tell where its tokens stand in the text.
    """
    transformers = need("transformers", feature)
    torch = need("torch", feature)
    try:
        folder = locate(model, revision)
        tokenizer = open_tokenizer(folder, revision, feature)
        loaded, report = getattr(transformers, architecture).from_pretrained(
            folder, revision=revision, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
        )
    except (ValueError, OSError) as error:
        raise ModelError(f"{feature} cannot open model {model!r}: {error}") from error
    missing = sorted(key for key in report["missing_keys"] if not key.startswith(may_lack))
    if missing:
        raise JudgeError(
            f"{feature}: model {model!r} has no weights for {', '.join(missing[:3])}, so it would judge at random; name a "
            "model that was trained for this"
        )
    return tokenizer, loaded.to(device()).eval()
