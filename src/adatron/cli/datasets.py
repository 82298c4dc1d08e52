"""``adatron datasets``: which data sets there are."""

import os
from pathlib import Path

import click

from adatron.cli.options import common_options, json_option
from adatron.cli.terminal import print_json, print_table

_FETCHED = (
    ("usps", "fetch_usps()", "7,291 + 2,007 digits of 16 x 16 pixels", "usps"),
    ("adult", "fetch_adult(part)", "census income, parts 1, 2, 3 and 9 (all)", "libsvm/a1a.xz"),
    ("web", "fetch_web(part)", "web pages, parts 1, 7 and 8", "libsvm/w1a.xz"),
    ("astroparticle", "fetch_astroparticle()", "3,089 + 4,000 rows, 4 features", "libsvm/svmguide1.xz"),
    ("ida", "fetch_ida(name, realization)", "benchmarks of the IDA repository", "ida"),
)


@click.command("datasets")
@json_option
@common_options
def list_datasets(as_json: bool) -> None:
    """List the data sets that adatron has or can fetch."""
    from adatron import datasets
    from adatron.cli.data import BUNDLED

    found = []
    for name in BUNDLED:
        data = getattr(datasets, f"load_{name}")()
        what = f"{data.data.shape[0]} rows, {data.data.shape[1]} features, {len(data.target_names)} classes"
        found.append({"name": name, "in_python": f"load_{name}()", "what": what, "where": "bundled"})
    root = os.environ.get("ADATRON_DATA")
    for name, call, what, place in _FETCHED:
        where = "ADATRON_DATA" if root and (Path(root) / place).exists() else "to be downloaded"
        found.append({"name": name, "in_python": call, "what": what, "where": where})
    if as_json:
        print_json(found)
    else:
        print_table(["name", "in Python", "what", "where"], [list(item.values()) for item in found])
