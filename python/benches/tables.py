"""How long ten million measures take from a folder to pyarrow: decoding at `open`, making the columns, and handing them over, apart.

Run it with the package installed: python python/benches/tables.py [ROWS]
"""

import pathlib
import sys
import tempfile
import time

import pyarrow
import pyarrow.parquet
import stopwatt


def seconds(does):
    begin = time.perf_counter()
    result = does()
    return time.perf_counter() - begin, result


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    small = stopwatt.run("psci-latency", release="last", iterations=11, free_seeds=0)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder) / "recording"
        small.write(folder)
        # The same measures again and again, in a file without a sum of its own.
        table = pyarrow.parquet.read_table(folder / "measures.parquet")
        times = -(-rows // table.num_rows)
        table = pyarrow.concat_tables([table] * times).slice(0, rows)
        pyarrow.parquet.write_table(table, folder / "measures.parquet", row_group_size=262_144)
        header = (folder / "recording.toml").read_text()
        begin = header.index("[files.")
        end = header.index("\n[", header.rindex("[files."))
        (folder / "recording.toml").write_text(header[:begin] + header[end + 1 :])
        opened, recording = seconds(lambda: stopwatt.open(folder))
        made, measures = seconds(lambda: recording.measures)
        taken, table = seconds(lambda: pyarrow.table(measures))
    assert table.num_rows == rows
    print(f"{rows} measures: decoded at open in {opened * 1e3:.0f} ms, columns and dictionaries made in {made * 1e3:.0f} ms,")
    print(f"into pyarrow in {taken * 1e3:.2f} ms")
    addresses = measures.addresses()
    value = table.column("value").chunk(0).buffers()[1].address
    print("the values are the same memory" if value == addresses["value"] else "the values were COPIED")


if __name__ == "__main__":
    main()
