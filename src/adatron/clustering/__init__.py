"""Clusters as contours of a ball in feature space (A. Ben-Hur et al., *Support Vector Clustering*, 2001)."""

from adatron.clustering.cluster_path import ClusterPath
from adatron.clustering.support_vector_clustering import SupportVectorClustering

__all__ = ["ClusterPath", "SupportVectorClustering"]
