"""The training's own libraries are asked what they make of the recipe, in a process of their own beside the other checks."""

import contextlib
import json
import logging
import os
import platform
import subprocess
import sys
from pathlib import Path

from ..config import Recipe
from ..errors import StorageError
from ..extras import installed_versions
from ..models import cache_folder, file_at_hand
from ..runfolder.stages import RECORDED
from ..storage import file_digest, write_text
from ..text.digests import digest
from ..train.rehearse import ANSWER

log = logging.getLogger(__name__)

# seconds that the libraries have to start and to answer; usually it takes less than ten
PATIENCE_SECONDS = 180
# moves when a rehearsal finds more than before; 5: weights that are quantised in their files
VERSION = 5
# lines of what the process said that an error shows
SHOWN_LINES = 5


class Rehearsal:
    """A rehearsal of the recipe's training that has begun; one that was sound is not repeated."""

    def __init__(self, recipe: Recipe) -> None:
        self._python = python = recipe.train.python or sys.executable
        self._process: subprocess.Popen[str] | None = None
        self._sound = cache_folder() / "rehearsed" / _everything(recipe, python)
        if self._sound.exists():
            return
        try:
            self._process = subprocess.Popen(
                [python, "-m", "evenhand.train.rehearse"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )  # fmt: skip
        except OSError:
            # another check says of the key that it cannot be started
            return
        # from here on it works while others look elsewhere
        with contextlib.suppress(BrokenPipeError), self._process.stdin:  # type: ignore[union-attr]
            self._process.stdin.write(recipe.model_dump_json())  # type: ignore[union-attr]
        self._process.stdin = None

    def mistakes(self) -> list[str]:
        """What is wrong with the training; nothing is said of what could not be found out in time."""
        if self._process is None:
            return []
        try:
            out, err = self._process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            log.warning(
                "the training's libraries did not start within %d seconds, so it was not tried", PATIENCE_SECONDS
            )
            return []
        answers = [line.removeprefix(ANSWER) for line in out.splitlines() if line.startswith(ANSWER)]
        if not answers:
            output = "\n".join(err.strip().splitlines()[-SHOWN_LINES:])
            return [f"key 'train': the training cannot be started by {self._python}: {output}"]
        refusals: list[str] = json.loads(answers[-1])
        if not refusals:
            # an unwritable cache is said elsewhere
            with contextlib.suppress(StorageError):
                write_text(self._sound, "")
        return refusals

    def __enter__(self) -> "Rehearsal":
        return self

    def __exit__(self, *_: object) -> None:
        """End the process if it still runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def _everything(recipe: Recipe, python: str) -> str:
    """Digest of what a rehearsal depends on: the recipe's training, the machine, and the files that both name."""
    settings = [
        file_at_hand(recipe.model.name, recipe.model.revision, name)
        for name in ("config.json", "tokenizer_config.json")
    ]
    files = [Path(recipe.train.accelerate_config), recipe.train.pairs, *settings]
    if isinstance(recipe.train.eval_pairs, Path):
        files.append(recipe.train.eval_pairs)
    return digest(
        [
            VERSION,
            recipe.model_dump(mode="json", include={"model", "lora", "train", "trainer", "wandb", "rounds"}),
            recipe.generate.max_model_len,
            [python, platform.node(), os.environ.get("CUDA_VISIBLE_DEVICES"), installed_versions(RECORDED)],
            [file_digest(path) if path and path.is_file() else None for path in files],
        ]
    )
