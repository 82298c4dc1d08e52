"""
Resume a fit after an interrupt
===============================

Long fits get interrupted: a Ctrl-C, a time limit, a machine that is switched off. With the callback ``Checkpoint`` the
whole state of a fit is in a file that is replaced in one step, and ``resume=True`` goes on from it. The result is
the same as if nothing had happened.
"""

# %%
# An interrupt is simulated by a callback that raises ``KeyboardInterrupt`` after some epochs, just as Ctrl-C would.
# The exception arrives as usual, but the model of the last epoch is kept.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from adatron import SVC
from adatron.callbacks import Checkpoint
from adatron.datasets import load_pima
from adatron.display.figures import COLOURS, INK

X, y = load_pima(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
settings = {"C": 10.0, "solver": "adatron"}


class InterruptAfter:
    def __init__(self, epochs):
        self.left = epochs

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def teardown(self, estimator, context):
        pass


directory = tempfile.TemporaryDirectory()
path = Path(directory.name) / "pima.checkpoint"
first = SVC(**settings).set_callbacks(Checkpoint(path, every=30), InterruptAfter(300))
try:
    first.fit(X, y)
except KeyboardInterrupt:
    print(f"{first.status_} after {first.n_iter_[0]} epochs with a relative gap of {first.duality_gap_:.3f}")
print(
    f"it can predict: training error {1.0 - first.score(X, y):.1%}; checkpoint of {path.stat().st_size:,} bytes"
)

# %%
# Later, perhaps in another process: the same data and parameters, and ``resume=True``. Other data or another C
# would be refused with a message that says what differs.

second = SVC(**settings).set_callbacks(Checkpoint(path, every=30, resume=True)).fit(X, y)
undisturbed = SVC(**settings).fit(X, y)
directory.cleanup()
is_same = np.array_equal(second.dual_coef_, undisturbed.dual_coef_)
print(
    f"resumed: {second.status_} after {second.n_iter_[0]} epochs in all, {undisturbed.n_iter_[0]} undisturbed"
)
print(f"the same multipliers, bit for bit: {is_same}")

# %%

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
epoch, violation = (np.array(second.history_[name]) for name in ("epoch", "violation"))
is_later = epoch > first.n_iter_[0]
ax.plot(
    undisturbed.history_["epoch"],
    undisturbed.history_["violation"],
    color="#CCCCCC",
    linewidth=5,
    label="undisturbed",
)
ax.plot(first.history_["epoch"], first.history_["violation"], color=COLOURS[1], label="until the interrupt")
ax.plot(epoch[is_later], violation[is_later], color=COLOURS[0], label="resumed")
ax.axvline(first.n_iter_[0], color=INK, linestyle=":", linewidth=1.0)
ax.set(xlabel="epoch", ylabel="violation of the optimality conditions", yscale="log")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The resumed fit lies on the undisturbed one, epoch for epoch, and ends with the same model.
