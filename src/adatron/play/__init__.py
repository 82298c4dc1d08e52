"""The playground ``adatron play``: a local page on which the algorithms are watched while they learn.

`algorithms` says what can be trained on which points and checks what the page asks for, `frames` trains and
describes the model after every epoch, `server` hands it all to the page in ``page/``.

>>> from adatron.play import PlayServer
>>> with PlayServer() as server:  # on a free port, behind a random token
...     server.address.startswith("http://127.0.0.1:")
True
"""

from adatron.play.server import PlayServer

__all__ = ["PlayServer"]
