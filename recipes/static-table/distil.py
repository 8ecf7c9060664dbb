#!/usr/bin/env python3
"""Makes the static token table of `towline-search` from all-MiniLM-L6-v2. Needs numpy alone.

    distil.py embed --model DIR --texts texts.txt --cache teacher.npz
    distil.py fit   --model DIR --texts texts.txt --cache teacher.npz --dimensions 256 --out table.bin

`embed` runs the model over every WordPiece as `[CLS] piece [SEP]`, and over every text. `fit` moves the pieces so that
the mean of a text's pieces, weighted by rarity, comes near the model's own vector of the text (ridge regression: what
a piece was before is the prior, so rare pieces stay where they were), turns everything onto the principal axes of the
texts and writes the table.

The table, little endian: "TOWT", u32 version (1), u32 pieces, u32 dimensions, u32 bytes of the vocabulary; then
pieces x dimensions i8; then per piece the upper half of the f32 scale of its row; then per piece the u16 share of texts
that hold it (of 65535); then per piece the u32 end of its spelling; then 65536 u16 slots of a hash table of the pieces;
then all spellings, one after another.
"""
import argparse
import json
import pathlib
import struct
import unicodedata

import numpy as np

CLS, SEP, UNKNOWN = 101, 102, 100
LONGEST = 62
LAYERS, HEADS, WIDTH = 6, 12, 384
SLOTS, EMPTY = 1 << 16, 0xFFFF


# Texts to pieces: as the Rust side does it, camelCase cut before letters are lowered.


def camel_cut(text):
    out = []
    for at, char in enumerate(text):
        after = text[at + 1] if at + 1 < len(text) else " "
        before = text[at - 1] if at else " "
        if char.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower())):
            out.append(" ")
        out.append(char)
    return "".join(out)


def words(text):
    plain = (char for char in unicodedata.normalize("NFD", camel_cut(text).lower()))
    word = ""
    for char in plain:
        kind = unicodedata.category(char)
        if kind == "Mn":
            continue
        alone = not char.isalnum() and not kind.startswith(("Z", "C")) or 0x4E00 <= ord(char) <= 0x9FFF
        if alone or kind.startswith(("Z", "C")):
            if word:
                yield word
            word = ""
            if alone:
                yield char
        else:
            word += char
    if word:
        yield word


def pieces(text, numbers):
    found = []
    for word in words(text):
        found += pieces_of_word(word, numbers)
        if len(found) >= LONGEST:
            break
    return found[:LONGEST]


