"""The pool of short hashes: one to one, exact, for ever."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from kernel.safety.short_hashes import ShortHashes, credential_hex, is_digest

PREFIX = "sha256:v1:"


def padded(start: str) -> str:
    return PREFIX + start + "0" * (64 - len(start))


def test_a_clash_lengthens_the_later_value_and_keeps_the_earlier() -> None:
    """R47: ``abcd`` stays, the later clash becomes ``abcd1``."""
    pool = ShortHashes()
    assert pool.short(padded("abcd0")) == "abcd"
    assert pool.short(padded("abcd1")) == "abcd1"
    assert pool.short(padded("abcd12")) == "abcd12"
    assert pool.short(padded("abcd0")) == "abcd"
    assert len(pool) == 3


@pytest.mark.parametrize("form", ["abcd", "ABCD", "sha256:v1:abcd", "SHA256:V1:aBcD"])
def test_a_credential_is_found_with_and_without_prefix_in_any_case(form: str) -> None:
    pool = ShortHashes()
    digest = padded("abcd0")
    pool.short(digest)
    assert pool.resolve(form) == digest


@pytest.mark.parametrize(
    "form", ["abcd0", "abc", "abcde", "sha256:v2:abcd", "ab cd", "", None, 4660, "abcd" + "0" * 61]
)
def test_anything_but_the_exact_short_value_finds_nothing(form: object) -> None:
    """R49: a lengthened or shortened value does not resolve."""
    pool = ShortHashes()
    pool.short(padded("abcd0"))
    assert pool.resolve(form) is None


def test_a_complete_value_names_itself_even_unregistered() -> None:
    assert ShortHashes().resolve(padded("12ab")) == padded("12ab")
    assert ShortHashes().resolve(padded("12ab").upper()) == padded("12ab")


def test_two_digests_that_differ_in_the_last_digit_get_the_longest_prefixes() -> None:
    pool = ShortHashes()
    digests = [PREFIX + "a" * 63 + last for last in "0123"]
    shorts = [pool.short(digest) for digest in digests]
    assert shorts == ["aaaa", "aaaaa", "aaaaaa", "aaaaaaa"]
    last = PREFIX + "a" * 64
    for length in range(8, 64):
        pool.short(PREFIX + "a" * length + "b" * (64 - length))
    assert pool.short(last) == "a" * 64


def test_only_full_digests_are_registered() -> None:
    with pytest.raises(ValueError, match="not a digest"):
        ShortHashes().short("abcd")


def test_only_the_receipts_own_fields_are_shortened() -> None:
    """R62: hash-looking text elsewhere is somebody's content."""
    pool = ShortHashes()
    digest = padded("77aa")
    receipt = {
        "previousHash": digest,
        "resultHash": digest,
        "expectedHash": "8ac2",
        "currentHash": digest,
        "note": digest,
    }
    shortened = pool.shorten(receipt)
    assert shortened == {
        "previousHash": "77aa", "resultHash": "77aa", "expectedHash": "8ac2", "currentHash": "77aa", "note": digest,
    }  # fmt: skip


@given(st.text(alphabet="0123456789abcdefABCDEFxyz:", max_size=70))
def test_credentials_are_four_to_sixty_four_digits(text: str) -> None:
    found = credential_hex(text)
    bare = text[len(PREFIX) :] if text.lower().startswith(PREFIX) else text
    is_hex = bool(bare) and all(digit in "0123456789abcdefABCDEF" for digit in bare)
    assert (found is not None) == (is_hex and 4 <= len(bare) <= 64)


def test_digest_form() -> None:
    assert is_digest(padded("0"))
    assert not is_digest(padded("0").upper())
    assert not is_digest(None)


class PoolMachine(RuleBasedStateMachine):
    """Against a plain model: who was given what, and that nothing is ever bound anew."""

    digests = Bundle("digests")

    def __init__(self) -> None:
        super().__init__()
        self.pool = ShortHashes()
        self.model: dict[str, str] = {}

    # Few digits, so that clashes are common.
    @rule(target=digests, digits=st.text(alphabet="ab", min_size=6, max_size=6))
    def draw(self, digits: str) -> str:
        return padded(digits)

    @rule(digest=digests)
    def register(self, digest: str) -> None:
        short = self.pool.short(digest)
        assert self.model.setdefault(digest, short) == short
        assert digest.removeprefix(PREFIX).startswith(short)

    @invariant()
    def every_value_finds_its_own_digest(self) -> None:
        assert len(set(self.model.values())) == len(self.model)
        for digest, short in self.model.items():
            assert self.pool.resolve(short) == digest


TestPool = PoolMachine.TestCase
TestPool.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
