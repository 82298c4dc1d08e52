"""
From Parzen window to hard margin on noisy data
===============================================

Training by multiplicative updates begins with a Parzen window, smooth but coarse, and heads for a hard
margin, which follows every wrong label. ``EnsembleSVC`` averages all machines on the way between the two,
with their learning rates as weights. It needs no C, and no choice of when to stop.
"""

# %%
# Two moons that touch, and one label in twenty turned over, in the training data as in the test data.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from adatron import EnsembleSVC
from adatron.display import MarginDisplay, animate
from adatron.display.figures import COLOURS


def noisy_moons(n_samples, seed):
    X, y = make_moons(n_samples, noise=0.2, random_state=seed)
    is_turned = np.random.default_rng(seed).random(n_samples) < 0.05
    return X, np.where(is_turned, 1 - y, y)


X, y = noisy_moons(200, seed=0)
X_test, y_test = noisy_moons(5_000, seed=1)
model = EnsembleSVC().fit(X, y)
errors = [np.mean(predicted != y_test) for predicted in model.staged_predict(X_test)]
last = 1.0 - model.final_svm_.score(X_test, y_test)

print(f"test error of the Parzen window   {errors[0]:.1%}")
print(f"test error of the last machine    {last:.1%}")
print(f"test error of the average of {len(errors)}  {errors[-1]:.1%}")

# %%
# The first stage of ``staged_decision_function`` is the Parzen window; ``final_svm_`` is where the training
# ended. We draw where each of the three changes sign.

grid_0, grid_1 = np.meshgrid(np.linspace(-1.6, 2.7, 150), np.linspace(-1.3, 1.8, 150))
grid = np.column_stack([grid_0.ravel(), grid_1.ravel()])
surfaces = {
    "Parzen window": next(model.staged_decision_function(grid)),
    "ensemble": model.decision_function(grid),
    "last machine": model.final_svm_.decision_function(grid),
}

figure, axes = plt.subplot_mosaic(
    "ABC;DDD", figsize=(9.0, 5.6), height_ratios=[1.25, 1], layout="constrained"
)
for name, (title, values) in zip("ABC", surfaces.items(), strict=True):
    response = (values / np.abs(values).max()).reshape(grid_0.shape)  # the boundary alone matters here
    MarginDisplay(grid_0, grid_1, response, X=X, is_positive=y == 1).plot(ax=axes[name], legend=False)
    axes[name].set(title=title, xticks=[], yticks=[], xlabel="", ylabel="")

curve = axes["D"]
stages = np.arange(1, len(errors) + 1)
curve.plot(stages, np.multiply(errors, 100.0), color=COLOURS[0], label="average of the stages so far")
curve.axhline(100.0 * last, color=COLOURS[1], linestyle="--", label="last machine alone")
curve.set(xlabel="stage", ylabel="test error (%)", xscale="log", ylim=(0, 40))
curve.set_xticks([1, 2, 5, 10, 20, 50, 100], labels=["1", "2", "5", "10", "20", "50", "100"])
curve.legend(frameon=False, loc="center right")
curve.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The average has about half the error of the Parzen window with which it began, and far less than the machine
# with which training ended. Over the last hundred stages its error hardly moves: nobody had to stop it in
# time.

# %%
# Stage by stage: the boundary of the average begins as that of the Parzen window and settles long before the
# last machine has bent around every wrong label. The curve is the margin of that machine.

animation = animate(EnsembleSVC(), X, y, grid_resolution=60)
plt.show()
