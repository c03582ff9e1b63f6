"""Model folders that somebody has made up: what does not fit is one `ModelError`, soon and in
little memory.
"""

import json
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
import torch
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file

from tagwright import Tagger, TokenTagger, registry
from tagwright.errors import ModelError
from tagwright.inference import model_folder
from tagwright.inference.spans import token_scores
from tagwright.storage.folder import sha256

from ..tiny_encoders import write_encoder

SETTINGS = {
    "cnn": {"encoder": {"name": "cnn", "width": 8, "filters": 4}},
    "bow": {"encoder": {"name": "bow"}},
    "spelled": {"encoder": {"name": "bow"}, "embed": {"name": "spelled"}},
    "lstm": {"encoder": {"name": "lstm", "width": 8, "hidden": 4}},
    "bat": {
        "encoder": {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 2},
        "embed": {"name": "hashes", "size": 50, "affix_size": 20, "shape_size": 10},
    },
}
SETTINGS["tokens"] = SETTINGS["bat"]
TOKENS = [["red", "tent", "for", "two", f"n{number}"] for number in range(24)]
TAGS = [["O", "B-GOODS", "O", "B-SIZE", "O"]] * 24
TEXTS = ["tent rope", "a knife", "pan and knife", "red tent"] * 6
LABELS = [["camp"], ["kitchen"], ["kitchen"], ["camp", "color"]] * 6
HEAD = "heads/main"


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """A small model of every kind, trained when it is first asked for."""
    home, made = tmp_path_factory.mktemp("models"), {}

    def folder(kind):
        if kind not in made:
            own = SETTINGS.get(kind)
            if own is None:
                own = {"encoder": {"name": "pretrained", "path": str(write_encoder(home / "bert"))}}
            settings = {**own, "fit": {"limit": 24, "epochs": 1}}
            made[kind] = home / kind
            if kind == "tokens":
                TokenTagger(settings=settings, dev_share=0.2).fit(TOKENS, TAGS).save(made[kind])
                return made[kind]
            Tagger(settings=settings, dev_share=0.2).fit(TEXTS, LABELS).save(made[kind])
        return made[kind]

    return folder


@pytest.fixture
def copy_of(folder_of, tmp_path):
    return lambda kind: shutil.copytree(folder_of(kind), tmp_path / "m", dirs_exist_ok=True)


def sealed(folder, **about):
    """Make the manifest true again, with what it says `about` the model."""
    manifest = json.loads((folder / "manifest.json").read_text())
    digests = {name: sha256(folder / name) for name in manifest["sha256"]}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "sha256": digests, **about}))
    return folder


def rewritten(folder, name, content):
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return sealed(folder)


def changed(folder, name, keys, value):
    """The same with another value in a JSON file, under these keys."""
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return rewritten(folder, name, json.dumps(content))


def refused(folder, said="."):
    with pytest.raises(ModelError, match=said) as found:
        model_folder.load(folder)
    assert len(str(found.value).splitlines()) == 1
    return str(found.value)


FILES = [
    "inference.json",
    "settings.toml",
    "resolved.toml",
    f"{HEAD}/head.json",
    f"{HEAD}/labels.json",
    f"{HEAD}/decision.json",
    f"{HEAD}/metrics.json",
    "tokenizer/kind.json",
    "tokenizer/tokenizer.json",
    "model.safetensors",
]


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_loading_reads_must_be_listed(copy_of, name):
    folder = copy_of("cnn")
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["sha256"][name]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    refused(folder, f"does not list {name}")


