"""How kernel handlers read their JSON arguments: the checked style and the unchecked one (siyuan-api A0.1). No I/O."""

from __future__ import annotations

from typing import Any, Final

from kernel.ids import is_node_id

_TYPE_NAMES: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (bool, "Boolean"),
    (str, "String"),
    ((int, float), "Number"),
    (list, "Array"),
    (dict, "Object"),
)


class ApiError(Exception):
    """A business error: HTTP 200 and the envelope ``{code, msg, data}``."""

    def __init__(self, message: str, code: int = -1, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Panic(Exception):
    """The kernel's handler would panic here: HTTP 200, code 0, empty message, data null (siyuan-api A0.1, style 2)."""


class EmptyAnswer(Exception):
    """The kernel's handler would write nothing: HTTP 200 with an empty body and no Content-Type (kernel-facts 9, 13)."""


class Arguments:
    """The decoded body of one call.

    ``required_*``/``optional_*`` are the checked style and raise ApiError with the kernel's own words; ``raw_*`` are
    the unchecked style and raise Panic where the kernel's type assertion would.
    """

    __slots__ = ("values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)

    # --- checked ---------------------------------------------------------------------------------------------
    def required_str(self, name: str, *, may_be_empty: bool = False) -> str:
        value = self._checked(name, str, is_required=True)
        assert isinstance(value, str)
        if may_be_empty:
            return value
        value = value.strip()
        if not value:
            raise ApiError(f"Field [{name}] must not be empty")
        return value

    def optional_str(self, name: str, default: str = "") -> str:
        value = self._checked(name, str, is_required=False)
        return default if value is None else str(value)

    def required_bool(self, name: str) -> bool:
        return bool(self._checked(name, bool, is_required=True))

    def optional_bool(self, name: str, default: bool = False) -> bool:
        value = self._checked(name, bool, is_required=False)
        return default if value is None else bool(value)

    def required_number(self, name: str) -> float:
        value = self._checked(name, (int, float), is_required=True)
        return float(value)

    def optional_number(self, name: str, default: float = 0) -> float:
        value = self._checked(name, (int, float), is_required=False)
        return default if value is None else float(value)

    def required_list(self, name: str) -> list[Any]:
        value = self._checked(name, list, is_required=True)
        assert isinstance(value, list)
        return value

    def optional_list(self, name: str) -> list[Any] | None:
        value = self._checked(name, list, is_required=False)
        return value if isinstance(value, list) else None

    def required_object(self, name: str) -> dict[str, Any]:
        value = self._checked(name, dict, is_required=True)
        assert isinstance(value, dict)
        return value

    def optional_object(self, name: str) -> dict[str, Any] | None:
        value = self._checked(name, dict, is_required=False)
        return value if isinstance(value, dict) else None

    def block_id(self, name: str = "id") -> str:
        """A checked id argument of the right form."""
        value = self.required_str(name, may_be_empty=True)
        if not is_node_id(value):
            raise ApiError("invalid ID argument")
        return value

    # --- unchecked -------------------------------------------------------------------------------------------
    def raw_str(self, name: str) -> str:
        return self._raw(name, str)  # type: ignore[no-any-return]

    def raw_bool(self, name: str) -> bool:
        return self._raw(name, bool)  # type: ignore[no-any-return]

    def raw_number(self, name: str) -> float:
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Panic(name)
        return float(value)

    def raw_list(self, name: str) -> list[Any]:
        return self._raw(name, list)  # type: ignore[no-any-return]

    def raw_object(self, name: str) -> dict[str, Any]:
        return self._raw(name, dict)  # type: ignore[no-any-return]

    def raw_str_list(self, name: str) -> list[str]:
        values = self.raw_list(name)
        if not all(isinstance(value, str) for value in values):
            raise Panic(name)
        return values

    # --- helpers ---------------------------------------------------------------------------------------------
    def _raw(self, name: str, kind: type) -> Any:
        value = self.values.get(name)
        if not isinstance(value, kind):
            raise Panic(name)
        return value

    def _checked(self, name: str, kind: type | tuple[type, ...], *, is_required: bool) -> Any:
        value = self.values.get(name)
        if value is None:
            if is_required:
                raise ApiError(f"Field [{name}] is required")
            return None
        is_stray_bool = isinstance(value, bool) and kind is not bool
        if is_stray_bool or not isinstance(value, kind):
            raise ApiError(f"Field [{name}] should be of type [{_type_name(kind)}]")
        return value


def _type_name(kind: type | tuple[type, ...]) -> str:
    return next(name for known, name in _TYPE_NAMES if known == kind)
