"""A cluster of two single-thread worker processes on this machine, for all tests of this folder."""

import pytest

pytest.importorskip("distributed")

from tests.dask.clusters import local_cluster


@pytest.fixture(scope="session")
def shared_client():
    with local_cluster() as client:
        yield client


@pytest.fixture
def client(shared_client):
    """The shared cluster, with its workers there."""
    shared_client.wait_for_workers(2, timeout=60)
    with shared_client.as_current():
        yield shared_client
