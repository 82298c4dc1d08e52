"""Runs the command line in forks of one warm process: importing it takes seconds, forking milliseconds.

Requests are lines of JSON on standard input, answers are lines on standard output:
``{"start": [...], ...}`` gives the process id, ``{"wait": pid, "seconds": s}`` the status of `os.waitpid`.
"""

import json
import os
import resource
import sys
import time
from tempfile import TemporaryDirectory


def serve():
    _warm_up()
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(_start(request) if "start" in request else _wait(**request), flush=True)


def _warm_up():
    import matplotlib.figure  # noqa: F401
    import rich.progress
    import rich.table  # noqa: F401
    import sklearn.compose
    import sklearn.model_selection  # noqa: F401
    from click.testing import CliRunner

    from adatron.cli.app import app

    with TemporaryDirectory() as directory:
        files = ["-o", f"{directory}/model", "--report", f"{directory}/report", "--force"]
        for options in (["--model", "svc", "--solver", "adatron"], []):
            done = CliRunner().invoke(app, ["fit", "sonar", "--json", *options, *files])
            assert done.exit_code == 0, done.output


def _start(request):
    pid = os.fork()
    if pid == 0:
        try:
            code = _child(request)
        except SystemExit as ended:
            code = ended.code
        except BaseException as error:  # the tests look for this word
            os.write(2, f"Traceback {error!r}\n".encode())
            code = 70
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code or 0)
    return pid


def _child(request):
    os.setsid()  # a terminal that is opened now sends its Ctrl-C to this process
    os.chdir(request["directory"])
    os.environ.update(request["environment"])
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
        where = os.open(request[name], flags, 0o600)
        os.dup2(where, number)
        os.close(where)
    if request["slow_files"]:
        _slow_files(request["slow_files"])
    if request["file_limit"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_limit"],) * 2)
    from adatron.cli import main

    main(request["start"])


def _slow_files(seconds):
    """Files are written in small pieces, each of which takes some time."""
    from adatron.files import atomic

    atomic._AT_ONCE, sync = 256, os.fsync
    write = os.write

    def slow_write(*args):
        time.sleep(seconds)
        return write(*args)

    def slow_sync(*args):
        time.sleep(20 * seconds)
        return sync(*args)

    atomic.os.write, atomic.os.fsync = slow_write, slow_sync


def _wait(wait, seconds):
    """The status, or None when the time is over: the process is killed then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(wait, os.WNOHANG)
        if pid:
            return json.dumps(os.waitstatus_to_exitcode(status))
        time.sleep(0.002)
    os.kill(wait, 9)
    os.waitpid(wait, 0)
    return "null"


if __name__ == "__main__":
    serve()
