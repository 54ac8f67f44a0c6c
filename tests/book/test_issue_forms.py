"""The forms for issues are ones that GitHub can show, and nothing secret is asked for in public."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.book.notebooks import ROOT

FOLDER = ROOT / ".github" / "ISSUE_TEMPLATE"
FORMS = sorted(path.name for path in FOLDER.glob("*.yml") if path.name != "config.yml")
ASKED = {"input", "textarea", "dropdown", "checkboxes"}
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def form(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def faults(form: dict[str, Any]) -> list[str]:
    """Say why GitHub would not show a form."""
    found = [f"no {key}" for key in ("name", "description", "body") if not form.get(key)]
    fields = [field for field in form.get("body", []) if field["type"] != "markdown"]
    found += [f"no such field: {field['type']}" for field in fields if field["type"] not in ASKED]
    found += [
        f"no label: {field['id']}" for field in fields if not field["attributes"].get("label")
    ]
    names = [field.get("id") for field in fields]
    found += [] if len(names) == len(set(names)) and all(names) else ["fields share a name"]
    required = [field.get("validations", {}).get("required") for field in fields]
    return found if any(required) else [*found, "an empty issue can be sent"]


@pytest.mark.parametrize("name", FORMS)
def test_a_form_can_be_shown(name: str) -> None:
    assert faults(form(name)) == []


def test_the_guide_names_every_form() -> None:
    assert len(FORMS) == 3
    named = re.findall(r"^- \*\*(.+?):?\*\*", GUIDE.split("## Report a hole")[0], re.MULTILINE)
    assert {form(name)["name"] for name in FORMS} == set(named)


def test_the_links_of_the_pages_still_work() -> None:
    # they open a plain issue, which GitHub refuses where only forms are allowed
    assert form("config.yml")["blank_issues_enabled"] is True


def test_who_finds_a_hole_is_sent_elsewhere() -> None:
    said = " ".join(field["attributes"].get("value", "") for field in form("problem.yml")["body"])
    assert "CONTRIBUTING.md" in said
    policy = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf-8")
    [anchor] = re.findall(r"\(\.\./CONTRIBUTING\.md#([\w-]+)\)", policy)
    headings = re.findall(r"^## (.+)$", GUIDE, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}
    assert anchor in slugs


def test_no_address_is_made_up() -> None:
    paths = [*sorted(FOLDER.iterdir()), FOLDER.parent / "SECURITY.md"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    found = {name: re.findall(r"https?://\S+|\S+@\S+\.\w+", text) for name, text in texts.items()}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": ""}, "no name"),
        (
            {"body": [{"type": "text", "id": "a", "attributes": {"label": "A"}}]},
            "no such field: text",
        ),
        ({"body": [{"type": "input", "id": "a", "attributes": {}}]}, "no label: a"),
        (
            {"body": [{"type": "input", "id": "a", "attributes": {"label": "A"}}] * 2},
            "fields share a name",
        ),
    ],
)
def test_a_form_that_cannot_be_shown_is_found(change: dict[str, Any], fault: str) -> None:
    assert fault in faults(form("error.yml") | change)
