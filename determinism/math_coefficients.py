#!/usr/bin/env python3
"""Prints the polynomial coefficients of math.h and math64.h.

Each is a minimax fit (relative to the function itself) whose
coefficients are rounded to the target format one after the other, lowest power
first, refitting the rest after each, so that the roundings of the early ones
are made up for by the later ones. Needs mpmath. Not part of the build: the
output is pasted into the headers, and the soak checks what came of it.
"""

from mpmath import mp, mpf

mp.prec = 320


def round_to(value, bits):
    """Nearest number with that many significand bits."""
    if value == 0:
        return mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def minimax(target, weight, powers, low, high):
    """Coefficients that nearly minimise max |weight * (target - sum c_k x^k)|.

    Lawson's algorithm: least squares on Chebyshev nodes, each node's weight
    multiplied by its error after each round.
    """
    n = len(powers)
    count = 12 * n + 20
    nodes = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mpf("0.5")) / count)
        for i in range(count)
    ]
    rows = [[weight(x) * x**k for k in powers] for x in nodes]
    right = [weight(x) * target(x) for x in nodes]
    lawson = [mpf(1) / count] * count
    best, best_error = None, None
    for _ in range(25):
        gram, moment = mp.matrix(n, n), mp.matrix(n, 1)
        for row, r, w in zip(rows, right, lawson):
            for i in range(n):
                moment[i] += w * row[i] * r
                for j in range(n):
                    gram[i, j] += w * row[i] * row[j]
        solution = mp.lu_solve(gram, moment)
        errors = [
            abs(r - sum(solution[i] * row[i] for i in range(n)))
            for row, r in zip(rows, right)
        ]
        if best is None or max(errors) < best_error:
            best, best_error = [solution[i] for i in range(n)], max(errors)
        scaled = [w * e for w, e in zip(lawson, errors)]
        lawson = [e / sum(scaled) for e in scaled]
    return best


def fit(name, target, weight, powers, low, high, bits, fixed=()):
    """Prints coefficients rounded to `bits`, lowest power first."""
    low, high = mpf(low), mpf(high)
    known = list(fixed)
    while len(known) < len(powers):
        count = len(known)

        def rest(x):
            return target(x) - sum(c * x**k for c, k in zip(known, powers[:count]))

        free = minimax(rest, weight, powers[count:], low, high)
        known.append(round_to(free[0], bits))
    grid = [low + (high - low) * (i + mpf("0.5")) / 4000 for i in range(4000)]
    error = max(
        abs(weight(x) * (target(x) - sum(c * x**k for c, k in zip(known, powers))))
        for x in grid
    )
    print("%s: relative error 2^%s" % (name, mp.nstr(mp.log(error, 2), 5)))
    for power, c in zip(powers, known):
        text = float(c).hex()
        print("  x^%d  %s%s" % (power, text, "f" if bits == 24 else ""))


def log1p_tail(x):
    """(log1p(x) - x) / x^2"""
    if abs(x) < mpf("1e-12"):
        return mpf(-1) / 2 + x / 3
    return (mp.log1p(x) - x) / x**2


def log1p_weight(x):
    if abs(x) < mpf("1e-12"):
        return abs(x)
    return x**2 / mp.log1p(x)


def exp_tail(x):
    if abs(x) < mpf("1e-12"):
        return mpf(1) / 2 + x / 6
    return (mp.expm1(x) - x) / x**2


def even(f):
    """A function of s = x^2."""
    return lambda s: f(mp.sqrt(s))


def words(name, value, count):
    scaled = int(mp.floor(mp.ldexp(value, 32 * count)))
    parts = [(scaled >> (32 * (count - 1 - i))) & 0xFFFFFFFF for i in range(count)]
    print(name, ", ".join("0x%08x" % p for p in parts))


def split(name, value, widths):
    """value as a sum of numbers with those significand bits."""
    parts = []
    for bits in widths:
        part = round_to(value, bits)
        parts.append(float(part).hex())
        value -= part
    print(name, parts)


def binary32():
    half_ln2 = mp.log(2) / 2 * mpf("1.0001")
    fit("exp", exp_tail, lambda x: x**2 / mp.exp(x), list(range(5)), -half_ln2, half_ln2, 24)
    fit("log", log1p_tail, log1p_weight, list(range(9)), mpf(-1) / 3, mpf(1) / 3, 24)
    fit("log1p", log1p_tail, log1p_weight, list(range(10)), mpf(-1) / 4, mpf(1) / 2, 24)
    tiny = mpf("1e-9")
    fit(
        "tanh in s, after x + x s", even(lambda x: (mp.tanh(x) - x) / x**3),
        even(lambda x: x**3 / mp.tanh(x)), list(range(6)), tiny, mpf("0.625") ** 2, 24,
    )
    quarter = (mp.pi / 4) * mpf("1.0001")
    fit(
        "sin in s, after x + x s", even(lambda x: (mp.sin(x) - x) / x**3),
        even(lambda x: x**3 / mp.sin(x)), list(range(3)), tiny, quarter**2, 24,
    )
    fit(
        "cos in s, after 1 - s/2 + s^2", even(lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4),
        even(lambda x: x**4 / mp.cos(x)), list(range(3)), tiny, quarter**2, 24,
    )
    split("ln2", mp.log(2), [24, 24])
    split("log2(e)", 1 / mp.log(2), [24])
    words("2/pi", 2 / mp.pi, 7)
    split("pi/2 * 2^-62", mp.ldexp(mp.pi / 2, -62), [53])


def binary64():
    half = mp.log(2) / 2 * mpf("1.0001")
    fit("exp64", exp_tail, lambda x: x**2 / mp.exp(x), list(range(11)), -half, half, 53)

    # log(m) = 2 atanh(t), t = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)].
    edge = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mpf("1.0001")
    fit(
        "atanh64 in t^2, after 2t + t t^2", even(lambda t: (2 * mp.atanh(t) - 2 * t) / t**3),
        even(lambda t: t**3 / (2 * mp.atanh(t))), list(range(8)), mpf("1e-12"), edge**2, 53,
    )
    quarter = mpf("0.25001") ** 2
    fit(
        "sinpi64 in s, after pi x + x s", even(lambda x: (mp.sin(mp.pi * x) - mp.pi * x) / x**3),
        even(lambda x: x**3 / mp.sin(mp.pi * x)), list(range(7)), mpf("1e-10"), quarter, 53,
    )
    fit(
        "cospi64 in s, after 1 + s", even(lambda x: (mp.cos(mp.pi * x) - 1) / x**2),
        even(lambda x: x**2 / mp.cos(mp.pi * x)), list(range(8)), mpf("1e-10"), quarter, 53,
    )
    split("ln2", mp.log(2), [42, 53])
    split("log2(e)", 1 / mp.log(2), [53, 53])
    split("pi", mp.pi, [53, 53])


if __name__ == "__main__":
    binary32()
    binary64()
