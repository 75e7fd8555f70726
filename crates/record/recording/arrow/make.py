"""Makes the Arrow schemas that the Parquet files carry, from the columns on standard input: what makes text columns categoricals in pandas.

Run by the test `arrows_schemas_are_those_of_the_columns` with STOPWATT_PYTHON set; needs pyarrow.
"""

import base64
import pathlib
import sys

import pyarrow as pa

here = pathlib.Path(__file__).parent
text = sys.stdin.read()
types = {"a string": pa.dictionary(pa.int32(), pa.utf8()), "u16": pa.uint16(), "u32": pa.uint32(), "u64": pa.uint64(), "f64": pa.float64()}
tables = {}
for line in text.splitlines():
    table, name, kind, nullable, about = line.split("\t")
    field = pa.field(name, types[kind], nullable == "true", metadata={"description": about})
    tables.setdefault(table, []).append(field)
for table, fields in tables.items():
    message = pa.schema(fields).serialize().to_pybytes()
    (here / f"{table}.b64").write_text(base64.b64encode(message).decode() + "\n")
(here / "columns.tsv").write_text(text)
