"""Commands in processes of their own, to be sent signals, killed, and watched."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import adatron

__all__ = ["ENDLESS", "Command", "ForkServer", "cpu", "environment_with"]

# 100,000 epochs over 760 rows: ten seconds and more
ENDLESS = ["fit", "pima", "--model", "svc", "--solver", "adatron", "-C", "1e9", "--tol", "1e-12"]
ENDLESS += ["--test-size", "0.01", "--no-report"]

_IMPORTED_FROM = [Path(adatron.__file__).parents[1], Path(__file__).parents[2]]
_LONGEST = 120  # seconds that a command may take on a busy machine


def environment_with(**variables):
    """That of this process, in which a command finds the package wherever it is started."""
    path = [str(place) for place in _IMPORTED_FROM]
    known = os.environ | {"PYTHONPATH": os.pathsep.join(path), "OPENBLAS_NUM_THREADS": "1"}
    known.pop("ADATRON_DATA", None)
    return known | variables


def cpu(pid):
    """Seconds of CPU time of a process so far; a fair clock on a busy machine."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ForkServer:
    """Starts commands; see `tests.cli.fork_server`."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment_with(),
        )
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


class Command:
    """A command under way in `directory`; its output goes to files there, unless others are named."""

    def __init__(
        self, server, directory, *args, slow_files=0.0, file_limit=None, environment=None, **streams
    ):
        self.server, self.directory = server, directory
        number = sum(1 for _ in directory.glob("*.stderr"))
        self.stdout, self.stderr = (directory / f"{number}.{name}" for name in ("stdout", "stderr"))
        for path in (self.stdout, self.stderr):
            path.touch()
        places = {"stdin": os.devnull, "stdout": self.stdout, "stderr": self.stderr} | streams
        self.pid = server.ask(
            start=[str(arg) for arg in args],
            directory=str(directory),
            environment=environment or {},
            slow_files=slow_files,
            file_limit=file_limit,
            **{name: str(place) for name, place in places.items()},
        )

    def wait(self):
        """The exit code, negative after a signal."""
        code = self.server.ask(wait=self.pid, seconds=_LONGEST)
        assert code is not None, f"still running after {_LONGEST} s: {self.errors()}"
        return code

    def send(self, number):
        os.kill(self.pid, number)

    def output(self):
        return self.stdout.read_text()

    def errors(self):
        return self.stderr.read_text()

    def cpu(self):
        return cpu(self.pid)

    def is_over(self):
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"

    def until(self, condition):
        """Wait for something to become true; False if the command ends before."""
        end = time.monotonic() + _LONGEST
        while time.monotonic() < end:
            if condition():
                return True
            if self.is_over():
                return condition()
            time.sleep(0.002)
        raise AssertionError(f"waited for {_LONGEST} s: {self.errors()}")
