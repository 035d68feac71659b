"""Products, comparisons, and conversion between the two kinds of sharing. Each message depends only on what its sender knows."""

from parties import Shared, by_party, rng, wire


def pads(sender, choice_bits, bits):
    """A random 1-out-of-2^m OT: all pads for the sender, a random choice and its pad for the receiver."""
    wire.transfers(sender, choice_bits)
    all_pads = [rng.randrange(1 << bits) for _ in range(1 << choice_bits)]
    choice = rng.randrange(1 << choice_bits)
    return all_pads, choice, all_pads[choice]


def product(receiver, bit, number, bits):
    """The receiver's bit times the sender's number, as shares modulo 2^bits. Takes one transfer, 1 + bits bits, one exchange."""
    sender = 1 - receiver
    modulus = 1 << bits
    (zero, one), choice, pad = pads(sender, 1, bits)
    swap = bit ^ choice
    wire.send(receiver, 1)
    masked = (number - one + zero) % modulus
    wire.send(sender, bits)
    received = (pad + choice * masked) % modulus
    if swap:
        return by_party(receiver, -received % modulus, (zero + number) % modulus)
    return by_party(receiver, received, -zero % modulus)


def xor_product(receiver, bit, value, bits):
    """The same with XOR shares."""
    sender = 1 - receiver
    (zero, one), choice, pad = pads(sender, 1, bits)
    swap = bit ^ choice
    wire.send(receiver, 1)
    masked = value ^ zero ^ one
    wire.send(sender, bits)
    return by_party(receiver, pad ^ choice * masked, zero ^ swap * value)


def and_bits(bit, value, bits):
    """A shared bit times a shared value, both XOR-shared."""
    first = xor_product(0, bit[0], value[1], bits)
    second = xor_product(1, bit[1], value[0], bits)
    own = [bit[p] * value[p] for p in (0, 1)]
    shares = tuple(own[p] ^ first[p] ^ second[p] for p in (0, 1))
    return Shared(shares, max(bit.time, value.time) + 1)


def select(bit, number, bits):
    """An XOR-shared bit times an additively shared number."""
    modulus = 1 << bits
    signed = [number[p] * (1 - 2 * bit[p]) % modulus for p in (0, 1)]
    first = product(0, bit[0], signed[1], bits)
    second = product(1, bit[1], signed[0], bits)
    shares = tuple((bit[p] * number[p] + first[p] + second[p]) % modulus for p in (0, 1))
    return Shared(shares, max(bit.time, number.time) + 1)


def blocks(width):
    """Sizes of blocks, lowest first: three bits each, with four in the lowest or two in the highest if needed."""
    sizes = [4] if width > 3 and width % 3 == 1 else []
    while sum(sizes) < width:
        sizes.append(min(3, width - sum(sizes)))
    return sizes


def carry_signals(sender, values, size, propagates):
    """Generate (bit 0) and propagate (bit 1) of two blocks, by one 1-out-of-2^size OT."""
    receiver = 1 - sender
    bits = 2 if propagates else 1
    signal = lambda other: (
        values[sender] + other >> size | (values[sender] + other == (1 << size) - 1) << 1
    ) & (1 << bits) - 1
    all_pads, choice, pad = pads(sender, size, bits)
    swap = values[receiver] ^ choice
    wire.send(receiver, size)
    # The message for choice 0 is zero, and is not sent.
    share = signal(swap) ^ all_pads[0]
    table = [signal(random ^ swap) ^ share ^ all_pads[random] for random in range(1 << size)]
    assert table[0] == 0
    wire.send(sender, ((1 << size) - 1) * bits)
    return by_party(sender, share, table[choice] ^ pad)


def carry(number, width, first_sender):
    """The carry of the `width` lower bits of the two shares."""
    signals = []
    low = 0
    for at, size in enumerate(blocks(width)):
        values = [number[p] >> low & (1 << size) - 1 for p in (0, 1)]
        shares = carry_signals((first_sender + at) % 2, values, size, low > 0)
        signals.append(Shared(shares, number.time + 2))
        low += size
    while len(signals) > 1:
        merged = []
        for at in range(0, len(signals) - 1, 2):
            below, above = signals[at], signals[at + 1]
            propagates = Shared(tuple(share >> 1 for share in above.shares), above.time)
            both = and_bits(propagates, below, 1 if at == 0 else 2)
            shares = tuple(both[p] ^ above[p] & 1 for p in (0, 1))
            merged.append(Shared(shares, both.time))
        if len(signals) % 2:
            merged.append(signals[-1])
        signals = merged
    return signals[0]


def not_negative(number, width, first_sender):
    """Whether a number modulo 2^(width + 1), from -2^width to 2^width - 1, is not negative."""
    carried = carry(number, width, first_sender)
    shares = tuple(carried[p] ^ number[p] >> width & 1 ^ (p == 0) for p in (0, 1))
    return Shared(shares, carried.time)


def clamp(number, width, first_sender):
    """The larger of 0 and the number."""
    return select(not_negative(number, width, first_sender), number, width + 1)


def number_from_bits(bits, width, modulus):
    """A number shared bit by bit, as shares modulo 2^modulus."""
    q = 1 << modulus
    shares = [bits[p] & (1 << width) - 1 for p in (0, 1)]
    for at in range(width):
        receiver = 1 - at % 2
        own = [bits[p] >> at & 1 for p in (0, 1)]
        both = product(receiver, own[receiver], own[1 - receiver], modulus - at - 1)
        shares = [(shares[p] - (both[p] << at + 1)) % q for p in (0, 1)]
    return Shared(tuple(shares), bits.time + 1)


def widen(number, width, modulus):
    """A number below 2^width that is shared modulo 2^(width + 1), as shares modulo 2^modulus."""
    highest = [number[p] >> width & 1 for p in (0, 1)]
    both = product(0, highest[0], highest[1], modulus - width - 1)
    shares = tuple(
        (number[p] - (highest[p] - both[p] << width + 1)) % (1 << modulus) for p in (0, 1)
    )
    return Shared(shares, number.time + 1)


def bits_from_number(number, width):
    """A number shared modulo 2^width, as bits: an adder that computes all carries at once."""
    bit = lambda p, at: number[p] >> at & 1
    # Bit 0: a carry leaves the place; bit 1: a carry propagates it.
    places = []
    for at in range(width):
        carries = product(0, bit(0, at), bit(1, at), 1)
        shares = tuple(bit(p, at) << 1 | carries[p] for p in (0, 1))
        places.append(Shared(shares, number.time + 1))
    distance = 1
    while distance < width:
        merged = list(places)
        for at in range(distance, width):
            propagates = Shared(tuple(share >> 1 for share in places[at].shares), places[at].time)
            both = and_bits(propagates, places[at - distance], 2)
            merged[at] = Shared(tuple(both[p] ^ places[at][p] & 1 for p in (0, 1)), both.time)
        places = merged
        distance *= 2
    shares = []
    for p in (0, 1):
        carries = sum((place[p] & 1) << at for at, place in enumerate(places))
        shares.append((number[p] ^ carries << 1) & (1 << width) - 1)
    return Shared(tuple(shares), max(place.time for place in places))
