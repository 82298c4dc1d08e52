"""A process that trains one library on one data set, so that a slow or crashing one can be ended."""

import multiprocessing
import time

import numpy as np

from benchmarks.data import REGRESSION_SETS, load
from benchmarks.peers import PEERS, REGRESSORS

__all__ = ["Worker", "interleaved_fits"]

WARM_UP = 2_500  # rows: enough for whatever a library loads, or compiles, for a large fit


def _coefficients(model):
    """Support vectors and their coefficients, however the library calls them."""
    if hasattr(model, "dual_coef_"):
        return np.asarray(model.support_), np.asarray(model.dual_coef_), np.asarray(model.n_support_)
    own = model.model
    coefficients = np.array(own.get_sv_coef()).T
    counts = np.array([own.nSV[i] for i in range(own.get_nr_class())])
    return np.array(own.get_sv_indices()) - 1, coefficients, counts


def _serve(connection, peer, name):
    is_regression = name in REGRESSION_SETS
    constructor, dtype, _ = (REGRESSORS if is_regression else PEERS)[peer]
    X, y, X_test, _, gamma = load(name)
    X, X_test = X.astype(dtype), X_test.astype(dtype)
    few = np.linspace(0, len(y) - 1, min(len(y), WARM_UP)).astype(int)
    if is_regression:
        y = y.astype(dtype)
    else:
        few = np.unique(np.concatenate([few, *(np.flatnonzero(y == label)[:50] for label in np.unique(y))]))
    constructor(1.0, gamma).fit(X[few], y[few]).predict(X_test[:10])  # imports, compiles
    connection.send("ready")
    while True:
        task, C = connection.recv()
        if task == "fit":
            began = time.perf_counter()
            model = constructor(C, gamma).fit(X, y)
            seconds = time.perf_counter() - began
            connection.send((seconds, _coefficients(model)))
        elif task == "predict":
            began = time.perf_counter()
            labels = model.predict(X_test)
            connection.send((time.perf_counter() - began, np.asarray(labels)))


class Worker:
    """One library, trained in a process of its own."""

    def __init__(self, peer, name, patience=600.0):
        context = multiprocessing.get_context("spawn")
        self.peer, self.died = peer, False
        self.connection, child = context.Pipe()
        self.process = context.Process(target=_serve, args=(child, peer, name), daemon=True)
        self.process.start()
        child.close()
        self.alive = self._receive(patience) is not None

    def ask(self, task, C, patience):
        """(seconds, result), or None when it took longer than `patience` or the process died."""
        if not self.alive:
            return None
        self.connection.send((task, C))
        answer = self._receive(patience)
        if answer is None:
            self.end()
        return answer

    def _receive(self, patience):
        try:
            return self.connection.recv() if self.connection.poll(patience) else None
        except EOFError:
            self.died = True
            return None

    def end(self):
        self.alive = False
        self.process.kill()
        self.process.join()


def interleaved_fits(workers, C, repeats, patience):
    """Seconds of all fits of each library, which take turns, and the last model of each."""
    seconds = {peer: [] for peer in workers}
    models = {}
    for _ in range(repeats):
        for peer, worker in workers.items():
            answer = worker.ask("fit", C, patience)
            if answer is not None:
                seconds[peer].append(answer[0])
                models[peer] = answer[1]
    return seconds, models
