#!/usr/bin/env python3
"""Simulates both parties of the `shares` engine, checks every result, and writes the costs as CSV to standard output.

    python3 assurance/simulations/shares.py > testdata/shares/counts.csv

Columns: what was computed, with its two parameters (`a`, `b`) and how often; correlated OTs and bits by sending party; and the number
of sequential message exchanges. Rows `cell` do not include the look-up, and count the exchanges of one step.
"""

import sys

import alignment
import gadgets
import lookup
import measures
from parties import Shared, opened_sum, opened_xor, reset, rng, shared_sum, shared_xor, wire

COUNT = 64
# The matrices of an alignment, and their rows and columns.
MATRICES, LENGTH = 16, 8


def signed(width):
    """A number from -2^width to 2^width - 1, often at a boundary, modulo 2^(width + 1)."""
    half = 1 << width
    borders = [0, 1, half - 1, half, half + 1, 2 * half - 1]
    return rng.choice(borders + [rng.randrange(2 * half) for _ in borders]) % (2 * half)


def row(case, a, b, count):
    return [case, a, b, count] + wire.counts()


def gadget(case, a, b, play):
    reset()
    for _ in range(COUNT):
        play()
    return row(case, a, b, COUNT)


def play_select(bits):
    bit, number = rng.randrange(2), rng.randrange(1 << bits)
    found = gadgets.select(shared_xor(bit, 1), shared_sum(number, bits), bits)
    assert opened_sum(found, bits) == bit * number
    wire.done(found)


def play_product(bits):
    bit, number = rng.randrange(2), rng.randrange(1 << bits)
    shares = gadgets.product(0, bit, number, bits)
    assert sum(shares) % (1 << bits) == bit * number
    wire.done(Shared(shares, 1))


def play_and(bits):
    bit, value = rng.randrange(2), rng.randrange(1 << bits)
    found = gadgets.and_bits(shared_xor(bit, 1), shared_xor(value, bits), bits)
    assert opened_xor(found) == bit * value
    wire.done(found)


def play_sign(width):
    number = signed(width)
    found = gadgets.not_negative(shared_sum(number, width + 1), width, 0)
    assert opened_xor(found) == (number >> width == 0)
    wire.done(found)


def play_clamp(width, first_sender):
    number = signed(width)
    found = gadgets.clamp(shared_sum(number, width + 1), width, first_sender)
    assert opened_sum(found, width + 1) == (number if number >> width == 0 else 0)
    wire.done(found)


def play_number(width, modulus):
    number = rng.randrange(1 << width)
    found = gadgets.number_from_bits(shared_xor(number, width), width, modulus)
    assert opened_sum(found, modulus) == number
    wire.done(found)


def play_widen(width, modulus):
    number = rng.randrange(1 << width)
    found = gadgets.widen(shared_sum(number, width + 1), width, modulus)
    assert opened_sum(found, modulus) == number
    wire.done(found)


def play_bits(width):
    number = rng.randrange(1 << width)
    found = gadgets.bits_from_number(shared_sum(number, width), width)
    assert opened_xor(found) == number
    wire.done(found)


