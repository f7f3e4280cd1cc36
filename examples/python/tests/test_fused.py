"""Tests the Transformer with fuse-attention: golden files, padding, and training."""
import json
import re
import subprocess

import pytest
import torch
from torch import nn

import triad_torch
from conftest import built, close
from triad_torch import FusedTransformer
from triad_torch.runs import read_safetensors


pytestmark = pytest.mark.usefixtures("one_thread")


def named(name):
    """The name of a parameter of a golden file in this package."""
    name = re.sub(r"\.combinations\.(\d+)", lambda match: f".links.{int(match[1]) - 1}", name)
    return name.removeprefix("param/").replace(".state_norms.", ".link_norms.")


def encoded(model, states, c):
    """The result of the encoder with these states."""
    if c.get("link") == "weighted":
        return sum(w * norm(x) for w, norm, x in zip(model.encoder.links[-1], model.encoder.link_norms, states))
    return model.encoder.layer_norm(states[-1]) if c.get("norm_before") else states[-1]


def test_golden_files_agree(golden_files):
    for path in golden_files("lrf_model"):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        model = FusedTransformer(c["src_vocab"], c["tgt_vocab"], c["d"], c["heads"], c["enc_layers"], c["ffn"],
                                 c["dec_layers"], c["enc_fuse_layers"], c["dec_fuse_layers"], c["tied_output"], 0.0,
                                 norm="before" if c.get("norm_before") else "after", reach=c.get("reach", 0),
                                 encoder_link=c.get("link", "previous"), decoder_link=c.get("link", "previous"),
                                 embedding_scale=c.get("embedding_scale", "tokens_up"),
                                 shared_embedding=c.get("shared_embedding", False)).double()
        stored = {named(n): t for n, t in tensors.items() if n.startswith("param/")}
        if c.get("shared_embedding"):
            stored["decoder.embed_tokens.weight"] = stored["encoder.embed_tokens.weight"]
        model.load_state_dict(stored)
        source, previous, target = (tensors[f"in/{name}"] for name in ("src_tokens", "prev_output_tokens", "target"))
        real = source != c["pad"]
        states = [tensors[f"out/enc_{layer}"] for layer in range(c["enc_layers"] + 1)]
        close(model.encode(source)[real], encoded(model, states, c)[real])
        logits = model(source, previous)
        close(logits[target != c["pad"]], tensors["out/logits"][target != c["pad"]])
        p = -logits.log_softmax(-1)[target != c["pad"]]
        nll, smooth = p.gather(1, target[target != c["pad"]][:, None]).sum(), p.sum()
        epsilon = 0.1 if c["loss"] == "label_smoothed" else 0.0
        e = epsilon / (c["tgt_vocab"] - 1)
        loss = ((1 - epsilon - e) * nll + e * smooth) / int(tensors["out/ntokens"])
        close(loss, tensors["out/loss"])
        loss.backward()
        of = {named(name.removeprefix("grad/")): t for name, t in tensors.items() if name.startswith("grad/param/")}
        scale = max(float(t.abs().max()) for t in of.values())
        for name, parameter in model.named_parameters():
            close(parameter.grad, of[name], scale)
        said = model.greedy(source, most=8)
        expected = tensors["out/greedy_ids"][:, :said.shape[1]]
        assert torch.equal(said, expected) and not (tensors["out/greedy_ids"][:, said.shape[1]:] != c["pad"]).any()


def a_model(**options):
    return FusedTransformer(9, 8, 8, 2, 2, **options)


def test_a_sentence_of_padding_gives_no_nan():
    model = a_model(reach=2, norm="before")
    source = torch.tensor([[5, 7, 2], [1, 1, 1]])
    model(source, PREVIOUS)[0].sum().backward()
    assert all(bool(x.grad.isfinite().all()) for x in model.parameters() if x.grad is not None)


SOURCE, PREVIOUS = torch.tensor([[5, 7, 2], [4, 2, 1]]), torch.tensor([[2, 3, 4, 5], [2, 6, 1, 1]])


