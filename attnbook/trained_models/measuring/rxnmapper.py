"""RXNMapper: an ALBERT, one layer passed twelve times, one of whose heads maps atoms."""

from __future__ import annotations

import ast
import sys
import warnings
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from attnbook.trained_models.measuring import bert
from attnbook.trained_models.measuring.scales import compared, multiples

#: Reactions whose maps are known, since RDKit makes the products: what reacts, and how.
TEMPLATES = {
    "amide": "[C:1](=[O:2])[OH].[NH2:3]>>[C:1](=[O:2])[N:3]",
    "ester": "[C:1](=[O:2])[OH].[OH:3][CX4:4]>>[C:1](=[O:2])[O:3][C:4]",
    "ether": "[OH:1][CX4:2].[Br][CH2:3]>>[O:1]([C:2])[CH2:3]",
    "amine": "[NH2:1].[CH:2]=[O:3]>>[NH:1][CH2:2]",
    "Suzuki": "[c:1][B](O)O.[c:2][Br]>>[c:1][c:2]",
}
ACIDS = """CC(=O)O CCC(=O)O OC(=O)c1ccccc1 OC(=O)C1CCCCC1 COCC(=O)O OC(=O)c1cccnc1
    CC(C)CC(=O)O OC(=O)Cc1ccccc1"""
AMINES = "CCN NCc1ccccc1 NC1CCCC1 COCCN Nc1ccccc1 CC(C)CN"
ALCOHOLS = "CCO OCc1ccccc1 CC(C)O OC1CCCC1 COCCO OCC1CCCO1"
BROMIDES = "BrCC BrCc1ccccc1 BrCCC BrCC=C BrCCOC BrCC1CCCC1 BrCc1cccnc1 BrCCC#N"
ALDEHYDES = """CC=O O=Cc1ccccc1 CCC=O O=CC1CCCC1 O=Cc1cccnc1 O=Cc1ccco1 CC(C)C=O
    O=Cc1ccc(F)cc1"""
BORONIC = """OB(O)c1ccccc1 Cc1ccc(B(O)O)cc1 COc1ccc(B(O)O)cc1 OB(O)c1cccnc1
    OB(O)c1ccc(F)cc1 OB(O)c1ccsc1"""
ARYL = """Brc1ccccc1 Brc1cccnc1 COc1ccc(Br)cc1 N#Cc1ccc(Br)cc1 CC(=O)c1ccc(Br)cc1 Brc1ccsc1
    Fc1ccc(Br)cc1 Brc1ccc2ccccc2c1"""
BLOCKS = {
    "amide": (ACIDS, AMINES),
    "ester": (ACIDS, ALCOHOLS),
    "ether": (ALCOHOLS, BROMIDES),
    "amine": (AMINES, ALDEHYDES),
    "Suzuki": (BORONIC, ARYL),
}


QUALITIES = {
    "published": "reactions of the tests mapped",
    "made": "made reactions mapped",
    "sure": "confidence",
    "loss": "nats a masked token",
    "hits": "masked token right",
}
"""What is measured, and what the file calls it."""


