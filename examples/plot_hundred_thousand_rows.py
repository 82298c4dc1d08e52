"""
A hundred thousand rows
=======================

The kernel matrix of 100,000 rows would fill 80 GB. A low-rank kernel puts a thin factor in its place, made from some
rows drawn as landmarks: ``rank=300`` keeps 300 numbers for each row. How much is lost, and how long does
it take?
"""

# %%
# Four features, two classes of six heaps each, and one label in ten wrong. ``AutoSVC`` on the first 2,000 rows shows
# what so few can do. It compares several kernels; of the Gaussian ones in its ``path_``, the best has the width
# that we take for all rows.

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from adatron import AutoSVC, EnsembleSVC
from adatron.display.figures import COLOURS, INK

X, y = make_classification(
    110_000, n_features=4, n_informative=4, n_redundant=0, n_clusters_per_class=6, flip_y=0.2, random_state=0
)
X, X_test, y, y_test = train_test_split(X, y, test_size=10_000, random_state=0)
small = AutoSVC().fit(X[:2_000], y[:2_000])
small_error = 1.0 - small.score(X_test, y_test)
gaussian = [step for step in small.path_ if step["kernel"] == "rbf" and step["power"] == 0.0]
gamma = min(gaussian, key=lambda step: step["criterion"])["gamma"]
print(f"AutoSVC on 2,000 rows: test error {small_error:.1%}, best Gaussian kernel with γ = {gamma:.3g}")

# %%
# ``EnsembleSVC`` then trains on all rows, with more and more landmarks. ``kernel_error_`` says which part of
# the trace of the kernel matrix the factor misses. ``AutoSVC`` scales features itself; ``EnsembleSVC`` is given
# scaled ones.

scaler = StandardScaler().fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)
ranks = [30, 100, 300]
seconds, errors, missing = [], [], []
for rank in ranks:
    began = perf_counter()
    model = EnsembleSVC(gamma=gamma, rank=rank, eps=0.05, random_state=0).fit(X, y)
    seconds.append(perf_counter() - began)
    errors.append(1.0 - model.score(X_test, y_test))
    missing.append(model.kernel_error_)
    print(
        f"rank {rank:3d}: {seconds[-1]:5.1f} s, {len(X) * rank * 8 / 1e6:4.0f} MB, "
        f"{missing[-1]:.0%} of the kernel missing, test error {errors[-1]:.1%}"
    )

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
left.plot(ranks, [100.0 * error for error in errors], "o-", color=COLOURS[0], label="100,000 rows, low rank")
left.axhline(100.0 * small_error, color=INK, linestyle=":", label="AutoSVC, 2,000 rows")
left.set(ylabel="test error (%)", ylim=(15, None))
left.legend(frameon=False)
right.plot(ranks, seconds, "o-", color=COLOURS[1])
right.set(ylabel="seconds to fit 100,000 rows", ylim=(0, None))
for ax in (left, right):
    ax.set(xlabel="landmarks", xscale="log")
    ax.set_xticks(ranks, labels=map(str, ranks))
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Time and memory grow with the landmarks, and the error falls towards that of ``AutoSVC``, whose 2,000 rows are
# enough here: classes that overlap, not the number of rows, are what is left of the error.
