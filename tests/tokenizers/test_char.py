from tagwright.tokenizers.char import Char


def test_every_character_is_a_token_and_white_space_is_one() -> None:
    tokenizer = Char(minimum=1).train(["ab \n 手"])
    assert tokenizer.words(tokenizer.encode([" ba\t\t手 "]).ids) == ["b", "a", " ", "手"]


def test_decomposed_characters_are_composed() -> None:
    tokenizer = Char(minimum=1).train(["é"])
    assert tokenizer.encode(["e\u0301"]).ids.tolist() == [2]


def test_case_counts_unless_lowered() -> None:
    assert "A" in Char(minimum=1).train(["Aa"]).vocabulary
    assert "A" not in Char(minimum=1, lowercase=True).train(["Aa"]).vocabulary


def test_rare_characters_are_unknown() -> None:
    assert Char(minimum=2).train(["aab"]).encode(["ab"]).ids.tolist() == [2, 1]
