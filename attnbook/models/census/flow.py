"""Follow queries and keys through a class to its softmax, collecting what multiplies them.

The interpreter runs ``__init__`` and ``forward`` on values of which it knows only the kind and the
scalars that they were multiplied by. Where a condition depends on a default of the configuration it
takes that branch; where nothing is known of it, it takes both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from attnbook.models.census.factors import HALF, ONE, ROOT, Monomial
from attnbook.models.census.wheels import Source

DEPTH, MOST, SHORT = 4, 12, 4000
INTERFACE = {"attention_interface", "attn_interface", "attention_fn", "attention_function"}
EAGER = re.compile(r"\w*eager\w*attention_forward\w*")
FLASH = {"_flash_attention_forward", "flash_attn_func", "flash_attn_varlen_func", "flex_attention"}
PRODUCTS = {"matmul", "bmm", "einsum", "baddbmm"}
ROTARY = re.compile(r"rot|rope|repeat_kv", re.IGNORECASE)
HARMLESS = re.compile(
    r".*(?:\bcos|\bsin|_cos\b|_sin\b|cos_|sin_|mask|\bnot_pad).*", re.IGNORECASE | re.DOTALL
)
NORM = re.compile(r"norm|\bln_", re.IGNORECASE)
SWITCH = re.compile(r"\b(?:scale_attn\w*|\w*(?:mscale|inverse_layer|multiplier)\w*)\b")
PROJECTION = re.compile("Proj|Query|Key|QK")
NORM_LAYER = re.compile(r"\w*(?:RMS|Layer|Group|L2|Batch)_?Norm\w*")
QUERY = re.compile(r"(?:.*[._])?(?:q|k|query|key|queries|keys)(?:_.*)?")


@dataclass(frozen=True)
class Value:
    """What is known of a value.

    Its kind is ``number``, ``constant``, ``config``, ``module``, ``tuple``, ``tensor``, ``scores``
    (a product of two tensors), ``weights`` (after softmax), or ``unknown``.
    """

    kind: str
    factors: frozenset[Monomial] = frozenset({ONE})
    text: str = ""
    constant: Any = None
    items: tuple[Value, ...] = ()
    is_normed: bool = False
    is_capped: bool = False
    is_partial: bool = False  # a product with something that is neither query nor key


NONE = Value("constant")
UNKNOWN = Value("unknown")
#: What functions make whatever they are given.
MADE = {
    **dict.fromkeys(
        ("linear", "conv1d", "conv2d", "zeros", "zeros_like", "empty", "ones"), Value("tensor")
    ),
    **dict.fromkeys(
        ("normalize", "l2norm", "l2_norm", "rms_norm"), Value("tensor", is_normed=True)
    ),
    "Parameter": Value("unknown", text="learned"),
}


@dataclass(frozen=True)
class Softmax:
    """A softmax of products of queries and keys: what multiplies them, and what else was done."""

    factors: frozenset[Monomial]
    how: str
    is_normed: bool = False
    is_capped: bool = False


class UnreadableError(Exception):
    """The interpreter meets what it cannot follow."""


def number(monomial: Monomial) -> Value:
    """Return a scalar that is known."""
    return Value("number", frozenset({monomial}))


def product(first: Iterable[Monomial], second: Iterable[Monomial]) -> frozenset[Monomial]:
    """Return all products of two sets of factors."""
    found = frozenset(one * other for one in first for other in second)
    if len(found) > MOST:
        raise UnreadableError("too many ways")
    return found


def merge(one: Value, other: Value) -> Value:
    """Return what is known of a value that is one or the other."""
    if one == other:
        return one
    if one.kind == "tuple" and other.kind == "tuple" and len(one.items) == len(other.items):
        items = tuple(map(merge, one.items, other.items))
        return replace(one, items=items)
    if one == NONE or other == NONE:
        return other if one == NONE else one
    first, second = sorted((one, other), key=lambda value: value.kind == "unknown")
    if first.kind == "number" and second.kind == "unknown":
        other = Value("number", symbols(second))
        return replace(first, factors=first.factors | other.factors)
    return replace(
        first,
        factors=one.factors | other.factors,
        is_normed=one.is_normed or other.is_normed,
        is_capped=one.is_capped or other.is_capped,
    )


def symbols(value: Value, text: str = "") -> frozenset[Monomial]:
    """Return what is not known as a quantity with a name."""
    return product(value.factors, {Monomial.of(value.text or text or "?")})


class Interpreter:
    """One class of a file, run on what is known.

    Parameters
    ----------
    source : Source
        The file.
    name : str
        The class.
    defaults : Mapping
        Defaults of its configuration, by the name of the field.
    is_default : bool
        Whether conditions on these defaults are decided; otherwise both branches are taken.
    """

    def __init__(
        self, source: Source, name: str, defaults: Mapping[str, Any], *, is_default: bool = True
    ) -> None:
        self._source, self._defaults, self._is_default = source, defaults, is_default
        self._chain = source.bases(name)
        self._attributes: dict[str, Value] = {}
        self.events: list[Softmax] = []
        self._depth = 0
        self.switches: set[str] = set()

    # -- running ------------------------------------------------------------------------------

    def run(self) -> list[Softmax]:
        """Run ``__init__`` and ``forward``; return each softmax that was met."""
        for method in ("__init__", "forward"):
            node = self._method(method)
            if node is not None:
                self._call_function(node, [], {}, is_method=True, is_entry=method == "forward")
        return list(dict.fromkeys(self.events))

    def run_on(self, given: list[Value], depth: int) -> Value | None:
        """Run ``__init__``, and ``forward`` on tensors; return what it returns."""
        self._depth = depth
        init, forward = self._method("__init__"), self._method("forward")
        if init is not None:
            self._call_function(init, [], {}, is_method=True)
        return forward and self._call_function(forward, given, {}, is_method=True)

    def _method(self, name: str, after: str = "") -> ast.FunctionDef | None:
        found = [
            (node.name, item)
            for node in self._chain
            for item in node.body
            if isinstance(item, ast.FunctionDef) and item.name == name
        ]
        if after:
            names = [owner for owner, _ in found]
            found = found[names.index(after) + 1 :] if after in names else found[1:]
        return found[0][1] if found else None

    def _call_function(
        self,
        node: ast.FunctionDef,
        given: Sequence[Value],
        named: Mapping[str, Value],
        *,
        is_method: bool,
        is_entry: bool = False,
    ) -> Value | None:
        if self._depth >= DEPTH:
            return None
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        decorators = {ast.unparse(item) for item in node.decorator_list}
        if is_method and "staticmethod" not in decorators:
            names = names[1:]
        every = [*names, *(argument.arg for argument in node.args.kwonlyargs)]
        preset = dict(zip(reversed(names), reversed(node.args.defaults), strict=False))
        preset |= {
            argument.arg: value
            for argument, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if value is not None
        }
        bound = dict(zip(names, given, strict=False)) | {
            name: value for name, value in named.items() if name in every
        }
        scope = {}
        for name in every:
            if name in bound:
                scope[name] = bound[name]
            elif name in ("config", "cfg"):
                scope[name] = Value("config", text="config")
            elif name in preset and isinstance(preset[name], ast.Constant):
                constant = preset[name].value
                is_count = isinstance(constant, int | float) and not isinstance(constant, bool)
                is_open = is_count or is_entry
                known = Value("constant", constant=constant)
                scope[name] = UNKNOWN if is_open else known
                scope[name] = replace(scope[name], text=name)
            else:
                scope[name] = Value("unknown", text=name)
        self._depth += 1
        returned: list[Value] = []
        self._run_body(node.body, scope, returned)
        self._depth -= 1
        result = None
        for value in returned:
            result = value if result is None else merge(result, value)
        return result

    def _run_body(
        self, body: Sequence[ast.stmt], scope: dict[str, Value], returned: list[Value]
    ) -> bool:
        """Run statements in a scope; say whether what follows is still reached."""
        return all(self._run_statement(item, scope, returned) for item in body)

    def _run_statement(
        self, item: ast.stmt, scope: dict[str, Value], returned: list[Value]
    ) -> bool:
        match item:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self._assign(item, scope)
            case ast.Expr(value=value):
                self.evaluate(value, scope)
            case ast.Return(value=value):
                returned.append(self.evaluate(value, scope) if value is not None else NONE)
                return False
            case ast.Raise():
                return False
            case ast.If(test=test, body=body, orelse=orelse):
                return self._branch(test, body, orelse, scope, returned)
            case ast.For(target=target, body=body):
                self._bind(target, UNKNOWN, scope)
                self._run_body(body, scope, returned)
            case ast.While(body=body) | ast.With(body=body) | ast.Try(body=body):
                return self._run_body(body, scope, returned)
            case _:
                pass
        return True

    def _assign(
        self, item: ast.Assign | ast.AnnAssign | ast.AugAssign, scope: dict[str, Value]
    ) -> None:
        value = item.value
        if isinstance(item, ast.AugAssign):
            value = ast.BinOp(_loaded(item.target), item.op, item.value)
        if value is not None:
            got = self.evaluate(value, scope)
            for target in item.targets if isinstance(item, ast.Assign) else [item.target]:
                self._bind(target, got, scope)

    def _branch(
        self,
        test: ast.expr,
        body: Sequence[ast.stmt],
        orelse: Sequence[ast.stmt],
        scope: dict[str, Value],
        returned: list[Value],
    ) -> bool:
        truth = self._truth(test, scope)
        if truth is not None:
            self.switches |= set(SWITCH.findall(ast.unparse(test)))
            return self._run_body(body if truth else orelse, scope, returned)
        first, second = dict(scope), dict(scope)
        before = dict(self._attributes)
        goes_on = self._run_body(body, first, returned)
        after, self._attributes = self._attributes, before
        goes_on_too = self._run_body(orelse, second, returned)
        if goes_on and goes_on_too:
            scope |= {
                name: merge(first.get(name, NONE), second.get(name, NONE))
                for name in first | second
            }
            self._attributes = {
                name: merge(after.get(name, NONE), self._attributes.get(name, NONE))
                for name in after | self._attributes
            }
        elif goes_on:
            scope |= first
            self._attributes = after
        elif goes_on_too:
            scope |= second
        return goes_on or goes_on_too

    def _bind(self, target: ast.expr, value: Value, scope: dict[str, Value]) -> None:
        match target:
            case ast.Name(id=name):
                is_plain = value.kind == "unknown" and value.factors == frozenset({ONE})
                scope[name] = replace(value, text=name) if is_plain else value
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                self._attributes[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                items = value.items if value.kind == "tuple" else ()
                for place, part in enumerate(parts):
                    if len(items) == len(parts):
                        self._bind(part, items[place], scope)
                    elif isinstance(part, ast.Name):
                        known = value.kind in ("tensor", "scores", "weights")
                        self._bind(part, value if known else Value("unknown", text=part.id), scope)
            case ast.Subscript(value=ast.Name(id=name)) if name in scope:
                scope[name] = merge(scope[name], value)
            case _:
                pass

    # -- conditions ---------------------------------------------------------------------------

    def _truth(self, test: ast.expr, scope: dict[str, Value]) -> bool | None:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(operand, scope)
                return None if truth is None else not truth
            case ast.BoolOp(op=op, values=values):
                truths = [self._truth(value, scope) for value in values]
                decides = isinstance(op, ast.Or)
                if decides in truths:
                    return decides
                return None if None in truths else not decides
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                one, other = (self._known(side, scope) for side in (left, right))
                if one is None or other is None:
                    return None
                if isinstance(op, ast.Is | ast.Eq):
                    return one[0] == other[0]
                if isinstance(op, ast.IsNot | ast.NotEq):
                    return one[0] != other[0]
                return None
            case ast.Call(func=ast.Name(id="hasattr"), args=[holder, ast.Constant(value=field)]):
                if self.evaluate(holder, scope).kind == "config" and self._is_default:
                    return True if field in self._defaults else None
                return None
        known = self._known(test, scope)
        return None if known is None or known == ("something",) else bool(known[0])

    def _known(self, node: ast.expr, scope: dict[str, Value]) -> tuple[Any, ...] | None:
        """Return the constant that an expression has by default, in a tuple, if it is known."""
        value = self.evaluate(node, scope)
        if value.kind == "constant":
            return (value.constant,)
        if value.kind == "number" and len(value.factors) == 1:
            (monomial,) = value.factors
            if not monomial.powers:
                return (monomial.constant,)
            name = monomial.powers[0][0]
            if monomial == Monomial.of(name) and name.startswith("config."):
                field = name.removeprefix("config.")
                if self._is_default and field in self._defaults:
                    return (self._defaults[field],)
                return None
            return ("something",)
        return ("something",) if value.kind in ("module", "scores") else None

    # -- expressions --------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, scope: dict[str, Value]) -> Value:
        """Return what is known of an expression."""
        match node:
            case ast.Constant(value=bool() | str() | None as constant):
                return Value("constant", constant=constant)
            case ast.Constant(value=int() | float() as constant):
                return number(Monomial(float(constant)))
            case ast.Name(id=name):
                return scope.get(name, Value("unknown", text=name))
            case ast.Attribute():
                return self._attribute(node, scope)
            case ast.BinOp():
                return self._operate(node, scope)
            case ast.BoolOp(op=ast.Or(), values=values):
                return self._first_true(values, scope)
            case ast.IfExp():
                return self._choose(node, scope)
            case ast.Subscript():
                return self._subscript(node, scope)
            case ast.Call():
                return self._call(node, scope)
        return self._evaluate_rare(node, scope)

    def _evaluate_rare(self, node: ast.expr, scope: dict[str, Value]) -> Value:
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return Value("tuple", items=tuple(self.evaluate(part, scope) for part in parts))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.evaluate(operand, scope)
                return replace(value, factors=product(value.factors, {Monomial(-1.0)}))
            case ast.NamedExpr(target=target, value=value):
                got = self.evaluate(value, scope)
                self._bind(target, got, scope)
                return got
            case ast.Starred(value=value):
                self.evaluate(value, scope)
                return UNKNOWN
        return Value("unknown", text=ast.unparse(node))

    def _choose(self, node: ast.IfExp, scope: dict[str, Value]) -> Value:
        truth = self._truth(node.test, scope)
        if truth is not None:
            self.switches |= set(SWITCH.findall(ast.unparse(node.test)))
            return self.evaluate(node.body if truth else node.orelse, scope)
        return merge(self.evaluate(node.body, scope), self.evaluate(node.orelse, scope))

    def _first_true(self, values: Sequence[ast.expr], scope: dict[str, Value]) -> Value:
        result: Value | None = None
        for value in values:
            truth = self._truth(value, scope)
            if truth is False:
                continue
            got = self.evaluate(value, scope)
            result = got if result is None else merge(result, got)
            if truth:
                break
        return result or NONE

    def _attribute(self, node: ast.Attribute, scope: dict[str, Value]) -> Value:
        name = node.attr
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "module"):
            holder = scope.get(node.value.id, Value("module", text="self"))
            is_self = node.value.id == "self" or holder.text == "self"
            if is_self and name in ("config", "cfg") and name not in self._attributes:
                return Value("config", text="config")
            if is_self:
                return self._attributes.get(name, Value("unknown", text=f"self.{name}"))
        base = self.evaluate(node.value, scope)
        if base.kind == "config":
            text = f"{base.text}.{name}"
            if name.endswith("config"):
                return Value("config", text=text)
            default = self._defaults.get(name)
            if self._is_default and isinstance(default, bool | str):
                return Value("constant", constant=default)
            return number(Monomial.of(text))
        if name == "shape":
            return Value("shape", text=base.text, constant=base.kind)
        if name in ("T", "mT", "data", "weight"):
            return base
        return Value("unknown", text=ast.unparse(node))

    def _subscript(self, node: ast.Subscript, scope: dict[str, Value]) -> Value:
        base = self.evaluate(node.value, scope)
        if base.kind == "shape":
            return self._size(base, ast.unparse(node.slice), ast.unparse(node))
        if base.kind == "tuple" and isinstance(node.slice, ast.Constant | ast.UnaryOp):
            place = ast.literal_eval(node.slice)
            if isinstance(place, int) and -len(base.items) <= place < len(base.items):
                return base.items[place]
        if base.kind in ("tensor", "scores", "weights"):
            return base
        if base.kind == "number" and len(base.factors) == 1:
            (monomial,) = base.factors
            if len(monomial.powers) == 1:
                return number(Monomial.of(f"{monomial.powers[0][0]}[{ast.unparse(node.slice)}]"))
        return replace(base, kind="unknown", text=ast.unparse(node))

    @staticmethod
    def _size(base: Value, place: str, text: str) -> Value:
        """Return a length of a tensor: the last of a query's or key's is the width."""
        is_query = base.constant == "tensor" or QUERY.fullmatch(base.text)
        if place in ("-1", "3") and is_query:
            return number(Monomial.of("d"))
        return Value("unknown", text=text)

    def _operate(self, node: ast.BinOp, scope: dict[str, Value]) -> Value:
        one, other = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        match node.op:
            case ast.MatMult():
                return self._product(one, other)
            case ast.Mult():
                return self._times(one, other, ast.unparse(node))
            case ast.Div() | ast.FloorDiv():
                if isinstance(node.op, ast.FloorDiv) and one.kind == "unknown":
                    one = Value("number", symbols(one))
                return self._times(
                    one, self._power(other, -1, ast.unparse(node.right)), ast.unparse(node)
                )
            case ast.Pow():
                exponent = self._plain(other)
                if exponent is None:
                    return Value("unknown", text=ast.unparse(node))
                return self._power(one, exponent, ast.unparse(node.left))
            case ast.Add() | ast.Sub():
                return self._add(one, other, node)
        return Value("unknown", text=ast.unparse(node))

    @staticmethod
    def _plain(value: Value) -> Fraction | None:
        if value.kind == "number" and len(value.factors) == 1:
            (monomial,) = value.factors
            if not monomial.powers:
                return Fraction(monomial.constant).limit_denominator(64)
        return None

    def _power(self, value: Value, exponent: Fraction | int, text: str) -> Value:
        if value.kind == "number":
            try:
                return replace(value, factors=frozenset(m.power(exponent) for m in value.factors))
            except (ValueError, ZeroDivisionError):
                return Value("unknown", text=text)
        if value.kind in ("tensor", "scores", "weights"):
            return Value("unknown", text=text)
        return Value("number", frozenset(m.power(exponent) for m in symbols(value, text)))

    def _times(self, one: Value, other: Value, text: str) -> Value:
        if one.kind == "number" and other.kind == "number":
            return replace(one, factors=product(one.factors, other.factors))
        if one.kind == "number" or (
            one.kind == "unknown" and other.kind not in ("unknown", "number")
        ):
            one, other = other, one
        if other.kind == "number":
            return replace(one, factors=product(one.factors, other.factors))
        if other.kind in ("constant", "tuple", "config", "shape", "module"):
            return Value("unknown", text=text)
        if one.kind == "unknown":
            if QUERY.fullmatch(other.text) and not QUERY.fullmatch(one.text):
                one, other = other, one
            if not QUERY.fullmatch(one.text):
                return Value("unknown", text=text)
        if HARMLESS.fullmatch(other.text[:60]) or one.kind == "weights" or other.kind != "unknown":
            return one
        return replace(one, factors=product(one.factors, symbols(other)))

    def _add(self, one: Value, other: Value, node: ast.BinOp) -> Value:
        kinds = (one.kind, other.kind)
        if kinds == ("number", "number"):
            symbols = sorted(
                str(m).rpartition(".")[2] for value in (one, other) for m in value.factors
            )
            plain = [self._plain(value) for value in (one, other)]
            if None not in plain:
                sign = -1 if isinstance(node.op, ast.Sub) else 1
                return number(Monomial(float(plain[0] + sign * plain[1])))
            return number(Monomial.of("+".join(symbols)))
        if "scores" in kinds:
            terms = [value for value in (one, other) if value.kind == "scores"]
            terms = [value for value in terms if not value.is_partial] or terms
            return terms[0] if len(terms) == 1 else merge(*terms)
        for kind in ("tensor", "weights"):
            if kind in kinds:
                return one if one.kind == kind else other
        return Value("unknown", text=ast.unparse(node))

    # -- calls --------------------------------------------------------------------------------

    def _product(self, one: Value, other: Value, by: Value | None = None) -> Value:
        if "weights" in (one.kind, other.kind):
            return Value("tensor")
        factors = product(one.factors, other.factors)
        if by is not None:
            factors = product(factors, by.factors)
        return Value(
            "scores",
            factors,
            is_normed=one.is_normed and other.is_normed,
            is_partial=not all(
                value.kind == "tensor" or QUERY.fullmatch(value.text) for value in (one, other)
            ),
        )

    def _call(self, node: ast.Call, scope: dict[str, Value]) -> Value:
        name = ""
        if isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        elif isinstance(node.func, ast.Call):
            held = self.evaluate(node.func, scope)
            if held.kind == "module":
                tensors = [self.evaluate(argument, scope) for argument in node.args]
                return self._call_module("", held, tensors)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "__init__":
            return self._call_base(node, scope)
        given = [self.evaluate(argument, scope) for argument in node.args]
        named = {
            keyword.arg: self.evaluate(keyword.value, scope)
            for keyword in node.keywords
            if keyword.arg
        }
        is_plain = owner is None or ast.unparse(owner) in (
            *("torch", "F", "nn", "nn.functional", "torch.nn.functional", "math", "np", "torch.nn"),
        )
        if not is_plain and not (isinstance(owner, ast.Name) and owner.id == "self"):
            receiver = self.evaluate(owner, scope)
            if receiver.kind == "module" and name == "to":
                return receiver
            if receiver.kind not in ("config", "module", "constant") and not (
                receiver.kind == "unknown" and name in ("update", "get_interface", "get")
            ):
                given = [receiver, *given]
        return self._apply(name, node, given, named, scope)

    def _call_base(self, node: ast.Call, scope: dict[str, Value]) -> Value:
        given = [self.evaluate(argument, scope) for argument in node.args]
        named = {k.arg: self.evaluate(k.value, scope) for k in node.keywords if k.arg}
        owner = next(
            (
                item.name
                for item in self._chain
                if any(part is node for method in item.body for part in ast.walk(method))
            ),
            "",
        )
        base = self._method("__init__", after=owner)
        if base is not None and owner:
            self._call_function(base, given, named, is_method=True)
        return NONE

    def _apply(
        self,
        name: str,
        node: ast.Call,
        given: list[Value],
        named: dict[str, Value],
        scope: dict[str, Value],
    ) -> Value:
        first = given[0] if given else next(iter(named.values()), UNKNOWN)
        result = self._apply_to_numbers(name, node, given, first)
        if result is None and name == "getattr" and len(node.args) > 1:
            result = self._getattr(node, given, scope)
        if result is None:
            result = self._apply_to_tensors(name, given, named, first)
        if result is None and (name in INTERFACE or EAGER.fullmatch(name)):
            spread = {ast.unparse(k.value) for k in node.keywords if k.arg is None}
            if "scaling" not in named and spread - {"kwargs"}:
                raise UnreadableError(f"arguments in {', '.join(sorted(spread))}")
            result = self._interface(name, given, named)
        return result or self._call_other(name, node, given, named)

    def _apply_to_numbers(
        self, name: str, node: ast.Call, given: list[Value], first: Value
    ) -> Value | None:
        if name in ("sqrt", "rsqrt"):
            return self._power(first, HALF if name == "sqrt" else -HALF, ast.unparse(node))
        if name in ("float", "int", "tensor", "torch_float", "abs") and given:
            return first
        if name == "yarn_apply_mscale" and len(given) == 2:
            option = product(given[1].factors, {Monomial.of("yarn_mscale").power(2)})
            return replace(given[1], factors=given[1].factors | option)
        if name == "size":
            held = Value("shape", text=first.text, constant=first.kind)
            place = self._plain(given[1]) if len(given) > 1 else None
            return held if place is None else self._size(held, str(place), ast.unparse(node))
        if name in ("mul", "mul_", "div", "div_") and len(given) == 2:
            exponent = 1 if name.startswith("mul") else -1
            by = self._power(given[1], exponent, "?") if exponent < 0 else given[1]
            return self._times(first, by, ast.unparse(node))
        return None

    def _apply_to_tensors(
        self, name: str, given: list[Value], named: dict[str, Value], first: Value
    ) -> Value | None:
        if name in PRODUCTS:
            return self._multiply(name, given, named)
        if name == "softmax":
            return self._softmax(first)
        if name == "tanh" and first.kind == "scores":
            return replace(first, is_capped=True)
        if name in ("MultiheadAttention", "multi_head_attention_forward"):
            self.events.append(Softmax(frozenset({ROOT}), "nn.MultiheadAttention"))
            return Value("module" if name[0] == "M" else "tensor", text=name)
        if name == "scaled_dot_product_attention" or name in FLASH:
            scale = named.get("scale", named.get("softmax_scale", NONE))
            return self._fused(name, given, named, scale)
        return MADE.get(name)

    def _getattr(self, node: ast.Call, given: list[Value], scope: dict[str, Value]) -> Value:
        field = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        if given[0].kind == "config" and isinstance(field, str):
            got = self._attribute(ast.Attribute(node.args[0], field), scope)
            if len(given) < 3:
                return got
            known = self._defaults.get(field, ...)
            if self._is_default and known is None and given[2] != NONE:
                return given[2]
            if self._is_default and known is not ...:
                return got
            return given[2] if given[2].kind == "constant" else merge(got, given[2])
        return UNKNOWN

    def _multiply(self, name: str, given: list[Value], named: dict[str, Value]) -> Value:
        tensors = [value for value in given if value.kind != "constant"]
        if name == "baddbmm":
            pair = [named.get("batch1"), named.get("batch2")]
            one, other = pair if None not in pair else tensors[-2:]
            return self._product(one, other, named.get("alpha"))
        if len(tensors) < 2:
            return Value("tensor")
        return self._product(*tensors[:2])

    def _softmax(self, value: Value) -> Value:
        if value.kind == "scores":
            self.events.append(Softmax(value.factors, "softmax", value.is_normed, value.is_capped))
        return Value("weights")

    def _fused(self, how: str, given: list[Value], named: dict[str, Value], scale: Value) -> Value:
        pair = [named.get("query"), named.get("key")]
        tensors = [value for value in given if value.kind in ("tensor", "unknown")]
        if None in pair:
            if len(tensors) < 2:
                raise UnreadableError(f"{how} without query and key")
            pair = tensors[:2]
        factors = frozenset({ROOT}) if scale == NONE else scale.factors
        if scale.kind == "unknown":
            factors = symbols(scale)
        for value in pair:
            factors = product(factors, value.factors)
        cap = named.get("softcap", named.get("softcapping", NONE))
        self.events.append(
            Softmax(factors, how, all(value.is_normed for value in pair), self._is_given(cap))
        )
        return Value("tensor")

    def _is_given(self, cap: Value) -> bool:
        if cap == NONE or cap.kind == "unknown":
            return False
        fields = [name.removeprefix("config.") for m in cap.factors for name, _ in m.powers]
        return not fields or any(self._defaults.get(field) is not None for field in fields)

    def _interface(self, name: str, given: list[Value], named: dict[str, Value]) -> Value:
        scale = named.get("scaling", named.get("scale", NONE))
        if (
            scale == NONE
            and "scaling" not in named
            and len(given) > 6
            and given[6].kind == "number"
        ):
            scale = given[6]
        self._fused("interface", given[1:], named, scale)
        eager = self._source.functions.get(
            name if EAGER.fullmatch(name) else "eager_attention_forward"
        )
        if eager is not None:
            values = [Value("unknown", text="self"), *given[1:]]
            self._call_function(eager, values, named, is_method=False)
        return Value("tuple", items=(Value("tensor"), Value("weights")))

    def _call_other(
        self, name: str, node: ast.Call, given: list[Value], named: dict[str, Value]
    ) -> Value:
        flat = [part for value in given for part in (value.items or (value,))]
        tensors = [
            value
            for value in (*flat, *named.values())
            if value.kind in ("tensor", "scores", "weights", "unknown")
        ]
        held = self._attributes.get(name) if self._is_own(node) else None
        if held is not None and held.kind == "module":
            return self._call_module(name, held, tensors)
        method = self._method(name) if self._is_own(node) else None
        function = self._source.functions.get(name) if isinstance(node.func, ast.Name) else None
        target = method or (None if ROTARY.search(name) else function)
        if target is not None:
            result = self._call_function(target, given, named, is_method=method is not None)
            if result is not None:
                return result
        if name[:1].isupper() or name in ("ModuleList", "Sequential"):
            return Value("module", text=ast.unparse(node.func).rpartition(".")[2])
        if ROTARY.search(name) or name in ("update", "update_cache"):
            return rotated(tensors)
        return first_of(tensors, ast.unparse(node))

    @staticmethod
    def _is_own(node: ast.Call) -> bool:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        return isinstance(owner, ast.Name) and owner.id == "self"

    def _call_module(self, name: str, held: Value, tensors: list[Value]) -> Value:
        if re.search("dropout|identity", held.text, re.IGNORECASE):
            return first_of(tensors)
        if ROTARY.search(held.text + name):
            return rotated(tensors)
        if held.text == "Softmax":
            return self._softmax(first_of(tensors))
        if re.search("matmul", held.text, re.IGNORECASE) and len(tensors) > 1:
            return self._product(*tensors[:2])
        is_normed = bool(NORM.search(held.text)) and first_of(tensors).kind == "tensor"
        own = self._source.classes.get(held.text)
        if own is not None and not NORM_LAYER.fullmatch(held.text) and tensors:
            is_followed = first_of(tensors).kind == "tensor" or PROJECTION.search(held.text)
            if is_followed and len(self._source.text(held.text)) < SHORT:
                inner = Interpreter(self._source, held.text, self._defaults)
                result = inner.run_on(tensors, self._depth)
                if result is not None and result.kind in ("tensor", "tuple"):
                    parts = tuple(replace(part, is_normed=is_normed) for part in result.items)
                    return replace(result, items=parts, is_normed=is_normed)
        is_linear = held.text == "Linear" and first_of(tensors).kind == "tensor"
        kept = first_of(tensors).factors if is_linear else frozenset({ONE})
        return Value("tensor", kept, is_normed=is_normed)


def first_of(tensors: Sequence[Value], text: str = "") -> Value:
    """Return the value that a call of something unknown hands on."""
    for value in tensors:
        if value.kind in ("tensor", "scores", "weights"):
            return value
    if tensors and tensors[0].factors != frozenset({ONE}):
        return tensors[0]
    return Value("unknown", text=text or (tensors[0].text if tensors else ""))


def rotated(tensors: Sequence[Value]) -> Value:
    """Return what a rotation or a cache hands on: a query and a key, or one of them."""
    if len(tensors) < 2 or HARMLESS.fullmatch(tensors[1].text[:60]):
        return first_of(tensors)
    return Value("tuple", items=tuple(tensors[:2]))


def _loaded(target: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(target), mode="eval").body
