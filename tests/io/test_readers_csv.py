"""CSV and its relatives: what is accepted, and where each fault is said to be."""

import csv
import io
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.io import Limits, read_table
from adatron.io.readers.cells import MISSING_MARKERS
from tests.io.reading import PLACE, fault, outcome, read


@pytest.mark.fault("F13")
@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2.5,x\n-3,4e2,y\n",
        "a;b;c\n1;2.5;x\n-3;4e2;y\n",
        "a;b;c\n1;2,5;x\n-3;4e2;y\n",
        "a\tb\tc\n1\t2.5\tx\n-3\t4e2\ty\n",
        "a|b|c\n1|2.5|x\n-3|4e2|y\n",
        "a b c\n1  2.5 x\n -3\t4e2  y  \n",
        "a, b, c\n1, 2.5, x\n-3 , 4e2, y\n",
        '"a","b","c"\n"1","2.5","x"\n"-3","4e2","y"\n',
        "\ufeffa,b,c\r\n1,2.5,x\r\n-3,4e2,y",
        "a,b,c\r1,2.5,x\r-3,4e2,y\r",
        "\na,b,c\n\n1,2.5,x\n   \n-3,4e2,y\n\n",
    ],
    ids=[
        "comma",
        "semicolon",
        "decimal",
        "tab",
        "bar",
        "blanks",
        "spaced",
        "quoted",
        "bom-crlf",
        "cr",
        "gaps",
    ],
)
def test_spellings_of_one_table(text):
    table = read(text)
    assert table.columns == ["a", "b", "c"]
    assert table.kinds == ["number", "number", "text"]
    np.testing.assert_array_equal(table.column("a"), [1.0, -3.0])
    np.testing.assert_array_equal(table.column("b"), [2.5, 400.0])
    assert table.column("c").tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("M,1\nF,2\n", False),
        ("sunny,hot,no\nrainy,mild,yes\nsunny,cool,yes\n", False),
        ("outlook,heat,play\nsunny,hot,no\nrainy,mild,yes\n", True),
        ("p,x,p\ne,y,e\n", False),
        ("?,red\n5,blue\n", False),
        (",a\n1,2\n2,3\n", True),
        ("2019,2020,class\n1,2,x\n", False),
    ],
)
def test_header_detection(text, has_header):
    columns = read(text, impute=True).columns
    assert (
        columns != [f"column_{i + 1}" for i in range(len(columns))]
        if has_header
        else columns[0] == "column_1"
    )


def test_header_can_be_forced():
    assert read("1,2\n3,4\n", header=True).columns == ["1", "2"]
    assert read("a,b\nc,d\n", header=False).n_rows == 2


@pytest.mark.fault("F13")
def test_first_line_of_names_read_as_a_row_says_so():
    rows = "".join(f"{i},2,3\n" for i in range(20))
    message = fault("id,2019,2020\n" + rows)
    assert message.startswith("t.csv:1:1: not a number in column 'column_1'")
    assert "header=True" in message


@pytest.mark.fault("F13")
@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a,b\n1,2\n3\n4,5\n", (3, 2), ["too few", "found 1", "expected 2"]),
        ("a,b\n1,2\n3,4,5\n6,7\n", (3, 5), ["too many", "found 3", "expected 2"]),
        ('a,b\n1,"x\ny"\n2,z,3\n4,w\n', (4, 5), ["too many"]),
        ("a;b\n1;2\n3;4;5\n6;7\n", (3, 5), ["too many"]),
        ("a b\n1 2\n3  4   5\n6 7\n", (3, 8), ["too many"]),
        ("a,b,c\n1,2\n3,4\n5,6\n", (1, 5), ["too many", "found 3", "expected 2"]),
        ("a,b\n1,5,2,5\n3,5,4,5\n", (1, 4), ["too few"]),
        ("a,b\n", (2, 1), ["no rows below", "header=False"]),
        ("a,b,a\n1,2,3\n", (1, 5), ["duplicate column name", "'a' 2 times"]),
        ('a,b\n1,"x\n2,y\n', (2, 3), ["quotation mark without its partner"]),
        ('a,b\n1,"x"y\n2,y\n', (2, 3), ["cannot be read"]),
        ("a,b\n1,x\ry\n2,y\n", (2, 4), ["carriage return"]),
        ("a,b\n1,2\n,4\n", (3, 1), ["missing value in column 'a' (1 of 2)", "found ''", "--impute"]),
        ("a,b\n1,2\n3, N/A\n", (3, 4), ["missing value in column 'b'", "found 'N/A'", "--impute"]),
        ("a,b,\n1,2,\n3,4,\n", (2, 5), ["no value at all in column 'column_3'"]),
    ],
)
def test_faults_have_their_place(text, place, words):
    message = fault(text)
    assert tuple(map(int, PLACE.match(message).groups())) == place
    assert all(word in message for word in words), message
    assert ", found " in message
    assert ", expected " in message