@pytest.mark.parametrize("content", ["{", "null", "\udcff", "[" * 10_000, '{"a": NaN}', "= 1"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_without_sense_is_one_error_that_names_it(copy_of, name, content):
    folder = rewritten(copy_of("cnn"), name, content.encode("utf-8", "surrogateescape"))
    assert "/m/" in refused(folder, rf"{name.partition('/')[0]}|{name}")


@pytest.mark.parametrize("name", ["model.safetensors", "learned.safetensors"])
@pytest.mark.parametrize("numbers", [10**8, 25 * 10**9])
def test_tensors_that_do_not_belong_there_are_refused_before_they_are_read(copy_of, name, numbers):
    """Reading or hashing them would take all memory, or minutes."""
    folder = copy_of("bow")
    content = (folder / name).read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, body = json.loads(content[8 : 8 + size]), content[8 + size :]
    ends = [len(body), len(body) + 4 * numbers]
    header["x"] = {"dtype": "F32", "shape": [numbers], "data_offsets": ends}
    made = json.dumps(header).encode()
    with (folder / name).open("wb") as file:
        file.write(len(made).to_bytes(8, "little") + made + body)
        file.truncate(8 + len(made) + ends[1])
    refused(folder, r"x is unknown|bytes, and no more than|cannot be read|is not as Tagwright")


@pytest.mark.parametrize("name", ["tokenizer/a\nb", "tokenizer/\x1b[31m\u2028"])
def test_a_name_with_control_characters_is_shown_in_one_line(copy_of, name):
    folder = copy_of("cnn")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"][name] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert repr(name)[1:-1] in refused(folder)


@pytest.mark.parametrize("name", ["settings.toml", "resolved.toml"])
def test_a_record_that_takes_long_to_read_is_refused_unread(copy_of, name):
    refused(rewritten(copy_of("cnn"), name, "a" + ".a" * 100 + " = 1"), "a key of more than 16")
    refused(rewritten(copy_of("cnn"), name, f"a = [{'1,' * 10**6}]"), "2,000,006 characters")


@pytest.mark.parametrize(
    "name", ["x.bin", "x.safetensors", "tokenizer/x.safetensors", "heads/main/x.json"]
)
def test_a_listed_file_that_no_model_has_is_refused_unread(copy_of, name):
    folder = copy_of("cnn")
    with (folder / name).open("wb") as file:
        file.truncate(2**24)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"][name] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    refused(folder, "not a file of such a folder")


@pytest.mark.parametrize(
    "heads", ["main", [], [1], ["main", "main"], None, ["../heads/main"], ["other"]]
)
def test_a_manifest_must_name_the_heads_that_are_there(copy_of, heads):
    refused(sealed(copy_of("cnn"), heads=heads), r"heads|does not list")


@pytest.mark.parametrize("number", [True, "2", [2], None, 2.0])
def test_a_format_that_is_no_number_is_refused(copy_of, number):
    refused(sealed(copy_of("cnn"), format=number), "has format")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused(copy_of, number):
    """They would give no text any label, and nobody would know."""
    folder = copy_of("cnn")
    weights = load_file(folder / "model.safetensors")
    weights["heads.main.linear.bias"] = torch.tensor([0.0, number, 0.0])
    save_file(weights, folder / "model.safetensors")
    refused(sealed(folder), "not finite, in heads.main.linear.bias")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("idf", None),
        ("idf", np.ones(2, np.float32)),
        ("idf", np.full(400, np.nan, np.float32)),
        ("keys_1", np.ones(3, np.float32)),
        ("keys_1", np.ones((1, 3), np.int64)),
        ("base", np.ones(2, np.int64)),
        ("shortest", np.array(0)),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(copy_of, name, array):
    folder = copy_of("bow")
    arrays = load_arrays(folder / "learned.safetensors")
    arrays = {key: value for key, value in {**arrays, name: array}.items() if value is not None}
    save_arrays(arrays, folder / "learned.safetensors")
    refused(sealed(folder))


OPTIONS = [
    *(
        ("lstm", name, value)
        for name in ("layers", "hidden", "width")
        for value in (10**6, 10**12, 10**30)
    ),
    *(
        ("bat", name, value)
        for name in ("layers", "hidden", "width")
        for value in (10**6, 10**12, 10**30)
    ),
    *(
        ("cnn", name, value)
        for name in ("width", "filters")
        for value in (10**9, 10**18, -1, "x", 1.5, [1], True)
    ),
    *(("cnn", "windows", value) for value in ([10**9], [1] * 10**5, [], ["a"], 3)),
    ("cnn", "unheard", 1),
]


@pytest.mark.parametrize(("kind", "name", "value"), OPTIONS, ids=lambda value: str(value)[:20])
def test_settings_that_the_weights_have_no_room_for_are_refused_before_they_are_followed(
    copy_of, kind, name, value
):
    refused(
        changed(copy_of(kind), "inference.json", ["encoder", "options", name], value),
        "from its settings",
    )


@pytest.mark.parametrize("kind", ["cnn", "tokens"])
def test_weights_too_large_for_a_finite_score_are_an_error_and_no_score(copy_of, kind):
    folder = copy_of(kind)
    weights = load_file(folder / "model.safetensors")
    vast = {name: torch.where(one < 0, -3e38, 3e38) for name, one in weights.items()}
    save_file(vast, folder / "model.safetensors")
    model = model_folder.load(sealed(folder))
    words, offsets = pa.array(["red", "tent"]), np.array([0, 2])
    score = partial(token_scores, model, words, offsets)
    score = score if kind == "tokens" else partial(model.scores, TEXTS)
    with pytest.raises(ModelError, match="scores that are not finite"):
        score()


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("inference.json", "limit", 10**30),
        ("inference.json", "encoder", "cnn"),
        ("inference.json", "data", {"text": 1}),
        (f"{HEAD}/labels.json", "names", ["a", "a", "b"]),
        (f"{HEAD}/labels.json", "names", ["a", "b", "c", "d"]),
        (f"{HEAD}/labels.json", "counts", [1]),
        (f"{HEAD}/decision.json", "rule", ["threshold"]),
        (f"{HEAD}/decision.json", "rule", "unheard"),
        (f"{HEAD}/decision.json", "rule", "argmax"),
        (f"{HEAD}/decision.json", "link", "unheard"),
        (f"{HEAD}/decision.json", "link", None),
        (f"{HEAD}/decision.json", "thresholds", {}),
        (f"{HEAD}/decision.json", "thresholds", {"camp": "x", "color": 0, "kitchen": 0}),
        (f"{HEAD}/decision.json", "calibration", [1, 2, 3, 4]),
        (f"{HEAD}/decision.json", "calibration", "abc"),
        (f"{HEAD}/decision.json", "calibration", [None]),
        (f"{HEAD}/decision.json", "calibration", [1e308, -1e308]),
        (f"{HEAD}/decision.json", "calibration", [1, 0, 1e308]),
        (f"{HEAD}/decision.json", "calibration", [1, 0, -10]),
        (f"{HEAD}/head.json", "part", "document"),
        (f"{HEAD}/head.json", "part", {"name": "unheard", "options": {}}),
        (f"{HEAD}/head.json", "part", {"name": "cloze", "options": {}}),
        (f"{HEAD}/head.json", "extra_logits", -1),
        (f"{HEAD}/head.json", "extra_logits", 1),
        (f"{HEAD}/head.json", "extra_logits", 10**20),
        (f"{HEAD}/head.json", "zero", None),
        (f"{HEAD}/head.json", "zero", 10**400),
        (f"{HEAD}/metrics.json", "metrics", None),
        ("tokenizer/kind.json", "kind", "unheard"),
        ("tokenizer/kind.json", "kind", ["trained"]),
        ("tokenizer/tokenizer.json", "normalizer", {"type": "Prepend", "prepend": "a" * 10**4}),
        (
            "tokenizer/tokenizer.json",
            "normalizer",
            {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""},
        ),
        (
            "tokenizer/tokenizer.json",
            "normalizer",
            {"type": "Precompiled", "precompiled_charsmap": ""},
        ),
        ("tokenizer/tokenizer.json", "pre_tokenizer", {"type": "FixedLength", "length": 0}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_values_without_sense_are_refused(copy_of, capfd, name, key, value):
    folder = changed(copy_of("cnn"), name, [key], value)
    capfd.readouterr()
    refused(folder)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("bat", "size", 10**12),
        ("bat", "size", 1),
        ("bat", "size", "x"),
        ("bat", "affix", 0),
        ("bat", "affix", 10**30),
        ("bat", "unheard", 1),
        ("spelled", "lexicon", [1]),
        ("spelled", "lexicon", "abc"),
        ("spelled", "letters", ["a"]),
        ("spelled", "lowercase", "yes"),
    ],
)
def test_settings_of_a_tokenizer_that_make_no_sense_are_refused(copy_of, kind, name, value):
    refused(changed(copy_of(kind), "tokenizer/kind.json", ["settings", name], value))


def test_ids_without_vectors_are_refused(copy_of):
    """Their first text would end in an error of torch."""
    refused(
        changed(copy_of("cnn"), "tokenizer/tokenizer.json", ["model", "vocab", "tent"], 10**6),
        "ids of its tokens",
    )


TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "X", "type_id": 0}},
    ],
    "pair": [],
    "special_tokens": {"X": {"id": "X", "ids": [2**32 - 1], "tokens": ["X"]}},
}
PROCESSORS = [
    TEMPLATE,
    {"type": "BertProcessing", "sep": ["[SEP]", 10**6], "cls": ["[CLS]", 1]},
    {
        "type": "RobertaProcessing",
        "sep": ["[SEP]", 2],
        "cls": ["[CLS]", 10**9],
        "trim_offsets": True,
        "add_prefix_space": True,
    },
    {"type": "Sequence", "processors": [TEMPLATE]},
]


