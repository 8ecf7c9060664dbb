#!/usr/bin/env python3
"""Makes a tiny model of random weights, and what it must answer: the fixture of the tests of `crates/search/src/minilm`.

The net is written down here a second time, in numpy and by the book, so that neither can share a slip with the other:

    make.py FOLDER            the tiny model and `expected.json` into FOLDER
    make.py --ask FOLDER ...  vectors of texts by any model in FOLDER, as JSON, to compare with by hand
"""

import json
import math
import struct
import sys
import unicodedata
from pathlib import Path

import numpy

SHAPE = {
    "hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_hidden_layers": 2,
    "max_position_embeddings": 24, "vocab_size": 0, "layer_norm_eps": 1e-12,
}
WORDS = """[PAD] [UNK] [CLS] [SEP] the log ##in cookie ex ##pires ##ed after restart of ser ##ver a be ##cause key was
not read , . ! ? - ' ( ) _ / cafe 中 人 un ##known e ##rror ##0 ##499 3 1 2 4""".split()
TEXTS = [
    "The login cookie expires after restart.",
    "Because the key was not read, the server expired!",
    "CAFÉ 中人 un-known error_0499 (e0499)",
    "nothing here has a piece",
    "",
    "the login cookie " * 30,
]


def main(arguments):
    if arguments[:1] == ["--ask"]:
        folder, texts = Path(arguments[1]), arguments[2:]
        model = Model(folder)
        print(json.dumps([{"text": text, **model.answer(text)} for text in texts], ensure_ascii=False))
        return
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    write_model(folder)
    model = Model(folder)
    expected = [{"text": text, **model.answer(text)} for text in TEXTS]
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")


def write_model(folder):
    shape = {**SHAPE, "vocab_size": len(WORDS)}
    (folder / "config.json").write_text(json.dumps(shape, indent=1) + "\n")
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    random = numpy.random.default_rng(20)
    listed, numbers = {"__metadata__": {"format": "made by recipes/tiny-model"}}, b""
    for name, size in tables(shape):
        spread = 0.3 if len(size) > 1 else 0.1
        table = random.normal(1.0 if name.endswith("LayerNorm.weight") else 0.0, spread, size).astype("<f4")
        listed[name] = {"dtype": "F32", "shape": size, "data_offsets": [len(numbers), len(numbers) + table.nbytes]}
        numbers += table.tobytes()
    head = json.dumps(listed).encode()
    # No padding: numbers may begin anywhere.
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + numbers)


def tables(shape):
    d, wide = shape["hidden_size"], shape["intermediate_size"]
    yield "embeddings.word_embeddings.weight", [shape["vocab_size"], d]
    yield "embeddings.position_embeddings.weight", [shape["max_position_embeddings"], d]
    yield "embeddings.token_type_embeddings.weight", [2, d]
    yield from norm("embeddings.LayerNorm", d)
    for number in range(shape["num_hidden_layers"]):
        layer = f"encoder.layer.{number}."
        for name in ("query", "key", "value"):
            yield from linear(f"{layer}attention.self.{name}", d, d)
        yield from linear(f"{layer}attention.output.dense", d, d)
        yield from norm(f"{layer}attention.output.LayerNorm", d)
        yield from linear(f"{layer}intermediate.dense", wide, d)
        yield from linear(f"{layer}output.dense", d, wide)
        yield from norm(f"{layer}output.LayerNorm", d)


def linear(name, rows, columns):
    return [(f"{name}.weight", [rows, columns]), (f"{name}.bias", [rows])]


def norm(name, length):
    return [(f"{name}.weight", [length]), (f"{name}.bias", [length])]


class Model:
    """A BERT in double precision, the mean of its last layer at length 1."""

    def __init__(self, folder):
        self.shape = json.loads((folder / "config.json").read_text())
        words = (folder / "vocab.txt").read_text().splitlines()
        self.words = {word: number for number, word in enumerate(words)}
        data = (folder / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        self.tables = {}
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if entry.get("dtype") == "F32":
                begin, end = (8 + length + at for at in entry["data_offsets"])
                table = numpy.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
                self.tables[name] = table.astype(numpy.float64)

    def answer(self, text):
        pieces = self.pieces(text)
        return {"pieces": pieces, "vector": [round(float(value), 7) for value in self.embed(pieces)]}

    def pieces(self, text):
        most = min(128, self.shape["max_position_embeddings"])
        found = [piece for word in words_of(text) for piece in self.cut(word)]
        return [self.words["[CLS]"], *found[: most - 2], self.words["[SEP]"]]

    def cut(self, word):
        found, begin = [], 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = ("##" if begin else "") + word[begin:end]
                if piece in self.words:
                    found.append(self.words[piece])
                    begin = end
                    break
            else:
                return [self.words["[UNK]"]]
        return found if len(word) <= 100 else [self.words["[UNK]"]]

    def embed(self, pieces):
        t = self.tables
        x = (
            t["embeddings.word_embeddings.weight"][pieces]
            + t["embeddings.position_embeddings.weight"][: len(pieces)]
            + t["embeddings.token_type_embeddings.weight"][0]
        )
        x = self.norm("embeddings.LayerNorm", x)
        for number in range(self.shape["num_hidden_layers"]):
            layer = f"encoder.layer.{number}."
            seen = self.linear(f"{layer}attention.output.dense", self.attend(f"{layer}attention.self.", x))
            x = self.norm(f"{layer}attention.output.LayerNorm", x + seen)
            wide = self.linear(f"{layer}intermediate.dense", x)
            wide = wide * 0.5 * (1 + numpy.vectorize(math.erf)(wide / math.sqrt(2)))
            x = self.norm(f"{layer}output.LayerNorm", x + self.linear(f"{layer}output.dense", wide))
        mean = x.mean(0)
        return mean / numpy.linalg.norm(mean)

    def attend(self, name, x):
        heads = self.shape["num_attention_heads"]
        split = lambda part: self.linear(name + part, x).reshape(len(x), heads, -1).transpose(1, 0, 2)
        asks, offers, gives = split("query"), split("key"), split("value")
        scores = asks @ offers.transpose(0, 2, 1) / math.sqrt(asks.shape[-1])
        shares = numpy.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        return (shares @ gives).transpose(1, 0, 2).reshape(len(x), -1)

    def linear(self, name, x):
        return x @ self.tables[f"{name}.weight"].T + self.tables[f"{name}.bias"]

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + self.shape["layer_norm_eps"])
        return x * self.tables[f"{name}.weight"] + self.tables[f"{name}.bias"]


def words_of(text):
    """Words and signs, lower-cased and without accents, as BERT's own cut makes them."""
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    spaced = []
    for c in plain:
        kind = unicodedata.category(c)
        if c in "\t\n\r" or kind == "Zs":
            spaced.append(" ")
        elif kind.startswith("C"):
            continue
        elif kind.startswith("P") or 33 <= ord(c) <= 126 and not c.isalnum() or "\u4e00" <= c <= "\u9fff":
            spaced.append(f" {c} ")
        else:
            spaced.append(c)
    return "".join(spaced).split()


main(sys.argv[1:])
