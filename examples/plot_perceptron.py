"""
The perceptron stops at the first line that separates
=====================================================

Rosenblatt's perceptron goes through the points and turns the line whenever one lies on the wrong side. If a
line separates the classes, Novikoff's theorem says how many mistakes it can make at most. It says nothing
about where the line ends.
"""

# %%
# Two clouds that a line just separates. The multiplier of a point is the number of mistakes made on it, which
# the rings show.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from adatron import SVC, KernelPerceptron
from adatron.bounds import novikoff_bound
from adatron.display import animate

X, y = make_blobs(80, centers=[[-1.0, -0.6], [1.0, 0.6]], cluster_std=0.5, random_state=6)
perceptron = KernelPerceptron(kernel="linear")
animation = animate(perceptron, X, y)
plt.show()

# %%
# The bound needs the radius of the points and the margin of the best line, which a hard-margin ``SVC`` finds.

best = SVC(C=float("inf"), kernel="linear").fit(X, y)
radius, margin = np.linalg.norm(X, axis=1).max(), 1.0 / np.linalg.norm(best.coef_)
print(f"mistakes made: {perceptron.mistakes_[0]} in {perceptron.n_iter_[0]} epochs")
print(f"Novikoff's bound: {novikoff_bound(radius, margin):.0f}")
weights = perceptron.dual_coef_ @ perceptron.support_vectors_
distances = np.where(y == 1, 1, -1) * perceptron.decision_function(X) / np.linalg.norm(weights)
print(f"nearest point: {distances.min():.3f} from the perceptron's line, {margin:.3f} from the best one")