@pytest.mark.fault("F13")
@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("3O.5", "expected a number"),
        ("1_000", "separators of thousands"),
        ("'1,000'", "expected a number"),
        ("0x10", "not a hexadecimal"),
        ("inf", "a finite number"),
        ("-Infinity", "a finite number"),
        ("1e999", "float64 can hold"),
        ("1 000", "separators of thousands"),
        ("٣", "expected a number"),
        ("1..5", "expected a number"),
        ("--1", "expected a number"),
    ],
)
def test_a_slip_in_a_number_is_no_category(cell, hint):
    rows = [f"{i},y" for i in range(100)]
    rows[41] = f'"{cell}",y'
    message = fault("a,b\n" + "\n".join(rows))
    assert message.startswith(
        "t.csv:43:1: not a number in column 'a', where 99 of 100 cells are numbers, found '"
    )
    assert cell[:1] in message
    assert hint in message
    table = read("a,b\n" + "\n".join(rows), categorical=["a"])
    assert table.column("a")[41] == cell


@pytest.mark.fault("F13")
def test_mixed_types_below_nine_tenths_are_categories_in_their_own_spelling():
    cells = [f"{i % 3}.0" for i in range(5000)] + ["unknown"] * 1000
    table = read("a,b\n" + "".join(f"{cell},1\n" for cell in cells))
    assert table.kinds == ["text", "number"]
    assert table.column("a").tolist() == cells


@pytest.mark.fault("F13")
def test_nine_tenths_is_the_border():
    def column(n_numbers, n_text):
        return "a,b\n" + "1.5,1\n" * n_numbers + "x,1\n" * n_text

    assert read(column(89, 11)).kinds[0] == "text"
    assert "t.csv:92:1: " in fault(column(90, 10))


@pytest.mark.fault("F13")
def test_kinds_that_are_asked_for():
    text = "zip,age\n" + "123,4\n" * 10
    assert read(text, categorical=["zip"]).column("zip").tolist() == ["123"] * 10
    message = fault("zip,age\nA1,4\nB2,5\n", numeric=["zip"])
    assert message.startswith("t.csv:2:1: not a number in column 'zip'")
    message = fault(text, categorical=["zpi"])
    assert "did you mean 'zip'?" in message
    assert "'zip', 'age'" in message
    assert "in both" in fault(text, categorical=["zip"], numeric=["zip"])
    assert "list of column names" in fault(text, categorical="zip")


@pytest.mark.fault("F13")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('a,b\n"1,5",x\n"2,5",y\n', "t.csv:2:1: "),
        ("a\tb\n1,5\tx\n2,5\ty\n", "t.csv:2:1: "),
        ("a;b\n" + "1;x\n" * 200 + "1,5;y\n", "t.csv:202:1: "),
        ("a;b\n1.5;x\n1,5;y\n", "t.csv:3:1: "),
    ],
)
def test_decimal_comma_is_named(text, place):
    message = fault(text)
    assert message.startswith(place)
    assert "decimal=','" in message


