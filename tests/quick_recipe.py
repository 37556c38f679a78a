"""A recipe whose run takes a second: scripted candidates, and a judge that counts words."""

from typing import Any

RECIPE: dict[str, Any] = {
    "name": "quick",
    "model": {"name": "none"},
    "corpus": {"test": {"split": "test", "limit": 3}},
    "generate": {"backend": "scripted", "plans": {"hot": {"candidates": 2}}},
    "judges": {"words": {"kind": "length"}},
    "reward": {"judges": ["words"], "combine": "z_mean"},
    "evaluation": {"judges": ["words"]},
    "rounds": 0,
}
