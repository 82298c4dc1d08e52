"""A terminal to run commands in: what they show, and keys to press."""

import os
import re

__all__ = ["Terminal"]

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A pseudo terminal of so many columns."""

    def __init__(self, columns=100):
        import termios

        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (30, columns))
        os.set_blocking(self.master, False)
        self.name = os.ttyname(self.slave)
        self._shown = b""

    @property
    def streams(self):
        return {"stdin": self.name, "stdout": self.name, "stderr": self.name}

    def shown(self):
        """All that was shown so far."""
        try:
            while part := os.read(self.master, 2**16):
                self._shown += part
        except BlockingIOError:
            pass
        return self._shown.decode(errors="replace")  # what was read may end within a character

    def text(self):
        """Without colours and movements of the cursor."""
        return _ESCAPES.sub("", self.shown()).replace("\r", "\n")

    def press(self, keys):
        os.write(self.master, keys)

    def close(self):
        os.close(self.slave)
        os.close(self.master)