@pytest.mark.fault("F13")
def test_decimal_comma_when_asked_for():
    table = read('a,b\n"1,5",2\n"-,25e1",3\n', decimal=",")
    np.testing.assert_array_equal(table.column("a"), [1.5, -2.5])
    assert "t.csv:2:1: " in fault("a;b\n1.234;2\n" + "1,5;3\n" * 20, decimal=",")


@pytest.mark.fault("F13")
def test_decimal_commas_between_commas_are_suspected():
    assert "is the comma a decimal mark?" in fault("a,b\nx,y\nx,z\nx,u\n1,5,2,5\n")


@pytest.mark.fault("F13")
def test_wrong_delimiter():
    message = fault("a,b\n1,2\n", delimiter=";")
    assert message.startswith("t.csv:1:1: one column only with delimiter=';', found 2 columns with ','")
    assert read("a,b;c\n1,2;3\n", delimiter=",").columns == ["a", "b;c"]
    assert "one character" in fault("a,b\n", delimiter=",,")


@pytest.mark.parametrize("text", ["1\n2\n3\n", "value\n1\n2\n3\n"])
def test_one_column(text):
    np.testing.assert_array_equal(read(text).values[0], [1.0, 2.0, 3.0])


@pytest.mark.fault("F13")
@pytest.mark.parametrize("marker", ["", "?", "NA", "N/A", "NaN", "null", "  "])
def test_missing_values_with_impute(marker):
    table = read(f"a,b,c\n1,x,y\n{marker},{marker},z\n3,y,y\n", impute=True)
    np.testing.assert_array_equal(table.column("a"), [1.0, np.nan, 3.0])
    assert table.column("b").tolist() == ["x", None, "y"]
    assert table.missing["a"] == f"t.csv:3:{1 + marker.count(' ')}"


def test_a_column_without_values_needs_to_be_told_what_it_is():
    text = "a,b\n1,\n2,\n"
    assert "t.csv:2:3: no value at all in column 'b'" in fault(text, impute=True)
    assert np.isnan(read(text, impute=True, numeric=["b"]).column("b")).all()
    assert read(text, impute=True, categorical=["b"]).column("b").tolist() == [None, None]


def test_missing_markers_can_be_added():
    assert "t.csv:3:1: missing value" in fault("a,b\n1,2\n-,3\n", missing=["-"])
    assert np.isnan(read("a,b\n1,2\n-999,3\n", missing=["-999"], impute=True).column("a")[1])


def test_ignored_columns_may_be_anything_and_absent():
    table = read("a,junk,b\n1,?,2\n3,,4\n", ignore=["junk", "elsewhere"])
    assert table.columns == ["a", "b"]
    np.testing.assert_array_equal(table.to_matrix(), [[1.0, 2.0], [3.0, 4.0]])
    assert "all columns are ignored" in fault("a\n1\n", ignore=["a"])


def test_spelling_of_numeric_labels():
    table = read("a,class\n1,+1\n2,-1\n3,1\n")
    assert table.spelling == {"class": {1.0: "+1", -1.0: "-1"}}
    assert read("a,b\n" + "".join(f"1,{i}\n" for i in range(1001))).spelling == {}


@pytest.mark.fault("F14")
def test_columns_are_limited():
    text = ",".join(["1"] * 101) + "\n"
    assert "t.csv:1:1: too many columns, found 101, expected at most 100" in fault(
        text, limits=Limits(max_columns=100)
    )
    assert len(read(text, limits=Limits(max_columns=101)).columns) == 101
    blanks = " ".join(["1"] * 101) + "\n"
    assert "found 101" in fault(blanks, limits=Limits(max_columns=100))


@pytest.mark.fault("F14")
@pytest.mark.parametrize("delimiter", [",", " "])
def test_ten_million_columns(delimiter):
    assert "found 10000000, expected at most 100000" in fault(delimiter.join(["1"] * 10**7))


@pytest.mark.fault("F14")
def test_open_quote_ends_soon():
    message = fault('a,b\n1,"' + "2,3\n" * 10**6)
    assert message.startswith("t.csv:2:3: quotation mark without its partner")


