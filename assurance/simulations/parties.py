"""Two parties in one process: what they share, what they send, and how long they wait.

A shared value has the share of party 0 (the host), that of party 1 (the joining side), and the number of exchanges after which
both have it. An exchange is one message each way at the same time.
"""

import random
from dataclasses import dataclass

rng = random.Random(16)


@dataclass
class Shared:
    """XOR or additive shares of a value, and when they are known."""

    shares: tuple
    time: int = 0

    def __getitem__(self, party):
        return self.shares[party]


class Wire:
    """Counts correlated OTs by their sender, bits by their sender, and exchanges."""

    def __init__(self):
        self.cots = [0, 0]
        self.bits = [0, 0]
        self.now = 0

    def send(self, party, bits):
        self.bits[party] += bits

    def transfers(self, sender, count):
        self.cots[sender] += count

    def done(self, *values):
        """The program waits for these values."""
        self.now = max([self.now] + [value.time for value in values])

    def counts(self):
        return self.cots + self.bits + [self.now]


wire = Wire()


def reset():
    """Resets the wire's counters, and returns the wire."""
    wire.__init__()
    return wire


def shared_sum(value, bits):
    share = rng.randrange(1 << bits)
    return Shared((share, (value - share) % (1 << bits)), wire.now)


def shared_xor(value, bits):
    share = rng.randrange(1 << bits)
    return Shared((share, value ^ share), wire.now)


def opened_sum(shared, bits):
    return (shared[0] + shared[1]) % (1 << bits)


def opened_xor(shared):
    return shared[0] ^ shared[1]


def by_party(party, own, other):
    """A pair, in the order of the parties, of what `party` has and what the other one has."""
    return (own, other) if party == 0 else (other, own)
