"""The database of the gradebook: its address, its tables, and how a transaction begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbgrader.api as nb
from alembic.script import ScriptDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    DateTime,
    Engine,
    Float,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from grading.private import make_file

# nbgrader's tables
ASSIGNMENT = nb.Assignment.__table__
NOTEBOOK = nb.Notebook.__table__
CELL = nb.BaseCell.__table__
GRADE_CELL = nb.GradeCell.__table__
SOLUTION_CELL = nb.SolutionCell.__table__
STUDENT = nb.Student.__table__
SUBMISSION = nb.SubmittedAssignment.__table__
SUBMITTED = nb.SubmittedNotebook.__table__
GRADE = nb.Grade.__table__
COMMENT = nb.Comment.__table__

COURSE = "default_course"
DATABASE = "gradebook.db"
"""The file in a course folder."""
NAME = 128
"""How many characters nbgrader has room for in a name."""
PATIENCE = 60_000
"""Milliseconds to wait while somebody else, such as formgrader, writes to an SQLite file."""
WRITES = "grading_writes"

# ids sort as in Python, whatever the language of the database
IDENTIFIER = String(NAME).with_variant(String(NAME, collation="C"), "postgresql")
TABLES = MetaData()
VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), nullable=False))
RUNS = Table(
    "grading_run",
    TABLES,
    Column("assignment", String(NAME), primary_key=True),
    Column("run", String(NAME), primary_key=True),
    Column("secret", String(32), nullable=False),
    Column("started", DateTime(timezone=True), nullable=False),
)
RESULTS = Table(
    "grading_result",
    TABLES,
    Column("assignment", String(NAME), primary_key=True),
    Column("student_id", IDENTIFIER, primary_key=True),
    Column("name", Text, nullable=False),
    Column("lms_id", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("message", Text, nullable=False),
    Column("digest", String(NAME), nullable=False),
    Column("run", String(NAME), nullable=False),
    Column("cpu_seconds", Float, nullable=False),
    Column("marks", JSON, nullable=False),
)
BY_HAND = Table(
    "grading_by_hand",
    TABLES,
    Column("assignment", String(NAME), primary_key=True),
    Column("student_id", IDENTIFIER, primary_key=True),
    Column("question", String(NAME), primary_key=True),
    Column("paragraph", String(NAME), primary_key=True),  # the digest of what was answered
    Column("maximum", Float, nullable=False),
    Column("points", Float),
    Column("extra", Float),
    Column("comment", Text),
    Column("version", String(NAME)),  # of the check; older gradebooks do not know it
)
CHECKS = Table(
    "grading_check",
    TABLES,
    Column("assignment", String(NAME), primary_key=True),
    Column("question", String(NAME), primary_key=True),
    Column("version", String(NAME), nullable=False),
)
ACCEPTED = Table(
    "grading_accepted",
    TABLES,
    Column("assignment", String(NAME), primary_key=True),
    Column("student_id", IDENTIFIER, primary_key=True),
    Column("content", String(64), primary_key=True),
)
RECEIPTS = Table(
    "grading_receipt",
    TABLES,
    Column("assignment", String(NAME), primary_key=True),
    Column("student_id", IDENTIFIER, primary_key=True),
    Column("submitted", String(32)),  # in UTC, as ISO 8601 has it
    Column("is_late", Boolean),
    Column("origin", Text, nullable=False),
    Column("content", String(64), nullable=False),
)
# nbgrader and the grader look these up for each submission, and nbgrader has no index for them
INDEXED = {
    "grade": "notebook_id",
    "comment": "notebook_id",
    "submitted_notebook": "assignment_id",
    "base_cell": "notebook_id",
}


def database(out: Path, url: str | None) -> str:
    """Return the address of the gradebook of a course folder, or the one that was given."""
    return url or f"sqlite:///{(out / DATABASE).resolve()}"


def database_url(url: str) -> URL:
    """Return the address of a database as SQLAlchemy wants it.

    It is ``sqlite:///<path>`` or ``postgresql://<user>@<host>/<database>``. PostgreSQL is spoken to
    by psycopg 3, unless the address names another driver. A ValueError for any other address does
    not repeat it, since it may hold a password.

    Examples
    --------
    >>> str(database_url("postgresql://grader@localhost/grades"))
    'postgresql+psycopg://grader@localhost/grades'
    """
    try:
        found = make_url(url)
    except ArgumentError:
        raise ValueError("the address of the database must be like sqlite:///<path>") from None
    kind = found.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise ValueError(f"the database must be SQLite or PostgreSQL; got {kind}")
    if kind == "sqlite" and found.database in (None, "", ":memory:"):
        raise ValueError("the database must be a file, sqlite:///<path>; got one in memory")
    if found.drivername == "postgresql":
        found = found.set(drivername="postgresql+psycopg")
    return found


def open_database(url: URL) -> nb.Gradebook:
    """Return nbgrader's gradebook on a database that has all tables.

    Raises ValueError if the database cannot be reached, or holds something else.
    """
    shown = url.render_as_string(hide_password=True)
    try:
        _create(url, shown)
        gradebook = nb.Gradebook(url.render_as_string(hide_password=False), COURSE)
    except (SQLAlchemyError, ImportError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
        raise ValueError(f"the gradebook {shown} cannot be opened: {reason}") from error
    gradebook.db.remove()
    gradebook.engine.dispose()
    _begin_explicitly(gradebook.engine)
    return gradebook


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Run one transaction that writes: it takes effect as a whole or not at all."""
    with (
        engine.connect().execution_options(**{WRITES: True}) as connection,
        connection.begin(),
    ):
        yield connection


def _create(url: URL, shown: str) -> None:
    """Make the tables that are missing, unless the database is somebody else's."""
    if url.get_backend_name() == "sqlite" and url.database:
        make_file(Path(url.database))
    engine = create_engine(url)
    _begin_explicitly(engine)
    try:
        with writing(engine) as connection:
            _create_tables(connection, shown)
    finally:
        engine.dispose()


def _create_tables(connection: Connection, shown: str) -> None:
    """Make nbgrader's tables in an empty database, and the grader's own where they are missing."""
    found = set(inspect(connection).get_table_names())
    newest = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    if not found:
        nb.Base.metadata.create_all(connection)
        # nbgrader would start a program to learn its own version
        VERSION.create(connection)
        connection.execute(insert(VERSION), {"version_num": newest})
    elif not {VERSION.name, *nb.Base.metadata.tables} <= found:
        raise ValueError(f"the database {shown} is no gradebook; it has the table {min(found)}")
    if (version := connection.scalar(select(VERSION.c.version_num))) != newest:
        raise ValueError(
            f"the gradebook {shown} is of another version of nbgrader ({version}; wanted is "
            f"{newest}); `nbgrader db upgrade` brings an older one up to date"
        )
    TABLES.create_all(connection)
    if "version" not in {each["name"] for each in inspect(connection).get_columns(BY_HAND.name)}:
        connection.execute(text(f"ALTER TABLE {BY_HAND.name} ADD COLUMN version VARCHAR({NAME})"))
    for table, column in INDEXED.items():
        name = f"grading_{table}_{column}"
        connection.execute(text(f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({column})"))


def _begin_explicitly(engine: Engine) -> None:
    """Let a transaction of SQLite that writes lock the file at once, and wait for its turn.

    Otherwise one that reads before it writes fails where formgrader has written in between.
    """
    if engine.dialect.name != "sqlite":
        return

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
