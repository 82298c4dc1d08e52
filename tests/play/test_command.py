"""``adatron play`` as a process: its address, its end, and a network that is not there."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from tests.cli.processes import cpu, environment_with

from adatron.cli.app import app
from adatron.play.algorithms import preset

ENDLESS = {"algorithm": "m3", "kernel": "rbf", "parameters": {"max_iter": 2000}}


@pytest.fixture
def playing():
    """Start ``adatron play`` with arguments; gives the process and its address."""
    started = []

    def start(*args):
        command = [sys.executable, "-m", "adatron", "play", "--no-browser", *args]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment_with(PYTHONUNBUFFERED="1"),
        )  # fmt: skip
        started.append(process)
        return process, process.stdout.readline().removeprefix("playground: ").strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def asked_for_a_fit(address, points):
    """A connection on which frames arrive."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    body = json.dumps(ENDLESS | {"points": points})
    connection.request("POST", f"{parts.path}fit", body, {"Content-Type": "application/json"})
    return connection.getresponse()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_at_once_while_fits_are_under_way(playing, number, code):
    process, address = playing()
    answers = [asked_for_a_fit(address, preset("overlap")) for _ in range(2)]
    for answer in answers:
        assert answer.readline()
        assert b"epoch" in answer.readline()
    began, used = time.monotonic(), cpu(process.pid)
    process.send_signal(number)
    assert process.stderr.readline() == "adatron: interrupted\n"
    assert min(time.monotonic() - began, cpu(process.pid) - used) < 5.0  # the latter: on a busy machine
    with pytest.raises(OSError, match="refused"):
        asked_for_a_fit(address, preset("overlap"))
    assert process.wait(timeout=10) == code  # Python takes its time to unload all modules on a busy machine
    assert process.stderr.read() == ""
    for answer in answers:
        answer.close()


def test_link_and_port_then_ctrl_c_when_nothing_is_under_way(playing):
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    process, address = playing("--port", str(port), "http://127.0.0.1:1/old-token/#data=xor&a=munk")
    parts = urlsplit(address)
    assert (parts.hostname, parts.port, parts.fragment) == ("127.0.0.1", port, "data=xor&a=munk")
    assert "old-token" not in address
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130


def test_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = CliRunner().invoke(app, ["play", "--no-browser", "--port", str(taken.getsockname()[1])])
    assert done.exit_code == 1
    assert "in use" in done.output


def test_link_without_a_fragment():
    done = CliRunner().invoke(app, ["play", "--no-browser", "http://127.0.0.1:1/token/"])
    assert done.exit_code == 2
    assert "has no #" in done.output


def test_the_browser_is_opened_unless_told_not_to(tmp_path):
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    script.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "adatron", "play"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment_with(PYTHONUNBUFFERED="1", BROWSER=f"{script} %s"),
    )  # fmt: skip
    address = process.stdout.readline().removeprefix("playground: ").strip()
    for _ in range(200):
        if os.path.exists(tmp_path / "opened"):
            break
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert (tmp_path / "opened").read_text().strip() == address
