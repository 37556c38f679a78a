"""vLLM's engine that outlives its stage: with one adapter after the other it answers as an engine of each one's own."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from made_adapters import made_adapter

from evenhand.config import BackendSection, ModelSection
from evenhand.generate.backend import Ask, Reply, Usage
from evenhand.generate.backends import open_backend
from evenhand.generate.pooled_backend import REPLIES
from evenhand.records import Message, Sampling
from evenhand.runfolder.engine_pool import engine_pool

pytest.importorskip("vllm")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_engines")]

HERE = Path(__file__).parent
# an engine of its own for the adapter of the command line
OWN = """
import json, sys
from pathlib import Path
sys.path[:0] = sys.argv[1].split(':')
from evenhand.generate.pooled_backend import REPLIES
from test_vllm_pooled import asked

if __name__ == "__main__":
    replies, usage = asked(sys.argv[2], Path(sys.argv[3]) if sys.argv[3] else None)
    print("RESULT" + json.dumps([REPLIES.dump_python(replies, mode="json"), usage.fields]))
"""


def asked(model: str, adapter: Path | None) -> tuple[list[Reply], Usage]:
    section = BackendSection(max_model_len=128, adapter="serve")
    words = Message(role="user", content="The ferry sails at seven in the evening, and nobody knows why.")
    asks = [Ask((words,), Sampling(max_tokens=16, temperature=0.9, top_p=0.9), seed) for seed in range(3)]
    asks.append(Ask((words,), Sampling(), 0, choices=("1", "2", "3")))
    with closing(open_backend(section, ModelSection(name=model, dtype="float32"), adapter)) as backend:
        return backend.complete(asks) + backend.complete(asks[:1]), backend.usage


def by_its_own(folder: Path, model: Path, adapter: Path | None) -> tuple[list[Reply], Usage]:
    (folder / "own.py").write_text(OWN)
    command = [sys.executable, str(folder / "own.py"), f"{HERE}:{HERE.parent}", str(model), str(adapter or "")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert lines, done.stderr
    replies, fields = json.loads(lines[0].removeprefix("RESULT"))
    return REPLIES.validate_python(replies), Usage(**fields)


def test_a_pooled_engine_answers_as_one_of_the_stages_own(tiny_model: Path, tmp_path: Path) -> None:
    adapters = [None, made_adapter(tiny_model, tmp_path / "one"), made_adapter(tiny_model, tmp_path / "other", seed=2)]
    own = [by_its_own(tmp_path, tiny_model, adapter) for adapter in adapters]
    assert own[1] != own[2] != own[0]
    with engine_pool(tmp_path):
        for place in (0, 1, 2, 1, 0):
            assert asked(str(tiny_model), adapters[place]) == own[place]
