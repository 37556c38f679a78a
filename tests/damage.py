"""What can be done to a folder that holds a model or an adapter."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0a1b2c\nsize 538090408\n"
Damage = Callable[[Path], object]


def write(name: str, content: bytes | str) -> Damage:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(data)


def cut(name: str, share: float) -> Damage:
    def damage(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(len(data) * share)])

    return damage


def append(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + content)


def remove(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def settings(name: str, **changes: Any) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).write_text(json.dumps(json.loads((folder / name).read_text()) | changes))

    return damage


def config(**changes: Any) -> Damage:
    return settings("config.json", **changes)


def tensors(change: Callable[[dict[str, Any]], object], name: str = "model.safetensors") -> Damage:
    def damage(folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        found = load_file(folder / name)
        change(found)
        save_file({key: value.contiguous() for key, value in found.items()}, folder / name, {"format": "pt"})

    return damage


def filled(key: str, number: float) -> Callable[[dict[str, Any]], object]:
    return lambda found: found[key].view(-1)[-1:].fill_(number)


def renamed(old: str, new: str) -> Callable[[dict[str, Any]], object]:
    return lambda found: found.update({new: found.pop(old)})


def sharded(index: Any) -> Damage:
    """The weights' file is called a shard, which an index names in this way."""

    def damage(folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
        text = index if isinstance(index, str) else json.dumps(index)
        (folder / "model.safetensors.index.json").write_text(text)

    return damage


def template(text: Any) -> Damage:
    def damage(folder: Path) -> None:
        (folder / "chat_template.jinja").unlink(missing_ok=True)
        settings("tokenizer_config.json", chat_template=text)(folder)

    return damage