@pytest.mark.parametrize("kind", ["pretrained", "cnn"])
@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda value: value["type"])
def test_special_tokens_without_vectors_are_refused(copy_of, processor, kind):
    folder = rewritten(copy_of(kind), "tokenizer/kind.json", '{"kind": "pieces"}')
    refused(
        changed(folder, "tokenizer/tokenizer.json", ["post_processor"], processor),
        "they do not belong together",
    )


def test_a_vocabulary_without_its_unknown_word_is_refused(copy_of):
    refused(
        changed(copy_of("cnn"), "tokenizer/tokenizer.json", ["model", "unk_token"], "nothing"),
        "tokenizer",
    )


def test_padding_and_truncation_of_a_tokenizer_file_count_for_nothing(copy_of, folder_of):
    padding = {
        "strategy": {"Fixed": 10**9},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
    }
    padding |= {"pad_type_id": 0, "pad_token": "[PAD]"}
    folder = changed(copy_of("cnn"), "tokenizer/tokenizer.json", ["padding"], padding)
    assert np.array_equal(
        model_folder.load(folder).scores(TEXTS).logits,
        model_folder.load(folder_of("cnn")).scores(TEXTS).logits,
    )


CONFIGS = [
    ("num_hidden_layers", 10**6),
    ("num_hidden_layers", 10**9),
    ("num_hidden_layers", 1),
    ("hidden_size", 10**12),
    ("hidden_size", 0),
    ("vocab_size", 10**12),
    ("vocab_size", 3),
    ("max_position_embeddings", 10**9),
    ("num_attention_heads", 0),
    ("num_attention_heads", -1),
    ("num_hidden_layers", -1),
    ("intermediate_size", -1),
    ("model_type", "gpt2"),
    ("model_type", "vit"),
    ("model_type", "modernbert"),
    ("model_type", None),
    ("hidden_act", ["gelu"]),
    ("layer_norm_eps", float("nan")),
    ("sub_configs", {"a": 1}),
]


