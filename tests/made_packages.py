"""Packages made up for a test: files and metadata as pip leaves them, and code that must not run."""

import hashlib
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
