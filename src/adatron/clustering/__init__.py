"""Support vector clustering: clusters of any shape as the contours of a ball in feature space."""

from adatron.clustering.cluster_path import ClusterPath
from adatron.clustering.support_vector_clustering import SupportVectorClustering

__all__ = ["ClusterPath", "SupportVectorClustering"]
