"""
A fixed rate or an adaptive one
===============================

Multiplicative updates with a learning rate η multiply each multiplier by ``exp(η g)``, g being its
gradient. Too small an η is slow, too large an η diverges, and the limit depends on the data and the kernel.
The ρ-SVM solves the same hard-margin problem with a rate that it computes anew for every step.
"""

# %%
# Sonar echoes, a Gaussian kernel, a hard margin without bias. A fit that does not reach the tolerance, here a
# relative duality gap of 1 %, says so in a warning and in ``status_``. Some of these fits are meant to fail.

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC
from adatron.datasets import load_sonar
from adatron.display import animate
from adatron.display.figures import COLOURS, INK

warnings.simplefilter("ignore", ConvergenceWarning)
X, _, y, _ = load_sonar(split="half")
common = {"C": float("inf"), "gamma": 0.5 / 0.6**2, "fit_intercept": False, "tol": 1e-2}

rates = [0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0]
fixed = {
    rate: SVC(solver="multiplicative", learning_rate=rate, max_iter=5_000, **common).fit(X, y)
    for rate in rates
}
adaptive = SVC(solver="rho", **common).fit(X, y)
for rate, model in fixed.items():
    print(f"η = {rate:<5g} {model.status_} after {model.n_iter_[0]} epochs")
print(f"ρ-SVM     {adaptive.status_} after {adaptive.n_iter_[0]} epochs")

# %%
# On the left the margin of each epoch, 1 at the optimum, from ``history_``; on the right how many epochs
# each rate takes.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
shown = {"η = 0.03": fixed[0.03], "η = 0.2": fixed[0.2], "η = 0.3": fixed[0.3], "ρ-SVM": adaptive}
for colour, (label, model) in zip(COLOURS, shown.items(), strict=False):
    left.plot(model.history_["epoch"], model.history_["margin"], color=colour, label=label)
left.set(xlabel="epoch", ylabel="margin", xlim=(0, 300), ylim=(-0.5, 1.5))
left.axhline(1.0, color=INK, linestyle=":", linewidth=1.0)
left.legend(frameon=False, loc="lower right")

for is_good, marker in ((True, "o"), (False, "x")):
    chosen = {rate: model.n_iter_[0] for rate, model in fixed.items() if model.converged_ is is_good}
    label = "fixed rate" if is_good else "fixed rate, diverged"
    right.plot(list(chosen), list(chosen.values()), marker, color=INK, label=label)
right.set(xlabel="rate η", ylabel="epochs until the fit ends", xscale="log", yscale="log")
right.set_xticks([0.01, 0.03, 0.1, 0.3, 1.0], labels=["0.01", "0.03", "0.1", "0.3", "1"])
right.minorticks_off()
right.axhline(adaptive.n_iter_[0], color=COLOURS[3], label="ρ-SVM")
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Twice the rate is half the epochs, until the rate passes a limit between 0.2 and 0.3: there the margin climbs
# almost to 1 and then collapses. The ρ-SVM needed no choice and fewer epochs than every fixed rate tried.

# %%
# The same in the plane, where one can watch a rate that is too large: the steps overshoot, each more than the
# one before, until the fit is given up and the best model so far remains.

X, y = make_moons(80, noise=0.12, random_state=2)
overshooting = SVC(C=10.0, gamma=4.0, solver="multiplicative", learning_rate=1.0)
animation = animate(overshooting, X, y)
plt.show()
print(f"η = 1: {overshooting.status_} after {overshooting.n_iter_[0]} epochs")
