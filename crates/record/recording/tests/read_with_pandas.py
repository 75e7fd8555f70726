"""Reads a recording with pyarrow and pandas: `python read_with_pandas.py FOLDER` prints the columns' types and what describes them."""

import sys

import pandas
import pyarrow.parquet as pq

for name in ["events", "measures", "causes"]:
    path = f"{sys.argv[1]}/{name}.parquet"
    described = pq.read_schema(path)
    frame = pandas.read_parquet(path)
    types = ",".join(f"{column}:{frame[column].dtype.name}" for column in frame.columns)
    print(f"{name} rows={len(frame)} {types}")
    assert all(described.field(column).metadata[b"description"] for column in frame.columns)
    facts = pq.ParquetFile(path).metadata.metadata
    assert all(f"description:{column}".encode() in facts for column in frame.columns)
    print(f"{name} units " + ",".join(sorted(f"{k.decode()[5:]}={v.decode()}" for k, v in facts.items() if k.startswith(b"unit:"))))
