"""The recurrences on shares, for several matrices that advance together by anti-diagonals, and plain recurrences to check them.

A matrix has lines, whose letters have seed trees, and positions along them. In every other matrix the lines are the rows, in the
others the columns. Costs are looked up one step ahead.
"""

from gadgets import (
    and_bits,
    bits_from_number,
    clamp,
    not_negative,
    number_from_bits,
    select,
    widen,
)
from lookup import look_up, trees
from parties import Shared, opened_xor, wire


def bits_for(largest):
    return max(1, largest.bit_length())


class Matrix:
    def __init__(self, number, rows, columns):
        self.rows_are_lines = number % 2 == 0
        self.owner = 0 if self.rows_are_lines else 1
        self.lines, self.positions = (rows, columns) if self.rows_are_lines else (columns, rows)
        self.steps = len(self.lines) + len(self.positions) - 1

    def cells(self, step):
        first = max(0, step + 1 - len(self.positions))
        return [(line, step - line) for line in range(first, min(len(self.lines), step + 1))]


class Group:
    def __init__(self, pairs, alphabet, entry, width):
        self.matrices = [Matrix(number, *pair) for number, pair in enumerate(pairs)]
        self.alphabet, self.entry, self.width = alphabet, entry, width
        self.steps = max(matrix.steps for matrix in self.matrices)
        # All letters of both sides have trees, even those that are not lines here.
        self.trees = {}
        for number, (matrix, pair) in enumerate(zip(self.matrices, pairs)):
            for owner, letters in enumerate(pair):
                made = trees(owner, letters, alphabet)
                if owner == matrix.owner:
                    self.trees[number] = made
        wire.now += 2
        self.costs = {}

    def cells(self, step):
        return [
            (number, line, position)
            for number, matrix in enumerate(self.matrices)
            for line, position in matrix.cells(step)
        ]

    def look_up(self, step):
        """The segments that begin in a step. Here, a line has at most one segment."""
        for number, line, position in self.cells(step):
            if position > 0:
                continue
            matrix = self.matrices[number]
            table = self.entry if matrix.rows_are_lines else lambda y, x: self.entry(x, y)
            tree = self.trees[number][line]
            for at, letter in enumerate(matrix.positions):
                place = (number, line, at)
                self.costs[place] = look_up(
                    tree, letter, table, self.alphabet, self.width, place
                )
        wire.done(Shared((0, 0), wire.now + 1))

    def state(self, per_line, value):
        return {
            (number, at): Shared(value, wire.now)
            for number, matrix in enumerate(self.matrices)
            for at in range(len(matrix.lines if per_line else matrix.positions))
        }


def settle(now, *states):
    """A step begins when everything from the previous one is known."""
    for state in states:
        for place, value in state.items():
            assert value.time <= now
            state[place] = Shared(value.shares, now)


def unit(group):
    """Differences of neighbours as two bits: whether they are -1, and whether they are +1. Two exchanges per step."""
    flip = lambda value: Shared((value[0] ^ 1, value[1]), value.time)
    xor = lambda *values: Shared(
        tuple(a ^ b for a, b in zip(values[0].shares, values[1].shares))
        if len(values) == 2
        else xor(values[0], xor(*values[1:])).shares,
        max(value.time for value in values),
    )
    joined = lambda *values: Shared(
        tuple(sum(value[p] << at for at, value in enumerate(values)) for p in (0, 1)),
        max(value.time for value in values),
    )
    part = lambda value, at: Shared(tuple(s >> at & 1 for s in value.shares), value.time)
    along = [group.state(True, (0, 0)), group.state(True, (1, 0))]
    across = [group.state(False, (0, 0)), group.state(False, (1, 0))]
    group.look_up(0)
    for step in range(group.steps):
        settle(wire.now, *along, *across, group.costs)
        products = []
        for number, line, position in group.cells(step):
            (mv, pv), (mh, ph) = (
                [bits[number, line] for bits in along],
                [bits[number, position] for bits in across],
            )
            first = and_bits(flip(mh), joined(flip(mv), pv), 2)
            second = and_bits(flip(mv), ph, 1)
            unequal = flip(group.costs[number, line, position])
            third = and_bits(unequal, joined(part(first, 0), part(first, 1), second), 3)
            products.append((third, mv, pv, mh, ph))
        start = wire.now
        group.look_up(step + 1)
        assert wire.now == start + 1
        for (number, line, position), (third, mv, pv, mh, ph) in zip(group.cells(step), products):
            wire.done(third)
            diagonal = flip(part(third, 0))
            new_mh, new_mv = xor(pv, part(third, 1)), xor(ph, part(third, 2))
            along[0][number, line] = new_mv
            along[1][number, line] = flip(xor(mh, ph, diagonal, new_mv))
            across[0][number, position] = new_mh
            across[1][number, position] = flip(xor(mv, pv, diagonal, new_mh))
    settle(wire.now, *across)
    return across


