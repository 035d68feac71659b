"""Looks up costs for letters that neither side reveals, with seed trees in which the owner of the lines lacks one leaf: a tree for each
letter or, for entries of one bit, trees for eight lines at a time."""

import hashlib

from parties import Shared, by_party, rng, wire

BLOCK = 128


def block(*parts):
    """A pseudorandom block."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:16], "little")


def levels_of(alphabet):
    return max(1, (alphabet - 1).bit_length())


class Tree:
    """The tree of one letter: all leaves for the other side, all but the letter's for its owner. Two exchanges."""

    def __init__(self, owner, letter, alphabet):
        self.owner, self.letter = owner, letter
        levels = levels_of(alphabet)
        nodes, known = [], []
        for level in range(levels):
            bit = letter >> levels - 1 - level & 1
            zero, one = block(rng.random()), block(rng.random())
            # The owner sends its bit XOR its random choice; the other side sends the two keys in that order.
            wire.transfers(1 - owner, 1)
            wire.send(owner, 1)
            key = one if bit else zero
            if level == 0:
                nodes = [one, zero]
                known = [None, zero] if bit == 0 else [one, None]
                assert known[1 - bit] == key
                continue
            nodes = [block("child", node, side) for node in nodes for side in (0, 1)]
            sums = [0, 0]
            for at, node in enumerate(nodes):
                sums[at % 2] ^= node
            corrections = [sums[1] ^ zero, sums[0] ^ one]
            wire.send(1 - owner, 2 * BLOCK)
            missing = letter >> levels - level
            known = [
                None if node is None else block("child", node, side)
                for node in known
                for side in (0, 1)
            ]
            # The owner gets the sum of the side without its leaf, and from it the one node of that side that it cannot derive.
            sibling = 2 * missing + 1 - bit
            rest = 0
            for at in range(1 - bit, len(known), 2):
                rest ^= known[at] or 0
            known[sibling] = corrections[bit] ^ key ^ rest
        self.leaves, self.punctured = nodes, known
        for leaf, (whole, seen) in enumerate(zip(nodes, known)):
            assert (seen is None) == (leaf == letter) and seen in (None, whole)


def trees(owner, letters, alphabet):
    return [Tree(owner, letter, alphabet) for letter in letters]


def look_up(tree, letter, table, alphabet, width, place):
    """XOR shares of table[line's letter][letter], where the line's owner does not know the letter. Takes alphabet - 1 bits."""
    last = alphabet - 1
    # The last column follows from the others.
    entry = lambda row, column: table(row, column) ^ (table(row, last) if column < last else 0)
    # A bit of a leaf's stream for each column.
    stream = lambda leaf: leaf if leaf is None else block("stream", leaf, place)
    share = 0
    message = [int(letter == column) for column in range(last)]
    for row, leaf in enumerate(map(stream, tree.leaves)):
        for column in range(last):
            bit = leaf >> column & 1
            message[column] ^= bit
            if row < alphabet:
                share ^= bit * entry(row, column)
    wire.send(1 - tree.owner, last)
    own = tree.letter
    received = entry(own, last)
    for column in range(last):
        received ^= message[column] * entry(own, column)
    for row, leaf in enumerate(map(stream, tree.punctured)):
        for column in range(last if leaf is not None else 0):
            coefficient = entry(own, column) ^ (entry(row, column) if row < alphabet else 0)
            received ^= (leaf >> column & 1) * coefficient
    assert received ^ share == table(own, letter) and received < 1 << width
    return Shared(by_party(tree.owner, received, share), wire.now + 1)


# Lines that share trees.
LINES = 8


class LineTrees:
    """For eight lines and each column but the last, a tree that lacks the leaf whose bits are the lines' entries."""

    def __init__(self, owner, letters, table, alphabet):
        self.owner, self.letters, self.table, self.last = owner, letters, table, alphabet - 1
        self.trees = []
        for column in range(self.last):
            entries = [self.entry(letter, column) for letter in letters]
            leaf = sum(entry << line for line, entry in enumerate(entries))
            self.trees.append(Tree(owner, leaf, 1 << LINES))

    def entry(self, row, column):
        return self.table(row, column) ^ (self.table(row, self.last) if column < self.last else 0)

    def look_up(self, positions, place):
        """Shares of the entries of all eight lines with the letters at these positions. Takes alphabet - 1 bits per position."""
        wire.send(1 - self.owner, self.last * len(positions))
        sent = [[0] * len(positions) for _ in self.letters]
        received = [
            [self.entry(letter, self.last)] * len(positions) for letter in self.letters
        ]
        for column, tree in enumerate(self.trees):
            stream = lambda leaf: block("lines", leaf, place)
            whole = [stream(leaf) for leaf in tree.leaves]
            known = [leaf if leaf is None else stream(leaf) for leaf in tree.punctured]
            for at, letter in enumerate(positions):
                message = int(letter == column)
                for leaf, bits in enumerate(whole):
                    bit = bits >> at & 1
                    message ^= bit
                    for line in range(len(self.letters)):
                        sent[line][at] ^= bit & leaf >> line
                for line in range(len(self.letters)):
                    own = tree.letter >> line & 1
                    received[line][at] ^= own & message
                for leaf, bits in enumerate(known):
                    if bits is not None:
                        bit = bits >> at & 1
                        for line in range(len(self.letters)):
                            received[line][at] ^= bit & (leaf ^ tree.letter) >> line
        for line, own in enumerate(self.letters):
            for at, letter in enumerate(positions):
                assert received[line][at] ^ sent[line][at] == self.table(own, letter)
