"""Error and time of tuned kernel SVMs: `AutoSVC` against grid searches, liquidSVM and the default SVC.

    python benchmarks/tuned_model.py [--quick] [--sets NAME …] [--tuners NAME …] [--parts 10]
                                     [--patience 1200] [--again NAME …] [--out FILE] [--show]

Needs ADATRON_DATA and the extra "bench"; liquidSVM is optional. The tuners take turns on each training
part. What is in the output file already is not run again, unless --again names the tuner; --show only
prints the tables and draws the picture. A tuner that takes longer than --patience seconds is ended.
"""

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.splits import SPLIT_SETS, split_of
from benchmarks.tuned_table import draw, show
from benchmarks.tuners import TUNERS, available_tuners, quietly

QUICK = ["titanic", "thyroid", "heart", "banana", "waveform", "german"]


def _serve(connection, tuner):
    tune = TUNERS[tuner][0]()
    X, y, X_test, _ = split_of("thyroid", 0)
    quietly(tune, X[:60], y[:60], X_test)()  # imports, compiles
    connection.send("ready")
    while True:
        X, y, X_test, y_test = split_of(*connection.recv())
        began, cpu_began = time.perf_counter(), _cpu_seconds()
        predict = quietly(tune, X, y, X_test)
        times = {"seconds": time.perf_counter() - began, "cpu_seconds": _cpu_seconds() - cpu_began}
        connection.send(times | {"error": float(np.mean(predict() != y_test))})


def _cpu_seconds():
    """Of this process and the workers it has started: not lengthened by other work of the machine."""
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(spent.user + spent.system for spent in times)


class TunerProcess:
    """One way to a tuned model, in a process that can be ended."""

    def __init__(self, tuner):
        self.tuner = tuner
        self.process = None

    def ask(self, name, part, patience):
        """Seconds and error, or None after `patience` seconds."""
        if self.process is None:
            self._start()
        self.connection.send((name, part))
        try:
            if self.connection.poll(patience):
                return self.connection.recv()
        except EOFError:
            pass
        self.end()
        return None

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, child = context.Pipe()
        self.process = context.Process(target=_serve, args=(child, self.tuner))
        self.process.start()
        child.close()
        self.connection.recv()

    def end(self):
        if self.process is not None:
            self.process.terminate()
            self.process.join()
            self.process = None


def run(options, records):
    """Fill `records[set][tuner][part]`, saving after each set and part."""
    processes = {tuner: TunerProcess(tuner) for tuner in options.tuners}
    for name in options.sets:
        for part in range(min(options.parts, SPLIT_SETS[name][1])):
            for tuner, process in processes.items():
                known = records.setdefault(name, {}).setdefault(tuner, {})
                if str(part) in known and known[str(part)] is not None:
                    continue
                known[str(part)] = process.ask(name, part, options.patience)
                print(f"{name:<16} {part}  {tuner:<20} {known[str(part)]}", flush=True)
                options.out.parent.mkdir(parents=True, exist_ok=True)
                options.out.write_text(json.dumps(records, indent=1) + "\n")
    for process in processes.values():
        process.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="six small sets, three parts each")
    parser.add_argument("--sets", nargs="+", default=list(SPLIT_SETS), choices=list(SPLIT_SETS))
    parser.add_argument("--tuners", nargs="+", default=available_tuners(), choices=list(TUNERS))
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--patience", type=float, default=1200.0)
    parser.add_argument("--again", nargs="+", default=[], choices=list(TUNERS))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/tuned_model.json"))
    options = parser.parse_args()
    if options.quick:
        options.sets, options.parts, options.patience = QUICK, min(options.parts, 3), 60.0
        options.out = options.out.with_stem(options.out.stem + "_quick")
    records = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.sets if options.again else []:
        for tuner in options.again:
            records.get(name, {}).pop(tuner, None)
    if not options.show:
        run(options, records)
    show(records)
    draw(records, options.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