def play_quotient(divisor_bits, bits):
    divisor = rng.choice([0, 1, (1 << divisor_bits) - 1, rng.randrange(1 << divisor_bits)])
    dividend = rng.randrange(max(1, divisor << bits))
    shares = [shared_sum(number, 64) for number in (dividend, divisor)]
    found = measures.quotient(*shares, divisor_bits, bits)
    assert opened_xor(found) == (dividend // divisor if divisor else (1 << bits) - 1)
    wire.done(found)


def play_inner(each, bits):
    """Numbers of `bits` bits on both sides."""
    factors = [[rng.randrange(1 << bits) for _ in range(each)] for _ in (0, 1)]
    width = 2 * bits + alignment.bits_for(each)
    found = measures.inner_product(factors, bits, width)
    assert opened_sum(found, 64) == sum(a * b for a, b in zip(*factors))
    wire.done(found)


def chosen(each, width):
    reset()
    rows, expected = [], []
    for _ in range(COUNT):
        bits = [[rng.randrange(2) for _ in range(each)] for _ in (0, 1)]
        numbers = [
            [rng.randrange(1 << width) * (1 - bits[0][at] * bits[1][at]) for at in range(each)]
            for _ in (0, 1)
        ]
        rows.append((bits, numbers))
        expected.append(max(bits[p][at] * numbers[1 - p][at] for p in (0, 1) for at in range(each)))
    for found, number in zip(measures.largest_chosen(rows, width), expected):
        assert opened_sum(found, width + 1) == number
    return row("chosen", each, width, COUNT)


def runs(alphabet, least):
    """Matrices, from letters to numbers."""
    reset()
    string = lambda: [rng.randrange(alphabet) for _ in range(LENGTH)]
    pairs = [(string(), string()) for _ in range(MATRICES)]
    entry = lambda x, y: int(x == y or x + 1 == y)
    found = measures.diagonal_runs(pairs, alphabet, entry, least)
    for (rows, columns), count in zip(pairs, found):
        assert opened_sum(count, 64) == measures.plain_runs(rows, columns, least, entry)
    return row("runs", alphabet, least, MATRICES)


def at_once(play):
    """Makes `play` start at exchange 0, so that the COUNT gadgets of a row share their exchanges."""

    def played():
        end, wire.now = wire.now, 0
        play()
        wire.now = max(end, wire.now)

    return played


def trees(alphabet):
    reset()
    letters = [[rng.randrange(alphabet) for _ in range(COUNT)] for _ in (0, 1)]
    for owner in (0, 1):
        lookup.trees(owner, letters[owner], alphabet)
    wire.now += 2
    return row("trees", alphabet, 0, COUNT)


def lines(alphabet, length):
    """A matrix of eight rows, which are the lines: only the host's letters have trees."""
    reset()
    table = lambda x, y: int(x == y)
    string = lambda count: [rng.randrange(alphabet) for _ in range(count)]
    trees = lookup.LineTrees(0, string(lookup.LINES), table, alphabet)
    trees.look_up(string(length), 0)
    wire.now += 3
    return row("lines", alphabet, length, lookup.LINES * length)


class Case:
    """A metric with its letters: what is computed, the table, and the plain result."""

    def __init__(self, kind, alphabet, entry, plain, padded=False):
        self.kind, self.alphabet, self.entry, self.plain, self.padded = kind, alphabet, entry, plain, padded
        names = {"difference": "padded", "warping": "padded-warping"}
        self.name = names[kind[0]] if padded else kind[0]
        self.parameter = kind[1] if len(kind) > 1 else 0

    def entry_bits(self):
        if self.kind[0] == "unit":
            return 1
        if self.kind[0] == "difference":
            return alignment.bits_for(self.kind[1])
        return alignment.bits_for(self.kind[2]) + (self.name == "padded-warping")

    def result_bits(self, rows, columns):
        if self.kind[0] == "unit":
            return alignment.bits_for(2 * columns)
        if self.kind[0] == "difference":
            return alignment.bits_for(self.kind[1] * min(rows, columns))
        if self.kind[0] in ("warping", "frechet"):
            return alignment.bits_for(self.kind[1])
        return alignment.bits_for(self.kind[1] + 2 * self.kind[3])

    def pairs(self, rows, columns):
        """Pairs of strings, and the same pairs as they are computed: with hidden lengths, padded to the same length."""
        string = lambda length: [rng.randrange(self.alphabet) for _ in range(length)]
        if not self.padded:
            pairs = [(string(rows), string(columns)) for _ in range(MATRICES)]
            return pairs, pairs
        # A coupling has a first letter, and ends before the last letter of padding.
        coupled = int(self.name == "padded-warping")
        length = lambda most: rng.randrange(coupled, most + 1 - coupled)
        real = [(string(length(rows)), string(length(columns))) for _ in range(MATRICES)]
        pad = lambda letters, length: letters + [self.alphabet] * (length - len(letters))
        return real, [(pad(a, rows), pad(b, columns)) for a, b in real]

    def group(self, rows=LENGTH, columns=LENGTH):
        real, padded = self.pairs(rows, columns)
        letters = self.alphabet + self.padded
        return real, alignment.Group(padded, letters, self.entry, self.entry_bits())

    def cell(self):
        """What a cell costs without the look-up, and the exchanges of a step."""
        ends = []
        for columns in (LENGTH, LENGTH + 1):
            reset()
            _, group = self.group(columns=columns)
            before = wire.counts()
            if self.kind[0] == "unit":
                alignment.unit(group)
            elif self.kind[0] == "difference":
                alignment.difference(group, alignment.bits_for(self.kind[1]))
            elif self.kind[0] in ("warping", "frechet"):
                width = alignment.bits_for(self.kind[1])
                alignment.coupling(group, width, self.kind[0] == "warping", *self.kind[3:])
            else:
                _, most, _, gap = self.kind
                alignment.local(group, alignment.bits_for(most + 2 * gap), gap)
            ends.append([after - before for after, before in zip(wire.counts(), before)])
        cells = MATRICES * LENGTH * LENGTH
        counts = ends[0]
        # Each side owns the lines of half of the matrices.
        for party in (0, 1):
            counts[2 + party] -= (group.alphabet - 1) * cells // 2
        counts[4] = ends[1][4] - ends[0][4]
        return ["cell " + self.name, self.parameter, self.alphabet, cells] + counts

    def align(self, at_least):
        """Whole comparisons, from letters to outputs."""
        reset()
        real, group = self.group()
        bits = self.result_bits(LENGTH, LENGTH)
        numbers = alignment.results(self.kind, group, bits)
        if self.name == "padded":
            # Each side adds what its own letters cost; the result is what was saved.
            terms = [(len(a), len(b)) for a, b in real]
            numbers = [
                alignment.linear(bits + 1, (1, Shared(term)), (-1, number))
                for term, number in zip(terms, numbers)
            ]
        found = alignment.outputs(numbers, bits, at_least)
        for (rows, columns), output in zip(real, found):
            plain = self.plain(rows, columns)
            assert output == (plain if at_least is None else plain >= at_least), self.name
        mode = "numbers" if at_least is None else "at least"
        return [f"{self.name} {mode}", self.parameter, self.alphabet, MATRICES] + wire.counts()


def saved(insert, delete, cost):
    """What a global alignment saves, compared with deleting and inserting everything."""

    def plain(rows, columns):
        everything = len(rows) * delete + len(columns) * insert
        return everything - alignment.plain_global(rows, columns, insert, delete, cost)

    return plain


def global_case(insert, delete, alphabet):
    cost = lambda x, y: abs(3 * x - 2 * y) * (insert + delete) // 11
    entry = lambda x, y: max(0, insert + delete - cost(x, y))
    return Case(("difference", insert + delete), alphabet, entry, saved(insert, delete, cost))


def cases():
    unequal = lambda x, y: int(x != y)
    distance = lambda rows, columns: alignment.plain_global(rows, columns, 1, 1, unequal)
    # The sum over all columns of the difference plus one.
    per_column = lambda rows, columns: distance(rows, columns) - len(rows) + len(columns)
    for alphabet in (7, 26):
        yield Case(("unit",), alphabet, lambda x, y: int(x == y), per_column)
    for insert, delete in ((100, 155), (224, 224), (40_000, 25_535)):
        yield global_case(insert, delete, 7)
    alphabet = 6
    entry = lambda x, y: 2 - unequal(x, y) if max(x, y) < alphabet else 0
    # Letters that are equal cost nothing and save both gaps; others cost 1 and save one.
    yield Case(("difference", 2), alphabet, entry, distance, padded=True)
    gap, best = 3, 4
    score = lambda x, y: {0: best, 1: 1}.get(abs(x - y), -2)
    yield Case(
        ("local", LENGTH * best, best + 2 * gap, gap),
        7,
        lambda x, y: max(0, score(x, y) + 2 * gap),
        lambda rows, columns: alignment.plain_local(rows, columns, gap, score),
    )
    distance = lambda x, y: (x - y) ** 2
    most = 36
    for kind, join in (
        (("warping", LENGTH * most, most), lambda a, b: a + b),
        (("frechet", most, most), max),
    ):
        plain = lambda rows, columns, join=join: alignment.plain_coupling(rows, columns, join, distance)
        yield Case(kind, 7, distance, plain)
        if kind[0] == "warping":
            # Padding is the last letter, and a bit says that it meets another letter.
            meets = lambda x, y: (x == 7) != (y == 7)
            entry = lambda x, y: 1 << 6 if meets(x, y) else distance(x, y)
            yield Case((*kind, 6), 7, entry, plain, padded=True)


def rows():
    for bits in (1, 9, 64):
        yield gadget("product", bits, 0, at_once(lambda: play_product(bits)))
    for bits in (1, 2, 3):
        yield gadget("and", bits, 0, at_once(lambda: play_and(bits)))
    for bits in (2, 10, 17, 64):
        yield gadget("select", bits, 0, at_once(lambda: play_select(bits)))
    for width in (*range(1, 17), 20, 30, 40, 63):
        yield gadget("sign", width, 0, at_once(lambda: play_sign(width)))
        for first_sender in (0, 1):
            yield gadget("clamp", width, first_sender, at_once(lambda: play_clamp(width, first_sender)))
    for width, modulus in ((1, 6), (1, 64), (9, 10), (9, 64), (16, 17)):
        yield gadget("number", width, modulus, at_once(lambda: play_number(width, modulus)))
    for width, modulus in ((2, 6), (9, 13), (9, 64), (16, 64)):
        yield gadget("widen", width, modulus, at_once(lambda: play_widen(width, modulus)))
    for width in (1, 2, 5, 9, 17, 33, 63):
        yield gadget("bits", width, 0, at_once(lambda: play_bits(width)))
    for divisor_bits, bits in ((9, 14), (20, 15)):
        yield gadget("quotient", divisor_bits, bits, at_once(lambda: play_quotient(divisor_bits, bits)))
    for each, bits in ((26, 5), (49, 7)):
        yield gadget("inner", each, bits, at_once(lambda: play_inner(each, bits)))
    for each, width in ((2, 1), (49, 5)):
        yield chosen(each, width)
    for alphabet, least in ((7, 2), (7, 3)):
        yield runs(alphabet, least)
    for alphabet in (2, 7, 48, 52):
        yield trees(alphabet)
    yield lines(7, 64)
    for case in cases():
        yield case.cell()
        for at_least in (None, 3):
            yield case.align(at_least)


def main():
    print("case,a,b,count,cots_0,cots_1,bits_0,bits_1,exchanges")
    for counted in rows():
        print(",".join(map(str, counted)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
