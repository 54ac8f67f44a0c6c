"""The book's colors under the common deficiencies of color vision, by simulation.

Color never carries a meaning alone (``test_plots.py`` holds line styles, markers and labels
apart); here it is shown that it need not be given up either.
"""

from __future__ import annotations

import colorsys
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import attnbook
from attnbook.drawing import plot_style as style
from attnbook.drawing import tokens
from attnbook.drawing.base import style_source

pytestmark = pytest.mark.not_for_mutants

# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: A Physiologically-based Model for Simulation of
# Color Vision Deficiency. IEEE Transactions on Visualization and Computer Graphics 15 (2009),
# 1291-1298; the matrices for severity 1.0, which act on linear RGB.
VISION = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""From linear RGB to XYZ; the row in the middle gives the luminance."""
# CIEDE2000: one is hardly to be seen side by side, ten at a glance.
AT_A_GLANCE = 10.0
# The dark variant of pictures is made of the light one by turning lightness round, which brings
# blue and green nearer to each other; their lines and markers differ.
IN_THE_DARK = 8.0
WHITE = "#ffffff"
ROOMS = Path(attnbook.__file__).parent
PICTURE = Path(__file__).parents[2] / "docs" / "visual-language.svg"


def rgb(color: str) -> np.ndarray:
    """Return a color of a style sheet as three numbers up to one."""
    return np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])


def linear(color: np.ndarray) -> np.ndarray:
    """Undo the gamma of sRGB."""
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    """Return linear RGB as CIELAB under D65."""
    ratio = TO_XYZ @ light / np.array([0.95047, 1.0, 1.08883])
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def ciede2000(one: np.ndarray, other: np.ndarray) -> float:
    """Return how far two colors in CIELAB are apart.

    G. Sharma, W. Wu, E. N. Dalal: The CIEDE2000 Color-Difference Formula. Color Research and
    Application 30 (2005), 21-30.
    """
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - np.sqrt(mean_chroma**7 / (mean_chroma**7 + 25.0**7)) / 2
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1 = np.degrees(np.arctan2(b1, a1 * stretch)) % 360
    h2 = np.degrees(np.arctan2(b2, a2 * stretch)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = h1 + h2 if c1 * c2 == 0 else h1 + turn / 2
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    weight = 1 + sum(
        factor * np.cos(np.radians(times * hue + shift))
        for factor, times, shift in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )
    off = (mean_l - 50) ** 2
    lightness = (l2 - l1) / (1 + 0.015 * off / np.sqrt(20 + off))
    chroma = (c2 - c1) / (1 + 0.045 * mean_c)
    tint = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * mean_c * weight)
    blue = 60 * np.exp(-((((hue % 360) - 275) / 25) ** 2))
    mixed = -2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7)) * np.sin(np.radians(blue))
    return float(np.sqrt(lightness**2 + chroma**2 + tint**2 + mixed * chroma * tint))


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return the least distance of two colors over all kinds of sight."""
    return min(
        ciede2000(*(lab(np.clip(np.array(matrix) @ linear(color), 0, 1)) for color in (one, other)))
        for matrix in VISION.values()
    )


def turned(color: np.ndarray) -> np.ndarray:
    """Apply what ``book.css`` does to pictures in the dark: invert(0.93) hue-rotate(180deg)."""
    red, green, blue = 0.213, 0.715, 0.072
    half_turn = 2 * np.array([[red, green, blue]] * 3) - np.eye(3)
    return np.clip(half_turn @ (0.93 - 0.86 * color), 0, 1)


def close_pairs(palette: dict[str, np.ndarray], wanted: float) -> list[str]:
    """Name the pairs of a palette that some readers could confuse."""
    return [
        f"{one} and {other}: {distance:.1f}"
        for one, other in itertools.combinations(palette, 2)
        if (distance := apart(palette[one], palette[other])) < wanted
    ]


