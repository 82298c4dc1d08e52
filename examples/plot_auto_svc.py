"""
A tuned classifier without tuning, and the path to it
=====================================================

``AutoSVC`` has no C and no kernel width to choose. It tries widths of a Gaussian kernel, trains the folds of
a cross-validation side by side for each, and takes the width and the number of training steps that did
best on the rows held out. What it tried stays in ``path_``.
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
from adatron.display import KernelPathDisplay
from adatron.display.style import COLOURS

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
print(f"AutoSVC tried {len(auto.path_)} widths and took σ = {auto.path_.best_sigma:.2g}")

# %%
# ``KernelPathDisplay`` draws the path. The choice rests on a soft error, in which rows near the boundary count
# in part; the plain share of wrong rows is drawn beside it.

display = KernelPathDisplay.from_estimator(auto)
path = auto.path_
display.ax_.plot(
    path["sigma"], path["error"], "s--", color=COLOURS[2], markersize=3.5, label="held-out error"
)
display.ax_.legend(frameon=False, fontsize=8, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
display.ax_.set(ylabel="share of the rows", ylim=(0.0, 1.05 * max(path["error"])))
plt.show()

# %%
# Seven widths were enough, because the search begins wide apart and then looks closer around the best. The test
# accuracy is that of the grid search, in a small part of its time.
