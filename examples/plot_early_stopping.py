"""
Early stopping with a callback
==============================

When labels are noisy and C is large, training goes on to learn the noise long after it has learned the rest. The
callback ``Patience`` scores rows that were held out after every epoch, and ends the fit when their score has not
risen for some epochs. The model is kept and can predict.
"""

# %%
# Waveforms, with one label in ten turned over. A small learning rate makes for small steps, which give the callback
# something to choose from. Callbacks are set on the estimator with ``set_callbacks``.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC
from adatron.callbacks import Patience
from adatron.datasets import make_waveform
from adatron.display.figures import COLOURS, INK


def noisy_waves(n_samples, seed):
    X, y = make_waveform(n_samples, random_state=seed)
    return X, np.where(np.random.default_rng(seed).random(n_samples) < 0.1, -y, y)


X, y = noisy_waves(400, seed=0)
X_held, y_held = noisy_waves(400, seed=1)
X_test, y_test = noisy_waves(3_000, seed=2)
settings = {"C": 100.0, "solver": "adatron", "learning_rate": 0.03}

stop = Patience(X_held, y_held, epochs=10)
stopped = SVC(**settings).set_callbacks(stop).fit(X, y)
print(f"{stopped.status_} after epoch {stopped.n_iter_[0]}: {stopped.status_.sentence}")

# %%
# For comparison, a fit that nobody stops: callbacks with endless patience just keep the scores.

watch_training, watch_held = (Patience(*rows, epochs=10**6) for rows in ((X, y), (X_held, y_held)))
endless = SVC(**settings, max_iter=300).set_callbacks(watch_training, watch_held)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # 300 epochs are not enough to converge
    endless.fit(X, y)

for name, model in {"stopped": stopped, "not stopped": endless}.items():
    print(
        f"{name:11s} after {model.n_iter_[0]:3d} epochs: test error {1.0 - model.score(X_test, y_test):.1%}"
    )

# %%

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
epochs = np.arange(1, 301)
for colour, name, watch in zip(COLOURS, ("training", "held-out"), (watch_training, watch_held), strict=False):
    ax.plot(epochs, 100.0 * (1.0 - np.array(watch.scores)), color=colour, label=f"{name} rows")
ax.axvline(stopped.n_iter_[0], color=INK, linestyle=":", label="stopped here")
ax.set(xlabel="epoch", ylabel="error (%)", xscale="log", ylim=(0, None))
ax.set_xticks([1, 3, 10, 30, 100, 300], labels=["1", "3", "10", "30", "100", "300"])
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The training error falls to almost nothing, because the turned labels are being learned one by one; on rows
# never seen the error rises meanwhile. ``Patience`` stopped ten epochs after the held-out score was at
# its best, and the test error is clearly lower for it.
