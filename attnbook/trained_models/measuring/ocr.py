"""PP-OCRv4's recognizer of lines, two layers of attention behind a network of convolutions."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from attnbook.trained_models.measuring.rows import Rows, rounded, verdicts
from attnbook.trained_models.measuring.scales import compared, multiples

WEIGHTS = "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"
D_K = 15
HEIGHT = 48
LINES = 300
KINDS = {"clear": (32, 3, 0.0), "noisy": (20, 20, 0.8)}
"""Size of the letters, noise and blur, of which the second gives some errors."""


def lines(folder: Path) -> list[str]:
    """Return lines of CMake's release notes, of letters that the font has."""
    found = []
    for path in sorted(folder.rglob("Help/release/*.rst")):
        for line in path.read_text(encoding="utf-8").splitlines():
            text = re.sub(r"[`*:]|\s+", " ", line).strip()
            text = re.sub(r" +", " ", text)
            if 25 <= len(text) <= 45 and text.isascii() and text.count(" ") >= 3:
                found.append(text)
    found = list(dict.fromkeys(found))
    return found[:: len(found) // LINES][:LINES]


def drawn(text: str, size: int, noise: float, blur: float, rng: np.random.Generator) -> np.ndarray:
    """Return the picture of a line in Pillow's own font as the model takes it."""
    from PIL import Image, ImageDraw, ImageFilter, ImageFont

    font = ImageFont.load_default(size)
    width = int(font.getbbox(text)[2]) + 16
    page = Image.new("L", (width, size + 14), 235)
    ImageDraw.Draw(page).text((8, 5), text, font=font, fill=30)
    if blur:
        page = page.filter(ImageFilter.GaussianBlur(blur))
    pixels = np.asarray(page, np.float32)
    pixels = np.clip(pixels + rng.normal(0, noise, pixels.shape), 0, 255).astype(np.uint8)
    wide = int(np.ceil(HEIGHT * pixels.shape[1] / pixels.shape[0]))
    scaled = Image.fromarray(pixels).resize((wide, HEIGHT), Image.Resampling.BILINEAR)
    picture = np.zeros((1, 3, HEIGHT, max(320, wide)), np.float32)
    picture[..., :wide] = np.asarray(scaled, np.float32) / 127.5 - 1
    return picture


def edits(one: str, other: str) -> int:
    """Return the fewest insertions, deletions and changes that lead from one text to another.

    Examples
    --------
    >>> edits("score", "scores"), edits("key", "query")
    (1, 3)
    """
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, another in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != another))
    return row[-1]


class Recognizer:
    """The graph of the model, whose constant in front of softmax can be another one."""

    def __init__(self, path: Path) -> None:
        import onnx

        self.graph = onnx.load(str(path))
        maker = {output: node for node in self.graph.graph.node for output in node.output}
        self.layers = []
        for node in self.graph.graph.node:
            product = maker.get(node.input[0]) if node.op_type == "Softmax" else None
            if product is not None and product.op_type == "MatMul":
                scaled = maker[product.input[0]]
                self.layers.append(
                    (scaled.output[0], product.input[1], maker[scaled.input[1]], node)
                )
        properties = {entry.key: entry.value for entry in self.graph.metadata_props}
        self.letters = ["", *properties["character"].splitlines(), " "]

    def scale(self) -> list[float]:
        """Return the constants of the layers."""
        from onnx import numpy_helper

        return [float(numpy_helper.to_array(c.attribute[0].t).item()) for *_, c, _ in self.layers]

    def session(self, times: float, *, shows: bool = False) -> Any:
        """Return what runs the graph with multiplied logits, and can show queries and keys."""
        import onnx
        import onnxruntime
        from onnx import helper, numpy_helper

        graph = onnx.ModelProto.FromString(self.graph.SerializeToString())
        constants = {constant.output[0] for *_, constant, _ in self.layers}
        for node in graph.graph.node:
            if node.output[0] in constants:
                value = np.array([D_K**-0.5 * times], np.float32)
                node.attribute[0].t.CopyFrom(numpy_helper.from_array(value, ""))
        if shows:
            graph.graph.output.extend(
                helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
                for query, key, _, softmax in self.layers
                for name in (query, key, softmax.output[0])
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(
            graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def read(self, session: Any, picture: np.ndarray) -> str:
        """Return the text that the model finds."""
        best = session.run(None, {"x": picture})[0][0].argmax(axis=-1)
        new = np.r_[True, best[1:] != best[:-1]]
        return "".join(self.letters[index] for index in best[new])


def measure(folders: dict[str, Path], *, quick: bool = False) -> dict[str, Any]:
    """Measure the model on lines that are drawn."""
    model = Recognizer(folders["ocr"] / WEIGHTS)
    texts = lines(folders["notes"])[:: 20 if quick else 1]
    rng = np.random.default_rng(5101)
    pictures = {kind: [drawn(text, *how, rng) for text in texts] for kind, how in KINDS.items()}
    rows, own, said = Rows(), 0.0, []
    shown = model.session(1.0, shows=True)
    for place, picture in enumerate(picture for kind in pictures.values() for picture in kind[::5]):
        _, *found = shown.run(None, {"x": picture})
        for layer in range(len(model.layers)):
            scaled, key, weights = (part[0] for part in found[3 * layer : 3 * layer + 3])
            query, key = scaled.astype(float) * D_K**0.5, key.astype(float).swapaxes(-1, -2)
            logits = query @ key.mT * D_K**-0.5
            raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
            ours = raised / raised.sum(axis=-1, keepdims=True)
            own = max(own, float(np.abs(ours - weights).max()))
            rows.add(layer, query, key)
            if place == 0:
                said += verdicts(query, key)
    letters = np.array([len(text.replace(" ", "")) for text in texts], float)
    wrong: dict[str, dict[float, np.ndarray]] = {kind: {} for kind in pictures}
    whole: dict[str, dict[float, np.ndarray]] = {kind: {} for kind in pictures}
    for times in multiples(D_K):
        session = model.session(times)
        for kind, drawn_ones in pictures.items():
            found = [model.read(session, picture) for picture in drawn_ones]
            errors = [
                edits(text.replace(" ", ""), answer.replace(" ", ""))
                for text, answer in zip(texts, found, strict=True)
            ]
            wrong[kind][times] = np.array(errors, float)
            whole[kind][times] = (wrong[kind][times] == 0).astype(float)
    ones = np.ones(len(texts))
    quality = {
        **{f"wrong letters, {kind}": compared(wrong[kind], letters) for kind in pictures},
        **{f"lines right, {kind}": compared(whole[kind], ones) for kind in pictures},
    }
    return {
        "d_k": D_K,
        "own attention": own,
        "constants": rounded(model.scale()),
        "inputs": {"lines": len(texts), "letters": int(letters.sum())},
        "multiples": [round(times, 4) for times in multiples(D_K)],
        "verdicts": dict(Counter(said)),
        "heads": rows.columns(),
        "quality": quality,
    }
