"""Fixtures that several folders' tests share: small texts that a person can score by eye, and tiny random models."""

import contextlib
import gc
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import forked
import hypothesis
import needs
import pytest
from sampled import FILES, is_sampled

from evenhand.errors import EvenhandError
from evenhand.records import Candidate, Contract, Document, DocumentSet, Message, Perspective, Sampling, SummaryRequest
from evenhand.runfolder.processes import share_processor

pytest_plugins = ("fake_runs", "judge_models", "own_verbosity")
share_processor()
# what tests of a plug-in share lies beside them
sys.path += map(str, Path(__file__).parent.glob("plugins/**/"))
# numpy's products are small here: a second thread gains nothing, and spins where it waits on processors that other tests need
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# vLLM fills its cache with zeros: of 4 GiB that takes longer than all else that a tiny model's engine does
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
# a first example imports libraries, and machines are shared: time is no property of what is tested
hypothesis.settings.register_profile("evenhand", deadline=None)
hypothesis.settings.load_profile("evenhand")

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def pytest_configure() -> None:
    """Name NLTK's data in $EVENHAND_NLTK, for all processes that tests start."""
    with contextlib.suppress(EvenhandError):  # which is the reason why tests are skipped
        if folder := needs.nltk_data():
            os.environ["EVENHAND_NLTK"] = str(folder)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m beyond` looks at files with such tests alone: all others are half of what its processes would collect."""
    if config.option.markexpr != "beyond" or not collection_path.name.startswith("test_"):
        return None
    return str(collection_path.relative_to(Path(__file__).parent)) not in FILES or None


def pytest_itemcollected(item: pytest.Item) -> None:
    """The fixture of a need's name is a need, too; `-m data` selects the tests of data that $EVENHAND_TEST_DATA may name."""
    for name in set(needs.NEEDS).intersection(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.needs(name))
    if any(needs.need_of(name).is_data for name in _needs_of(item)):
        item.add_marker("data")
    if item.get_closest_marker("slow") and not is_sampled(str(item.path.relative_to(Path(__file__).parent)), item.name):
        item.add_marker("beyond")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what cannot be had, with the reason."""
    if reasons := list(filter(None, map(needs.reason, _needs_of(item)))):
        pytest.skip("; ".join(reasons))


def _needs_of(item: pytest.Item) -> list[str]:
    return sorted({name for mark in item.iter_markers("needs") for name in mark.args})


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files of slow tests first, so that no process waits for the last one; no campaigns unless asked for: `-m campaign`."""
    if "campaign" not in config.option.markexpr:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("campaign")])
        items[:] = [item for item in items if not item.get_closest_marker("campaign")]
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: (-slow[item.path], item.path))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Collecting makes no garbage; what 18,000 tests are made of stays, and is looked through by no collector again.

    It was a second each time where a trainer or a benchmark collects garbage, and a seventh of all ordinary tests' time.
    """
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Nor is what a file's tests have imported, once they have left no garbage."""
    yield
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def same_levels() -> Iterator[None]:
    """Commands that are run in this process say what they log; the next test has it as it was."""
    loggers = (logging.getLogger(), logging.getLogger("evenhand"))
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache that no other test shares."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def polisum() -> Path | None:
    """Folder of the PoliSum development files, which may not be shipped."""
    return needs.data_folder("polisum")


@pytest.fixture(scope="session")
def perspectivesumm() -> Path | None:
    """Folder of PerspectiveSumm's Yelp sets, which are not shipped."""
    return needs.data_folder("perspectivesumm")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for all tests of a file; playwright's event loop would be in the way of other files' loops."""
    from playwright.sync_api import sync_playwright

    path = needs.chromium()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def ferry() -> DocumentSet:
    """A set with two sides, two documents each."""
    return DocumentSet(
        id="ferry",
        topic="The ferry",
        documents=(
            Document(
                id="ferry/left-1", text="The ferry is cheap. The town should keep it.", attributes={"stance": "left"}
            ),
            Document(id="ferry/left-2", text="Nurses need the ferry at night.", attributes={"stance": "left"}),
            Document(
                id="ferry/right-1", text="The ferry is dear. A bridge pays for itself.", attributes={"stance": "right"}
            ),
            Document(id="ferry/right-2", text="Taxes are high enough.", attributes={"stance": "right"}),
        ),
        key_points={"left": ("The ferry is cheap.",), "right": ("The ferry is dear.",)},
        split="train",
    )


@pytest.fixture
def requests(ferry: DocumentSet) -> Sequence[SummaryRequest]:
    """The requests of the set, one a side."""
    from evenhand.config import CorpusSection, TaskSection
    from evenhand.generate.requests import build_requests

    return build_requests([ferry], CorpusSection(), TaskSection())


def make_request(documents: DocumentSet, side: str = "left") -> SummaryRequest:
    """A request for one side of a set, with a short prompt."""
    other = {"left": "Right", "right": "Left"}[side]
    return SummaryRequest(
        id=f"{documents.id}/{side}",
        document_set=documents,
        perspective=Perspective(attribute="stance", value=side),
        contract=Contract(opening=f"The {side.capitalize()}", other_openings=(f"The {other}",), sentences=1),
        template="test:000000",
        prompt=(Message(role="user", content=f"Summarise the {side} of: " + documents.documents[0].text),),
    )


def make_candidate(request: SummaryRequest, text: str, index: int = 0, **changes: object) -> Candidate:
    """A candidate as a backend would have made it."""
    values: dict[str, object] = {
        "id": f"{request.id}#{index}", "request_id": request.id, "text": text, "raw_text": text, "issues": (),
        "contract_ok": text.startswith("The "), "method": "zero-shot", "plan": "nucleus", "sampling": Sampling(),
        "index": index, "seed": index, "model": "test", "prompt_digest": "0" * 16, "n_prompt_tokens": 10,
        "n_tokens": len(text.split()), "finish_reason": "stop",
    }  # fmt: skip
    return Candidate.model_validate(values | changes)


@pytest.fixture(scope="session")
def command_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[forked.Server]:
    """What starts commands without the second or two that reading the package takes of each process."""
    server = forked.Server(tmp_path_factory.mktemp("c"))
    yield server
    server.close()


@pytest.fixture
def quick_commands(command_server: forked.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process and its children take for their interpreter has imported evenhand already, and no large library."""
    monkeypatch.setattr(sys, "executable", str(command_server.client))


@pytest.fixture(scope="session")
def training_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[forked.Server]:
    """What starts commands that train without the quarter of a minute that imports take of each process."""
    pytest.importorskip("trl")
    server = forked.Server(tmp_path_factory.mktemp("t"), forked.TRAINING)
    yield server
    server.close()


@pytest.fixture
def quick_python(training_server: forked.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process and its children take for their interpreter has imported everything already."""
    # whose ninja DeepSpeed compiles with
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(sys, "executable", str(training_server.client))


@pytest.fixture(scope="session")
def engine_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[forked.Server]:
    """What starts commands that open vLLM's engine, of whose start imports take two thirds."""
    pytest.importorskip("vllm")
    server = forked.Server(tmp_path_factory.mktemp("e"), forked.ENGINES, VLLM_LOGGING_LEVEL="WARNING")
    yield server
    server.close()


@pytest.fixture
def quick_engines(engine_server: forked.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `quick_python`, for commands that open engines."""
    monkeypatch.setattr(sys, "executable", str(engine_server.client))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a Llama of two layers with random weights, and a small tokenizer with a chat template."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    tokenizer = _tiny_tokenizer()
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=128, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=2048, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id, tie_word_embeddings=True,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tiny_tokenizer() -> object:
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    corpus = Path(__file__).parents[1] / "corpora" / "sample" / "sample.jsonl"
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1000,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    model.train([str(corpus)], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = CHAT_TEMPLATE
    return fast


@pytest.fixture
def fresh_accelerate(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """accelerate keeps its state for the whole process; a test that trains starts and leaves without."""
    state = pytest.importorskip("accelerate").state
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    state.AcceleratorState._reset_state(reset_partial_state=True)
    yield
    state.AcceleratorState._reset_state(reset_partial_state=True)
    torch.set_num_threads(threads)