def prepare(group, step, modulus, width=None):
    """The costs of a step as numbers, while those of the next are looked up."""
    start = wire.now
    settle(start, group.costs)
    numbers = {
        place: number_from_bits(group.costs[place], width or group.width, modulus)
        for place in group.cells(step)
    }
    group.look_up(step + 1)
    assert wire.now == start + 1
    wire.now = start
    return numbers, start + 1


def linear(modulus, *terms):
    """A sum of shared values with factors, modulo 2^modulus."""
    shares = tuple(sum(factor * value[p] for factor, value in terms) % (1 << modulus) for p in (0, 1))
    return Shared(shares, max(value.time for _, value in terms))


def constant(value):
    """A public number, as shares: party 0 has the number, party 1 has zero."""
    return Shared((value, 0))


def difference(group, width):
    """e = max(0, H - V), H' = e + max(0, T - V - e), V' = H' - (H - V)."""
    modulus = width + 1
    along, across = group.state(True, (0, 0)), group.state(False, (0, 0))
    group.look_up(0)
    costs, cells = {}, []
    for step in range(group.steps + 1):
        settle(wire.now, along, across, costs)
        numbers, prepared = prepare(group, step, modulus)
        for number, line, position in cells:
            v, h = along[number, line], across[number, position]
            d = linear(modulus, (1, h), (-1, v))
            raised = clamp(d, width, 0)
            cost = costs[number, line, position]
            rest = clamp(linear(modulus, (1, cost), (-1, v), (-1, raised)), width, 1)
            down = linear(modulus, (1, raised), (1, rest))
            across[number, position] = down
            along[number, line] = linear(modulus, (1, down), (-1, d))
        wire.now = max([prepared] + [across[n, at].time for n, _, at in cells])
        costs, cells = numbers, group.cells(step)
    settle(wire.now, across)
    return across


def local(group, width, gap):
    """M = max(0, diagonal + T - 2 gap, up - gap, left - gap), and the largest M of each position, one step later."""
    modulus = width + 1
    left, diagonal = group.state(True, (0, 0)), group.state(True, (0, 0))
    up, best = group.state(False, (0, 0)), group.state(False, (0, 0))
    group.look_up(0)
    costs, cells, before = {}, [], []
    for step in range(group.steps + 2):
        settle(wire.now, left, diagonal, up, best, costs)
        numbers, prepared = prepare(group, step, modulus)
        times = [prepared]
        for number, position in before:
            raised = clamp(linear(modulus, (1, up[number, position]), (-1, best[number, position])), width, 0)
            best[number, position] = linear(modulus, (1, best[number, position]), (1, raised))
            times.append(raised.time)
        scores = []
        for number, line, position in cells:
            raised = clamp(linear(modulus, (1, up[number, position]), (-1, left[number, line])), width, 0)
            cost = costs[number, line, position]
            through = linear(modulus, (1, diagonal[number, line]), (1, cost), (-2, constant(gap)))
            gapped = linear(modulus, (1, left[number, line]), (1, raised), (-1, constant(gap)))
            over = clamp(linear(modulus, (1, gapped), (-1, through)), width, 1)
            score = clamp(linear(modulus, (1, through), (1, over)), width, 0)
            scores.append(score)
            times.append(score.time)
        for (number, line, position), score in zip(cells, scores):
            diagonal[number, line] = up[number, position]
            left[number, line] = up[number, position] = score
        wire.now = max(times)
        before = [(number, position) for number, _, position in cells]
        costs, cells = numbers, group.cells(step)
    settle(wire.now, best)
    return best


def smaller(a, b, width, first_sender):
    """min(a, b) = a - max(0, a - b)."""
    over = clamp(linear(width + 1, (1, a), (-1, b)), width, first_sender)
    return linear(width + 1, (1, a), (-1, over))


def coupling(group, width, takes_sum, input_width=None):
    """X = the distance plus the least of three neighbours, or the larger of the two.

    Cells outside the matrix have the largest number. So do cells where a letter meets padding, as the bit after the `input_width` bits
    of a distance says.
    """
    modulus = width + 1
    outside = ((1 << width) - 1, 0)
    left, diagonal = group.state(True, outside), group.state(True, outside)
    up = group.state(False, outside)
    for number in range(len(group.matrices)):
        diagonal[number, 0] = Shared((0, 0), wire.now)
    group.look_up(0)
    distances, cells = {}, []
    for step in range(group.steps + 1):
        settle(wire.now, left, diagonal, up, distances)
        numbers, prepared = prepare(group, step, modulus, input_width)
        meets_next = {
            place: Shared(tuple(s >> input_width & 1 for s in group.costs[place].shares), wire.now)
            for place in (group.cells(step) if input_width else [])
        }
        values = []
        for number, line, position in cells:
            least = smaller(up[number, position], left[number, line], width, 0)
            least = smaller(least, diagonal[number, line], width, 1)
            added = distances[number, line, position]
            if not takes_sum:
                added = clamp(linear(modulus, (1, added), (-1, least)), width, 0)
            value = linear(modulus, (1, least), (1, added))
            if input_width:
                missing = linear(modulus, (1, Shared(outside)), (-1, value))
                missing = select(meets[number, line, position], missing, modulus)
                value = linear(modulus, (1, value), (1, missing))
            values.append(value)
        for (number, line, position), value in zip(cells, values):
            diagonal[number, line] = up[number, position]
            left[number, line] = up[number, position] = value
        wire.now = max([prepared] + [value.time for value in values])
        distances, cells, meets = numbers, group.cells(step), meets_next
    settle(wire.now, up)
    return up