@pytest.mark.parametrize("options", [{}, {"fuse_encoder": [2], "fuse_decoder": False, "tied_output": False},
                                     {"norm": "before", "reach": 2}, {"tied": True, "encoder_link": "sum"},
                                     {"encoder_link": "weighted", "decoder_link": "weighted", "norm": "before"}])
def test_padding_and_folders_change_no_logits(options, tmp_path):
    model = a_model(**options).eval()
    logits = model(SOURCE, PREVIOUS)
    assert torch.allclose(model(SOURCE[1:, :2], PREVIOUS[1:, :2])[0], logits[1, :2], atol=1e-6)
    left = torch.tensor([[5, 7, 2], [1, 4, 2]])
    assert torch.allclose(model(left, PREVIOUS)[1, :2], logits[1, :2], atol=1e-6)
    later = PREVIOUS.clone()
    later[0, 3] = 6
    assert torch.equal(model(SOURCE, later)[0, :3], logits[0, :3])
    model.save_pretrained(tmp_path)
    back = FusedTransformer.from_pretrained(tmp_path)
    assert back.config == model.config and torch.equal(back(SOURCE, PREVIOUS), logits)


def test_it_learns_to_reverse():
    torch.manual_seed(1)
    model = a_model(dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    source = torch.randint(3, 8, (32, 4))
    source[:, 3] = 2
    target = torch.cat([source[:, :3].flip(1), source[:, 3:]], 1)
    previous = torch.cat([source[:, 3:], target[:, :3]], 1)
    for _ in range(150):
        loss = nn.functional.cross_entropy(model(source, previous).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.1
    assert float((model.eval().greedy(source, most=6)[:, 1:5] == target).float().mean()) > 0.9


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match=r"^fuse_encoder: \[3\], expected numbers of layers from 1 to 2; pass True"):
        a_model(fuse_encoder=[3])
    with pytest.raises(ValueError, match="decoder_layers is 0, expected 1 or more"):
        a_model(decoder_layers=0)
    with pytest.raises(ValueError, match=r"^source is torch.int64 of shape \(3,\), expected whole numbers "):
        a_model()(SOURCE[0], PREVIOUS)
    for sizes, what in (((0, 9), "sources is 0, expected 1 or more"), ((9, 2), "sources and targets are 9 and 2, exp"),
                        ((9, 9, 8, 2, 1, -1), "hidden is -1, expected 1 or more")):
        with pytest.raises(ValueError, match=f"^{what}"):
            FusedTransformer(*sizes)
    for most, kind in ((-1, ValueError), (2.5, TypeError), (None, TypeError)):
        with pytest.raises(kind, match=f"^most is {most}, expected"):
            a_model().greedy(SOURCE, most)
    with pytest.raises(TypeError, match="^dropout is '0.1', expected a number"):
        a_model(dropout="0.1")
    with pytest.raises(ValueError, match="not a multiple"):
        FusedTransformer(9, 8, 10, 4)


RUNS = {"lrf": "", "transformer": "--model transformer --norm before --relative --tie-output --joined-dictionary",
        "dlcl": "--model dlcl", "dlcl with norms before": "--model dlcl --norm before",
        "universal": "--model universal-transformer", "source": "--fuse source --norm before",
        "only top": "--only-top --relative", "offsets": "--relative --max-offset 2",
        "accumulate": "--accumulate --norm before"}


@pytest.mark.parametrize("variant", RUNS)
def test_runs_of_the_program_answer_alike(variant, tmp_path):
    program, run = built("cognition"), tmp_path / "run"
    subprocess.run([program, "train", "--preset", "smoke", "--threads", "1", "--updates", "150", "--out", run,
                    *RUNS[variant].split()], capture_output=True)
    loaded = triad_torch.load(run)
    sentences = [loaded.sources[k:k + 1 + k % 4] for k in range(10)]
    said = subprocess.run([program, "predict", run, "--beam", "1"], input="".join(" ".join(words) + "\n"
                          for words in sentences), text=True, check=True, capture_output=True).stdout
    theirs = [line.split() for line in said.splitlines()]
    assert loaded.translate(sentences, 3) == theirs
    assert any(theirs)
    assert loaded.translate([[]]) == [[]]
    with pytest.raises(ValueError, match="^sentences: 'wug' is not one of the .* words that the model knows, expected"):
        loaded.translate([["wug"]])
    assert isinstance(loaded.translate([["wug"]], unknown=True, most=3)[0], list)
    with pytest.raises(TypeError, match="^sentences: 'wug', expected lists of words"):
        loaded.translate(["wug"])


def test_wrong_options_are_refused():
    for options, what in (({"norm": "x"}, "norm: 'x', expected 'after' or 'before'; pass"),
                          ({"encoder_link": "x"}, "encoder_link: 'x', expected 'previous' or 'sum' or 'weighted'; p"),
                          ({"reach": -1}, "reach is -1, expected 0 or more; pass 0 for none"),
                          ({"tied": True, "fuse_decoder": [1]}, r"fuse_decoder: \[1\], expected all layers or none")):
        with pytest.raises(ValueError, match=f"^{what}"):
            a_model(**options)


def test_wrong_tensors_are_refused():
    model = a_model()
    for source, previous, what in (
            (torch.tensor([[9, 2]]), PREVIOUS[:1], "source: 9, expected numbers from 0 to 8; number them"),
            (SOURCE, torch.tensor([[2], [-1]]), "previous: -1, expected numbers from 0 to 7; number them"),
            (SOURCE, PREVIOUS[:1], "previous: 1 sentences, expected 2, those of source; pass")):
        with pytest.raises(ValueError, match=f"^{what}"):
            model(source, previous)
    with pytest.raises(TypeError, match="^source is list, expected a tensor of PyTorch"):
        model([[4, 2]], PREVIOUS)
    with pytest.raises(ValueError, match="^forbidden: 8, expected a token from 0 to 7 other than 2; leave"):
        model.greedy(SOURCE, 3, (8,))
    assert model.greedy(SOURCE, 3, least=1)[:, 1].ne(2).all()
    with pytest.raises(TypeError, match="^fuse_encoder: None, expected True, False or a list of numbers of layers"):
        a_model(fuse_encoder=None)
    with pytest.raises(ValueError, match="^layers is 2000, expected 1 to 1000; pass"):
        FusedTransformer(9, 8, 8, 2, 2000)
    with pytest.raises(TypeError, match="^tied is 'no', expected True or False"):
        a_model(tied="no")


def test_a_run_with_a_token_twice_loads(tmp_path):
    program, run = built("pairs"), tmp_path / "run"
    lines = "".join(f"{a} {b}\t{b} {a}\n" for a in "abc" for b in "abc")
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.tsv").write_text(lines)
    (tmp_path / "dict.txt").write_text("a 9\nb 8\nc 7\nb 4 #fairseq:overwrite\n")
    subprocess.run([program, "train", "--preset", "smoke", "--data", tmp_path, "--source-dictionary",
                    tmp_path / "dict.txt", "--threads", "1", "--out", run], capture_output=True)
    said = subprocess.run([program, "predict", run, "--beam", "1", "a b"], capture_output=True, text=True, check=True)
    assert triad_torch.load(run).translate([["a", "b"]]) == [said.stdout.split()]


def test_a_run_with_cut_words_is_refused(tmp_path):
    program, run = built("pairs"), tmp_path / "run"
    lines = "".join(f"{a} {b}!\t{b} {a}!\n" for a in ("red", "blue", "green") for b in ("cup", "pan", "key"))
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.tsv").write_text(lines)
    subprocess.run([program, "train", "--preset", "smoke", "--data", tmp_path, "--tokenise", "both", "--threads", "1",
                    "--out", run], capture_output=True)
    with pytest.raises(ValueError, match="model.safetensors: a source with 'plain', expected words alone.*`predict`"):
        triad_torch.load(run)
