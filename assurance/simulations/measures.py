"""Computations without a recurrence: quotients, maxima and inner products over letters, diagonal runs."""

from alignment import bits_for, largest
from gadgets import not_negative, pads, product, select, widen
from lookup import look_up, trees
from parties import Shared, wire


def quotient(dividend, divisor, divisor_bits, bits):
    """Long division of numbers that are shared modulo 2^64, as bits."""
    left, found = dividend, [0, 0]
    for bit in reversed(range(bits)):
        width = divisor_bits + bit
        over = Shared(
            tuple((left[p] - (divisor[p] << bit)) % (2 << width) for p in (0, 1)), left.time
        )
        fits = not_negative(over, width, bit % 2)
        found = [found[p] | fits[p] << bit for p in (0, 1)]
        if bit == 0:
            return Shared(tuple(found), fits.time)
        low = Shared(tuple(d % (1 << divisor_bits) for d in divisor.shares), divisor.time)
        taken = select(fits, low, divisor_bits)
        left = Shared(
            tuple((left[p] - (taken[p] << bit)) % (1 << width) for p in (0, 1)), taken.time
        )


def largest_chosen(rows, width):
    """For each row of (bits, numbers) of both sides, the largest number that the other side's bits select."""
    lists = []
    for bits, numbers in rows:
        values = []
        for at in range(len(bits[0])):
            first = product(0, bits[0][at], numbers[1][at], width + 1)
            second = product(1, bits[1][at], numbers[0][at], width + 1)
            shares = tuple((first[p] + second[p]) % (2 << width) for p in (0, 1))
            values.append(Shared(shares, wire.now + 1))
        lists.append(values)
    wire.done(*[value for values in lists for value in values])
    return largest(lists, width)


def inner_product(factors, bits, width):
    """The sum of products of both sides' numbers below 2^bits, as shares modulo 2^64. The sides take turns as receiver."""
    modulus = width + 1
    total = [0, 0]
    for at, pair in enumerate(zip(*factors)):
        receiver = at % 2
        own, other = pair[receiver], pair[1 - receiver]
        for bit in range(bits):
            shares = product(receiver, own >> bit & 1, other, modulus - bit)
            total = [(total[p] + (shares[p] << bit)) % (1 << modulus) for p in (0, 1)]
    return widen(Shared(tuple(total), wire.now + 1), width, 64)


class Multiplier:
    """A shared bit that is multiplied several times: one transfer in each direction; each product uses one bit of its pads."""

    def __init__(self, bit, times):
        self.bit, self.used = bit, 0
        # By receiver.
        self.transfers = [pads(1 - receiver, 1, times) for receiver in (0, 1)]

    def multiply(self, other):
        place, self.used = self.used, self.used + 1
        shares = [self.bit[p] & other[p] for p in (0, 1)]
        for receiver in (0, 1):
            sender = 1 - receiver
            (zero, one), choice, pad = self.transfers[receiver]
            zero, one, pad = (value >> place & 1 for value in (zero, one, pad))
            swap = self.bit[receiver] ^ choice
            if place == 0:
                wire.send(receiver, 1)
            masked = other[sender] ^ zero ^ one
            wire.send(sender, 1)
            shares[receiver] ^= pad ^ choice & masked
            shares[sender] ^= zero ^ swap & other[sender]
        return Shared(tuple(shares), max(self.bit.time, other.time) + 1)


def diagonal_runs(pairs, alphabet, entry, least):
    """Points on diagonal runs of at least `least` ones, for matrices that are computed together."""
    closed = []
    bits = bits_for(max(len(a) * len(b) for a, b in pairs))
    matrices = []
    for number, pair in enumerate(pairs):
        owner = number % 2
        made = [trees(p, letters, alphabet) for p, letters in enumerate(pair)][owner]
        matrices.append((owner, pair[owner], pair[1 - owner], made))
    wire.now += 2
    looked_up = []
    for number, (owner, lines, positions, made) in enumerate(matrices):
        table = entry if owner == 0 else lambda y, x: entry(x, y)
        looked_up.append(
            {
                (i, j): look_up(made[i], letter, table, alphabet, 1, (number, i, j))
                for i in range(len(lines))
                for j, letter in enumerate(positions)
            }
        )
    wire.now += 1
    for bits_of_matrix in looked_up:
        ones = {place: Shared(bit.shares, wire.now) for place, bit in bits_of_matrix.items()}
        factors = {p: Multiplier(bit, least) for p, bit in ones.items() if p[0] > 0 and p[1] > 0}
        zero = Shared((0, 0), wire.now)
        ends = [None, ones]
        for _ in range(least):
            shorter = ends[-1]
            ends.append(
                {
                    p: factors[p].multiply(shorter[p[0] - 1, p[1] - 1]) if p in factors else zero
                    for p in ones
                }
            )
        total = {}
        for i, j in ones:
            parts = [ends[least].get((i + t, j + t)) for t in range(least)]
            parts += [ends[least + 1].get((i + t, j + t)) for t in range(1, least)]
            own = [0, 0]
            for part in filter(None, parts):
                own = [own[p] ^ part[p] for p in (0, 1)]
            total[i, j] = own
        closed.append(total)
    wire.now += least
    # Half of all cells in each direction.
    every = [(number, own) for number, total in enumerate(closed) for own in total.values()]
    sums = [[0, 0] for _ in closed]
    for at, (number, own) in enumerate(every):
        receiver = 0 if at < len(every) // 2 else 1
        both = product(receiver, own[receiver], own[1 - receiver], bits)
        sums[number] = [(sums[number][p] + own[p] - 2 * both[p]) % (2 << bits) for p in (0, 1)]
    wire.now += 1
    counts = [widen(Shared(tuple(own), wire.now), bits, 64) for own in sums]
    wire.done(*counts)
    return counts


def plain_runs(rows, columns, least, entry):
    one = {(i, j) for i, x in enumerate(rows) for j, y in enumerate(columns) if entry(x, y)}
    points = 0
    for i, j in one:
        if (i - 1, j - 1) not in one:
            length = 0
            while (i + length, j + length) in one:
                length += 1
            points += length if length >= least else 0
    return points
