"""Opening a metric's trained model with transformers, whole or not at all; code that lies beside the weights is never run."""

from typing import Any

from ..errors import JudgeError
from ..extras import need
from ..models import locate, refuse_out_of_reach
from ..models.opening import open_model, refuse_damaged_files, refuse_other_tokenizer
from ..models.wholeness import told_once
from .aligner import device
from .tokens import open_tokenizer

REMEDY = "name a folder that holds it, in a recipe by the key `model`, of an audit by --model entailer=FOLDER or matcher=FOLDER"
# families whose layers do not know how many follow: what the first k of them give is what they give in the whole model. In others
# a norm stands behind the last layer (ModernBERT, T5), or the number of layers decides which weights each has (ALBERT).
STACKED = frozenset({"bert", "camembert", "deberta", "deberta-v2", "electra", "mpnet", "roberta", "xlm-roberta"})


def open_checkpoint(
    architecture: str,
    model: str,
    feature: str,
    revision: str | None = None,
    may_lack: tuple[str, ...] = (),
    n_layers: int | None = None,
) -> tuple[Any, Any]:
    """Tokenizer and model in float32, on the first GPU or the CPU, set to evaluate.

    Args:
        architecture: the class of transformers that loads it ("AutoModel").
        model: Hugging Face id or local folder.
        feature: what the user asked for, as errors name it ("judge 'bertscore'").
        revision: branch, tag or commit of a Hugging Face id.
        may_lack: parts without weights that do no harm, because nothing reads them.
        n_layers: hidden layers that are needed; of a family in `STACKED` no others are loaded. None: all.

    Raises:
        MissingExtra: transformers or torch is not installed.
        ModelError: the model cannot be found or opened, needs code of its own, or lacks weights and would judge at random.
        JudgeError: it has fewer layers than are needed, or its tokenizer cannot tell where its tokens stand in the text.
    """
    transformers = need("transformers", feature)
    torch = need("torch", feature)
    folder = locate(model)
    refuse_out_of_reach(folder, revision, feature, remedy=REMEDY)
    cannot = f"{feature} cannot open model {model!r}"
    refuse_damaged_files(folder, cannot)
    tokenizer = open_tokenizer(folder, revision, feature)
    options = {}
    if n_layers is not None:
        with told_once(cannot, folder):
            config = transformers.AutoConfig.from_pretrained(folder, revision=revision, trust_remote_code=False)
            if n_layers > config.num_hidden_layers:
                raise JudgeError(
                    f"{feature}: layer {n_layers} is not there, model {model!r} has {config.num_hidden_layers}; write a layer "
                    f"from 1 to {config.num_hidden_layers}"
                )
            if config.model_type in STACKED:
                config.num_hidden_layers = n_layers
        options = {"config": config}
    loaded = open_model(
        architecture, model, feature, revision=revision, may_lack=may_lack, dtype=torch.float32, **options
    )
    refuse_other_tokenizer(tokenizer, loaded, f"{feature}: model {model!r}")
    # one that was opened without its numbers has no place to go to
    return tokenizer, loaded if loaded.device.type == "meta" else loaded.to(device())


def ends_at(loaded: Any, n_layers: int) -> bool:
    """Whether a model that was opened for so many layers has no others, so that its last vectors are those of that layer."""
    return loaded.config.model_type in STACKED and loaded.config.num_hidden_layers == n_layers
