# ruff: noqa: E501 (a table on one line is easier to read)
"""Messy tables, each with what a person expects of it: its columns, or the words of a one-line error.

`write_all` makes a folder of them, for those who want to look at one.
"""

import bz2
import datetime
import gzip
import io
import lzma

import pyarrow as pa
import pyarrow.parquet

__all__ = ["REFUSED", "TABLES", "write_all"]


def parquet(**columns):
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


def arrow(**columns):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns))
    return sink.getvalue().to_pybytes()


def zstd(data):
    return pa.Codec("zstd").compress(data, asbytes=True)


PLAIN = b"a,b,c\n1,2.5,x\n-3,400,y\n"
EXPECTED = {"a": [1, -3], "b": [2.5, 400.0], "c": ["x", "y"]}
WIDE = [f"x{i}" for i in range(2000)]
LONG_ROWS = 200_000

# file name, content, what is read (None is a missing value)
TABLES = {
    "comma": ("t.csv", PLAIN, EXPECTED),
    "semicolon": ("t.csv", PLAIN.replace(b",", b";"), EXPECTED),
    "tab": ("t.tsv", PLAIN.replace(b",", b"\t"), EXPECTED),
    "bar": ("t.txt", PLAIN.replace(b",", b"|"), EXPECTED),
    "runs of blanks": ("t.data", b"a b c\n1  2.5 x\n -3\t400  y  \n", EXPECTED),
    "blanks around cells": ("t.csv", b"a, b, c\n1, 2.5, x\n-3 , 400, y\n", EXPECTED),
    "everything quoted": ("t.csv", b'"a","b","c"\n"1","2.5","x"\n"-3","400","y"\n', EXPECTED),
    "decimal comma": ("t.csv", b"a;b;c\n1;2,5;x\n-3;400,0;y\n", EXPECTED),
    "byte order mark": ("t.csv", b"\xef\xbb\xbf" + PLAIN, EXPECTED),
    "UTF-16": ("t.csv", PLAIN.decode().encode("utf-16"), EXPECTED),
    "UTF-16, big end first": ("t.csv", b"\xfe\xff" + PLAIN.decode().encode("utf-16-be"), EXPECTED),
    "UTF-32": ("t.csv", PLAIN.decode().encode("utf-32"), EXPECTED),
    "lines of Windows": ("t.csv", PLAIN.replace(b"\n", b"\r\n"), EXPECTED),
    "lines of an old Macintosh": ("t.csv", PLAIN.replace(b"\n", b"\r"), EXPECTED),
    "mixed line ends": ("t.csv", b"a,b,c\r\n1,2.5,x\n-3,400,y\r\n", EXPECTED),
    "no final line end": ("t.csv", PLAIN.rstrip(), EXPECTED),
    "blank lines": ("t.csv", b"\n\na,b,c\n\n1,2.5,x\n\n\n-3,400,y\n\n\n", EXPECTED),
    "gzip": ("t.csv.gz", gzip.compress(PLAIN), EXPECTED),
    "bzip2": ("t.csv.bz2", bz2.compress(PLAIN), EXPECTED),
    "xz": ("t.csv.xz", lzma.compress(PLAIN), EXPECTED),
    "Zstandard": ("t.csv.zst", zstd(PLAIN), EXPECTED),
    "gzip that nobody told of": ("t.csv", gzip.compress(PLAIN), EXPECTED),
    "Parquet": ("t.parquet", parquet(**EXPECTED), EXPECTED),
    "Parquet without its ending": ("t", parquet(**EXPECTED), EXPECTED),
    "Arrow": ("t.arrow", arrow(**EXPECTED), EXPECTED),
    "Feather": ("t.feather", arrow(**EXPECTED), EXPECTED),
    "JSON lines": (
        "t.jsonl", b'{"a": 1, "b": 2.5, "c": "x"}\n{"a": -3, "b": 400, "c": "y"}\n', EXPECTED,
    ),
    "JSON lines with gaps": (
        "t.txt", b'{"a": 1, "c": "x"}\n{"c": null, "a": null, "b": 2}\n',
        {"a": [1.0, None], "c": ["x", None], "b": [None, 2.0]},
    ),
    "quotes within quotes": (
        "t.csv", b'a,b\n"he said ""hi, you""",1\n"two\nlines",2\n"",3\n',
        {"a": ['he said "hi, you"', "two\nlines", None], "b": [1, 2, 3]},
    ),
    "an inch sign": ("t.csv", b'size,b\n5" pipe,1\n7" pipe,2\n', {"size": ['5" pipe', '7" pipe'], "b": [1, 2]}),
    "an empty column": ("t.csv", b"a,b,\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4], "unnamed: 2": [None, None]}),
    "dates in three styles": (
        "t.csv", b"d,e,f\n2020-01-02,02.01.2020,1/2/2020\n2020-02-13,13.02.2020,2/13/2020\n",
        {"d": ["2020-01-02", "2020-02-13"], "e": ["02.01.2020", "13.02.2020"], "f": ["1/2/2020", "2/13/2020"]},
    ),
    "dates with their type": (
        "t.parquet", parquet(d=[datetime.date(2020, 1, 2)], e=[1]),
        {"d": [datetime.datetime(2020, 1, 2)], "e": [1]},
    ),
    "thousands": ("t.csv", b'a,b\n"1,234",2\n"2,345,678",3\n', {"a": [1234, 2345678], "b": [2, 3]}),
    "thousands with decimals": ("t.tsv", b"a\tb\n1,234.5\t2\n12.25\t3\n", {"a": [1234.5, 12.25], "b": [2, 3]}),
    "thousands of a decimal comma": ("t.csv", b"a;b\n1.234,5;1.234\n12,25;2.345\n",
                                     {"a": [1234.5, 12.25], "b": [1234, 2345]}),
    "thousands twice": ("t.csv", b"a;b\n1,234,567;2\n2,345;3\n", {"a": [1234567, 2345], "b": [2, 3]}),
    "missing in many spellings": (
        "t.csv", b"a,b\nNA,x\n-,n/a\n?,NULL\nnan, N/A \n,y\n3,?\n",
        {"a": [None] * 5 + [3.0], "b": ["x", None, None, None, "y", None]},
    ),
    "2,000 columns": ("t.csv", "\n".join([",".join(WIDE), ",".join(["1.5"] * 2000), ",".join(["2"] * 2000)]).encode(),
                      {name: [1.5, 2.0] for name in WIDE}),
    "200,000 rows": ("t.csv", b"a,b\n" + b"".join(b"%d,x%d\n" % (i, i % 7) for i in range(LONG_ROWS)),
                     {"a": list(range(LONG_ROWS)), "b": [f"x{i % 7}" for i in range(LONG_ROWS)]}),
    "no names": ("t.csv", b"1,2\n3,4\n", {"column_1": [1, 3], "column_2": [2, 4]}),
    "text without names": ("t.csv", b"sunny,hot,no\nrainy,mild,yes\nsunny,cool,yes\n", {
        "column_1": ["sunny", "rainy", "sunny"], "column_2": ["hot", "mild", "cool"], "column_3": ["no", "yes", "yes"],
    }),
    "text with names": ("t.csv", b"outlook,play\nsunny,no\nrainy,yes\n",
                        {"outlook": ["sunny", "rainy"], "play": ["no", "yes"]}),
    "a name missing": ("t.csv", b",a\n1,2\n2,3\n", {"unnamed: 0": [1, 2], "a": [2, 3]}),
    "codes with leading zeros": ("t.csv", b"zip,y\n01234,1\n98765,2\n", {"zip": ["01234", "98765"], "y": [1, 2]}),
    "a slip among few numbers": ("t.csv", b"a,b\n1,1\n2,2\nx,3\n", {"a": ["1", "2", "x"], "b": [1, 2, 3]}),
    "one column": ("t.csv", b"value\n1\n2\n", {"value": [1, 2]}),
    "numbers of all kinds": ("t.csv", b"a,b\n+1,.5\n2.,1e3\n-3e-2,-.25\n", {"a": [1.0, 2.0, -0.03], "b": [0.5, 1000.0, -0.25]}),
    "large whole numbers": ("t.csv", b"a,b\n99999999999999999999,1\n1,2\n", {"a": [1e20, 1.0], "b": [1, 2]}),
    "foreign letters": ("t.csv", "größe,名前\n1,😀\n2,ü\n".encode(), {"größe": [1, 2], "名前": ["😀", "ü"]}),
    "markup in names and cells": ("t.csv", b"<script>,b\n1,<b>\n2,\x1b[31m\n", {"<script>": [1, 2], "b": ["<b>", "\x1b[31m"]}),
}  # fmt: skip

SLIP = b"a,b\n" + b"".join(b"%d,y\n" % i for i in range(40)) + b"3O.5,y\n" + b"4,y\n" * 20
# file name, content, options, and what the error says
REFUSED = {
    "row with too few cells": ("t.csv", b"a,b\n1,2\n3\n4,5\n", {}, "t.csv:3: row with too few cells, found 1, expected 2"),
    "row with too many cells": ("t.csv", b"a,b\n1,2\n3,4,5\n6,7\n", {}, "t.csv:3: row with too many cells, found 3, expected 2"),
    "ragged below a cell of two lines": ("t.csv", b'a,b\n1,"x\ny"\n2,z,3\n4,w\n', {}, "t.csv:4: row with too many"),
    "ragged below blank lines": ("t.csv", b"\n\na;b\n\n1;2\n3;4;5\n", {}, "t.csv:6: row with too many"),
    "quote without its partner": ("t.csv", b'a,b\n1,"x\n2,y\n', {}, "t.csv:2: an unclosed quotation mark"),
    "two quotes without partners": ("t.csv", b'a,b\n1,"x\n2,y\n3,"z\n4,u\n', {}, "t.csv:2: an unclosed quotation mark"),
    "names only": ("t.csv", b"a,b\n", {}, "t.csv:1: no rows below the names"),
    "a name twice": ("t.csv", b"a,b,a\n1,2,3\n", {}, "t.csv:1: column name 'a' twice"),
    "a slip among numbers": ("t.csv", SLIP, {}, "t.csv:42: column 'a': '3O.5' is not a number"),
    "an infinite number": ("t.csv", SLIP.replace(b"3O.5", b"inf"), {}, "t.csv:42: column 'a': 'inf' is not a number"),
    "too large a number": ("t.csv", SLIP.replace(b"3O.5", b"1e999"), {}, "t.csv:42: column 'a': '1e999'"),
    "a hexadecimal number": ("t.csv", SLIP.replace(b"3O.5", b"0x1F"), {"kinds": {"a": "number"}}, "t.csv:42: column 'a': '0x1F'"),
    "text where numbers must be": ("t.csv", b"a,b\nx,1\ny,2\n", {"kinds": {"a": "number"}}, "t.csv:2: column 'a': 'x'"),
    "decimal comma and decimal point": ("t.csv", b"a;b\n1.5;2,5\n1.25;7,5\n", {}, "t.csv:2: column 'b': '2,5' is not a number"),
    "a decimal comma far below": ("t.csv", b"a;b\n" + b"1;2\n" * 300 + b"1;2,5\n", {}, "t.csv:302: column 'b': '2,5'"),
    "thousands or decimals": ("t.csv", b"a;b\n1,234;x\n2,345;y\n", {}, "t.csv:2: column 'a': '1,234'"),
    "Latin-1": ("t.csv", b"a,b\n1,caf\xe9\n", {}, "t.csv:2: not utf-8 text: found byte 0xe9 at byte offset 9"),
    "a NUL byte": ("t.csv", b"a,b\n1,\x002\n", {}, "t.csv:2: not utf-8 text: found byte 0x00 at byte offset 6"),
    "UTF-16 without its mark": ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), {}, "byte 0x00 at byte offset 1"),
    "half a character": ("t.csv", b"a,b\n1,2\n\xc3", {}, "byte 0xc3 at byte offset 8"),
    "an unknown encoding": ("t.csv", PLAIN, {"encoding": "utf-7000"}, "encoding='utf-7000' is not known"),
    "an Excel workbook": ("t.xlsx", b"PK\x03\x04" + bytes(100), {}, "found byte 0x00 at byte offset 4"),
    "an empty file": ("t.csv", b"", {}, "t.csv: is empty"),
    "nothing but blank lines": ("t.csv", b"\n \n\n", {}, "t.csv: is empty"),
    "half a gzip file": ("t.csv.gz", gzip.compress(PLAIN)[:-9], {}, "t.csv.gz: the gzip data are damaged or incomplete"),
    "half a Zstandard file": ("t.csv.zst", zstd(PLAIN)[:-2], {}, "t.csv.zst: the zstd data are damaged or incomplete"),
    "half a Parquet file": ("t.parquet", parquet(**EXPECTED)[:-9], {}, "t.parquet: not a parquet file, or damaged"),
    "a CSV file called Parquet": ("t.parquet", PLAIN, {}, "t.parquet: not a parquet file, or damaged"),
    "half an Arrow file": ("t.arrow", arrow(**EXPECTED)[:-9], {}, "t.arrow: not a arrow file, or damaged"),
    "lists in a column": ("t.parquet", parquet(a=[[1, 2]], b=[1]), {}, "t.parquet: column 'a' holds list<"),
    "JSON of changing types": ("t.jsonl", b'{"a": 1}\n{"a": "x"}\n', {}, "t.jsonl:2: not a jsonl file, or damaged: JSON parse error: Column(/a) changed"),
    "a JSON array": ("t.json", b'[{"a": 1}]', {}, "t.json: a JSON array; expected JSON lines, one object a line"),
    "JSON cut off": ("t.jsonl", b'{"a": 1}\n{"a": \n', {}, "t.jsonl:2: not a jsonl file, or damaged: JSON parse error"),
    "too many columns": ("t.csv", b",".join([b"1"] * 101), {"max_columns": 100}, "t.csv: has 101 columns"),
    "ten million columns": ("t.csv", b",".join([b"1"] * 10**7), {}, "t.csv: has 10000000 columns"),
    "too many bytes": ("t.csv", PLAIN, {"max_bytes": 11}, "t.csv: has more than 11 bytes"),
    "a bomb": ("t.csv.gz", gzip.compress(PLAIN * 1000), {"max_bytes": 2000}, "t.csv.gz: has more than 2000 bytes"),
    "a Parquet bomb": ("t.parquet", parquet(a=[0.0] * 10**6), {"max_bytes": 10**6}, "t.parquet: has more than 1000000 bytes"),
    "a very long line": ("t.csv", b"a\n" + b"1" * 100 + b"\n", {"max_line_bytes": 99}, "t.csv: has a line of more than 99 bytes"),
    "a target that is not there": ("t.csv", PLAIN, {"target": "cc"}, "target='cc' is not one of the columns 'a', 'b', 'c'; did you mean 'c'?"),
    "all columns ignored": ("t.csv", PLAIN, {"ignore": ["a", "b", "c"]}, "t.csv: found 2 rows of 0 columns"),
    "an unknown format": ("t.csv", PLAIN, {"format": "svmlite"}, "format='svmlite' must be one of csv, tsv, svmlight"),
}  # fmt: skip


def write_all(folder):
    """Write every table and every refused file into `folder`, one folder each as names repeat."""
    for name, (file, content, *_) in (TABLES | REFUSED).items():
        path = folder / name.replace("/", "-") / file
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return folder
