"""Answers to the exercises of the chapter on initialization."""

from itertools import combinations, product
from types import SimpleNamespace

import numpy as np

from attnlib import EntryLaw, Initializer, predict_variances
from tests.attnbook.cases import Answers, Cases

std = 1024**-0.5 * 64**-0.25
undivided = Initializer(
    "the exercise",
    query=EntryLaw("normal", lambda _width, _d_k: std),
    key=EntryLaw("normal", lambda _width, _d_k: std),
    source="an exercise",
    scale=1.0,
)
assert np.isclose(predict_variances(undivided, 1024, 64).logit, 1)


def by_covariance(x, tokens, std_q, std_k, d_k):
    """Sum the variances of the components, with n - 1 below."""
    del d_k
    return std_q**2 * np.sum(x**2) * std_k**2 * tokens.var(axis=0, ddof=1).sum()


def by_pairs(x, tokens, std_q, std_k, d_k):
    """Take half the average square of a difference, and the division at its word."""
    squares = [np.sum((one - other) ** 2) for one, other in combinations(tokens, 2)]
    raw = d_k * std_q**2 * np.linalg.norm(x) ** 2 * std_k**2 * np.mean(squares) / 2
    return raw / np.sqrt(d_k) ** 2


def by_cosines(x, tokens, std_q, std_k, d_k):
    """Take the mean square less the mean product of two different tokens."""
    gram, n = tokens @ tokens.T, len(tokens)
    own = np.trace(gram) / n
    shared = (gram.sum() - np.trace(gram)) / (n * (n - 1))
    return np.sqrt(d_k) ** -2 * d_k * (std_q * std_k) ** 2 * np.dot(x, x) * (own - shared)


def by_average_cosine(x, tokens, std_q, std_k, d_k):
    """Use the theorem unchanged, for tokens that are not normalized."""
    del d_k
    lengths = np.sqrt(np.sum(tokens**2, axis=1))
    pairs = [(i, j) for i in range(len(tokens)) for j in range(len(tokens)) if i != j]
    cosine = np.mean([tokens[i] @ tokens[j] / (lengths[i] * lengths[j]) for i, j in pairs])
    return (x.size * std_q**2) * (x.size * std_k**2) * (1 - cosine)


def of_tokens(spread):
    """Return the formula with something in place of the sum of the variances of the keys."""
    return lambda x, tokens, std_q, std_k, _d_k: (std_q * std_k) ** 2 * (x @ x) * spread(tokens)


def with_factor(factor):
    """Return a right answer times a factor of the arguments."""
    return lambda *row: by_covariance(*row) * factor(*row)


def by_components(x, y, std, d_k):
    """Use the covariance matrix of two components that share their weights."""
    covariance = std**2 * np.array([[x @ x, x @ y], [x @ y, y @ y]])
    mean = covariance[0, 1]
    square = covariance[0, 0] * covariance[1, 1] + 2 * mean**2
    return d_k**0.5 * mean, square - mean**2


def of_products(mean, variance):
    """Make moments of two functions of x·x, y·y, x·y, the variance of an entry and d_k."""

    def moments(x, y, std, d_k):
        of = SimpleNamespace(xx=x @ x, yy=y @ y, xy=x @ y, v=std**2, d_k=d_k)
        return [mean(of), variance(of)]

    return moments


def right_mean(of):
    return of.d_k**0.5 * of.v * of.xy


def right_variance(of):
    return of.v**2 * (of.xx * of.yy + of.xy**2)


def surviving(width):
    """Count the quadruples in which every value occurs an even number of times."""
    return sum(
        all(four.count(one) % 2 == 0 for one in four) for four in product(range(width), repeat=4)
    )


# a polynomial of degree two without a constant term, from two brute counts
square_part, plain_part = np.linalg.solve([[3**2, 3], [5**2, 5]], [surviving(3), surviving(5)])

NO_DIVISOR_CASES = Cases(
    "no-divisor",
    std=Answers(
        [std, 0.01105, 0.0110, np.float32(std), 2**-6.5],
        (1 / 8192, "This is the variance"),
        (1 / 32, "unit variance"),
        (1 / 256, "Right for one matrix"),
        (1 / 64, "the number of heads"),
        (1024**-0.75, "the model width for dₖ"),
        (0.02, "too large"),
    ),
    bound=Answers(
        [3**0.5 * std, 0.01914, 0.0191, np.sqrt(3 / (1024 * 8))],
        (0.01105, "half the range"),
        (0.03827, "the whole range"),
        (0.03315, "a root of three"),
        (0.006379, "if the bound were"),
        (0.015, "too small"),
    ),
    wider=Answers(
        [4, 4.0, 64 * (2048 / 8192) ** 2, np.int64(4)],
        (1, "Twice as many inputs"),
        (2, "a component of k grows"),
        (8, "keep their width"),
        (16, "not to its square"),
        (0.25, "more than ten times"),
    ),
)

