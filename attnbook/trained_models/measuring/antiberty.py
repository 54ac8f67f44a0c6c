"""AntiBERTy, a BERT of antibodies, on the sequences of its package and on joined human genes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from attnbook.trained_models.measuring import bert
from attnbook.trained_models.measuring.scales import compared, multiples

TRAINED = "antiberty/trained_models"
CODONS = dict(
    zip(
        (a + b + c for a in "TCAG" for b in "TCAG" for c in "TCAG"),
        "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
        strict=True,
    )
)
"""The standard genetic code."""


def translate(gene: str) -> str:
    """Return the amino acids of a gene.

    Examples
    --------
    >>> translate("ATGGAG")
    'ME'
    """
    return "".join(CODONS[gene[i : i + 3]] for i in range(0, len(gene) - 2, 3))


def genes(path: Path, family: str) -> dict[str, str]:
    """Return the first allele of each gene of a family."""
    found: dict[str, str] = {}
    for entry in path.read_text(encoding="utf-8").split(">")[1:]:
        name, *lines = entry.split()
        if name.startswith(family) and "*01" in name:
            found[name.partition("*")[0]] = "".join(lines)
    return found


def joined(folder: Path) -> list[str]:
    """Return light chains as they are before mutation: each V gene, joined to a J gene in turn."""
    place = next(folder.glob("**/bcr/human/ungapped"))
    chains = []
    for kind in ("IGKV", "IGLV"):
        ends = [
            match[0]
            for gene in genes(place / "j.fasta", kind[:3] + "J").values()
            for frame in range(3)
            if (match := re.search(r"\w*FG\wGT\w*", translate(gene[frame:])))
        ]
        starts = [translate(gene) for _, gene in sorted(genes(place / "v.fasta", kind).items())]
        chains += [start + ends[i % len(ends)] for i, start in enumerate(starts)]
    return [chain for chain in chains if "*" not in chain and chain.count("C") >= 2]


def published(folder: Path) -> list[str]:
    """Return the whole sequences in the description of the package."""
    (text,) = (
        path.read_text(encoding="utf-8") for path in folder.glob("antiberty-*.dist-info/METADATA")
    )
    return list(dict.fromkeys(re.findall(r'"([A-Z]{90,})"', text)))[:2]


def measure(folders: dict[str, Path], *, quick: bool = False) -> dict[str, Any]:
    """Measure the model on its masked tokens."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    trained = folders["antiberty"] / TRAINED
    config = BertConfig.from_json_file(trained / "AntiBERTy_md_smooth" / "config.json")
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = BertForMaskedLM(config).eval()
    vocabulary = (trained / "vocab.txt").read_text(encoding="utf-8").split()
    number = {token: index for index, token in enumerate(vocabulary)}
    own, made = published(folders["antiberty"]), joined(folders["genes"])
    chains = (own + made)[:: 12 if quick else 1]
    inputs = [
        torch.tensor([[number["[CLS]"], *(number[letter] for letter in chain), number["[SEP]"]]])
        for chain in chains
    ]

    def attentions(of: Any) -> list[Any]:
        return [layer.attention.self for layer in of.bert.encoder.layer]

    untrained = bert.untrained_spread(model, attentions(model), inputs[:5], 8)
    stored = trained / "AntiBERTy_md_smooth" / "pytorch_model.bin"
    weights = torch.load(stored, map_location="cpu", weights_only=True)
    missing = model.load_state_dict(weights, strict=False).missing_keys
    if missing:
        raise ValueError(f"the file has no weights for {missing}")
    layers = attentions(model)
    queries, keys = [layer.query for layer in layers], [layer.key for layer in layers]
    run = bert.observe(model, queries, keys, 8, inputs)
    guesses, mask = bert.masked_tokens(inputs, copies=2), number["[MASK]"]
    found = {}
    for times in multiples(64):
        with bert.multiplied(queries, times):
            found[times] = bert.losses(model, guesses, mask)
    hidden = bert.sizes(guesses)
    columns = run.rows.columns()
    coarse = bert.quantize(model)
    again = bert.observe(model, queries, keys, 8, inputs, check=False).rows.columns()
    rough = compared({1.0: found[1.0][0], 0.0: bert.losses(model, guesses, mask)[0]}, hidden)
    return {
        "d_k": 64,
        "own attention": run.own,
        "inputs": {
            "published": len(own),
            "made": len(made),
            "texts": len(chains),
            "tokens": sum(tokens.numel() for tokens in inputs),
            "masked": int(hidden.sum()),
        },
        "multiples": [round(times, 4) for times in multiples(64)],
        "untrained": untrained,
        "verdicts": dict(Counter(run.verdicts)),
        "in 4 bits": {
            "matrices": coarse,
            "spread": again["spread"],
            "nats more": rough["difference"][1],
            "error": rough["paired error"][1],
        },
        "heads": columns,
        "quality": {
            "nats a masked token": compared({t: v[0] for t, v in found.items()}, hidden),
            "masked token right": compared({t: v[1] for t, v in found.items()}, hidden),
        },
    }
