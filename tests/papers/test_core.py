"""Verdicts, the running of experiments, and what is written about them."""

import json
import re

import pytest

from adatron.display.figures import add_legend, new_figure
from adatron.papers.experiment import Check, Comparison, Document, Effort, Experiment, Findings, Verdict
from adatron.papers.output import JSON_NAME, MARKDOWN_NAME, PAGE_NAME, write_reproduction
from adatron.papers.records import Settings, counts, told
from adatron.papers.run import Entry, entries, run_entries


def rate(published, ours, **options):
    return Comparison({"data": "sonar"}, published, ours, unit="%", **options)


class TestVerdicts:
    def test_within_two_binomial_errors(self):
        # 10 % of 100: a standard error of 3 points
        assert rate(10.0, 15.9, n_test=100).verdict is Verdict.REPRODUCED
        assert rate(10.0, 16.1, n_test=100).verdict is Verdict.DIFFERS

    def test_errors_add_in_squares(self):
        assert rate(10.0, 0.0, n_test=100, standard_error=4.0).tolerance == pytest.approx(10.0)
        assert rate(10.0, 20.0, n_test=100, standard_error=4.0).verdict is Verdict.REPRODUCED

    def test_rounding_of_the_printed_digit_is_granted(self):
        assert Comparison({}, 1.7, 1.74).verdict is Verdict.REPRODUCED
        assert Comparison({}, 1.7, 1.76).verdict is Verdict.DIFFERS
        assert Comparison({}, 3.0, 3.2).verdict is Verdict.DIFFERS

    def test_printed_error(self):
        assert Comparison({}, 3.0, 3.2, published_error=0.11).verdict is Verdict.REPRODUCED

    def test_shares_without_a_unit(self):
        assert Comparison({}, 0.5, 0.59, n_test=100).verdict is Verdict.REPRODUCED
        assert Comparison({}, 0.5, 0.61, n_test=100).verdict is Verdict.DIFFERS

    def test_what_cannot_be_compared(self):
        assert rate(10.0, None, missing="web 2").verdict is Verdict.MISSING
        assert rate(None, 10.0).verdict is Verdict.UNPUBLISHED


def test_numbers_are_told_with_their_errors():
    assert told(rate(22.9, 23.4, standard_error=0.345)) == ("22.9 %", "23.40 ± 0.34 %", "+0.50")
    assert told(rate(92.31, 92.3077)) == ("92.31 %", "92.31 %", "-0.00")
    assert told(rate(None, 23.4)) == ("not printed", "23.4 %", "—")


def document_of(*runs):
    experiments = [Experiment(f"item-{i}", f"Item <{i}>", "a & b", "none", run) for i, run in enumerate(runs)]
    return Document("made-up", "Nobody, 2000", "Nothing.", experiments)


def results_of(*runs, **options):
    document = document_of(*runs)
    return list(run_entries([Entry(document, item) for item in document.experiments], **options))


def drawn(effort):
    figure, (ax,) = new_figure(1, [("epoch", "margin")])
    ax.plot([1, 2], effort.generator().random(2), label="ours")
    add_legend(ax)
    numbers = [rate(10.0, 11.0, n_test=100), rate(1.0, 90.0, n_test=10, why="It <does>.")]
    return Findings(numbers, [Check("it holds", True)], figure, ["a note"])


def no_data(effort):
    raise FileNotFoundError("set ADATRON_DATA")


def broken(effort):
    raise ZeroDivisionError("oh")


def test_one_that_cannot_run_does_not_stop_the_rest():
    missing, failed, done = results_of(no_data, broken, drawn)
    assert missing.missing == "set ADATRON_DATA"
    assert not missing.failure
    assert "ZeroDivisionError" in failed.failure
    assert len(done.findings.comparisons) == 2
    assert counts([missing, done]) == {
        Verdict.REPRODUCED: 1,
        Verdict.DIFFERS: 1,
        Verdict.HOLDS: 1,
        Verdict.MISSING: 1,
    }


def test_ctrl_c_is_not_a_failure():
    def interrupted(effort):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results_of(interrupted)


def test_progress_is_told():
    told_of = []

    def three_steps(effort):
        assert list(effort.over("abc")) == ["a", "b", "c"]
        return Findings()

    results_of(three_steps, report=lambda entry, share: told_of.append(share))
    assert told_of == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])


def written(results, directory, settings, monkeypatch):
    monkeypatch.setattr("adatron.papers.output.entries", lambda: [result.entry for result in results])
    write_reproduction(results, directory, settings)


def test_files_are_the_same_for_the_same_seed(tmp_path, monkeypatch):
    texts = []
    for name in ("a", "b"):
        results = results_of(drawn, no_data, seed=3)
        written(results, tmp_path / name, Settings("0", True, 3), monkeypatch)
        record = json.loads((tmp_path / name / JSON_NAME).read_text())
        for item in record["made-up"]["experiments"].values():
            item.pop("seconds")
        svg = (tmp_path / name / "reproduction-figures" / "made-up-item-0.svg").read_text()
        texts.append((record, svg))
    assert texts[0] == texts[1]


def test_page_escapes_and_says_why(tmp_path, monkeypatch):
    results = results_of(drawn, no_data, broken)
    written(results, tmp_path, Settings("0", False, 0), monkeypatch)
    page = (tmp_path / PAGE_NAME).read_text()
    assert "Item &lt;0&gt;" in page
    assert "Item <0>" not in page
    assert "It &lt;does&gt;." in page
    assert "set ADATRON_DATA" in page
    assert "<script" not in page
    assert page.count("<svg") == 1
    text = (tmp_path / MARKDOWN_NAME).read_text()
    assert "reproduction-figures/made-up-item-0.svg" in text
    assert "| sonar | 10.0 % | 11.0 % | +1.0 |  | reproduced |" in text


def test_another_run_completes_what_is_there(tmp_path, monkeypatch):
    document = document_of(drawn, drawn)
    known = [Entry(document, item) for item in document.experiments]
    monkeypatch.setattr("adatron.papers.output.entries", lambda: known)
    settings = Settings("0", False, 0)
    texts = []
    for chosen in (known[:1], known[1:], known):
        write_reproduction(list(run_entries(chosen)), tmp_path, settings)
        record = json.loads((tmp_path / JSON_NAME).read_text())
        for item in record["made-up"]["experiments"].values():
            item.pop("seconds")
        page = re.sub(r"[\d.]+ s<", "", (tmp_path / PAGE_NAME).read_text())
        texts.append((record, page))
    assert list(texts[0][0]["made-up"]["experiments"]) == ["item-0"]
    assert texts[1] == texts[2]  # in two parts or at once
    write_reproduction(list(run_entries(known[:1], seed=1)), tmp_path, Settings("0", False, 1))
    record = json.loads((tmp_path / JSON_NAME).read_text())
    assert list(record["made-up"]["experiments"]) == ["item-0"]  # not mixed with another seed's


def test_unknown_names_are_errors():
    with pytest.raises(ValueError, match="'campbell' is not one of the documents cisc889"):
        entries(["campbell"])


def test_effort_counts():
    assert Effort(quick=True).count(full=10, quick=2) == 2
    assert Effort().count(full=10, quick=2) == 10
