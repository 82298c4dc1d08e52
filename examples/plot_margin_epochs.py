"""
The margin grows epoch by epoch
===============================

Kernel-Adatron visits the training points one after the other and raises the multiplier of each point
that lies too close to the boundary. ``SVC.iter_fit`` hands over the model after every sweep, ready to
predict, so the boundary can be watched while it is learned.
"""

# %%
# Two half moons that do not overlap, and a hard margin (``C=inf``). Each record has the margin: half the way
# from the largest output of the one class to the smallest of the other, which is 1 at the optimum.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.display import animate

X, y = make_moons(80, noise=0.1, random_state=1)
model = SVC(C=float("inf"), gamma=2.0, solver="adatron", tol=1e-4)
margins, supports = [], []
for record in model.iter_fit(X, y):
    margins.append(record.margin)
    supports.append(len(model.support_))

last = len(margins)
print(f"margin after epochs 1, 10 and {last}: {margins[0]:.2f}, {margins[9]:.2f}, {margins[-1]:.2f}")
print(f"support vectors: {supports[0]} of {len(X)} points, then {supports[9]}, {supports[-1]}")
print(f"the fit has {model.status_}, with a relative duality gap of {model.duality_gap_:.0e}")

# %%
# ``animate`` does the same and draws it. Later epochs are shown ever more sparsely, because the margin changes
# ever more slowly. Dashed lines are ``f = ±1``, rings the points that have a multiplier α above 0, the larger
# the more.

animation = animate(model, X, y)
plt.show()

# %%
# The first sweep gives 32 points a multiplier, and the dashed lines cut through both moons. The margin then
# climbs to 1, not without a dip, while most of these multipliers fall back to 0; the dashed lines come to
# rest on the 10 points that remain, the support vectors of the hard margin.
