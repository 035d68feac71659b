#!/usr/bin/env python3
"""Known answers for the Paillier cryptosystem, from the textbook formulas and Python's integers alone.

    python3 make_vectors.py > vectors.json

The generator is seeded, so the file comes out the same every time. Numbers are hexadecimal, with a minus sign where
they are negative; for each key

    encryptions   m, r, c         c = (n+1)^m * r^n mod n^2; r_p and r_q are what the key holder draws for the same r:
                                  r^q mod p and r^p mod q
    sums          a, b, sum, difference          indices of encryptions; ciphertexts
    plain_sums    a, k, c                        a + k
    products      a, k, c                        a * k
    quotients     a, k, c                        a / k modulo n
    weighted      terms [a, k, shift], c         sum of a * k * 2^shift
    rerandomized  a, r, c
"""

import json
import random
from math import gcd

SIZES = [512, 1024, 2048, 3072, 4096]
SMALL_PRIMES = [d for d in range(3, 2000, 2) if all(d % e for e in range(3, int(d**0.5) + 1, 2))]


def is_prime(x, rng):
    if any(x % d == 0 for d in SMALL_PRIMES):
        return False
    odd, twos = x - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(24):
        y = pow(rng.randrange(2, x - 1), odd, x)
        if y in (1, x - 1):
            continue
        for _ in range(twos - 1):
            y = y * y % x
            if y == x - 1:
                break
        else:
            return False
    return True


def prime(bits, rng):
    while True:
        x = rng.getrandbits(bits) | 3 << (bits - 2) | 1
        if is_prime(x, rng):
            return x


def unit(n, rng):
    while True:
        r = rng.randrange(1, n)
        if gcd(r, n) == 1:
            return r


def hexadecimal(x):
    return format(x, "x")


def vectors(bits, rng):
    p, q = prime(bits // 2, rng), prime(bits // 2, rng)
    n = p * q
    square = n * n
    assert n.bit_length() == bits and p != q and gcd(n, (p - 1) * (q - 1)) == 1
    lam = (p - 1) * (q - 1) // gcd(p - 1, q - 1)
    mu = pow((pow(n + 1, lam, square) - 1) // n, -1, n)

    def decrypt(c):
        m = (pow(c, lam, square) - 1) // n * mu % n
        return m if m <= n // 2 else m - n

    messages = [0, 1, -1, (n - 1) // 2, -((n - 1) // 2), rng.randrange(-(2**60), 2**60)]
    encryptions, c = [], []
    for m in messages:
        r = unit(n, rng)
        c.append(pow(n + 1, m % n, square) * pow(r, n, square) % square)
        assert decrypt(c[-1]) == m
        drawn = {"r_p": hexadecimal(pow(r, q, p)), "r_q": hexadecimal(pow(r, p, q))}
        encryptions.append({"m": hexadecimal(m), "r": hexadecimal(r), **drawn, "c": hexadecimal(c[-1])})

    def operation(value, result, **inputs):
        assert (decrypt(result) - value) % n == 0
        shown = {name: x if name in ("a", "b", "terms") else hexadecimal(x) for name, x in inputs.items()}
        return {**shown, "c": hexadecimal(result)}

    a, b = 5, 2
    sums = [{
        "a": a,
        "b": b,
        "sum": hexadecimal(c[a] * c[b] % square),
        "difference": hexadecimal(c[a] * pow(c[b], -1, square) % square),
    }]
    k = -rng.getrandbits(100)
    plain_sums = [operation(messages[a] + k, c[a] * pow(n + 1, k % n, square) % square, a=a, k=k)]
    products = []
    for k in (0, 1, 2**64 - 1, rng.getrandbits(128), rng.randrange(n)):
        products.append(operation(messages[a] * k, pow(c[a], k, square), a=a, k=k))
    k = 2 * rng.getrandbits(40) + 1
    quotients = [operation(messages[a] * pow(k, -1, n), pow(c[a], pow(k, -1, n), square), a=a, k=k)]
    terms = [(1, rng.getrandbits(80), 0), (5, rng.getrandbits(80), 144), (4, rng.getrandbits(80), 288)]
    value, result = 0, 1
    for index, k, shift in terms:
        value += messages[index] * k << shift
        result = result * pow(c[index], k << shift, square) % square
    shown = [[index, hexadecimal(k), shift] for index, k, shift in terms]
    weighted = [operation(value, result, terms=shown)]
    r = unit(n, rng)
    rerandomized = [operation(messages[a], c[a] * pow(r, n, square) % square, a=a, r=r)]
    return {
        "bits": bits,
        "p": hexadecimal(p),
        "q": hexadecimal(q),
        "n": hexadecimal(n),
        "encryptions": encryptions,
        "sums": sums,
        "plain_sums": plain_sums,
        "products": products,
        "quotients": quotients,
        "weighted": weighted,
        "rerandomized": rerandomized,
    }


if __name__ == "__main__":
    generator = random.Random(20260101)
    print(json.dumps([vectors(bits, generator) for bits in SIZES], indent=1))
