"""
A tuned classifier without tuning, and the path to it
=====================================================

``AutoSVC`` has no C, no kernel and no kernel width to choose. It compares three kernels, their widths and
penalties by cross-validation, then once more with weights of features learned from the data, and takes
the best machine or the mean of two. What it tried stays in ``path_``.
"""

# %%
# The ionosphere data: 34 radar readings, to be told apart into good and bad returns. Beside ``AutoSVC``, the usual
# way: a grid of C and γ with five folds. The very first fit of a session loads compiled code, so a few rows
# are fitted before the clock starts.

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from adatron import AutoSVC
from adatron.datasets import load_ionosphere
from adatron.display.figures import COLOURS

X, y = load_ionosphere(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
AutoSVC().fit(X[:50], y[:50])

grid = {"svc__C": [2.0**k for k in range(-3, 10, 2)], "svc__gamma": [2.0**k for k in range(-9, 2, 2)]}
models = {
    "AutoSVC": AutoSVC(),
    "grid search": GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5),
}
seconds = {}
for name, model in models.items():
    began = perf_counter()
    model.fit(X, y)
    seconds[name] = perf_counter() - began
    print(f"{name:12s} {seconds[name]:6.2f} s, test accuracy {model.score(X_test, y_test):.1%}")

auto = models["AutoSVC"]
print(f"AutoSVC tried {len(auto.path_)} candidates; on held-out rows its accuracy was {auto.best_score_:.1%}")

# %%
# The path, kernel by kernel. The choice rests on a soft error, in which rows near the boundary count in part.
# Dots are widths; crosses are the best width of a kernel with learned weights of features.

figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
steps = sorted(auto.path_, key=lambda step: step["sigma"])
for kernel, colour in zip(dict.fromkeys(auto.path_["kernel"]), COLOURS, strict=False):
    own = [step for step in steps if step["kernel"] == kernel]
    plain = [step for step in own if step["power"] == 0.0]
    ax.plot([s["sigma"] for s in plain], [s["criterion"] for s in plain], "o-", color=colour, label=kernel)
    weighted = [step for step in own if step["power"] > 0.0]
    ax.plot([s["sigma"] for s in weighted], [s["criterion"] for s in weighted], "x", color=colour)
ax.set(xlabel="width σ", ylabel=auto.path_.criterion, xscale="log")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# Few widths are enough, because the search begins at the scale of the data and looks beside the best one until
# both neighbours are worse. The final model may be the mean of two machines; ``kernels_`` lists their kernels.

for kernel in auto.kernels_:
    print(type(kernel).__name__, f"γ = {kernel.gamma:.3g}", "with weights" if kernel.weights else "")