@pytest.mark.parametrize(("key", "value"), CONFIGS, ids=str)
def test_a_config_of_another_encoder_is_refused(copy_of, key, value):
    refused(changed(copy_of("pretrained"), "encoder/config.json", [key], value))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("_attn_implementation", "owner/repo"),
        ("attn_implementation", "owner/repo"),
        ("_experts_implementation", "owner/repo"),
        ("num_labels", 10**9),
        ("dtype", "float16"),
        ("return_dict", False),
        ("chunk_size_feed_forward", 7),
    ],
)
def test_what_a_config_says_of_other_things_than_its_encoder_counts_for_nothing(
    copy_of, folder_of, key, value
):
    folder = changed(copy_of("pretrained"), "encoder/config.json", [key], value)
    before = model_folder.load(folder_of("pretrained")).scores(TEXTS).logits
    assert np.array_equal(model_folder.load(folder).scores(TEXTS).logits, before)


def test_no_hub_is_asked_for_parts_of_an_encoder(copy_of, monkeypatch):
    asked = []
    monkeypatch.setattr(socket.socket, "connect", lambda *arguments: asked.append(arguments))
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *arguments, **options: asked.append(arguments) or []
    )
    config = {
        "model_type": "detr",
        "use_timm_backbone": False,
        "backbone": "owner/repo",
        "hidden_size": 16,
    }
    config |= {"use_pretrained_backbone": True, "backbone_config": None}
    refused(rewritten(copy_of("pretrained"), "encoder/config.json", json.dumps(config)))
    assert asked == []


