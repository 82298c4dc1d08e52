"""
Clusters split as the kernel gets narrower
==========================================

Support vector clustering draws the smallest ball around all points, in the space of a Gaussian kernel. Seen in the plane of the
data, its surface is a set of contours: a single one while the kernel is wide, more and more as the width
σ falls. Each contour holds a cluster of any shape, and nobody has to give their number.
"""

# %%
# Two half moons and a round heap. ν is the part of the points that may lie outside the ball; left alone, the
# machine tries five values of it for every σ.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from adatron import SupportVectorClustering
from adatron.display import ClusterPathDisplay
from adatron.display.figures import COLOURS, INK

heap, _ = make_blobs(140, centers=[[4.0, 0.3]], cluster_std=0.3, random_state=0)
moons, _ = make_moons(130, noise=0.05, random_state=0)
X = np.vstack([heap, moons])
path = SupportVectorClustering().path(X, sigmas=np.geomspace(3.0, 0.15, 12))
chosen_nu, _ = path.choice()
nu, counts = path.nus[chosen_nu], path.n_clusters[chosen_nu]
for sigma, n_clusters in zip(path.sigmas, counts, strict=True):
    print(f"ν = {nu:g}, σ = {sigma:.2f}: {n_clusters} cluster{'s' if n_clusters > 1 else ''}")

# %%
# Three widths, in the middle of those with one, two and three clusters. The surface of the ball is where the distance
# from its centre is the radius.

grid_0, grid_1 = np.meshgrid(np.linspace(-1.8, 5.6, 200), np.linspace(-1.3, 1.9, 150))
grid = np.column_stack([grid_0.ravel(), grid_1.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(10.0, 2.0), layout="constrained")
for ax, n_clusters in zip(axes, (1, 2, 3), strict=True):
    sigma = np.median(path.sigmas[counts == n_clusters])
    model = SupportVectorClustering(sigma, nu).fit(X)
    vectors, beta = model.support_vectors_, model.dual_coef_[0]
    centre = beta @ rbf_kernel(vectors, gamma=model.gamma_) @ beta
    squares = 1.0 - 2.0 * rbf_kernel(grid, vectors, gamma=model.gamma_) @ beta + centre
    ax.contour(grid_0, grid_1, squares.reshape(grid_0.shape), [model.radius_**2], colors=INK, linewidths=1.2)
    colours = np.array([*COLOURS[:n_clusters], "#BBBBBB"])
    ax.scatter(*X.T, s=8, c=colours[model.labels_])
    ax.set(title=f"σ = {sigma:.2f}, {model.n_clusters_} cluster(s)", xticks=[], yticks=[], aspect="equal")

# %%
# ``ClusterPathDisplay`` shows the whole path: every bar is a clustering, the bands between bars show which
# points go where.

ClusterPathDisplay(path).plot()
plt.show()

# %%
# First the heap parts from the moons, then the moons from each other, and no cluster ever takes points of two. Left to itself
# (``sigma="auto"``) the machine takes the middle of the longest stretch without change, marked by the triangle.
