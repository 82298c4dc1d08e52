"""Real tables, as they are, and how long encoding takes."""

import csv
import lzma
import re
from time import process_time

import numpy as np
import pandas as pd
import pytest
from tests.data_dir import data_dir, needs_data

from adatron.tables import TableEncoder, is_table


@needs_data
def test_all_real_tables_are_encoded():
    folder = data_dir() / "tables"
    if not folder.is_dir():
        pytest.skip("ADATRON_DATA has no tables")
    listed = re.findall(r"\| `(\S+)` \| (\w+) \| `(\S+)`", (folder / "README.md").read_text())
    assert len(listed) == 44
    for name, task, target in listed:
        table = pd.read_csv(folder / name)
        y = table.pop(target)
        assert is_table(table)
        encoder = TableEncoder(target_type="continuous" if task == "regression" else "classes")
        Z = encoder.fit_transform(table[::2], y[::2])
        others = encoder.transform(table[1::2])
        assert np.isfinite(Z).all(), name
        assert np.isfinite(others).all(), name
        assert Z.shape[1] == others.shape[1] <= 800, name
        assert not (Z.std(axis=0) == 0).any(), name


@needs_data
def test_a_table_as_text_is_encoded_alike():
    """Rows of strings, as csv gives them: numbers and dates are found."""
    path = data_dir() / "tables" / "mosaicData-Gestation.csv.xz"
    if not path.is_file():
        pytest.skip("ADATRON_DATA has no tables")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table = pd.read_csv(path)
    kinds = {column.name: column.kind for column in TableEncoder().fit(table).columns_}
    columns = TableEncoder().fit(rows).columns_
    assert dict(zip(header, (column.kind for column in columns), strict=True)) == kinds
    assert kinds["date"] == "date"


def large_table(n):
    rng = np.random.default_rng(0)
    columns = {f"number{j}": rng.normal(size=n) for j in range(15)}
    columns |= {f"category{j}": np.array(list("abcdefgh"), object)[rng.integers(0, 8, n)] for j in range(10)}
    columns |= {"city": np.array([f"c{i}" for i in range(2000)], object)[rng.integers(0, 2000, n)]}
    columns |= {"price": [f"${v:,.2f}" for v in rng.lognormal(8, 1, n)], "flag": rng.random(n) < 0.5}
    columns |= {"when": np.datetime64("2020-01-01") + rng.integers(0, 2000, n).astype("timedelta64[D]")}
    columns |= {"day": [f"{v % 28 + 1:02}.03.2021" for v in range(n)]}
    return pd.DataFrame(columns).mask(rng.random((n, 30)) < 0.02), rng.normal(size=n)


@pytest.mark.slow
def test_time_grows_no_faster_than_the_rows():
    table, y = large_table(200_000)
    TableEncoder().fit_transform(table[:1000], y[:1000])
    least = {}
    for n in (20_000, 200_000):
        seconds = []
        for _ in range(3):
            began = process_time()
            TableEncoder().fit_transform(table[:n], y[:n])
            seconds.append(process_time() - began)
        least[n] = min(seconds)
    assert least[200_000] < 20.0 * least[20_000]
