"""A panic of the tokenizers library is one error, and nothing of it reaches stderr."""

import json
import os
import subprocess
import sys
import threading

import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from tagwright.errors import ModelError
from tagwright.tokenizers._panics import encoding, panics_told
from tagwright.tokenizers._texts import encoded
from tagwright.tokenizers.words_of import encoded_words


def panicking():
    """Read a tokenizer whose map of characters is none."""
    content = json.loads(Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).to_str())
    step = {"type": "Precompiled", "precompiled_charsmap": ""}
    Tokenizer.from_str(json.dumps({**content, "normalizer": step}))


def test_a_panic_is_one_error_and_is_not_seen(capfd):
    with pytest.raises(ValueError, match="cannot work with it"), panics_told():
        panicking()
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "later\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, None])
def test_what_else_is_written_and_raised_is_not_lost(capfd, error):
    handles = len(os.listdir("/dev/fd"))

    def work():
        with panics_told():
            os.write(2, b"other\n" * 100_000)
            if error:
                raise error

    if error:
        with pytest.raises(error):
            work()
    else:
        work()
    assert capfd.readouterr().err == "other\n" * 100_000
    assert len(os.listdir("/dev/fd")) == handles


def test_threads_give_stderr_back(capfd):
    def work():
        for _ in range(20):
            with pytest.raises(ValueError, match="cannot work with it"), panics_told():
                panicking()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "later\n"


def test_without_stderr_a_panic_is_an_error_all_the_same():
    program = (
        "import os; os.close(2)\n"
        "from tagwright.tokenizers._panics import panics_told\n"
        "try:\n"
        "    with panics_told():\n"
        "        raise type('PanicException', (BaseException,), {})('x')\n"
        "except ValueError as error:\n"
        "    print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b"the tokenizers library cannot work with it: x\n"


@pytest.mark.parametrize("encode", [encoded, encoded_words])
def test_a_text_that_a_tokenizer_cannot_encode_is_an_error_of_the_model(encode):
    slow = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    slow.pre_tokenizer = pre_tokenizers.Split(Regex("(ab|abab)+$"), "isolated")
    unknown = Tokenizer(models.WordLevel({"a": 0}, unk_token="b"))
    for tokenizer, text in ((slow, "ab" * 50 + "!"), (unknown, "b")):
        with pytest.raises(ModelError, match="cannot encode one of these texts") as found:
            encode(tokenizer, [text])
        assert len(str(found.value).splitlines()) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, TypeError])
def test_a_mistake_of_the_caller_goes_through(error):
    with pytest.raises(error), encoding():
        raise error
