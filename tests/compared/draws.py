"""Draws random characters and words that readers may treat differently. All code points are in Unicode 14, so every
version of every tool knows them.
SPDX-License-Identifier: Apache-2.0"""
import sys
import unicodedata

RANGES = [(0x21, 0x7e), (0x30, 0x39), (0x61, 0x7a), (0xa1, 0x17f), (0x300, 0x36f), (0x391, 0x3c9), (0x410, 0x44f), (0x5d0, 0x5ea),
          (0x627, 0x64a), (0x660, 0x669), (0x905, 0x939), (0xe01, 0xe30), (0x2010, 0x2027), (0x2190, 0x21ff), (0x2460, 0x2473),
          (0x3041, 0x3096), (0x4e00, 0x9fa5), (0xac00, 0xd7a3), (0xff01, 0xff5e), (0x1d400, 0x1d44f), (0x1f600, 0x1f64f), (0x20000, 0x2a6d6)]
WORDS = ["the", "a", "cat", "Don't", "we'll", "I'm", "1990-1995", "3.5", "1,000", "e.g.", "U.S.", "$5", "50%", "co-op", "naïve", "Straße",
         "&amp;", "&lt;b&gt;", "...", "--", "(x)", "\"no\"", "'s", "don''t", "x_y", "a/b", "M0", "ns:film.actor", "他有狗", "。", "，", "𠀀", "e\u0301"]
assert unicodedata.unidata_version >= "14", sys.version


def character(draw):
    while True:
        c = chr(draw.randint(*draw.choice(RANGES)))
        if unicodedata.category(c) != "Cn":
            return c


def word(draw, without=""):
    """Returns a word of at least one character, without white space."""
    while True:
        text = draw.choice(WORDS) if draw.random() < 0.6 else "".join(character(draw) for _ in range(draw.randint(1, 8)))
        if not any(c in without for c in text):
            return text


def line(draw, least=0, most=20):
    return " ".join(word(draw) for _ in range(draw.randint(least, most)))


def changed(draw, text):
    """Returns a copy of a text in which some words are exchanged, omitted or repeated."""
    out = []
    for part in text.split(" "):
        chance = draw.random()
        if chance < 0.15:
            out.append(word(draw))
        elif chance >= 0.25:
            out += [part] * (2 if chance < 0.3 else 1)
    return " ".join(out)