def pieces_of_word(word, numbers):
    found, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            number = numbers.get(("##" if start else "") + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return [UNKNOWN]
    return found


# The teacher.


def tensors(path):
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    found = {}
    for name, entry in json.loads(raw[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            values = np.frombuffer(raw[8 + length + start : 8 + length + end], "<f4")
            found[name.removeprefix("bert.")] = values.reshape(entry["shape"])
    return found


class Teacher:
    def __init__(self, folder):
        self.tensors = tensors(folder / "model.safetensors")

    def normal(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def linear(self, x, name):
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def attention(self, x, layer):
        rows, length, _ = x.shape
        split = (rows, length, HEADS, WIDTH // HEADS)
        query, key, value = (
            self.linear(x, f"{layer}.attention.self.{part}").reshape(split).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        weights = query @ key.transpose(0, 1, 3, 2) / np.float32((WIDTH / HEADS) ** 0.5)
        weights = np.exp(weights - weights.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(rows, length, WIDTH)
        return self.normal(x + self.linear(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")

    def sentence(self, rows):
        """One vector for each row; all rows are equally long, so nothing is padded or masked."""
        ids = np.array([[CLS, *row, SEP] for row in rows])
        x = self.tensors["embeddings.word_embeddings.weight"][ids]
        x = x + self.tensors["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self.normal(x + self.tensors["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            x = self.attention(x, layer)
            inner = gelu(self.linear(x, f"{layer}.intermediate.dense"))
            x = self.normal(x + self.linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        mean = x.mean(1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def sentences(self, rows, batch=48):
        found = np.zeros((len(rows), WIDTH), np.float32)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        start = 0
        while start < len(order):
            length = len(rows[order[start]])
            end = start
            while end < len(order) and end - start < batch and len(rows[order[end]]) == length:
                end += 1
            found[order[start:end]] = self.sentence([rows[row] for row in order[start:end]])
            start = end
        return found


def gelu(x):
    """x times the normal distribution's share below x; erf by Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - series.astype(np.float32) * np.exp(-z * z))
    return (0.5 * x * (1 + erf)).astype(np.float32)


# The fit.


class Shares:
    """Sparse matrix: which share of a text's weight each piece has. Texts are rows, pieces are columns."""

    def __init__(self, rows, weights, columns):
        self.columns = columns
        self.column = np.concatenate([np.asarray(row) for row in rows])
        lengths = np.array([len(row) for row in rows])
        self.starts = np.r_[0, lengths.cumsum()[:-1]]
        self.row = np.repeat(np.arange(len(rows)), lengths)
        values = weights[self.column]
        self.value = (values / np.add.reduceat(values, self.starts)[self.row]).astype(np.float32)
        self.order = np.argsort(self.column, kind="stable")
        self.used, self.used_starts = np.unique(self.column[self.order], return_index=True)

    def times(self, x):
        return blockwise(x, lambda part: np.add.reduceat(part[self.column] * self.value[:, None], self.starts))

    def transposed_times(self, y):
        out = np.zeros((self.columns, y.shape[1]), np.float32)
        row, value = self.row[self.order], self.value[self.order, None]
        out[self.used] = blockwise(y, lambda part: np.add.reduceat(part[row] * value, self.used_starts))
        return out


def blockwise(x, product, width=32):
    return np.concatenate([product(x[:, at : at + width]) for at in range(0, x.shape[1], width)], axis=1)


def ridge(shares, prior, wanted, strength, rounds=20):
    """Returns prior + d with |mean + shares (prior + d) - wanted|^2 + strength |d|^2 at its least."""
    missing = wanted - shares.times(prior)
    residual = shares.transposed_times(missing - missing.mean(0))
    direction, change, size = residual.copy(), np.zeros_like(residual), (residual**2).sum(0)
    for _ in range(rounds):
        image = shares.transposed_times(shares.times(direction)) + strength * direction
        step = size / ((direction * image).sum(0) + 1e-12)
        change += step * direction
        residual -= step * image
        next_size = (residual**2).sum(0)
        direction = residual + next_size / (size + 1e-12) * direction
        size = next_size
    return prior + change


def without_signs(rows, vocabulary):
    """Search leaves punctuation out, so the fit must do without it too."""
    is_word = [piece.removeprefix("##")[:1].isalnum() for piece in vocabulary]
    return [[number for number in row if is_word[number]] or row for row in rows]


def fitted(vocabulary_vectors, rows, text_vectors, options):
    held = np.zeros(len(vocabulary_vectors))
    for row in rows:
        held[np.unique(row)] += 1
    shares = Shares(rows, np.log(1 + len(rows) / (1 + held)), len(vocabulary_vectors))
    centred = text_vectors - text_vectors.mean(0)
    axes = np.linalg.svd(centred.T @ centred)[2][: options.dimensions]
    prior = ((vocabulary_vectors - vocabulary_vectors.mean(0)) @ axes.T).astype(np.float32)
    wanted = (centred @ axes.T).astype(np.float32)
    guess = shares.times(prior)
    guess -= guess.mean(0)
    prior *= (guess * wanted).sum() / (guess * guess).sum()
    return ridge(shares, prior, wanted, options.strength), held / len(rows)


def write(path, table, share, vocabulary):
    scale = rounded_to_16_bits(np.abs(table).max(1) / 127 + 1e-8)
    quantised = np.clip(np.rint(table / as_float(scale)[:, None]), -127, 127).astype(np.int8)
    shares = np.minimum(65535, np.ceil(share * 65535)).astype("<u2")
    spelled = [piece.encode() for piece in vocabulary]
    ends = np.cumsum([len(piece) for piece in spelled]).astype("<u4")
    head = b"TOWT" + struct.pack("<IIII", 1, *table.shape, ends[-1])
    body = [quantised, scale, shares, ends, slots(spelled)]
    path.write_bytes(head + b"".join(part.tobytes() for part in body) + b"".join(spelled))


def rounded_to_16_bits(values):
    """The upper half of a float, rounded up, so that no quantised value is above 127."""
    return ((values.astype("<f4").view("<u4") >> 16) + 1).astype("<u2")


def as_float(halves):
    return (halves.astype("<u4") << 16).view("<f4")


def slots(spelled):
    """A hash table of all pieces, in place: where a slot is taken, the next one is tried."""
    found = np.full(SLOTS, EMPTY, "<u2")
    for number, piece in enumerate(spelled):
        slot = hashed(piece)
        while found[slot] != EMPTY:
            slot = (slot + 1) % SLOTS
        found[slot] = number
    return found


def hashed(piece):
    """FNV-1a of 32 bits, folded to 16."""
    value = 0x811C9DC5
    for byte in piece:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return (value >> 16 ^ value) & 0xFFFF


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["embed", "fit"])
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--texts", required=True, type=pathlib.Path)
    parser.add_argument("--cache", required=True, type=pathlib.Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--strength", type=float, default=0.1)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    vocabulary = (options.model / "vocab.txt").read_text(encoding="utf8").splitlines()
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    texts = options.texts.read_text().splitlines()[: options.limit]
    rows = [row for row in (pieces(text, numbers) for text in texts) if len(row) >= 4]
    if options.step == "embed":
        teacher = Teacher(options.model)
        alone = teacher.sentences([[number] for number in range(len(vocabulary))])
        np.savez(options.cache, alone=alone, texts=teacher.sentences(rows))
    else:
        cache = np.load(options.cache)
        table, share = fitted(cache["alone"], without_signs(rows, vocabulary), cache["texts"], options)
        write(options.out, table, share, vocabulary)


if __name__ == "__main__":
    main()