def variants(sheet: str, names: str) -> list[dict[str, np.ndarray]]:
    """Return the colors of a style sheet's variables, light and dark."""
    text = (ROOMS / "figures" / sheet).read_text(encoding="utf-8")
    found = re.findall(rf"--({names}): (#[0-9a-f]{{6}});", text)
    count = len(names.split("|"))
    assert len(found) == 2 * count, "light and dark"
    return [{name: rgb(color) for name, color in part} for part in (found[:count], found[count:])]


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [  # from the table of Sharma, Wu and Dalal
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_distance_agrees_with_its_published_values(one, other, distance):
    assert ciede2000(np.array(one), np.array(other)) == pytest.approx(distance, abs=1e-4)
    assert ciede2000(np.array(other), np.array(one)) == pytest.approx(distance, abs=1e-4)


def test_the_simulations_keep_grays_and_confuse_what_they_should():
    gray = np.full(3, 0.4)
    for matrix in VISION.values():
        assert np.array(matrix) @ gray == pytest.approx(gray, abs=1e-5)
    assert apart(rgb("#d02020"), rgb("#5a6a10")) < AT_A_GLANCE < 40, "red and green"
    assert apart(rgb("#000000"), rgb("#ffffff")) == pytest.approx(100, abs=0.1)


def test_the_colors_of_pictures_stay_apart():
    palette = {name: rgb(color) for name, color in style.PALETTE.items()}
    assert close_pairs(palette, AT_A_GLANCE) == []
    dark = {name: turned(color) for name, color in palette.items() if name != "faint"}
    assert close_pairs(dark, IN_THE_DARK) == []


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors by WCAG 2."""
    low, high = sorted(TO_XYZ[1] @ linear(rgb(color)) + 0.05 for color in (one, other))
    return high / low


def test_the_palette_can_be_seen_on_white():
    """WCAG 2 asks for a contrast of 3 to 1 for graphics; "faint" is for what may be missed."""
    for name, color in style.PALETTE.items():
        assert contrast(color, WHITE) >= (2.5 if name == "faint" else 3), name
    assert min(contrast(gray, WHITE) for gray in style.GRAYS) >= 3
    for color in (*style.PALETTE.values(), *style.GRAYS):
        assert contrast(style.readable(color), WHITE) >= 4.5, "of words"


def test_the_maps_of_the_arms_have_their_hues_and_equal_steps_of_light():
    weights = np.linspace(0, 1, 11)
    light = []
    for arm in (style.UNSCALED, style.SCALED):
        colors = style.MAPS[arm["color"]](weights)[:, :3]
        light.append([lab(linear(color))[0] for color in colors])
        hue = colorsys.rgb_to_hsv(*rgb(arm["color"]))[0]
        assert [colorsys.rgb_to_hsv(*color)[0] for color in colors] == pytest.approx(
            [hue] * len(colors), abs=0.05
        )
    assert (np.diff(light) < 0).all(), "more weight is darker"
    assert np.abs(np.subtract(*light)).max() < 12, "the same weight is about as dark in both"


def test_a_palette_with_a_close_pair_is_noticed():
    old = {"scaled": rgb("#0072B2"), "fourth": rgb("#AA4499"), "theory": rgb("#333333")}
    assert [pair.partition(":")[0] for pair in close_pairs(old, AT_A_GLANCE)] == [
        "scaled and fourth"
    ]


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
class TestTokens:
    @pytest.mark.parametrize(
        ("together", "wanted"),
        [
            (("undivided", "divided", "other"), AT_A_GLANCE),
            (("undivided", "divided"), 2 * AT_A_GLANCE),
            (("query", "key", "value"), 2 * AT_A_GLANCE),
        ],
    )
    def test_colors_that_meet_in_a_picture_stay_apart(self, mode, together, wanted):
        palette = {name: rgb(tokens.COLORS[name][mode]) for name in together}
        assert close_pairs(palette, wanted) == []

    def test_they_can_be_seen_on_their_grounds(self, mode):
        """WCAG 2 asks for 3 to 1 for graphics and 4.5 to 1 for letters."""
        inks = {name: ink[2 + mode] for name, ink in tokens.INKS.items()}
        for ground in (inks["ground"], inks["surface"]):
            for name, both in tokens.COLORS.items():
                assert contrast(both[mode], ground) >= 3, (name, ground)
            for name in ("text", "line"):
                assert contrast(inks[name], ground) >= 4.5, (name, ground)


def test_a_figure_has_them_as_variables():
    for name, both in tokens.COLORS.items():
        found = re.findall(rf"--figure-{name}: (#[0-9a-f]{{6}});", style_source())
        assert found == list(both), name


def test_dark_colors_are_for_screens_without_colors_of_the_system():
    """On paper and on a white ground the light ones hold, whatever the page's theme."""
    _, dark = tokens.style().split("@media ")
    assert dark.startswith("screen and (forced-colors: none) {\n:is(html[data-theme=")
    assert all(both[1] in dark for both in tokens.COLORS.values())


def test_the_verdicts_on_answers_stay_apart():
    for palette in variants("ask.css", "ask-right|ask-wrong"):
        assert close_pairs(palette, 2 * AT_A_GLANCE) == []


def test_the_picture_in_contributing_shows_them_as_they_are():
    picture = PICTURE.read_text(encoding="utf-8")
    for half, mode in zip(picture.split("<g ")[1:], (0, 1), strict=True):
        known = {both[mode] for both in tokens.COLORS.values()}
        shown = set(re.findall(r"#[0-9a-f]{6}", half))
        named = {tokens.COLORS[name][mode] for name in ("undivided", "divided", "other", "accent")}
        named |= {tokens.COLORS[name][mode] for name in ("query", "key", "value")}
        assert named <= shown <= known | {ink[2 + mode] for ink in tokens.INKS.values()}


def test_a_color_is_written_in_one_place():
    """Styles and modules of figures use tokens; ask.css alone has colors of its own."""
    own = {
        path.name
        for path in ROOMS.rglob("*")
        if path.suffix in {".css", ".js"}
        and re.search(r"#[0-9a-f]{6}\b", path.read_text(encoding="utf-8"))
    }
    assert own == {"ask.css"}
