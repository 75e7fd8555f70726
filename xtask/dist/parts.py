#!/usr/bin/env python3
"""The parts of a program: a bill of materials in CycloneDX's JSON, and the licences of all crates.

    parts.py METADATA LOCK TARGET FOLDER

METADATA is what `cargo metadata` prints for the target, LOCK is Cargo.lock. The same input gives the same bytes.
"""

import json
import pathlib
import sys
import tomllib
import uuid

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot5
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

PROGRAMS = ["stopwatt", "stopwatt-explore"]


def reached(metadata):
    """The first program, and the packages that the programs are built from: without what tests alone need."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    first, *others = (package["id"] for package in sorted(packages.values(), key=lambda package: package["name"]) if package["name"] in PROGRAMS)
    found, left = set(), [first, *others]
    while left:
        package = left.pop()
        if package in found:
            continue
        found.add(package)
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    return packages[first], sorted((packages[package] for package in found), key=lambda package: (package["name"], package["version"]))


def licence(package):
    # Crates of some years ago write a slash for a choice.
    return (package["license"] or "LicenseRef-unknown").replace("/", " OR ")


def component(package, sums, kind=ComponentType.LIBRARY):
    sha256 = sums.get((package["name"], package["version"]))
    url = PackageURL("cargo", name=package["name"], version=package["version"])
    return Component(
        name=package["name"],
        version=package["version"],
        type=kind,
        purl=url if sha256 else None,
        bom_ref=f"{package['name']}@{package['version']}",
        description=package["description"],
        licenses=[LicenseExpression(licence(package))],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else [],
    )


def main():
    metadata_file, lock_file, target, folder = sys.argv[1:]
    metadata = json.loads(pathlib.Path(metadata_file).read_text())
    lock = tomllib.loads(pathlib.Path(lock_file).read_text())
    sums = {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}
    program, packages = reached(metadata)
    foreign = [package for package in packages if sums.get((package["name"], package["version"]))]
    unknown = [package["name"] for package in foreign if not package["license"]]
    if unknown:
        sys.exit(f"no licence is named by {', '.join(unknown)}")
    bom = Bom(components=[component(package, sums) for package in packages if package is not program])
    bom.metadata.component = component(program, sums, ComponentType.APPLICATION)
    bom.register_dependency(bom.metadata.component, list(bom.components))
    text = json.loads(JsonV1Dot5(bom).output_as_string())
    # What changes from run to run is left out, or made of the contents.
    text["metadata"].pop("timestamp", None)
    text.pop("serialNumber", None)
    body = json.dumps(text, sort_keys=True)
    text["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, body)}"
    whole = json.dumps(text, indent=1, sort_keys=True) + "\n"
    wrong = JsonStrictValidator(SchemaVersion.V1_5).validate_str(whole)
    if wrong:
        sys.exit(f"the bill of materials is not valid: {wrong}")
    folder = pathlib.Path(folder)
    (folder / f"stopwatt-{target}.cdx.json").write_text(whole)
    lines = ["| crate | version | licence |", "| ----- | ------- | ------- |"]
    lines += [f"| {package['name']} | {package['version']} | {licence(package)} |" for package in foreign]
    head = f"# Licences of what the program for {target} is built from\n\nStopwatt itself: {licence(program)}.\n\n"
    (folder / f"LICENCES-{target}.md").write_text(head + "\n".join(lines) + "\n")
    print(f"{len(packages)} crates, {len(foreign)} of them from the registry")


if __name__ == "__main__":
    main()
