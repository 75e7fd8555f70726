"""What experiments found: the classes of :attr:`stopwatt.Recording.findings`, made from the schema that the extension has.

Static checkers read the same text as ``findings.pyi``, which the build of the wheel writes.
"""

import json

from . import _native, _schema

exec(_schema.Schema(json.loads(_native.findings_schema())).text(), globals())
