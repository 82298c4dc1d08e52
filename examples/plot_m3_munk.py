"""
M³ against MUNK: multiplicative updates without a rate
======================================================

Multiplicative updates move all multipliers at once, keep them positive by themselves and need no learning
rate. M³ works for every kernel. MUNK is for kernels without negative values, such as the Gaussian: it
updates the two classes in turn and can afford a longer step. How much does this buy?
"""

# %%
# Both are solvers of ``SVC`` and fit no bias. ``iter_fit`` gives a record after each epoch, whose ``gap`` is
# the relative duality gap, computed apart from the solver. The last record is left out: once the tolerance is
# reached, the fit ends with an exact step.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.datasets import load_sonar
from adatron.display import animate
from adatron.display.figures import COLOURS, INK

X, _, y, _ = load_sonar(split="half")


def machine(solver, sigma, tol=1e-2):
    return SVC(C=10.0, gamma=0.5 / sigma**2, solver=solver, fit_intercept=False, tol=tol)


gaps = {name: [record.gap for record in machine(name, 0.6).iter_fit(X, y)][:-1] for name in ("m3", "munk")}

# %%
# And the number of epochs to a gap of 1 % for kernels from narrow to wide:

sigmas = np.array([0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 1.6, 2.4])
epochs = {
    name: np.array([machine(name, sigma).fit(X, y).n_iter_[0] for sigma in sigmas]) for name in ("m3", "munk")
}
ratio = epochs["m3"] / epochs["munk"]
for row in zip(sigmas, epochs["m3"], epochs["munk"], ratio, strict=True):
    print("σ = {:.1f}: {:4d} epochs of M³, {:4d} of MUNK, ratio {:.2f}".format(*row))

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
for colour, (name, label) in zip(COLOURS, {"m3": "M³", "munk": "MUNK"}.items(), strict=False):
    left.plot(np.arange(1, len(gaps[name]) + 1), gaps[name], color=colour, label=label)
left.set(xlabel="epoch", ylabel="relative duality gap", yscale="log", title="sonar, σ = 0.6")
left.legend(frameon=False)
right.plot(sigmas, ratio, "o-", color=COLOURS[2])
right.axhline(2.0, color=INK, linestyle=":", linewidth=1.0)
right.set(xlabel="width σ of the kernel", ylabel="epochs of M³ / epochs of MUNK", ylim=(0.0, 2.4))
right.set(xscale="log", title="to a gap of 1 %")
right.set_xticks(sigmas, labels=[f"{sigma:g}" for sigma in sigmas])
right.minorticks_off()
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# MUNK needs about half the epochs as long as the kernel is wide enough for the classes to see each other. With a narrow kernel the terms between the classes vanish, and with them the difference.

# %%
# MUNK at work on two moons: at first every point has a say, then most multipliers shrink towards 0, factor by
# factor. They never get there, which is why so many small rings remain.

X, y = make_moons(80, noise=0.12, random_state=2)
animation = animate(SVC(C=10.0, gamma=4.0, solver="munk", fit_intercept=False, tol=1e-2), X, y)
plt.show()
