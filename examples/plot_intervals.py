"""
How far off a prediction may be
===============================

:class:`adatron.AutoSVR` predicts every training row once by machines that never saw it. The residuals say how
wide an interval must be to hold nine targets in ten, and where it must be wider: no further model is trained.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from adatron import AutoSVR
from adatron.display import IntervalDisplay


def prices(n, seed):
    """Houses whose price depends on size and age; large ones differ more."""
    rng = np.random.default_rng(seed)
    size, age = rng.uniform(40.0, 240.0, size=n), rng.uniform(0.0, 60.0, size=n)
    price = 50.0 + 2.0 * size - 1.5 * age + 0.25 * size * rng.normal(size=n)
    return np.column_stack([size, age]), price


X, y = prices(800, seed=0)
X_test, y_test = prices(1_000, seed=1)
model = AutoSVR().fit(X, y)
low, high = model.predict_interval(X_test, coverage=0.9).T
inside, small = (low <= y_test) & (y_test <= high), X_test[:, 0] < 100.0
print(f"{inside.mean():.1%} of new targets are inside")
print(
    f"mean width {(high - low)[small].mean():.0f} for small houses, {(high - low)[~small].mean():.0f} for others"
)

# %%
# Targets against predictions, each with its interval.
IntervalDisplay.from_estimator(model, X_test[:300], y_test[:300])
plt.show()
