"""`SupportVectorClustering`: finds clusters of any shape, and its ball is the smallest one."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.clustering import SETS, measure_apart
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SupportVectorClustering
from adatron.clustering import ClusterPath
from adatron.exceptions import KernelError
from adatron.gram import REGIME


def index(labels, y):
    """Adjusted Rand index of the rows that are no noise."""
    return adjusted_rand_score(y[y >= 0], labels[y >= 0])


def two_blobs(m=80, seed=0, gap=8.0):
    X = np.random.default_rng(seed).normal(size=(m, 2))
    X[m // 2 :, 0] += gap
    return X


@pytest.fixture(scope="module")
def moons():
    """Two moons, and the default model of them."""
    X, y = SETS["moons"](400, 0)
    return X, y, SupportVectorClustering().fit(X)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("name", ["moons", "rings", "noisy blobs"])
def test_default_finds_the_clusters(name, seed):
    X, y = SETS[name](600, seed)
    model = SupportVectorClustering(random_state=0).fit(X)
    assert index(model.labels_, y) >= 0.95
    assert model.n_clusters_ == len(np.unique(y[y >= 0]))
    assert model.converged_
    if (name, seed) == ("noisy blobs", 0):  # most of the noise that is far from clusters is found
        to_cluster = np.linalg.norm(X[y < 0][:, None] - X[y >= 0][None], axis=2).min(axis=1)
        assert np.mean(model.labels_[y < 0][to_cluster > 2.5] == -1) >= 0.7
        assert np.mean(model.labels_[y >= 0] == -1) <= 0.02


def test_default_is_not_misled_by_another_pair_of_clusters(moons):
    _, y, model = moons  # wide kernels cut a piece off both moons together
    assert index(model.labels_, y) >= 0.95


def test_default_on_iris():
    X, y = SETS["iris"](0, 0)
    assert index(SupportVectorClustering().fit_predict(X), y) >= 0.55


@pytest.mark.parametrize("d", [2, 10])
def test_one_blob_is_one_cluster(d):
    X = np.random.default_rng(0).normal(size=(400, d))
    assert SupportVectorClustering().fit(X).n_clusters_ == 1


def test_more_clusters_and_dimensions():
    X, y = make_blobs(800, centers=8, n_features=10, random_state=3)
    assert index(SupportVectorClustering().fit_predict(X), y) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", ["moons", "rings", "noisy blobs"])
def test_many_rows_in_bounded_time_and_memory(name):
    result = measure_apart(name, 20_000, 0)
    assert result["index"] >= 0.95
    assert result["cpu_seconds"] < 40.0
    assert result["peak_gb"] < 1.0


# The ball


@pytest.mark.parametrize("nu", [0.0, 0.1, 0.4])
def test_ball_is_certified_and_encloses_all_but_nu(nu):
    X = two_blobs()
    model = SupportVectorClustering(sigma=2.0, nu=nu, tol=1e-9).fit(X)
    K = rbf_kernel(X, gamma=model.gamma_)
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_[0]
    squared = 1.0 - 2.0 * K @ alpha + alpha @ K @ alpha
    outside = squared > model.radius_**2 + 1e-9
    assert model.converged_
    assert model.duality_gap_ <= 1e-9
    assert alpha.sum() == pytest.approx(1.0)
    assert outside.sum() <= nu * len(X) + 1e-9
    on_surface = (alpha > 1e-8) & (alpha < (1.0 - 1e-8) / max(nu * len(X), 1.0))
    np.testing.assert_allclose(squared[on_surface], model.radius_**2, atol=1e-9)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_sigma_and_gamma_agree():
    model = SupportVectorClustering(sigma=2.0, nu=0.1).fit(two_blobs())
    assert (model.sigma_, model.gamma_, model.nu_) == (2.0, 0.125, 0.1)
    assert not hasattr(model, "path_")


def test_segments_are_sampled_not_only_their_ends():
    X = np.array([[0.0], [0.1], [10.0], [10.1]])  # all on the surface of the ball
    narrow = SupportVectorClustering(sigma=0.5, nu=0.0).fit(X)
    wide = SupportVectorClustering(sigma=20.0, nu=0.0).fit(X)
    assert narrow.labels_.tolist() == [0, 0, 1, 1]
    assert wide.labels_.tolist() == [0, 0, 0, 0]


def test_a_gap_beside_the_middle_is_found_by_enough_samples():
    X = np.linspace(0.0, 10.0, 101)[:, None]
    X = X[(X[:, 0] < 2.0) | (X[:, 0] > 4.0)]
    assert SupportVectorClustering(sigma=0.3, nu=0.0).fit(X).n_clusters_ == 2


def test_neighbour_graph_agrees_with_the_complete_one(monkeypatch):
    X, _ = make_moons(250, noise=0.05, random_state=1)
    complete = SupportVectorClustering(sigma=0.15, nu=0.1).fit_predict(X)
    monkeypatch.setattr(SupportVectorClustering, "_regime", replace(REGIME, all_edges_up_to=10))
    sparse = SupportVectorClustering(sigma=0.15, nu=0.1).fit_predict(X)
    assert adjusted_rand_score(sparse, complete) >= 0.98


def test_small_components_are_outliers():
    X = np.concatenate([two_blobs(100), np.array([[30.0, 30.0], [30.1, 30.1], [30.2, 30.2]])])
    kept = SupportVectorClustering(sigma=1.5, nu=0.02, min_cluster_size=0.01).fit(X)
    dropped = SupportVectorClustering(sigma=1.5, nu=0.02, min_cluster_size=0.1).fit(X)
    assert kept.n_clusters_ == 3
    assert dropped.n_clusters_ == 2
    assert dropped.labels_[-3:].tolist() == [-1, -1, -1]


def test_rows_that_occur_often_do_not_cut_the_neighbour_graph():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    X = np.repeat(np.concatenate([grid, grid + 20.0]), 20, axis=0)  # 20 copies > n_neighbors
    labels = SupportVectorClustering(sigma=1.0, nu=0.0).fit_predict(X)
    assert labels.tolist() == [0] * 500 + [1] * 500


# The path and the choice


def path_of(*counts):
    """A path with given numbers of clusters, one row for each ν."""
    counts = np.array(counts)
    labels = np.minimum(np.arange(12), counts[:, :, None] - 1)
    sigmas = 2.0 ** -np.arange(counts.shape[1])
    return ClusterPath(sigmas, np.linspace(0.1, 0.3, len(counts)), labels, np.arange(12))


def test_choice_is_the_middle_of_the_longest_run_of_the_usual_number():
    assert path_of([1, 2, 3, 3, 3, 4], [1, 1, 2, 3, 3, 4]).choice() == (0, 3)
    assert path_of([1, 1, 2, 3, 3, 4], [1, 3, 3, 3, 3, 4]).choice() == (1, 2)
    assert path_of([1] * 20 + [2]).choice() == (0, 9)  # too rare to be believed
    assert path_of([1, 1, 1, 2]).choice() == (0, 3)


def test_choice_is_of_usual_clusters_not_only_of_their_number():
    path = path_of([1, 2, 2, 2, 2, 2, 2], [1, 1, 2, 2, 2, 2, 2])
    path.labels[0, 1:5] = np.repeat([0, 1], [11, 1])  # four times another pair of clusters
    path.labels[1, 2:] = path.labels[0, 5:] = np.repeat([0, 1], 6)[None]
    assert path.choice() == (1, 4)


def test_clusters_split_as_sigma_falls():
    pair = two_blobs(60, gap=10.0)
    X = np.concatenate([pair, pair + np.array([0.0, 50.0])])
    path = SupportVectorClustering(nu=0.05).path(X, sigmas=[2.0, 90.0, 10.0])
    assert path.sigmas.tolist() == [90.0, 10.0, 2.0]
    assert path.n_clusters.tolist() == [[1, 2, 4]]
    np.testing.assert_array_equal(path.rows, np.arange(120))


def test_path_leaves_the_estimator_unfitted():
    model = SupportVectorClustering()
    model.path(two_blobs(40))
    assert not [name for name in vars(model) if name.endswith("_")]


def test_fit_keeps_the_path_it_chose_from():
    model = SupportVectorClustering(nu=0.1).fit(two_blobs())
    i, j = model.path_.choice()
    assert (model.nu_, model.sigma_) == (model.path_.nus[i], model.path_.sigmas[j])
    np.testing.assert_array_equal(model.labels_, model.path_.labels[i, j])


def test_same_random_state_same_clusters():
    X, _ = SETS["noisy blobs"](400, 0)
    first, again = (SupportVectorClustering(nu=0.2, random_state=7) for _ in range(2))
    for model in (first, again):
        model._regime = replace(REGIME, cluster_path_rows=300)
        model.fit(X)
    np.testing.assert_array_equal(first.labels_, again.labels_)
    np.testing.assert_array_equal(first.dual_coef_, again.dual_coef_)
    np.testing.assert_array_equal(first.path_.rows, again.path_.rows)
    assert len(first.path_.rows) == 300
    assert (first.sigma_, first.radius_) == (again.sigma_, again.radius_)


def test_order_of_rows_does_not_matter(moons):
    X, _, model = moons
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = SupportVectorClustering().fit(X[order])
    assert adjusted_rand_score(model.labels_[order], shuffled.labels_) == 1.0


def test_scale_and_place_of_the_rows_do_not_matter(moons):
    X, _, model = moons
    assert adjusted_rand_score(model.labels_, SupportVectorClustering().fit_predict(1e6 * X - 1e8)) == 1.0


def test_in_a_pipeline_and_verbose(capsys):
    X = two_blobs()
    labels = make_pipeline(StandardScaler(), SupportVectorClustering(verbose=True)).fit_predict(X)
    assert index(labels, np.repeat([0, 1], 40)) >= 0.9
    assert "sigma=" in capsys.readouterr().out


# Bad input: an error that names argument, value and fix, or a certified result


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu": -0.1}, "nu must be 'auto' or a number from 0 to below 1, got -0.1"),
        ({"nu": 1.0}, "nu must be 'auto' or a number from 0 to below 1, got 1.0"),
        ({"nu": float("nan")}, "nu must be .* got nan"),
        ({"nu": "most"}, "nu must be .* got 'most'"),
        ({"nu": True}, "nu must be .* got True"),
        ({"sigma": 0.0}, "sigma must be 'auto' or a finite number > 0, got 0.0"),
        ({"sigma": -1.0}, "sigma must be 'auto' or a finite number > 0, got -1.0"),
        ({"sigma": float("inf")}, "sigma must be .* got inf"),
        ({"sigma": float("nan")}, "sigma must be .* got nan"),
        ({"sigma": "scale"}, "sigma must be .* got 'scale'"),
        ({"sigma": 1e-200}, "sigma must be from 1e-150 to 1e150, got 1e-200.*scale X"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
        ({"n_samples_per_edge": 2.5}, "n_samples_per_edge must be an integer >= 1, got 2.5"),
        ({"min_cluster_size": 1.0}, "min_cluster_size must be a number between 0 and 1, got 1.0"),
        ({"min_cluster_size": 0}, "min_cluster_size must be a number between 0 and 1, got 0"),
        ({"tol": 0.0}, "tol must be a finite number > 0, got 0.0"),
        ({"cache_size": -1}, "cache_size must be"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_parameters(parameters, message):
    model = SupportVectorClustering(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(two_blobs(20))
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("sigmas", [[], [1.0, 0.0], [float("nan")], ["a"]])
def test_bad_widths_of_a_path(sigmas):
    with pytest.raises(ValueError, match="sigmas must"):
        SupportVectorClustering().path(two_blobs(20), sigmas)


def test_nan_is_named():
    X = two_blobs(20)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 3, column 1; impute or drop"):
        SupportVectorClustering().fit(X)


def test_overflowing_rows_are_named():
    with pytest.raises(KernelError, match=r"overflows float64; scale X"):
        SupportVectorClustering().fit(1e200 * two_blobs(20))


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("parameters", [{}, {"sigma": 1.0, "nu": 0.5}])
def test_equal_rows_are_one_certified_cluster(rows, parameters):
    model = SupportVectorClustering(**parameters).fit(np.full((rows, 3), 1e3))
    assert model.labels_.tolist() == [0] * rows
    assert model.converged_
    assert model.radius_ == pytest.approx(0.0, abs=1e-6)


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    model = SupportVectorClustering(sigma=2.0, nu=0.1).fit(two_blobs(20))
    with pytest.raises(ValueError, match="nu must"):
        model.set_params(nu=2.0).fit(two_blobs(20))
    assert not hasattr(model, "labels_")


def test_sparse_rows_are_refused_by_name():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"dense rows, X is a sparse matrix; pass X.toarray\(\)"):
        SupportVectorClustering().fit(sparse.csr_array(two_blobs(20)))


def test_two_rows():
    far = SupportVectorClustering(sigma=0.1, nu=0.0, min_cluster_size=0.04).fit([[0.0], [1.0]])
    near = SupportVectorClustering(sigma=2.0, nu=0.0).fit([[0.0], [1.0]])
    assert far.labels_.tolist() == [-1, -1]  # a cluster has at least two rows
    assert near.labels_.tolist() == [0, 0]
    assert far.converged_
    assert near.converged_