def tested(folder: Path) -> list[tuple[str, str, float, bool]]:
    """Return the reactions of the package's tests: map, confidence, and whether canonical."""
    cases = []
    tree = ast.parse((folder / "tests" / "test_mapper.py").read_text(encoding="utf-8"))
    for test in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        given = {
            node.targets[0].id: node.value
            for node in test.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        if {"rxns", "expected"} <= given.keys():
            canonical = not any(
                isinstance(node, ast.keyword) and node.arg == "canonicalize_rxns"
                for node in ast.walk(test)
            )
            expected = ast.literal_eval(given["expected"])
            cases += [
                (reaction, answer["mapped_rxn"], answer["confidence"], canonical)
                for reaction, answer in zip(ast.literal_eval(given["rxns"]), expected, strict=True)
            ]
    return cases


def made() -> list[tuple[str, list[set[int]]]]:
    """Return reactions, and for each atom of the product the atoms that it may come from.

    Atoms that a symmetry of their molecule exchanges are equally right.
    """
    from rdkit import Chem
    from rdkit.Chem import AllChem

    reactions = []
    for name, template in TEMPLATES.items():
        rule = AllChem.ReactionFromSmarts(template)
        for pair in product(*(block.split() for block in BLOCKS[name])):
            molecules = [Chem.MolFromSmiles(text) for text in pair]
            outcome = rule.RunReactants(molecules)[0][0]
            Chem.SanitizeMol(outcome)
            first = [0, molecules[0].GetNumAtoms()]
            ranks = [list(Chem.CanonicalRankAtoms(m, breakTies=False)) for m in molecules]
            text = Chem.MolToSmiles(outcome)
            order = ast.literal_eval(outcome.GetProp("_smilesAtomOutputOrder"))
            origins = []
            for atom in (outcome.GetAtomWithIdx(int(index)) for index in order):
                whose = _reactant(atom, rule)
                place = atom.GetIntProp("react_atom_idx")
                origins.append(
                    {
                        first[whose] + other
                        for other, rank in enumerate(ranks[whose])
                        if rank == ranks[whose][place]
                    }
                )
            reactions.append((f"{'.'.join(pair)}>>{text}", origins))
    return reactions


def _reactant(atom: Any, rule: Any) -> int:
    """Return from which molecule an atom of the product comes."""
    if atom.HasProp("react_idx"):
        return atom.GetIntProp("react_idx")
    number = atom.GetIntProp("old_mapno")
    return next(
        place
        for place in range(rule.GetNumReactantTemplates())
        if any(a.GetAtomMapNum() == number for a in rule.GetReactantTemplate(place).GetAtoms())
    )


def measure(folders: dict[str, Path], *, quick: bool = False) -> dict[str, Any]:
    """Measure the model on the reactions of its own tests and on made ones."""
    import torch
    from transformers import AlbertForMaskedLM

    warnings.simplefilter("ignore")
    sys.path.insert(0, str(folders["rxnmapper"]))
    from rxnmapper import RXNMapper

    mapper = RXNMapper()
    # the mapper's own model, and the same weights with what predicts masked tokens
    reader = AlbertForMaskedLM.from_pretrained(mapper.model_path, attn_implementation="eager")
    attention, mapping = _attention(reader.eval().albert), _attention(mapper.model)
    cases, reactions = tested(folders["rxnmapper"]), made()[:: 10 if quick else 1]
    texts = [text for text, *_ in cases if len(text) > 40] + [text for text, _ in reactions[::4]]
    inputs = [
        mapper.tokenizer.batch_encode_plus([text], return_tensors="pt")["input_ids"]
        for text in texts
    ]
    run = bert.observe(reader, [attention.query], [attention.key], 8, inputs)
    guesses, mask = bert.masked_tokens(inputs), mapper.tokenizer.mask_token_id
    found: dict[str, dict[float, np.ndarray]] = {
        name: {} for name in ("published", "sure", "made", "loss", "hits")
    }
    for times in multiples(32):
        with bert.multiplied([attention.query, mapping.query], times):
            answers = [
                mapper.get_attention_guided_atom_maps([text], canonicalize_rxns=canonical)[0]
                for text, _, _, canonical in cases
            ]
            right = [
                answer["mapped_rxn"] == wanted
                for answer, (_, wanted, *_) in zip(answers, cases, strict=True)
            ]
            found["published"][times] = np.array(right, float)
            found["sure"][times] = np.array([answer["confidence"] for answer in answers])
            found["made"][times] = np.array(
                [_is_right(mapper, *reaction) for reaction in reactions], float
            )
            found["loss"][times], found["hits"][times] = bert.losses(reader, guesses, mask)
    off = max(
        abs(confidence - published)
        for confidence, (_, _, published, _) in zip(found["sure"][1.0], cases, strict=True)
    )
    torch.manual_seed(0)
    drawn = AlbertForMaskedLM(reader.config).eval()
    untrained = bert.untrained_spread(drawn, [_attention(drawn.albert)], inputs[:5], 8)
    each, hidden = {"published": cases, "sure": cases, "made": reactions}, bert.sizes(guesses)
    return {
        "d_k": 32,
        "own attention": run.own,
        "off published confidence": float(f"{off:.1g}"),
        "inputs": {
            "published": len(cases),
            "made": len(reactions),
            "texts": len(texts),
            "tokens": sum(tokens.numel() for tokens in inputs),
            "masked": int(hidden.sum()),
        },
        "multiples": [round(times, 4) for times in multiples(32)],
        "untrained": untrained,
        "verdicts": dict(Counter(run.verdicts)),
        "heads": run.rows.columns(),
        "quality": {
            words: compared(found[name], np.ones(len(each[name])) if name in each else hidden)
            for name, words in QUALITIES.items()
        },
    }


def _attention(model: Any) -> Any:
    """Return the one layer of attention, which is passed again and again."""
    (layer,) = model.encoder.albert_layer_groups[0].albert_layers
    return layer.attention


def _is_right(mapper: Any, text: str, origins: list[set[int]]) -> bool:
    answer = mapper.get_attention_guided_atom_maps(
        [text], canonicalize_rxns=False, detailed_output=True
    )[0]
    return all(
        int(place) in right
        for place, right in zip(answer["pxr_mapping_vector"], origins, strict=True)
    )
