"""Documents: dictionaries with helpers that make data frames of them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Dict, List

from ._error import RockhoundError

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import polars  # type: ignore[import-not-found,import-untyped,unused-ignore]

Row = Dict[str, Any]


class Inspection(Dict[str, Any]):
    """Kernels and what limits them; the fields are those of the schema ``rockhound.inspect/1``."""

    def rows(self) -> List[Row]:
        """One flat dictionary per kernel: names, resources, occupancy, and the rules that fired."""
        rows = []
        for kernel in self["kernels"]:
            row: Row = {name: kernel.get(name) for name in ("file", "target", "name", "demangled")}
            for group in ("resources", "occupancy"):
                values = kernel.get(group) or {}
                row.update({name: value for name, value in values.items() if _is_scalar(value)})
            row["findings"] = len(kernel["findings"])
            row["rules"] = " ".join(sorted({finding["rule"] for finding in kernel["findings"]}))
            rows.append(row)
        return rows

    def to_pandas(self) -> "pandas.DataFrame":
        """One row per kernel, as a pandas data frame."""
        return _pandas(_columns(self.rows()))

    def to_polars(self) -> "polars.DataFrame":
        """One row per kernel, as a polars data frame."""
        return _polars(_columns(self.rows()))


class Document(Dict[str, Any]):
    """The answer of a command; the fields are in its schema in ``docs/schema``.

    A command that was asked for something else, such as ``doctor(fix=True)`` for a script, has what it printed in ``text`` and what it
    said in ``messages``.

    Attributes:
        code: exit code of the command: 2 if a condition of ``fail_on`` is met, or a candidate of ``judge`` is refused.
    """

    code: int

    def __init__(self, fields: Dict[str, Any], code: int = 0) -> None:
        super().__init__(fields)
        self.code = code

    def table(self, table: str) -> Dict[str, Any]:
        """A table by its number, ``"2.1"``, or its title."""
        for each in self.get("tables", []):
            if table in (each.get("id"), each["title"]):
                return dict(each)
        known = ", ".join(_name(each) for each in self.get("tables", []))
        raise RockhoundError(f"the answer has no table `{table}`", f"it has {known}" if known else None)

    def rows(self, table: str) -> List[Row]:
        """The rows of a table as flat dictionaries.

        A value that is not known is ``None``, and the column ``missing`` has the reason. In a comparison the columns of later
        recordings have their names before them.
        """
        found = self.table(table)
        recordings = [each["name"] for each in self.get("inputs", [])]
        titles = [
            column["title"] if not column.get("recording") else f"{recordings[column['recording']]}: {column['title']}"
            for column in found["columns"]
        ]
        rows = []
        for each in found["rows"]:
            row: Row = {"id": each.get("id"), "label": each.get("label"), "metric": each.get("metric"), "unit": each.get("unit")}
            reasons = []
            for title, cell in zip(titles, each["cells"]):
                if isinstance(cell, dict) and "missing" in cell:
                    reasons.append(str(cell["missing"]))
                    cell = None
                elif isinstance(cell, dict):
                    row[f"{title} change %"] = cell.get("change_percent")
                    row[f"{title} beyond noise"] = cell.get("beyond_noise")
                    cell = cell.get("value")
                    if isinstance(cell, dict):
                        reasons.append(str(cell.get("missing")))
                        cell = None
                row[title] = cell
            row["missing"] = "; ".join(dict.fromkeys(reasons)) or None
            rows.append(row)
        return rows

    def to_pandas(self, table: str) -> "pandas.DataFrame":
        """A table, by number or title, as a pandas data frame."""
        return _pandas(_columns(self.rows(table)))

    def to_polars(self, table: str) -> "polars.DataFrame":
        """A table, by number or title, as a polars data frame."""
        return _polars(_columns(self.rows(table)))

    def _repr_html_(self) -> str:
        """Findings and tables, for notebooks."""
        return _html(self)


class Report(Document):
    """A report on recordings; the fields are in the schema ``rockhound.analyze/2``."""


class Recording(Dict[str, Any]):
    """A recording's columns; ``docs/python.md`` has the fields."""

    def data(self) -> Dict[str, List[Any]]:
        """The columns by name, each with a value per dispatch; ``None`` where nothing was recorded."""
        return {column["name"]: column["values"] for column in self["columns"]}

    def to_pandas(self) -> "pandas.DataFrame":
        """One row per dispatch, as a pandas data frame; whole numbers with gaps are of its type ``Int64``."""
        frame = _pandas(self.data())
        import pandas

        for column in self["columns"]:
            values = column["values"]
            if None in values and all(value is None or isinstance(value, int) for value in values):
                # As a float a time in nanoseconds would lose its last digits.
                frame[column["name"]] = pandas.array(values, dtype="Int64")
        return frame

    def to_polars(self) -> "polars.DataFrame":
        """One row per dispatch, as a polars data frame."""
        return _polars(self.data())


_SHOWN = 50
"""Rows of a table and findings that a notebook shows."""


def _name(table: Dict[str, Any]) -> str:
    return f"{table.get('id', '')} {table['title']}".strip()


def _html(document: Document) -> str:
    parts = [f"<p><b>{escape(str(document.get('schema', '')))}</b></p>"]
    verdict = document.get("verdict")
    if isinstance(verdict, dict) and "headline" in verdict:
        parts.append(f"<p>{escape(str(verdict.get('kernel', '')))}: <b>{escape(str(verdict['headline']))}</b></p>")
    findings = [
        [each.get("rule"), each.get("severity"), each.get("kernel") or "", each.get("message"), each.get("cost") or ""]
        for each in document.get("findings", [])
    ]
    if findings:
        parts.append(_table(["rule", "severity", "kernel", "finding", "cost"], findings))
    for each in document.get("tables", []):
        rows = document.rows(each.get("id") or each["title"])
        names = [name for name in _columns(rows) if any(row.get(name) is not None for row in rows)]
        cells = [[row.get(name) for name in names] for row in rows]
        parts.append(f"<details><summary>{escape(_name(each))}</summary>{_table(names, cells)}</details>")
    if len(parts) == 1:
        fields = [[name, value] for name, value in document.items() if _is_scalar(value)]
        parts.append(_table(["field", "value"], fields))
    return "".join(parts)


def _table(names: List[str], rows: List[List[Any]]) -> str:
    def cell(value: Any) -> str:
        text = f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
        return f"<td>{escape(text)}</td>"

    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows[:_SHOWN])
    more = f"<p>{len(rows) - _SHOWN} more rows</p>" if len(rows) > _SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _columns(rows: List[Row]) -> Dict[str, List[Any]]:
    names: Dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    return {name: [row.get(name) for row in rows] for name in names}


def _pandas(columns: Dict[str, List[Any]]) -> "pandas.DataFrame":
    try:
        import pandas
    except ImportError as error:
        raise RockhoundError("pandas is not installed", "`pip install pandas`") from error
    return pandas.DataFrame(columns)


def _polars(columns: Dict[str, List[Any]]) -> "polars.DataFrame":
    try:
        import polars
    except ImportError as error:
        raise RockhoundError("polars is not installed", "`pip install polars`") from error
    # A column may be whole numbers up to a row with a fraction: all rows decide its type.
    return polars.DataFrame(columns, strict=False, infer_schema_length=None)