ROW_START_CASES = Cases(
    "row-start",
    row_variance=Answers(
        [
            by_covariance,
            by_pairs,
            by_cosines,
            lambda *row: np.array(by_covariance(*row), dtype=np.longdouble),
            lambda *row: np.float32(by_covariance(*row)),
            lambda *row: by_pairs(*(np.asarray(a, dtype=np.longdouble) for a in row)),
        ],
        (
            of_tokens(lambda tokens: np.trace(tokens @ tokens.T) / len(tokens)),
            "what the whole row shares",
        ),
        (of_tokens(lambda tokens: tokens.var(axis=0).sum()), "n − 1 below"),
        (with_factor(lambda *row: row[4]), "before the division"),
        (with_factor(lambda *row: row[4] ** 0.5), "divided by its square"),
        (with_factor(lambda *row: 1 / row[4]), "The sum over dₖ"),
        (with_factor(lambda *row: 1 / (row[2] * row[3])), "square them"),
        (with_factor(lambda *row: 1 / np.sum(row[0] ** 2) ** 0.5), "token; square it"),
        (with_factor(lambda *row: row[0].size / np.sum(row[0] ** 2)), "has its own"),
        (by_average_cosine, "1 − r is for tokens"),
        (lambda *row: by_pairs(*row) ** 0.5, "the standard deviation"),
        (with_factor(lambda *_row: 2), "calls are wrong"),
        (with_factor(lambda *row: 1 / row[0].size), "calls are wrong"),
        (of_tokens(lambda tokens: tokens.var(axis=1).sum()), "calls are wrong"),
        (of_tokens(lambda tokens: tokens.var()), "calls are wrong"),
        (of_tokens(lambda tokens: tokens.var(axis=0, ddof=1)), "is wanted"),
        (
            lambda x, tokens, std_q, std_k, _d_k: np.var(tokens @ x * std_q * std_k, ddof=1),
            "calls are wrong",
        ),
    ),
    everything=Answers(
        [4, 4.0, (1 + 1) ** 2, np.float32(4)],
        (1, "make"),
        (2, "The keys are made"),
        (16, "at a right angle"),
        (3, "too small"),
    ),
    row=Answers(
        [2, 2.0, np.float16(2), 4 * (1 - 1 / 2)],
        (1, "The query is made"),
        (4, "difference of two keys"),
        (0, "differ by stays"),
        (1.5, "too small"),
    ),
)

TIED_CASES = Cases(
    "tied",
    terms=Answers(
        [
            785408,
            3 * 512 * 511 + 512,
            round(square_part) * 512**2 + round(plain_part) * 512,
            785408.0,
        ],
        (3 * 2**18, "counted it three times"),
        (3 * 512 * 511, "all four equal are missing"),
        (2**18, "two different matrices"),
        (512, "Two and two equal"),
        (2**36, "These are all terms"),
        (785409, "too large"),
    ),
    moments=Answers(
        [
            by_components,
            of_products(right_mean, right_variance),
            lambda x, y, std, d_k: np.array(
                [
                    np.sqrt(d_k) * np.sum(std * x * std * y),
                    np.sum(np.outer(std * x, std * y) ** 2) + np.sum(std**2 * x * y) ** 2,
                ]
            ),
            lambda x, y, std, d_k: tuple(np.float32(by_components(x, y, std, d_k))),
            lambda x, y, std, d_k: np.longdouble(by_components(x, y, std, d_k)),
        ],
        (of_products(lambda _: 0, lambda of: of.v**2 * of.xx * of.yy), "indep"),
        (of_products(right_mean, lambda of: of.v**2 * of.xx * of.yy), "misses"),
        (
            of_products(right_mean, lambda of: of.v**2 * (of.xx * of.yy + 2 * of.xy**2)),
            "once too often",
        ),
        (
            of_products(right_mean, lambda of: right_variance(of) + right_mean(of) ** 2),
            "the mean square",
        ),
        (
            of_products(lambda of: of.d_k * of.v * of.xy, lambda of: of.d_k * right_variance(of)),
            "moments of the score",
        ),
        (of_products(right_mean, lambda of: of.d_k * right_variance(of)), "of the score before"),
        (
            of_products(lambda of: of.v * of.xy, lambda of: right_variance(of) / of.d_k),
            "for one component",
        ),
        (lambda x, y, std, d_k: by_components(x, y, std**0.5, d_k), "is its square"),
        (
            of_products(right_mean, lambda of: right_variance(of) ** 0.5),
            "number is the standard deviation",
        ),
        (of_products(right_variance, right_mean), "changed places"),
        (
            of_products(
                lambda of: (of.d_k / (of.xx * of.yy)) ** 0.5 * of.xy,
                lambda of: 1 + of.xy**2 / (of.xx * of.yy),
            ),
            "what they are",
        ),
        (
            of_products(right_mean, lambda of: of.v**2 * (of.xx * of.yy + abs(of.xy) * of.xx)),
            "calls are wrong",
        ),
        (of_products(right_mean, lambda of: 2 * (of.v * of.xx) ** 2), "wrong"),
        (lambda x, y, std, d_k: d_k**0.5 * std**2 * (x @ y), "shape () came"),
    ),
    own=Answers(
        [2, 2.0, 2 * 64 / 64, np.int64(2)],
        (1, "Put y = x"),
        (128, "the variance of the score"),
        (8, "the mean of the logit"),
        (66, "take the square of the mean away"),
        (3, "one squared component"),
        (2.5, "too large"),
    ),
    others=Answers(
        [1 + 65 / 127, 1.512, 1.5118, 192 / 127],
        (1, "at a right angle"),
        (1.0079, "for a given pair"),
        (1.5039, "what the cosine adds"),
        (1.5078, "in how many directions"),
        (66, "cosine one"),
        (1.55, "too large"),
    ),
    law=Answers(
        ["the variance", "The  Variance"],
        ("the mean", "products of two entries, so their"),
        ("both", "so it stays"),
        ("neither", "fourth power"),
    ),
)
