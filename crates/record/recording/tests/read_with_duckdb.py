"""Reads a recording with duckdb and nothing of Stopwatt's: `python read_with_duckdb.py FOLDER` prints what it found."""

import sys

import duckdb

folder = sys.argv[1]
print(duckdb.sql(f"SELECT variant, mode, metric, unit, count(*), median(value) FROM '{folder}/measures.parquet' GROUP BY ALL ORDER BY ALL"))

rows, last = duckdb.sql(f"SELECT count(*), max(time) FROM '{folder}/events.parquet'").fetchall()[0]
points = [row[0] for row in duckdb.sql(f"SELECT DISTINCT point FROM '{folder}/events.parquet' ORDER BY point").fetchall()]
medians = duckdb.sql(f"SELECT median(value), count(cpu), count(subject) FROM '{folder}/measures.parquet' WHERE metric = 'powerdown'").fetchall()[0]
print(f"events={rows} last={last} points={','.join(points)} median={medians[0]} cpus={medians[1]} subjects={medians[2]}")
