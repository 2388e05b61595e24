"""Builds strict JSON validators from the types an SDK ships, and turns pydantic's errors into complaints.

The SDK's types are taken as they are. In the schema that pydantic derives from them, lazy iterables become lists (a
lazy one would never be checked), numbers and strings are not converted, unknown keys can be forbidden, and the branches
of a union get labels, so that only the branch that was meant is reported.
"""

import json
import re
from functools import cache
from typing import Any, NamedTuple

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import PydanticCustomError, SchemaValidator, ValidationError, core_schema
from typing_extensions import is_typeddict

BRANCH = "\0"
TAGS = ("type", "role", "object", "stream")


class Complaint(NamedTuple):
    """One thing an SDK would not accept: where, as a JSON pointer, and why."""

    pointer: str
    message: str


UNSEEN_ERROR = Complaint("/", "the stream was to end in an error, but the SDK saw none")


@cache
def validator(shape: Any, extra: str) -> SchemaValidator:
    """A validator for `shape`, where `extra` says whether unknown keys are `forbid` or `allow`."""
    has_own_config = hasattr(shape, "model_config") or is_typeddict(shape)
    adapter = TypeAdapter(shape, config=None if has_own_config else ConfigDict(arbitrary_types_allowed=True))
    adapter.rebuild(force=True)
    # A model's validator that was built before would be used in place of the changed schema.
    return SchemaValidator(_strict_schema(adapter.core_schema, extra, {}), _use_prebuilt=False)


def complaints(shape: Any, body: str | bytes, extra: str = "forbid", at: str = "") -> list[Complaint]:
    """Everything that makes the JSON text `body`, which stands at the pointer `at`, no value of `shape`."""
    try:
        validator(shape, extra).validate_json(body)
    except ValidationError as error:
        found = _meant(error.errors(include_url=False, include_context=False))
        return [Complaint(at + pointer, message) for pointer, message in found]
    return []


def value_complaints(shape: Any, value: Any, extra: str = "forbid") -> list[Complaint]:
    """As `complaints`, for a value that was already parsed."""
    return complaints(shape, json.dumps(value), extra)


def _pointer(location: tuple) -> str:
    """The JSON pointer of a pydantic location, union branches left out."""
    keys = [str(key) for key in location if not _is_branch(key)]
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys) or "/"


def _strict_schema(node: Any, extra: str, seen: dict) -> Any:
    if isinstance(node, (list, tuple)):
        return type(node)(_strict_schema(item, extra, seen) for item in node)
    if not isinstance(node, dict):
        return node
    if id(node) not in seen:
        seen[id(node)] = fresh = {}
        fresh.update({key: _strict_schema(item, extra, seen) for key, item in node.items()})
        _adjust(fresh, extra)
    return seen[id(node)]


def _adjust(node: dict, extra: str) -> None:
    kind = node.get("type")
    if not isinstance(kind, str):
        return
    if kind == "generator":
        node["type"] = "list"
        node.pop("serialization", None)
    elif kind == "union":
        node["choices"] = [_labelled(choice, position) for position, choice in enumerate(node["choices"])]
    elif kind in ("model-fields", "typed-dict"):
        node["extra_behavior"] = extra
    elif kind in ("str", "int", "float", "bool"):
        # Times and bytes stay lax: they are strings on the wire.
        node["strict"] = True
    elif kind == "enum":
        _restrict(node, node["members"])
    if isinstance(config := node.get("config"), dict):
        # On the wire a field has one name, its alias.
        config.pop("populate_by_name", None)
        config.pop("validate_by_name", None)
        config["extra_fields_behavior"] = extra


def _restrict(node: dict, members: list) -> None:
    """Takes the names of an enum in any case, and no others; an SDK that takes every name is not followed in that."""
    names = sorted(str(member.value) for member in members)

    def check(value: Any) -> Any:
        if str(value).upper() not in (name.upper() for name in names):
            raise PydanticCustomError("enum", "Input should be one of {names}", {"names": ", ".join(names)})
        return value

    node.clear()
    node.update(core_schema.no_info_plain_validator_function(check))


def _labelled(choice: Any, position: int) -> tuple:
    schema = choice[0] if isinstance(choice, tuple) else choice
    return (schema, f"{BRANCH}{position}")


def _is_branch(key: Any) -> bool:
    return isinstance(key, str) and key.startswith(BRANCH)


def _meant(errors: list[dict], depth: int = 0) -> list[Complaint]:
    """Keeps, at each union, only the errors of the branch that fits best."""
    kept, branches = [], {}
    for error in errors:
        place = next((i for i in range(depth, len(error["loc"])) if _is_branch(error["loc"][i])), None)
        if place is None:
            kept.append(_complaint(error))
        else:
            branches.setdefault(error["loc"][:place], {}).setdefault(error["loc"][place], []).append(error)
    for prefix, union in branches.items():
        depth = len(prefix) + 1
        best = min(union.values(), key=lambda group: _misfit(group, depth))
        known = _meant(best, depth)
        kept.extend(_no_variant(known) if len(union) > 1 and _misfit(best, depth)[0] else known)
    return kept


def _no_variant(best: list[Complaint]) -> list[Complaint]:
    return [Complaint(at, f"no variant of the SDK's type fits; the nearest says: {why}") for at, why in best]


def _misfit(errors: list[dict], depth: int) -> tuple:
    """How badly a branch fits: a wrong tag says another was meant, then a wrong JSON kind, then wrong keys."""
    return (
        any(_wrong_tag(error, depth) for error in errors),
        any(not _keys(error, depth) for error in errors),
        sum(_wrong_key(error, depth) for error in errors),
        len(errors),
    )


def _wrong_tag(error: dict, depth: int) -> bool:
    keys = _keys(error, depth)
    return len(keys) == 1 and keys[0] in TAGS and error["type"] in ("literal_error", "missing")


def _wrong_key(error: dict, depth: int) -> bool:
    return len(_keys(error, depth)) == 1 and error["type"] in ("missing", "extra_forbidden")


def _keys(error: dict, depth: int) -> list:
    return [key for key in error["loc"][depth:] if not _is_branch(key)]


def _complaint(error: dict) -> Complaint:
    found = json.dumps(error.get("input"), default=str, ensure_ascii=False)
    found = re.sub(r"(?<=^.{60}).+", "…", found, flags=re.S)
    return Complaint(_pointer(error["loc"]), f"{error['msg']} (found {found})")
