"""The contract that every paper keeps."""

import re
from importlib import import_module

import pytest
from tests.data_dir import needs_data

from reproduction.experiment import PAPERS, Entry, Verdict, run_entries

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# names and year that a citation must have
SIGNED = {
    "cisc889": ("CISC 889", "2004"),
    "campbell1998": ("Campbell", "Cristianini", "1998"),
    "cristianini1999": ("Cristianini", "Campbell", "Shawe-Taylor", "1999"),
    "potluru2009": ("Potluru", "Plis", "Mørup", "Calhoun", "Lane", "2009"),
    "tsang2007": ("Tsang", "Kwok", "2007"),
}
# experiments of a few seconds; all of them are run with -m slow
FAST = [("cristianini1999", "breast-cancer"), ("cristianini1999", "majority")]


def paper_called(name):
    return import_module(f"reproduction.{name}").PAPER


@pytest.fixture(params=PAPERS)
def found(request):
    return paper_called(request.param)


def test_every_paper_has_its_signature():
    assert set(SIGNED) == set(PAPERS)


def test_citation_names_authors_and_year(found):
    assert found.name in PAPERS
    for part in SIGNED[found.name]:
        assert part in found.citation
    assert found.summary.strip()


def test_names_are_unique_and_kebab_case(found):
    names = [experiment.name for experiment in found.experiments]
    assert names
    assert len(set(names)) == len(names)
    for name in names:
        assert KEBAB.fullmatch(name), name


def test_every_experiment_says_what_is_claimed_and_how_it_is_run(found):
    for experiment in found.experiments:
        for words in (experiment.title, experiment.claim, experiment.settings):
            assert words == words.strip() != "", experiment.name
        assert callable(experiment.run)


def unexplained(found, names):
    """Numbers of some experiments that differ, or are missing, without a word about it."""
    chosen = [Entry(found, item) for item in found.experiments if item.name in names]
    assert len(chosen) == len(names)
    for result in run_entries(chosen, quick=True):
        assert not result.failure, f"{result.entry.experiment.name}: {result.failure}"
        assert result.findings.comparisons or result.findings.checks or result.missing
        for row in result.findings.comparisons:
            said = {Verdict.DIFFERS: row.why, Verdict.MISSING: row.missing}.get(row.verdict, "nothing to say")
            if not said.strip():
                yield result.entry.experiment.name, row.labels


@needs_data
@pytest.mark.parametrize(("paper", "name"), FAST)
def test_a_number_that_differs_is_explained(paper, name):
    assert list(unexplained(paper_called(paper), [name])) == []


@pytest.mark.slow
@needs_data
def test_all_numbers_that_differ_are_explained(found):
    assert list(unexplained(found, [experiment.name for experiment in found.experiments])) == []
