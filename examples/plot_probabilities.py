"""
Probabilities that can be believed
==================================

A probability is calibrated when, of the rows that get 80 %, four in five belong to the class.
:class:`adatron.SVC` with ``probability=True`` and :class:`adatron.AutoSVC` fit a sigmoid to decision values
of held-out rows. The probabilities cost little and agree with ``predict``.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve

from adatron import SVC, AutoSVC
from adatron.datasets import make_waveform
from adatron.display.figures import COLOURS

X, y = make_waveform(800, random_state=0)
X_test, y_test = make_waveform(8000, random_state=1)
models = {"SVC(probability=True)": SVC(probability=True), "AutoSVC()": AutoSVC()}

# %%
# The curve of a calibrated classifier follows the diagonal.
figure, ax = plt.subplots(figsize=(5.2, 4.4), layout="constrained")
ax.plot([0, 1], [0, 1], "--", color="#888888", label="calibrated")
for (name, model), colour in zip(models.items(), COLOURS, strict=False):
    probabilities = model.fit(X, y).predict_proba(X_test)
    share, predicted = calibration_curve(y_test == model.classes_[1], probabilities[:, 1], n_bins=10)
    ax.plot(predicted, share, "o-", color=colour, label=name)
    agree = np.mean(model.classes_[probabilities.argmax(axis=1)] == model.predict(X_test))
    print(
        f"{name}: largest distance {np.abs(share - predicted).max():.3f}, agrees with predict on {agree:.1%}"
    )
ax.set(xlabel="predicted probability", ylabel="share of rows that belong to the class")
ax.legend(frameon=False)
plt.show()
