"""
Progress inside a grid search
=============================

A search over machines is many fits, and each fit is many epochs. scikit-learn's callbacks see all of them:
``ProgressBar`` set on the search shows where it is, down to the machine inside a pipeline, and a callback
set on the machine itself is told of every epoch of every fit.
"""

# %%
# A callback is a class with four methods. This one keeps the relative duality gap after each epoch, together
# with the C of the machine; ``fitted_estimator`` is a model as it would be if the fit had ended there.

import os

import matplotlib.pyplot as plt
from sklearn.callback import ProgressBar
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.datasets import load_pima
from adatron.display.figures import COLOURS, INK


class GapLog:
    def __init__(self):
        self.fits = []

    def setup(self, estimator, context):
        self.fits.append((estimator.C, []))

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "epoch":
            self.fits[-1][1].append(fitted_estimator.duality_gap_)

    def teardown(self, estimator, context):
        pass


# %%
# The callback of the machine survives the copies that a search makes. On the search itself,
# ``max_propagation_depth=None`` lets the bars follow down to the machine; in a terminal they move.

os.environ["COLUMNS"] = "96"  # room for the bars on this page
log = GapLog()
pipeline = make_pipeline(StandardScaler(), SVC(solver="adatron").set_callbacks(log))
search = GridSearchCV(pipeline, {"svc__C": [0.1, 1.0, 10.0]}, cv=2)
X, y = load_pima(return_X_y=True)
search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)

# %%

for C, gaps in log.fits:
    print(f"C = {C:<4g} {len(gaps):3d} epochs")
print(f"the best C is {search.best_params_['svc__C']:g}, so the last fit is that on all rows")

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
colours = dict(zip([0.1, 1.0, 10.0], COLOURS, strict=False))
for place, (C, gaps) in enumerate(log.fits):
    label = f"C = {C:g}" if C not in [other for other, _ in log.fits[:place]] else None
    ax.plot(range(1, len(gaps) + 1), gaps, color=colours[C], linewidth=1.2, label=label)
ax.axhline(search.best_estimator_[-1].tol, color=INK, linestyle=":", label="tol")
ax.set(xlabel="epoch", ylabel="relative duality gap", xscale="log", yscale="log", ylim=(3e-4, 1.5))
ax.set_xticks([1, 10, 100], labels=["1", "10", "100"])
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Each tenfold C takes several times the epochs, so this search spent most of its epochs on its largest C. Where a curve
# reaches the tolerance it drops out of the picture: the fit then ends with an exact step to the optimum.
