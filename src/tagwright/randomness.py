"""All randomness is a function of (seed, purpose, step), so a resumed run draws what the first
would have drawn.
"""

import hashlib


def seed_of(seed: int, purpose: str, step: int = 0) -> int:
    """A 63-bit seed.

    >>> seed_of(0, "dropout", 1) == seed_of(0, "dropout", 1) != seed_of(0, "order", 1)
    True
    """
    digest = hashlib.blake2b(f"{seed}/{purpose}/{step}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def uniform_of(seed: int, purpose: str, step: int = 0) -> float:
    """A number from 0 on and below 1, also as float32.

    >>> 0 <= uniform_of(0, "mask", 1) < 1
    True
    """
    return (seed_of(seed, purpose, step) >> 39) / 2**24
