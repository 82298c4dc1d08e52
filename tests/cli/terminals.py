"""A terminal to run commands in: what they show, and keys to press."""

import os
import re
from threading import Event, Lock, Thread

__all__ = ["Terminal"]

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A pseudo terminal of so many columns.

    It is read all the time: a command that fills its small buffer would wait for that, and the test for the
    command.
    """

    def __init__(self, columns=100):
        import termios

        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (30, columns))
        os.set_blocking(self.master, False)
        self.name = os.ttyname(self.slave)
        self._shown, self._lock, self._closing = b"", Lock(), Event()
        self._reader = Thread(target=self._read_until_closed, daemon=True)
        self._reader.start()

    @property
    def streams(self):
        return {"stdin": self.name, "stdout": self.name, "stderr": self.name}

    def shown(self):
        """All that was shown so far."""
        self._read()
        return self._shown.decode(errors="replace")  # what was read may end within a character

    def _read(self):
        with self._lock:
            try:
                while part := os.read(self.master, 2**16):
                    self._shown += part
            except BlockingIOError:
                pass

    def _read_until_closed(self):
        while not self._closing.wait(0.05):
            self._read()

    def text(self):
        """Without colours and movements of the cursor."""
        return _ESCAPES.sub("", self.shown()).replace("\r", "\n")

    def press(self, keys):
        os.write(self.master, keys)

    def close(self):
        self._closing.set()
        self._reader.join()
        os.close(self.slave)
        os.close(self.master)
