"""Names of models as servers write them: with the provider before them, and their snapshot or an alias behind."""

import re

# what stands behind a name: a date or number of a snapshot, of three figures at least; and words of aliases, tags, formats
SNAPSHOT = re.compile(r"[-@:](?:preview-)?v?(?:20\d\d-\d\d(?:-\d\d)?|\d\d-(?:\d\d|20\d\d)|\d{3,8})(?=$|[-@:])")
ALIAS = re.compile(r"(?:[-@:](?:latest|preview|exp|experimental|beta|stable|default|free|online)|-v\d+:\d+|\.gguf)+$")
# a provider before a full stop, and its region
PROVIDER = re.compile(r"^(?:[a-z]+\.)+(?=[a-z])(?![a-z]+$)")


def is_same_model(asked: str, answered: str) -> bool:
    """Whether two names may be of one model: all but provider, alias and a snapshot that one of them does not say are equal."""
    (name, snapshots), (other, others) = _parts(asked), _parts(answered)
    return name == other and (snapshots == others or not snapshots or not others)


def _parts(name: str) -> tuple[str, tuple[str, ...]]:
    """What names the model, in small letters, and its snapshots."""
    name = re.split(r"[/\\]", name.strip().lower().rstrip("/\\"))[-1]
    name = ALIAS.sub("", PROVIDER.sub("", name))
    snapshots = tuple(re.sub(r"\D", "", each) for each in SNAPSHOT.findall(name))
    return ALIAS.sub("", SNAPSHOT.sub("", name)), snapshots
