"""The examples of the fetched data sets are run where the data is, instead of downloading it."""

import pytest
from tests.data_dir import needs_data


def pytest_collection_modifyitems(items):
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.dtest.name.startswith("adatron.datasets.fetched"):
            item.add_marker(needs_data)
