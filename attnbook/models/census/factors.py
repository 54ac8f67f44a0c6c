"""Products of powers: what a program multiplies a logit by."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

WIDTH = re.compile(
    r"(?:.*[._])?(?:d|attention_head_size|attn_head_size|head_dims?|head_size|head_width|head_features|"
    r"dim_heads?|dim_head|d_head|d_kv|d_k|dk|key_dim|qk_dim|qk_head_dim|dim_per_head|per_head_dim|"
    r"size_per_head|channels_per_head|c_per_head|kv_channels|key_channels|hidden_size_per_\w*head|"
    r"qk_channels_per_head|query_size_per_head|internal_dim_per_head|qk_nope_head_dim\+qk_rope_head_dim)"
)
HEADS = re.compile(r".*\b(?:\w*_)?(?:n_?heads?|num_?heads?|heads|n_heads?|\w*attention_heads)\b.*")
RATE = re.compile(r".*(?:downsample_rate|expansion_ratio)")
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Monomial:
    """A constant times powers of named quantities.

    Examples
    --------
    >>> d = Monomial.of("config.hidden_size") * Monomial.of("config.num_heads").power(-1)
    >>> str(d.power(-HALF).canonical())
    'd**-1/2'
    """

    constant: float = 1.0
    powers: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def of(cls, name: str) -> Monomial:
        """Return a quantity by its name."""
        return cls(1.0, ((name, Fraction(1)),))

    def __mul__(self, other: Monomial) -> Monomial:
        """Return the product."""
        powers = dict(self.powers)
        for name, exponent in other.powers:
            powers[name] = powers.get(name, Fraction(0)) + exponent
        kept = tuple(sorted((name, power) for name, power in powers.items() if power))
        return Monomial(self.constant * other.constant, kept)

    def power(self, exponent: Fraction | int) -> Monomial:
        """Return it to a power; a negative constant has no root."""
        if self.constant < 0 and Fraction(exponent).denominator > 1:
            raise ValueError(f"a root of {self.constant}")
        powers = tuple((name, power * exponent) for name, power in self.powers)
        return Monomial(self.constant ** float(exponent), powers if exponent else ())

    def canonical(self) -> Monomial:
        """Return it with ``d`` for each name of a head's width, and for a width over heads."""
        powers: dict[str, Fraction] = {}
        for name, power in self.powers:
            short = "d" if WIDTH.fullmatch(name) else name
            powers[short] = powers.get(short, Fraction(0)) + power
        rates = [name for name in powers if RATE.fullmatch(name)]
        heads = [name for name in powers if HEADS.fullmatch(name)]
        for over in heads:
            for name in list(powers):
                if name not in (over, "d") and powers[name] == -powers[over]:
                    powers["d"] = powers.get("d", Fraction(0)) + powers.pop(name)
                    for rate in rates:
                        if powers[rate] == powers[over]:
                            del powers[rate]
                    del powers[over]
                    break
        kept = tuple(sorted((name, power) for name, power in powers.items() if power))
        return Monomial(self.constant, kept)

    def value(self, values: Mapping[str, Any]) -> float | None:
        """Return its number where all its quantities have one."""
        found = self.constant
        for name, power in self.powers:
            number = values.get(name.removeprefix("config."))
            if isinstance(number, bool) or not isinstance(number, int | float) or number <= 0:
                return None
            found *= number ** float(power)
        return found

    def __str__(self) -> str:
        """Return it as a program would write it."""
        parts = [] if math.isclose(self.constant, 1) and self.powers else [f"{self.constant:.6g}"]
        parts += [name if power == 1 else f"{name}**{power}" for name, power in self.powers]
        return " * ".join(parts)


ONE = Monomial()
ROOT = Monomial(1.0, (("d", -HALF),))
