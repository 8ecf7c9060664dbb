#!/usr/bin/env python3
"""Collects short texts to fit the table on: `corpus.py --sources DIR... --out texts.txt`.

A source is a folder that holds unpacked packages, one folder each. Only packages whose own metadata names a
permissive licence are read. Prose (Markdown, reStructuredText), doc comments and pieces of code are cut into texts of
a few sentences; each package gives at most SHARE of them, chosen by hash, so that the outcome depends on the sources
alone. One text per line.
"""
import argparse
import hashlib
import pathlib
import re

PERMISSIVE = re.compile(r"\b(MIT|Apache|BSD)\b")
PROSE = {".md", ".rst", ".txt"}
CODE = {".rs", ".py"}
SHARE = 3000
TOTAL = 40_000
LENGTH = (60, 360)


def is_permissive(package):
    for name in ("Cargo.toml", "PKG-INFO"):
        manifest = package / name
        if manifest.is_file():
            lines = manifest.read_text(errors="ignore").splitlines()[:200]
            return any(PERMISSIVE.search(line) for line in lines if "licen" in line.lower())
    return False


def texts_of(package):
    for path in sorted(package.rglob("*")):
        if not path.is_file() or path.stat().st_size > 400_000:
            continue
        if re.search(r"licen[cs]e|copying|authors|/locale/|\.dist-info", str(path).lower()):
            continue
        text = path.read_text(errors="ignore")
        if path.suffix in PROSE:
            yield from paragraphs(text)
        elif path.suffix in CODE:
            yield from paragraphs(comments(text, path.suffix))
            yield from chunks(text)


def paragraphs(text):
    for paragraph in re.split(r"\n\s*\n", text):
        yield from pieces(re.sub(r"[`*#=~^\s|]+", " ", paragraph).strip())


def pieces(text):
    """Cuts at ends of sentences, so that each piece stays below the longest length."""
    piece = ""
    for sentence in re.split(r"(?<=[.!?:])\s+", text):
        if piece and len(piece) + len(sentence) > LENGTH[1]:
            yield piece
            piece = ""
        piece = f"{piece} {sentence}".strip()
    yield piece


def comments(text, suffix):
    if suffix == ".rs":
        lines = (line.strip() for line in text.splitlines())
        return "\n".join(line.lstrip("/!").strip() if line.startswith("//") else "" for line in lines)
    return "\n\n".join(re.findall(r'"""(.*?)"""', text, re.S))


def chunks(text):
    """Every third run of eight lines of code: whole files would drown the prose."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(("//", "#"))]
    for at in range(0, len(lines) - 8, 24):
        yield " ".join(lines[at : at + 8])[: LENGTH[1]]


def is_worth_it(text):
    letters = sum(character.isalpha() for character in text)
    return LENGTH[0] <= len(text) <= LENGTH[1] + 80 and letters > 0.6 * len(text) and text.isascii()


def key(text):
    return hashlib.sha256(text.encode()).digest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", nargs="+", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    chosen = set()
    for source in options.sources:
        for package in sorted(path for path in source.iterdir() if path.is_dir()):
            if is_permissive(package):
                found = {text for text in texts_of(package) if is_worth_it(text)}
                chosen.update(sorted(found, key=key)[:SHARE])
    kept = sorted(chosen, key=key)[:TOTAL]
    options.out.write_text("".join(f"{text}\n" for text in kept))
    print(f"{len(kept)} of {len(chosen)} texts")


if __name__ == "__main__":
    main()
