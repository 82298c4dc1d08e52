"""
The margin grows epoch by epoch
===============================

Kernel-Adatron visits the training points one after the other and raises the multiplier of each point
that lies too close to the boundary. ``SVC.iter_fit`` hands over the model after every sweep, ready to
predict, so the boundary can be watched while it is learned.
"""

# %%
# Two half moons that do not overlap, and a hard margin (``C=inf``). After each epoch we keep the decision
# values on a grid, the support vectors, and the margin of the record: half the way from the largest output
# of the one class to the smallest of the other, which is 1 at the optimum.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.display import MarginDisplay
from adatron.display.style import COLOURS, INK

X, y = make_moons(80, noise=0.1, random_state=1)
grid_0, grid_1 = np.meshgrid(np.linspace(-1.6, 2.6, 120), np.linspace(-1.1, 1.6, 120))
grid = np.column_stack([grid_0.ravel(), grid_1.ravel()])

model = SVC(C=float("inf"), gamma=2.0, solver="adatron", tol=1e-4)
epochs, margins, surfaces, supports = [], [], [], []
for record in model.iter_fit(X, y):
    epochs.append(record.epoch)
    margins.append(record.margin)
    surfaces.append(model.decision_function(grid).reshape(grid_0.shape))
    supports.append(model.support_vectors_)

print(f"margin after epochs 1, 10 and {epochs[-1]}: {margins[0]:.2f}, {margins[9]:.2f}, {margins[-1]:.2f}")
print(f"support vectors: {len(supports[0])} of {len(X)} points, then {len(supports[9])}, {len(supports[-1])}")
print(f"the fit has {model.status_}, with a relative duality gap of {model.duality_gap_:.0e}")

# %%
# The epochs are shown ever more sparsely, because the margin changes ever more slowly. Dashed lines are
# ``f = ±1``, rings the points that have a multiplier above 0.

shown = np.unique(np.geomspace(1, len(epochs), 30).astype(int)) - 1
figure, (plane, curve) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
curve.plot(epochs, margins, color=COLOURS[0], linewidth=1.6)
curve.axhline(1.0, color=INK, linestyle=":", linewidth=1.0)
curve.set(xlabel="epoch", ylabel="margin", xscale="log", ylim=(0.0, 1.1))
curve.set_xticks([1, 2, 5, 10, 20, 50], labels=["1", "2", "5", "10", "20", "50"])
curve.minorticks_off()
curve.spines[["top", "right"]].set_visible(False)
(dot,) = curve.plot([], [], "o", color=COLOURS[1], markersize=8)


def draw(frame):
    """One epoch: the plane on the left, and where on the curve it is."""
    plane.clear()
    display = MarginDisplay(
        grid_0, grid_1, surfaces[frame], X=X, is_positive=y == 1, support_vectors=supports[frame]
    )
    display.plot(ax=plane, legend=False)
    plane.set(xticks=[], yticks=[], xlabel="", ylabel="")
    plane.set_title(f"epoch {epochs[frame]}, {len(supports[frame])} support vectors", fontsize=10)
    dot.set_data([epochs[frame]], [margins[frame]])


animation = FuncAnimation(figure, draw, frames=shown, interval=300)
plt.show()

# %%
# The first sweep gives 32 points a multiplier, and the dashed lines cut through both moons. The margin then
# climbs to 1, not without a dip, while most of these multipliers fall back to 0; the dashed lines come to
# rest on the 10 points that remain, the support vectors of the hard margin.
