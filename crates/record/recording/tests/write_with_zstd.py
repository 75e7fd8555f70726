"""Writes the tables of a recording anew, packed with zstd: `python write_with_zstd.py FOLDER`. What its header says of the files goes."""

import re
import sys
from pathlib import Path

import pyarrow.parquet as pq

folder = Path(sys.argv[1])
for name in ["events", "measures", "causes"]:
    path = folder / f"{name}.parquet"
    pq.write_table(pq.read_table(path), path, compression="zstd")
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"
header = folder / "recording.toml"
header.write_text(re.sub(r"\[files\.[^\n]*\n(?:[^\[\n][^\n]*\n|\n)*", "", header.read_text()))