def largest(lists, width):
    """The largest number of each list. The first step makes as many comparisons as all others together, so those use the other direction."""
    sender = 0
    while any(len(values) > 1 for values in lists):
        halved = []
        for values in lists:
            values = [Shared(value.shares, wire.now) for value in values]
            pairs = [values[at : at + 2] for at in range(0, len(values), 2)]
            halved.append(
                [
                    linear(width + 1, (1, p[0]), (1, clamp(linear(width + 1, (1, p[1]), (-1, p[0])), width, sender)))
                    if len(p) == 2
                    else p[0]
                    for p in pairs
                ]
            )
        lists = halved
        sender = 1
        wire.done(*[value for values in lists for value in values])
    return [values[0] for values in lists]


def at_positions(group, state):
    """The values at the positions of each matrix."""
    return [
        [state[number, at] for at in range(len(matrix.positions))]
        for number, matrix in enumerate(group.matrices)
    ]


def widened(numbers, width, modulus):
    if modulus == width + 1:
        return numbers
    wide = [[widen(number, width, modulus) for number in values] for values in numbers]
    wire.done(*[number for values in wide for number in values])
    return wide


def results(kind, group, bits):
    """The results of all matrices, shared modulo 2^(bits + 1)."""
    modulus = bits + 1
    if kind[0] == "unit":
        minus, plus = (at_positions(group, state) for state in unit(group))
        lift = lambda values: [number_from_bits(value, 1, modulus) for value in values]
        sums = []
        for matrix, minus, plus in zip(group.matrices, minus, plus):
            terms = [(1, value) for value in lift(plus)] + [(-1, value) for value in lift(minus)]
            lines, positions = len(matrix.lines), len(matrix.positions)
            # The sum of h + 1 over all columns. If lines are columns, it follows from the sum over all rows.
            own = positions if matrix.rows_are_lines else 2 * lines - positions
            sums.append(linear(modulus, (1, constant(own)), *terms))
        wire.done(*sums)
        return sums
    if kind[0] == "difference":
        width = bits_for(kind[1])
        across = widened(at_positions(group, difference(group, width)), width, modulus)
        return [linear(modulus, *[(1, value) for value in values]) for values in across]
    if kind[0] in ("warping", "frechet"):
        width = bits_for(kind[1])
        last = coupling(group, width, kind[0] == "warping", kind[3] if len(kind) > 3 else None)
        totals = [values[-1:] for values in at_positions(group, last)]
        return [value for (value,) in widened(totals, width, modulus)]
    _, most, _, gap = kind
    width = bits_for(most + 2 * gap)
    best = largest(at_positions(group, local(group, width, gap)), width)
    return [value for (value,) in widened([[value] for value in best], width, modulus)]


def outputs(numbers, bits, at_least):
    """The outputs, shared by exclusive or: the numbers, or whether they reach a bound."""
    if at_least is None:
        low = [Shared(tuple(s % (1 << bits) for s in number.shares), number.time) for number in numbers]
        found = [bits_from_number(number, bits) for number in low]
    else:
        bound = constant(min(at_least, 1 << bits))
        found = [not_negative(linear(bits + 1, (1, number), (-1, bound)), bits, 0) for number in numbers]
    wire.done(*found)
    return [opened_xor(output) for output in found]


def plain_global(rows, columns, insert, delete, cost):
    row = [at * insert for at in range(len(columns) + 1)]
    for x in rows:
        diagonal, row[0] = row[0], row[0] + delete
        for at, y in enumerate(columns):
            best = min(diagonal + cost(x, y), row[at] + insert, row[at + 1] + delete)
            diagonal, row[at + 1] = row[at + 1], best
    return row[-1]


def plain_coupling(rows, columns, join, distance):
    matrix = {}
    for i, x in enumerate(rows):
        for j, y in enumerate(columns):
            before = [matrix[p] for p in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if p in matrix]
            matrix[i, j] = join(distance(x, y), min(before, default=0))
    return matrix[len(rows) - 1, len(columns) - 1]


def plain_local(rows, columns, gap, score):
    row, most = [0] * (len(columns) + 1), 0
    for x in rows:
        diagonal = 0
        for at, y in enumerate(columns):
            best = max(0, diagonal + score(x, y), row[at] - gap, row[at + 1] - gap)
            diagonal, row[at + 1] = row[at + 1], best
            most = max(most, best)
    return most
