"""svmlight files: strict where scikit-learn's reader is kind, and equal to it where both accept."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from adatron.io import read_table
from tests.io.reading import PLACE, fault, outcome, read


def read_svm(text, **options):
    return read(text, "t.svm", **options)


@pytest.mark.fault("F12")
@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("1 1:2\n1 abc\n", (2, 3), ["no colon", "'abc'", "index:value"]),
        ("1 1:2 7\n", (1, 7), ["no colon", "'7'"]),
        ("1 1:2 :5\n", (1, 7), ["bad index", "':5'"]),
        ("1 1:\n", (1, 5), ["bad value", "'1:'"]),
        ("1 1:2:3\n", (1, 5), ["bad value", "'1:2:3'"]),
        ("1 1 :2\n", (1, 3), ["no colon"]),
        ("1 3:1 2:1\n", (1, 7), ["index 2 after 3", "ascending"]),
        ("1 3:1\n1 2:1 2:4\n", (2, 7), ["index 2 twice"]),
        ("1 -1:2\n", (1, 3), ["bad index", "'-1:2'"]),
        ("1 0:2\n", (1, 3), ["bad index", "zero_based=True"]),
        ("1 +1:2\n", (1, 3), ["bad index"]),
        ("1 1.5:2\n", (1, 3), ["bad index"]),
        (f"1 1:1 {2**31}:1\n", (1, 7), ["bad index", "2147483647"]),
        (f"1 1:1 {2**70}:1\n", (1, 7), ["bad index"]),
        ("1 1:1 " + "9" * 5000 + ":1\n", (1, 7), ["bad index"]),
        ("1 1:nan\n", (1, 5), ["bad value", "'1:nan'", "finite"]),
        ("1 1:inf\n", (1, 5), ["bad value", "finite"]),
        ("1 1:-Infinity\n", (1, 5), ["bad value", "finite"]),
        ("1 1:1e999\n", (1, 5), ["bad value", "float64"]),
        ("1 1:1_000\n", (1, 5), ["bad value", "thousands"]),
        ("1 1:0x10\n", (1, 5), ["bad value", "hexadecimal"]),
        ("1 1:1,5\n", (1, 5), ["bad value", "decimal"]),
        ("1 1:٣\n", (1, 5), ["bad value"]),
        ("spam 1:2\n", (1, 1), ["bad label", "'spam'"]),
        ("  nan 1:2\n", (1, 3), ["bad label", "finite"]),
        ("1,2 1:2\n", (1, 1), ["bad label"]),
        ("1e999 1:2\n", (1, 1), ["bad label"]),
        ("1:2 3:4\n", (1, 1), ["bad label"]),
        ("1 qid:3 1:2\n", (1, 3), ["ranking", "qid"]),
        ("1 1:2\n1 1:2\x0b2:3\n", (2, 5), ["bad value"]),
        ("1 1:2\r1 1:3\n1 1:2\n", (1, 5), ["bad value"]),
        ("# nothing\n\n", (1, 1), ["no rows"]),
        ("\n \n", (1, 1), ["no data"]),
        ("", (1, 1), ["no data", "empty"]),
    ],
)
def test_faults_have_their_place(text, place, words):
    message = fault(text, "t.svm")
    assert tuple(map(int, PLACE.match(message).groups())) == place
    assert all(word in message for word in words), message
    assert ", found " in message
    assert ", expected " in message
    assert message.isprintable()


@pytest.mark.fault("F12")
@pytest.mark.parametrize(
    "text",
    [
        b"1 1:0.5 3:2\n-1 2:1\n",
        b"1 1:0.5 3:2\r\n-1 2:1\r\n",
        b"\xef\xbb\xbf1 1:0.5 3:2\n-1 2:1",
        b"# head: 1:2\n\n+1 1:.5 3:2e0 # tail 7:x\n   \n-1.0\t2:+1.  \n",
        b"1 1:0.5 3:2#x\n-1 002:1\n\n\n",
        b"1 1:0.5 3:2\r-1 2:1\r",
    ],
    ids=["plain", "crlf", "bom", "comments", "tight", "cr"],
)
def test_spellings_of_one_matrix(text):
    table = read_svm(text)
    np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(table.y, [1.0, -1.0])
    assert table.X.indices.dtype == np.int32


@pytest.mark.fault("F12")
def test_rows_without_values_and_explicit_zeros():
    table = read_svm("1\n-1 2:0\n")
    assert table.X.shape == (2, 2)
    assert table.X.count_nonzero() == 0


@pytest.mark.fault("F12")
def test_zero_based():
    table = read_svm("1 0:5 2:1\n", zero_based=True)
    np.testing.assert_array_equal(table.X.toarray(), [[5.0, 0.0, 1.0]])
    assert f"from 0 to {2**31 - 1}" in fault(f"1 {2**31}:5\n", "t.svm", zero_based=True)


@pytest.mark.fault("F12")
def test_n_features():
    assert read_svm("1 2:1\n", n_features=5).X.shape == (1, 5)
    assert fault("1 1:1\n1 2:1 6:1\n", "t.svm", n_features=5).startswith("t.svm:2:7: bad index")
    assert read_svm("1 4:1\n", n_features=5, zero_based=True).X.shape == (1, 5)
    assert "from 0 to 4" in fault("1 5:1\n", "t.svm", n_features=5, zero_based=True)
    assert "n_features must be" in fault("1 1:1\n", "t.svm", n_features=0)


@pytest.mark.fault("F12")
def test_labels_keep_their_spelling():
    assert read_svm("+1 1:1\n-1 1:1\n1 1:2\n").spelling == {1.0: "+1", -1.0: "-1"}
    assert read_svm("".join(f"{i}.5 1:1\n" for i in range(1001))).spelling == {}


@pytest.mark.fault("F12")
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compressed(compress, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(compress(b"+1 1:0.5 3:2\n-1 2:1\n"))
    np.testing.assert_array_equal(read_table(path).X.toarray(), [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]])


@pytest.mark.fault("F12")
def test_options_of_tables_do_not_apply():
    assert "target does not apply" in fault("1 1:2\n", "t.svm", target="y")
    assert "delimiter, header does not apply" in fault("1 1:2\n", "t.svm", header=True, delimiter=",")
    assert "n_features does not apply" in fault("1,2\n", n_features=3)


values = st.floats(-1e300, 1e300, allow_nan=False)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.tuples(values, st.lists(values | st.just(0.0), min_size=n, max_size=n)), min_size=1
        )
    ),
    st.booleans(),
)
def test_what_scikit_learn_writes_is_read_as_scikit_learn_reads_it(rows, zero_based):
    y, X = np.array([label for label, _ in rows]), sparse.csr_array(np.array([row for _, row in rows]))
    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=zero_based)
    stream.seek(0)
    theirs, their_y = load_svmlight_file(stream, zero_based=zero_based, n_features=X.shape[1])
    table = read_svm(stream.getvalue(), zero_based=zero_based, n_features=X.shape[1])
    np.testing.assert_array_equal(table.X.toarray(), theirs.toarray())
    np.testing.assert_array_equal(table.y, their_y)


@pytest.mark.fault("F12")
@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([*"0123456789::::    \n\n\t+-.eE#x_\r\x0bé", "qid", "nan", "inf", "1:1 ", "2:"]))
)
def test_whatever_comes_is_a_matrix_or_an_error_with_its_place(tokens):
    """What is accepted is what scikit-learn makes of it; what is refused has line and column."""
    text = "1 1:2\n" + "".join(tokens)
    result = outcome(text, "t.svm")
    if isinstance(result, str):
        assert PLACE.match(result), result
        assert result.isprintable()
        return
    theirs, their_y = load_svmlight_file(io.BytesIO(text.encode()), zero_based=False)
    np.testing.assert_array_equal(result.X.toarray(), theirs.toarray())
    np.testing.assert_array_equal(result.y, their_y)
