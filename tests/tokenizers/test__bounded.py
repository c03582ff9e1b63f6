"""A tokenizer file can lengthen a text only so far."""

import base64
import json

import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from tagwright.tokenizers._bounded import require_bounded, require_working
from tagwright.tokenizers._panics import panics_told
from tagwright.tokenizers.char import Char
from tagwright.tokenizers.subword import Subword
from tagwright.tokenizers.word import Word

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
WORDS = {"[PAD]": 0, "[UNK]": 1, "a": 2}


def tokenizer(**parts):
    """One of words, with these parts."""
    made = Tokenizer(parts.pop("model", models.WordLevel(WORDS, unk_token="[UNK]")))
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def repeated(step, times):
    return normalizers.Sequence([step] * times)


def charsmap(longest):
    """A map of characters without entries, whose strings go up to so many bytes."""
    return base64.b64encode((4).to_bytes(4, "little") + bytes(4) + b"x" * longest + b"\0")


def precompiled(longest):
    step = {"type": "Precompiled", "precompiled_charsmap": charsmap(longest).decode()}
    content = json.loads(tokenizer().to_str())
    return Tokenizer.from_str(json.dumps({**content, "normalizer": step}))


def template(*, sequences=1, specials=1, ids=1):
    made = {"type": "TemplateProcessing", "pair": []}
    made["single"] = [{"Sequence": {"id": "A", "type_id": 0}}] * sequences
    made["single"] += [{"SpecialToken": {"id": "s", "type_id": 0}}] * specials
    made["special_tokens"] = {"s": {"id": "s", "ids": [2] * ids, "tokens": ["a"] * ids}}
    content = json.loads(tokenizer().to_str())
    return Tokenizer.from_str(json.dumps({**content, "post_processor": made}))


@pytest.mark.parametrize("part", [Word, Char, Subword])
def test_tokenizers_of_ours_are_within_bounds(part):
    require_bounded(part(minimum=1).train(["a text", "of words"]).tokenizer)


@pytest.mark.parametrize(
    "made",
    [
        tokenizer(
            normalizer=normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.NFKD()])
        ),
        tokenizer(
            normalizer=normalizers.Sequence(
                [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
            )
        ),
        tokenizer(pre_tokenizer=pre_tokenizers.ByteLevel()),
        tokenizer(post_processor=processors.BertProcessing(("a", 2), ("a", 2))),
        precompiled(33),
        template(specials=2),
    ],
)
def test_what_known_encoders_have_is_within_bounds(made):
    require_bounded(made)


@pytest.mark.parametrize(
    "normalizer",
    [
        normalizers.Replace("a", "a" * 65),
        normalizers.Replace("", "a" * 64),
        normalizers.Prepend("a" * 64),
        repeated(normalizers.Replace("a", "aaa"), 4),
        repeated(repeated(normalizers.Replace("a", "aa"), 3), 3),
        repeated(normalizers.ByteLevel(), 4),
        repeated(normalizers.NFC(), 65),
    ],
)
def test_a_normalizer_that_makes_much_of_a_short_text_is_refused(normalizer):
    with pytest.raises(ValueError, match="times as long"):
        require_bounded(tokenizer(normalizer=normalizer))


def test_normalizer_and_pre_tokenizer_share_the_bound():
    pieces = pre_tokenizers.Sequence([pre_tokenizers.ByteLevel()] * 2)
    with pytest.raises(ValueError, match="times as long"):
        require_bounded(
            tokenizer(normalizer=repeated(normalizers.ByteLevel(), 2), pre_tokenizer=pieces)
        )


def test_a_map_that_makes_a_long_string_of_a_character_is_refused():
    with pytest.raises(ValueError, match="times as long"):
        require_bounded(precompiled(100))


@pytest.mark.parametrize(
    "made", [{"sequences": 2}, {"sequences": 0}, {"specials": 65}, {"ids": 65}]
)
def test_a_template_that_repeats_loses_or_crowds_a_text_is_refused(made):
    with pytest.raises(ValueError, match="tokens to a text"):
        require_bounded(template(**made))


@pytest.mark.parametrize(
    "model",
    [
        models.WordPiece(WORDS, unk_token="[UNK]", max_input_chars_per_word=10**6),
        models.WordPiece(WORDS, unk_token="[UNK]", continuing_subword_prefix="#" * 65),
        models.BPE(WORDS, [], end_of_word_suffix="#" * 65),
    ],
)
def test_a_model_for_which_words_are_much_work_is_refused(model):
    with pytest.raises(ValueError, match="its "):
        require_bounded(tokenizer(model=model))


@pytest.mark.parametrize(
    "pattern",
    [r" {2,}", r"\s+", GPT2, LLAMA, BLOOM, r"(?=(\d{3})+(?!\d))", r"(?:\r\n|\n)+", "[一-龥]+", ""],
)
def test_patterns_of_known_encoders_work(pattern):
    require_working(tokenizer(pre_tokenizer=pre_tokenizers.Split(Regex(pattern), "isolated")))
    require_working(tokenizer(normalizer=normalizers.Replace(Regex(pattern), " ")))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(x|xx)+$", r".*.*.*.*.*.*.*.*\d$"])
def test_a_pattern_whose_work_grows_without_bound_is_refused(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    replace = normalizers.Replace(Regex(pattern), "")
    for made in (tokenizer(pre_tokenizer=split), tokenizer(normalizer=replace)):
        with pytest.raises(ValueError, match=r"take over|retry-limit"), panics_told():
            require_working(made)
