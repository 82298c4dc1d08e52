"""Verdicts, the running of experiments, what is written about them, and the command."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from reproduction.__main__ import main
from reproduction.experiment import (
    Check,
    Comparison,
    Effort,
    Entry,
    Experiment,
    Findings,
    Paper,
    Verdict,
    entries,
    experiment,
    run_entries,
)
from reproduction.figures import add_legend, new_figure, on_paper, svg_of, thinning
from reproduction.pages import (
    JSON,
    MARKDOWN,
    PAGE,
    Settings,
    counts,
    number_texts,
    plain_comparison,
    plain_result,
    write_reproduction,
)
from reproduction.shared import binomial_error, mean_and_error


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


@pytest.mark.parametrize(
    ("item", "texts"),
    [
        (rate(22.9, 23.4, standard_error=0.345), ("22.9 %", "23.40 ± 0.34 %", "+0.50")),
        (rate(7.7, 7.69, standard_error=0.2), ("7.7 %", "7.69 ± 0.20 %", "-0.01")),
        (rate(92.31, 92.3077), ("92.31 %", "92.31 %", "-0.00")),
        (rate(None, 23.4), ("not printed", "23.4 %", "—")),
        (rate(1.0, float("inf")), ("1.0 %", "—", "—")),
        (Comparison({}, 1_000, np.int64(1_234)), ("1,000", "1,234", "+234")),
    ],
)
def test_numbers_are_told_with_their_errors(item, texts):
    assert number_texts(plain_comparison(item)) == texts


def test_means_have_their_standard_error():
    assert mean_and_error([1.0, 3.0]) == (2.0, 1.0)
    assert mean_and_error([5.0]) == (5.0, 0.0)
    mean, error = mean_and_error([[1.0, 0.0], [3.0, 0.0]])
    assert (mean.tolist(), error.tolist()) == ([2.0, 0.0], [1.0, 0.0])
    found = Comparison.of_mean({}, [0.1, 0.2, 0.3], 0.25)
    assert (found.ours, found.standard_error) == pytest.approx((0.2, 0.0577), abs=1e-4)
    assert binomial_error(10.0, 100) == pytest.approx(3.0)


def test_curves_show_ever_fewer_epochs():
    is_shown = thinning(2.0)
    assert [epoch for epoch in range(1, 12) if is_shown(epoch, epoch == 11)] == [1, 2, 4, 8, 11]


def test_figures_on_paper_and_back():
    figure, (ax,) = new_figure(1, [("epoch", "margin")])
    ax.plot([1, 2], [1, 2])
    svg = svg_of(figure)
    assert "background:#ffffff" in on_paper(svg)
    assert on_paper(on_paper(svg), back=True) == svg


def test_an_experiment_has_the_name_of_its_function():
    @experiment("Table 7", claim="none", settings="none")
    def table_7(effort):
        return Findings()

    assert (table_7.name, table_7.title) == ("table-7", "Table 7")


def paper_of(*runs):
    experiments = [Experiment(f"item-{i}", f"Item <{i}>", "a & b", "none", run) for i, run in enumerate(runs)]
    return Paper("made-up", "Nobody, 2000", "Nothing.", experiments)


def results_of(*runs, **options):
    paper = paper_of(*runs)
    return list(run_entries([Entry(paper, item) for item in paper.experiments], **options))


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
    assert counts([plain_result(missing), plain_result(done)]) == {
        "reproduced": 1,
        "differs": 1,
        "holds": 1,
        "cannot be run": 1,
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
    monkeypatch.setattr("reproduction.pages.entries", lambda: [result.entry for result in results])
    write_reproduction(results, directory, settings)


def test_files_are_the_same_for_the_same_seed(tmp_path, monkeypatch):
    texts = []
    for name in ("a", "b"):
        results = results_of(drawn, no_data, seed=3)
        written(results, tmp_path / name, Settings("0", True, 3), monkeypatch)
        record = json.loads((tmp_path / name / JSON).read_text())
        for item in record["made-up"]["experiments"].values():
            item.pop("seconds")
        svg = (tmp_path / name / "reproduction-figures" / "made-up-item-0.svg").read_text()
        texts.append((record, svg))
    assert texts[0] == texts[1]


def test_page_escapes_and_says_why(tmp_path, monkeypatch):
    results = results_of(drawn, no_data, broken)
    written(results, tmp_path, Settings("0", False, 0), monkeypatch)
    page = (tmp_path / PAGE).read_text()
    assert "Item &lt;0&gt;" in page
    assert "Item <0>" not in page
    assert "It &lt;does&gt;." in page
    assert "set ADATRON_DATA" in page
    assert "<script" not in page
    assert page.count("<svg") == 1
    text = (tmp_path / MARKDOWN).read_text()
    assert "reproduction-figures/made-up-item-0.svg" in text
    assert "| sonar | 10.0 % | 11.0 % | +1.0 |  | reproduced |" in text


def test_another_run_completes_what_is_there(tmp_path, monkeypatch):
    paper = paper_of(drawn, drawn)
    known = [Entry(paper, item) for item in paper.experiments]
    monkeypatch.setattr("reproduction.pages.entries", lambda: known)
    settings = Settings("0", False, 0)
    texts = []
    for chosen in (known[:1], known[1:], known):
        write_reproduction(list(run_entries(chosen)), tmp_path, settings)
        record = json.loads((tmp_path / JSON).read_text())
        for item in record["made-up"]["experiments"].values():
            item.pop("seconds")
        page = re.sub(r"[\d.]+ s<", "", (tmp_path / PAGE).read_text())
        texts.append((record, page))
    assert list(texts[0][0]["made-up"]["experiments"]) == ["item-0"]
    assert texts[1] == texts[2]  # in two parts or at once
    write_reproduction(list(run_entries(known[:1], seed=1)), tmp_path, Settings("0", False, 1))
    record = json.loads((tmp_path / JSON).read_text())
    assert list(record["made-up"]["experiments"]) == ["item-0"]  # not mixed with another seed's


def test_unknown_names_are_errors():
    with pytest.raises(ValueError, match="'campbell' is not one of the papers cisc889"):
        entries(["campbell"])


def test_effort_counts():
    assert Effort(quick=True).count(full=10, quick=2) == 2
    assert Effort().count(full=10, quick=2) == 10


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run the command on made-up experiments: the exit code, and what is printed on both streams."""

    def run(*runs, arguments=()):
        paper = paper_of(*runs)
        known = [Entry(paper, item) for item in paper.experiments]
        monkeypatch.setattr("reproduction.__main__.entries", lambda names, only: known)
        monkeypatch.setattr("reproduction.pages.entries", lambda: known)
        code = main(["--quick", "--out", str(tmp_path / "out"), *arguments])
        return code, *capsys.readouterr()

    return run


