"""Files that hold arrays and a header, and nothing that could run: models, checkpoints.

A container is magic bytes, a bounded JSON header, raw little-endian arrays and a SHA-256 over all of it. It
is written whole or not at all, and read only if every byte is in its place; ``docs/model_files.md`` has
the layout.

>>> import os, tempfile
>>> import numpy as np
>>> from adatron.storage import read_container, write_container
>>> with tempfile.TemporaryDirectory() as directory:
...     path = os.path.join(directory, "example.adatron")
...     write_container(path, "example", {"title": "squares"}, {"values": np.arange(4) ** 2})
...     header, arrays = read_container(path, "example")
>>> header["title"], arrays["values"].tolist()
('squares', [0, 1, 4, 9])
"""

from adatron.storage.atomic import atomic_write, check_target
from adatron.storage.container import read_container, write_container

__all__ = ["atomic_write", "check_target", "read_container", "write_container"]
