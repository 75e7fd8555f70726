"""What experiments found, as objects with types."""

import dataclasses
import json
import pathlib

import pytest
import stopwatt
from stopwatt import _findings

RECORDINGS = pathlib.Path(__file__).parents[2] / "crates/results/report/tests/recordings"


def assert_same(found, value, at):
    """Asserts that a finding has the values of its JSON, and no others."""
    if dataclasses.is_dataclass(found):
        fields = {field.name.rstrip("_"): getattr(found, field.name) for field in dataclasses.fields(found)}
        if "by_name" in fields:
            assert_same(fields.pop("by_name"), {key: one for key, one in value.items() if key not in fields}, at)
        for key, one in fields.items():
            # A key that is left out is None, 0 or empty.
            if key in value or one:
                assert_same(one, value[key], f"{at}.{key}")
        return set(fields)
    if isinstance(found, dict):
        assert found.keys() == value.keys(), at
        for key, one in found.items():
            assert_same(one, value[key], f"{at}.{key}")
    elif isinstance(found, (list, tuple)):
        assert len(found) == len(value), at
        for one, other in zip(found, value):
            assert_same(one, other, at)
    else:
        assert found == value, at


@pytest.mark.parametrize("folder", sorted(RECORDINGS.iterdir()), ids=lambda folder: folder.name)
def test_a_finding_has_the_values_of_its_json(folder):
    recording = stopwatt.open(folder)
    found = recording.findings
    assert isinstance(found, stopwatt.findings.Findings)
    told = json.loads(recording.report("json"))
    fields = assert_same(found, told, type(found).__name__)
    every_has = {"experiment", "recording", "warnings", "source", "measures", "pictures"}
    assert set(told) - every_has <= fields, "no key of the report is missing in the class"


def test_what_has_no_findings_says_what_to_use(tmp_path):
    table = tmp_path / "times.csv"
    table.write_text("case,metric,value,unit\nsort,time,1.25,ms\n")
    recording = stopwatt.import_csv(table)
    with pytest.raises(stopwatt.UsageError, match="measures"):
        recording.findings


def test_the_example_of_the_documentation_runs(root, recording, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recording.write("recordings/mine")
    section = (root / "docs/python.md").read_text().partition("## Findings\n")[2].partition("\n## ")[0]
    example = section.partition("```python\n")[2].partition("```")[0]
    names = {}
    exec(example, names)
    assert names["waits"], example


def test_what_the_types_do_not_describe_is_named():
    steadiness = {"cells": 0, "scattering": 0, "apart_percent": 0.0, "repeats": False}
    whole = {"rows": [], "steadiness": steadiness, "counter": "TSC", "tick_ns": 0.4, "core_hz": 1e9, "recording": "r"}

    def read(**other):
        fields = {key: value for key, value in {**whole, **other}.items() if value is not None}
        return _findings.read(json.dumps({"Batch": fields}))

    assert read().counter == "TSC"
    with pytest.raises(stopwatt.DataError, match="Batch has a key `more`"):
        read(more=1)
    with pytest.raises(stopwatt.DataError, match="Batch lacks the key `rows`"):
        read(rows=None)
    row = {
        "frame_size": 4,
        "clocks_per_packet": [1, 2.5],
        "outlier": True,
        "bytes": [1, 2, 3, 4],
        "instruction_bytes": 0,
        "published_kb": [1, 2.5, 4],
        "repetitions": [[1.0], [2.5]],
    }
    with pytest.raises(stopwatt.DataError, match="Batch.rows.outlier is 1"):
        read(rows=[{**row, "outlier": 1}])
    with pytest.raises(stopwatt.DataError, match="Batch.rows.bytes has 2 values"):
        read(rows=[{**row, "bytes": [1, 2]}])