@pytest.mark.parametrize("specials", [[-1, 1], [10**9, 1], [1, 1, 1], [1.0, 1.0]])
def test_numbers_of_special_tokens_that_make_no_sense_are_refused(copy_of, specials):
    folder = copy_of("pretrained")
    save_arrays({"specials": np.array(specials)}, folder / "learned.safetensors")
    refused(sealed(folder))


@pytest.mark.parametrize("part", ["card", "labels"])
def test_the_card_and_the_labels_alone_are_read_as_carefully(copy_of, part):
    folder, name = copy_of("cnn"), {"card": "README.md", "labels": f"{HEAD}/labels.json"}[part]
    (folder / name).unlink()
    (folder / name).symlink_to("/etc/hostname")
    with pytest.raises(ModelError, match="is a link"):
        model_folder.load_card(folder) if part == "card" else model_folder.load_labels(
            folder, "main"
        )


def test_a_model_is_not_rewritten_over_another_one(copy_of):
    """The weights of one would stand beside the decision of the other."""
    folder = copy_of("cnn")
    model, other = model_folder.load(folder), model_folder.load(folder)
    model_folder.rewrite(model, folder, card="the first")
    model_folder.rewrite(
        replace(model, heads={"main": replace(model.primary, zero=1.0)}), folder, card="the second"
    )
    model_folder.save(other, folder, card="somebody else", overwrite=True)
    with pytest.raises(ModelError, match="another process has replaced"):
        model_folder.rewrite(model, folder, card="too late")
    assert (model_folder.load_card(folder), model_folder.load(folder).primary.zero) == (
        "somebody else",
        0.0,
    )
    model_folder.rewrite(other, folder, card="in time")


def test_a_decision_for_a_link_to_a_folder_leaves_the_link(copy_of, tmp_path):
    folder = copy_of("cnn")
    (tmp_path / "latest").symlink_to("m")
    model = model_folder.load(tmp_path / "latest")
    topk = replace(
        model.primary, rule="topk", decision=registry.build("decisions", "topk", {"k": 1})
    )
    model_folder.rewrite(replace(model, heads={"main": topk}), tmp_path / "latest", card="")
    assert (tmp_path / "latest").is_symlink()
    assert model_folder.load(folder).primary.rule == "topk"


def test_beside_saves_a_load_gives_one_model_or_the_other(copy_of):
    folder = copy_of("cnn")
    model = model_folder.load(folder)

    def save():
        for number in range(4):
            with torch.no_grad():
                model.network.heads["main"].linear.bias.fill_(number)
            head = replace(model.primary, zero=float(number))
            model_folder.save(replace(model, heads={"main": head}), folder, card="", overwrite=True)

    save()
    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(save)
        while not saving.done():
            found = model_folder.load(folder)
            assert found.network.heads["main"].linear.bias.tolist() == [found.primary.zero] * 3
        saving.result()