def test_wide_table():
    text = ",".join(f"x{i}" for i in range(20_000)) + "\n" + (",".join(["1.5"] * 20_000) + "\n") * 20
    assert read(text).to_matrix().sum() == 1.5 * 20 * 20_000


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(finite, min_size=n, max_size=n), min_size=1)),
    st.sampled_from([",", ";", "\t", "|", " "]),
)
def test_numbers_survive(rows, delimiter):
    names = [f"x{i}" for i in range(len(rows[0]))]
    text = "\n".join(delimiter.join(map(str, row)) for row in [names, *rows])
    table = read(text)
    assert table.columns == names
    np.testing.assert_array_equal(table.to_matrix(), np.array(rows))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.tuples(texts, st.just("x"), texts), min_size=1), st.sampled_from([",", ";", "\t", "|"]))
def test_text_survives(rows, delimiter):
    names = ["a", "b", "c"]
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [names, *rows]
    )
    options = {"header": True, "delimiter": delimiter, "categorical": names, "impute": True}
    columns = [
        [None if cell.strip() in MISSING_MARKERS else cell.strip() for cell in column]
        for column in zip(*rows, strict=True)
    ]
    table = read(stream.getvalue(), **options)
    assert [column.tolist() for column in table.values] == columns


@pytest.mark.fault("F13")
@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(alphabet='01.,;|"\n\r\t -eax?#', max_size=60), st.booleans())
def test_whatever_comes_is_a_table_or_an_error_with_its_place(text, impute):
    result = outcome(text, impute=impute)
    if isinstance(result, str):
        assert PLACE.match(result), result
        assert result.isprintable()
    else:
        assert result.n_rows >= 1
        assert {len(column) for column in result.values} == {result.n_rows}


@pytest.mark.fault("F13")
@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.data())
def test_places_point_at_the_cell(data):
    """A slip is put into a table whose other cells may be quoted and span lines."""
    cell = st.sampled_from(["1", " 2", '"3"', '"4\n"', '" 5"'])
    n_rows = data.draw(st.integers(20, 40))
    rows = [[data.draw(cell) for _ in range(3)] for _ in range(n_rows)]
    i, j = data.draw(st.integers(1, n_rows - 1)), data.draw(st.integers(0, 2))
    rows[i][j] = "oops"
    text = "\n".join(",".join(row) for row in rows)
    line, column = map(int, PLACE.match(fault(text, delimiter=",", header=False)).groups())
    assert text.split("\n")[line - 1][column - 1 :].startswith("oops")


@pytest.mark.fault("F13")
@pytest.mark.parametrize("line", [4094, 4096, 4097, 9000])
def test_places_in_later_batches(line):
    """Batches of 4096 records, here with blank lines and records of two lines among them."""
    lines = ["a,b", "", '"1\n",2', *["3,4"] * 10_000]
    text = "\n".join(lines).split("\n")
    text[line - 1] = " oops,4"
    message = fault("\n".join(text), delimiter=",")
    assert message.startswith(f"t.csv:{line}:2: not a number in column 'a'")
    text[line - 1] = "5, ?"
    assert read("\n".join(text), impute=True).missing == {"b": f"t.csv:{line}:4"}


def test_many_columns_with_missing_values_take_one_more_pass():
    header = ",".join(f"x{i}" for i in range(500))
    rows = [["1"] * 500 for _ in range(600)]
    for i in range(500):
        rows[i][i] = "?"
    text = header + "\n" + "\n".join(",".join(row) for row in rows)
    began = process_time()
    missing = read(text, impute=True).missing
    assert process_time() - began < 5.0
    assert missing == {f"x{i}": f"t.csv:{i + 2}:{2 * i + 1}" for i in range(500)}


def test_quoted_line_breaks_at_the_end_of_the_sample_that_tells_the_delimiter():
    text = "size,b,c\n" + "".join(f'{i},p,"hi, 0\nsecond {i}"\n' for i in range(120))
    table = read_table(io.StringIO(text))
    assert table.columns == ["size", "b", "c"]
    assert table.column("size").tolist() == list(range(120))
    assert table.column("c")[119] == "hi, 0\nsecond 119"