def test_the_command_ends_well_when_numbers_differ_or_data_is_missing(command, tmp_path):
    code, out, err = command(drawn, no_data)
    assert code == 0
    assert "1 reproduced, 1 differs, 1 holds, 1 cannot be run" in out
    assert f"page: {tmp_path / 'out' / PAGE}" in out
    assert "[1/2] made-up item-0: done" in err
    assert "[2/2] made-up item-1: cannot be run: set ADATRON_DATA" in err
    assert (tmp_path / "out" / PAGE).is_file()


def test_an_experiment_that_breaks_is_an_error(command):
    code, _, err = command(broken, drawn)
    assert code == 1
    assert "ZeroDivisionError" in err
    assert "item-1: done" in err


def test_results_as_json(command):
    code, out, _ = command(drawn, arguments=["--json"])
    assert code == 0
    assert json.loads(out)["made-up"]["experiments"]["item-0"]["title"] == "Item <0>"


def test_ctrl_c_writes_what_is_finished(command, tmp_path):
    def interrupted(effort):
        raise KeyboardInterrupt

    code, _, err = command(drawn, interrupted, drawn)
    assert code == 130
    assert "interrupted" in err
    written = json.loads((tmp_path / "out" / JSON).read_text())["made-up"]["experiments"]
    assert list(written) == ["item-0"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_sigterm_writes_what_is_finished(command, tmp_path):
    def terminated(effort):
        os.kill(os.getpid(), signal.SIGTERM)
        return Findings()

    code, _, _ = command(drawn, terminated)
    assert code == 143
    assert list(json.loads((tmp_path / "out" / JSON).read_text())["made-up"]["experiments"]) == ["item-0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["campbell"], "'campbell' is not one of the papers"),
        (["--only", "table-9"], "'table-9' is not one of the experiments"),
        (["--seed", "-1"], "--seed must not be negative"),
        (["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_wrong_usage(arguments, message, capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--out", str(tmp_path / "none")])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_directory_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["cisc889", "--out", str(tmp_path / "file")]) == 1
    assert str(tmp_path / "file") in capsys.readouterr().err


def test_adatron_reproduce_names_the_command():
    command = [sys.executable, "-m", "adatron", "reproduce", "potluru2009", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "python3 tools/run.py reproduce potluru2009 --quick" in done.stderr
