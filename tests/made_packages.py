"""Packages made up for a test: files and metadata as pip leaves them, and code that must not run."""

import hashlib
import sys
from base64 import urlsafe_b64encode


def install(site, name, version, files):
    """Write a package with these files (path -> bytes) into a folder that is searched for packages."""
    package, info = name.replace("-", "_"), f"{name.replace('-', '_')}-{version}.dist-info"
    files = {
        f"{package}/__init__.py": b"raise RuntimeError('was imported')",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        **files,
    }
    record = [f"{info}/RECORD,,"]
    for path, content in files.items():
        place = site / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(content)}")
    (site / info / "RECORD").write_text("\n".join(record) + "\n")


def bring(site, monkeypatch, doors, text, things, *, package="mine", version="1.0"):
    """Install a package that brings things by doors into a folder that is searched: name -> what it is in the module.

    Args:
        site: the folder.
        monkeypatch: of the test, at whose end the doors are as before.
        doors: they are of one group.
        text: of the package's module.
        things: what it brings.
        package: its name.
        version: of it.
    """
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, package, raising=False)
    points = "".join(f"{name} = {package}:{thing}\n" for name, thing in things.items())
    files = {
        f"{package}-{version}.dist-info/entry_points.txt": f"[evenhand.{doors[0].name}]\n{points}".encode(),
        f"{package}/__init__.py": text.encode(),
    }
    install(site, package, version, files)
    for door in doors:
        monkeypatch.setitem(vars(door), "_points", type(door)._points.func(door))
