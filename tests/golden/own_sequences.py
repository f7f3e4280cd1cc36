"""Golden files of encoders and decoders: the parts of LRF, the whole LRF, and the Edge Transformer as a decoder."""
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from own_edges import layer, layer_params, pad_mask4, settings
from own_files import draw, layer_norm, linear, relu, save, softmax

PAD, END = 1, 2       # token numbers in LRF's dictionary
CFQ_PAD, CFQ_END = 0, 2


# ---- LRF ------------------------------------------------------------------------------------------------------------------
def heads_of(x, h):
    return x.reshape(*x.shape[:-1], h, x.shape[-1] // h)


def projected(p, name, x, which, h):
    return heads_of(linear(p, f"{name}{which}_proj", x), h)


def attend(p, name, queries, keys, shut, h, reach=0):
    """Attention of queries (B,T,d) to keys (B,S,d); `shut` (B,T,S) is 1 where a key is masked. With `reach`, keys and
    values have vectors of their clipped offsets added (Shaw et al. 2018)."""
    q, k, v = projected(p, name, queries, "q", h), projected(p, name, keys, "k", h), projected(p, name, keys, "v", h)
    s = np.einsum("bthe,bshe->bths", q, k)
    if reach:
        places = np.arange(q.shape[1])
        offset = reach + np.clip(places[None, :] - places[:, None], -reach, reach)
        s = s + np.einsum("bthe,tse->bths", q, p[name + "relative_key.weight"][offset])
    w = softmax(np.where(shut[:, :, None, :] == 1, -np.inf, s / np.sqrt(q.shape[-1])), 3)
    y = np.einsum("bths,bshe->bthe", w, v)
    if reach:
        y = y + np.einsum("bths,tse->bthe", w, p[name + "relative_value.weight"][offset])
    return linear(p, name + "out_proj", y.reshape(queries.shape))


def fuse(p, name, x, stack, h):
    """Attention of x (B,T,d) to the states (B,l,T,d) of its own token: eqs. 9 and 10."""
    q, k, v = projected(p, name, x, "q", h), projected(p, name, stack, "k", h), projected(p, name, stack, "v", h)
    w = softmax(np.einsum("bthe,blthe->bthl", q, k) / np.sqrt(q.shape[-1]), 3)
    return linear(p, name + "out_proj", np.einsum("bthl,blthe->bthe", w, v).reshape(x.shape)), w


def lrf_layer(p, name, stack, shut, h, fused=True, source=None, source_pad=None, config={}, x=None):
    """`x` is the input, by default the last state of `stack`; fuse-attention sees all states."""
    x, out = stack[:, -1] if x is None else x, {}

    def sublayer(norm, x, branch):
        normed = lambda y: layer_norm(p, f"{name}{norm}_layer_norm", y)
        return x + branch(normed(x)) if config.get("norm_before") else normed(x + branch(x))

    def fuse_branch(x):
        out["fuse_out"], out["fuse_prob"] = fuse(p, name + "fuse_attn.attn.", x, stack, h)
        return out["fuse_out"]

    out["after_self"] = x = sublayer("self_attn", x, lambda x: attend(p, name + "self_attn.", x, x, shut, h, config.get("reach", 0)))
    if source is not None:
        nobody = np.broadcast_to(source_pad[:, None, :], (x.shape[0], x.shape[1], source.shape[1]))
        out["after_cross"] = x = sublayer("encoder_attn", x, lambda x: attend(p, name + "encoder_attn.", x, source, nobody, h))
    if fused:
        out["after_fuse"] = x = sublayer("fuse_attn", x, fuse_branch)
    out["y"] = sublayer("final", x, lambda x: linear(p, name + "fc2", relu(linear(p, name + "fc1", x))))
    return out


def linked(p, side, states, config):
    """Returns the input of the next layer: the last state, the sum of all states, or, in DLCL (Wang et al. 2019), a
    weighted sum of all normalised states."""
    link = config.get("link", "previous")
    if link == "weighted":
        weights = p[f"{side}.combinations.{len(states)}"]
        return sum(weights[j] * layer_norm(p, f"{side}.state_norms.{j}", x) for j, x in enumerate(states))
    return sum(states) if link == "sum" else states[-1]


def result(p, side, states, config):
    if config.get("link") == "weighted":
        return linked(p, side, states, config)
    return layer_norm(p, side + ".layer_norm", states[-1]) if config.get("norm_before") else states[-1]


def of_keys(pad):
    """Returns a mask (B,S,S) of padded keys."""
    return np.broadcast_to(pad[:, None, :], (pad.shape[0], pad.shape[1], pad.shape[1]))


def causal(pad):
    n = pad.shape[1]
    return np.maximum(of_keys(pad), np.triu(np.ones((n, n), np.int64), 1)[None])


def run_fuse(p, i, config):
    y, w = fuse(p, "attn.", i["query"], i["stack"], config["heads"])
    return {"y": y, "prob": w}


def run_encoder_layer(p, i, config):
    return lrf_layer(p, "", i["stack"], of_keys(i["pad_mask"]), config["heads"])


def run_decoder_layer(p, i, config):
    return lrf_layer(p, "", i["stack"], causal(i["pad_mask"]), config["heads"], True, i["encoder_out"], i["encoder_pad_mask"])


def waves(tokens, d):
    """Returns positions: the k-th real token of a sentence, counted from 1, has position k + 1, and padding has no
    position."""
    half = d // 2
    w = np.exp(-np.arange(half) * np.log(10000) / (half - 1))
    place = np.where(tokens == PAD, 0, np.cumsum(tokens != PAD, 1) + 1)
    angle = place[..., None] * w
    return np.where((tokens == PAD)[..., None], 0, np.concatenate([np.sin(angle), np.cos(angle)] + [0 * angle[..., :1]] * (d % 2), -1))


def embedded(table, tokens, config):
    d, real = table.shape[1], table.real.dtype
    scale = config.get("embedding_scale", "tokens_up")
    of_tokens, of_waves = np.sqrt(d) if scale == "tokens_up" else 1, 1 / np.sqrt(d) if scale == "positions_down" else 1
    if config.get("reach"):
        of_waves = 0  # positions are relative
    return real.type(of_tokens) * np.where((tokens == PAD)[..., None], 0, table[tokens]) + real.type(of_waves) * waves(tokens, d).astype(real)


def target_table(config):
    return "encoder.embed_tokens.weight" if config.get("shared_embedding") else "decoder.embed_tokens.weight"


def encode(p, tokens, config):
    pad = (tokens == PAD).astype(np.int64)
    states = [np.where(pad[..., None] == 1, 0, embedded(p["encoder.embed_tokens.weight"], tokens, config))]
    for k in range(config["enc_layers"]):
        states.append(lrf_layer(p, f"encoder.layers.{k}.", np.stack(states, 1), of_keys(pad), config["heads"], k + 1 in config["enc_fuse_layers"],
                                config=config, x=linked(p, "encoder", states, config))["y"])
    return states, pad, result(p, "encoder", states, config)


def decode(p, tokens, source, source_pad, config):
    pad = (tokens == PAD).astype(np.int64)
    states = [embedded(p[target_table(config)], tokens, config)]
    for k in range(config["dec_layers"]):
        states.append(lrf_layer(p, f"decoder.layers.{k}.", np.stack(states, 1), causal(pad), config["heads"], k + 1 in config["dec_fuse_layers"], source, source_pad,
                                config, linked(p, "decoder", states, config))["y"])
    table = p[target_table(config) if config["tied_output"] else "decoder.output_projection.weight"]
    return states, result(p, "decoder", states, config) @ table.T


def log_softmax(x):
    top = x.real.max(-1, keepdims=True)
    return x - top - np.log(np.exp(x - top).sum(-1, keepdims=True))


def greedily(next_logits, batch, start, forbidden, end, padding, steps):
    """Searches greedily. next_logits(ids (B,n)) must return (B,V). Sentences that have ended are padded. Returns the
    ids, with the start token, and the smallest margin."""
    ids, ended, margin = np.full((batch, 1), start), np.zeros(batch, bool), np.inf
    while ids.shape[1] <= steps and not ended.all():
        logits = next_logits(ids).real.copy()
        logits[:, forbidden] = -np.inf
        best = np.sort(logits, 1)
        margin = min(margin, (best[~ended, -1] - best[~ended, -2]).min())
        word = np.where(ended, padding, logits.argmax(1))
        ids, ended = np.concatenate([ids, word[:, None]], 1), ended | (word == end)
    return {"greedy_ids": ids, "greedy_min_margin": margin}


def run_lrf(p, i, config):
    encoder, source_pad, source = encode(p, i["src_tokens"], config)
    decoder, logits = decode(p, i["prev_output_tokens"], source, source_pad, config)
    out = {f"enc_{k}": x for k, x in enumerate(encoder)} | {f"dec_{k}": x for k, x in enumerate(decoder)} | {"logits": logits}
    real = i["target"] != PAD
    log_p, n, vocabulary = log_softmax(logits)[real], real.sum(), logits.shape[-1]
    out["nll_sum"], out["smooth_sum"], out["ntokens"] = -log_p[np.arange(n), i["target"][real]].sum(), -log_p.sum(), np.int64(n)
    e = 0.1 / (vocabulary - 1)
    out["loss_ce"] = out["nll_sum"] / n
    out["loss_ls"] = ((1 - 0.1 - e) * out["nll_sum"] + e * out["smooth_sum"]) / n
    out["loss_ls_over_V"] = ((1 - 0.1) * out["nll_sum"] + 0.1 / vocabulary * out["smooth_sum"]) / n
    out["loss"] = out["loss_ce" if config["loss"] == "ce" else "loss_ls"]
    return out


def decoded(p, i, config):
    """Returns the result of greedy decoding, which has no gradient."""
    _, source_pad, source = encode(p, i["src_tokens"], config)
    return greedily(lambda ids: decode(p, ids, source, source_pad, config)[1][:, -1], len(i["src_tokens"]), END, [PAD], END, PAD, 8)


def clear(drawn, search, config):
    """Returns the first random case in which the best token of each step has a large margin. A margin is a difference,
    so a small margin would be inaccurate in float32."""
    while True:
        case = drawn()
        if search(*case[:2], config)["greedy_min_margin"] > 0.1:
            return case


def attention_params(random, name, d):
    p = {}
    for part in "q", "k", "v", "out":
        p |= {f"{name}{part}_proj.weight": draw(random, d, d, scale=d ** -0.5), f"{name}{part}_proj.bias": draw(random, d, scale=0.3)}
    return p


def norm_params(random, name, d):
    return {name + ".weight": draw(random, d, scale=0.2, around=1), name + ".bias": draw(random, d, scale=0.2)}


def lrf_params(random, name, d, ffn, decodes, fused=True):
    p = attention_params(random, name + "self_attn.", d) | norm_params(random, name + "self_attn_layer_norm", d)
    if decodes:
        p |= attention_params(random, name + "encoder_attn.", d) | norm_params(random, name + "encoder_attn_layer_norm", d)
    if fused:
        p |= attention_params(random, name + "fuse_attn.attn.", d) | norm_params(random, name + "fuse_attn_layer_norm", d)
    p |= {name + "fc1.weight": draw(random, ffn, d, scale=d ** -0.5), name + "fc1.bias": draw(random, ffn, scale=0.2)}
    p |= {name + "fc2.weight": draw(random, d, ffn, scale=ffn ** -0.5), name + "fc2.bias": draw(random, d, scale=0.2)}
    return p | norm_params(random, name + "final_layer_norm", d)


def padded_behind(random, B, n):
    """Returns a padding mask. The last token of the first sentence is padding, and random tokens of the other sentences
    are padding."""
    real = np.concatenate([[n - 1], random.integers(n - 1, n + 1, B - 1)])
    return (np.arange(n)[None] >= real[:, None]).astype(np.int64)


# ---- the Edge Transformer as a decoder -------------------------------------------------------------------------------
def places(n, source, reach):
    """Returns the relation numbers of the edges between n nodes, of which the first `source` are the source."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    near = reach + np.clip(j - i, -reach, reach)
    return np.where((i < source) == (j < source), near, np.where(i < source, 2 * reach + 1, 2 * reach + 2))


def edge_layers(p, prefix, x, shut, config):
    for k in range(config["layers"]):
        x = layer(p, f"{prefix}layers.{0 if config['tied'] else k}.", x, config, shut)["y"]
    return x


def first_edges(p, prefix, ids, source, begin, reach):
    """Relational edges. Each edge has the vector of its relation. The edge (i, i) also has the vector of the token, and
    at node `begin` the begin vector."""
    words = p["emb.weight"][ids]
    words = np.concatenate([words[:, :begin], words[:, begin:begin + 1] + p[prefix + "bos_vector"], words[:, begin + 1:]], 1)
    n = ids.shape[1]
    relations = p[prefix + "spatial_relations_builder.rel_embeddings.weight"][places(n, source, reach)]
    return relations[None] + np.eye(n, dtype=words.real.dtype)[None, :, :, None] * words[:, :, None, :]


def cfq_encoder(p, i, config):
    ids, pad = i["input_ids"], (i["attention_mask"] == 0).astype(np.int64)
    return edge_layers(p, "encoder.", first_edges(p, "encoder.", ids, ids.shape[1], 0, config["reach"]), pad_mask4(pad), config)


def cfq_decoder(p, i, encoded, given, config):
    """Returns the first states, the last states and the logits for given target words (B,T)."""
    s, t = i["input_ids"].shape[1], given.shape[1]
    n = s + t
    x = first_edges(p, "decoder.", np.concatenate([i["input_ids"], given], 1), s, s, config["reach"])
    whole = np.concatenate([np.concatenate([encoded, x[:, :s, s:]], 2), x[:, s:]], 1)
    pad = np.concatenate([(i["attention_mask"] == 0).astype(np.int64), np.zeros_like(given)], 1)
    a = np.arange(n)
    future = (a[None, :, None] >= s) & (a[:, None, None] < a[None, :, None]) & (a[None, None, :] < a[None, :, None])
    shut = np.maximum(pad_mask4(pad), future[None])
    last = edge_layers(p, "decoder.", whole, shut, config)
    at = np.arange(s, n)
    read = last[:, at, at] if config["decode_from"] == "i_to_i" else last[:, s, at]
    return whole, last, read @ p["lm_head.weight"].T


def run_cfq(p, i, config):
    given = np.concatenate([np.full((len(i["labels"]), 1), CFQ_PAD), np.maximum(i["labels"][:, :-1], 0)], 1)
    encoded = cfq_encoder(p, i, config)
    first, last, logits = cfq_decoder(p, i, encoded, given, config)
    real = i["labels"] >= 0
    loss = -log_softmax(logits)[real][np.arange(real.sum()), i["labels"][real]].mean()
    return {"encoder_out": encoded, "decoder_init": first, "decoder_out": last, "logits": logits, "loss": loss, "decoder_input_ids": given}


def cfq_decoded(p, i, config):
    encoded = cfq_encoder(p, i, config)
    return greedily(lambda ids: cfq_decoder(p, i, encoded, ids, config)[2][:, -1], len(i["input_ids"]), CFQ_PAD, [], CFQ_END, CFQ_PAD, config["max_length"] - 1)


def main(folder):
    random = np.random.default_rng(60)

    def fused(case, B, T, l, d, h):
        i = {"query": draw(random, B, T, d), "stack": draw(random, B, l, T, d)}
        save(folder, "lrf_fuse", case, run_fuse, attention_params(random, "attn.", d), i, {"y": draw(random, B, T, d)},
             {"B": B, "T": T, "prev_layers": l, "d": d, "heads": h})

    fused("three_below", 2, 2, 3, 6, 2)
    fused("one_below_one_head", 1, 3, 1, 3, 1)

    def one_layer(case, B, T, l, d, h, ffn, S=0):
        i = {"stack": draw(random, B, l, T, d), "pad_mask": padded_behind(random, B, T)}
        if S:
            i |= {"encoder_out": draw(random, B, S, d), "encoder_pad_mask": padded_behind(random, B, S)}
        config = {"B": B, "T": T, "layer_index": l, "d": d, "heads": h, "ffn": ffn} | ({"S": S} if S else {})
        save(folder, "lrf_dec_layer" if S else "lrf_enc_layer", case, run_decoder_layer if S else run_encoder_layer,
             lrf_params(random, "", d, ffn, S > 0), i, {"y": draw(random, B, T, d)}, config)

    one_layer("third_of_odd_width", 2, 3, 3, 9, 3, 5)
    one_layer("second_over_two", 2, 3, 2, 4, 2, 6, S=2)

    def lrf(case, B, S, T, d, h, ffn, encoder, decoder, tied, loss, left=False, vocabularies=(6, 7), **more):
        """`encoder` and `decoder` say for each layer whether it has fuse-attention."""
        numbers = lambda layers: [k + 1 for k, looks in enumerate(layers) if looks]
        config = {"B": B, "S": S, "T": T, "d": d, "heads": h, "ffn": ffn, "enc_layers": len(encoder), "dec_layers": len(decoder),
                  "src_vocab": vocabularies[0], "tgt_vocab": vocabularies[1], "tied_output": tied, "loss": loss, "pad": PAD, "eos": END,
                  "enc_fuse_layers": numbers(encoder), "dec_fuse_layers": numbers(decoder)} | more

        def drawn():
            sides = ("encoder",) if more.get("shared_embedding") else ("encoder", "decoder")
            p = {f"{side}.embed_tokens.weight": draw(random, v, d, scale=d ** -0.5) for side, v in zip(sides, vocabularies)}
            for table in p.values():
                table[PAD] = 0
            for side, layers in (("encoder", encoder), ("decoder", decoder)):
                for k, looks in enumerate(layers):
                    p |= lrf_params(random, f"{side}.layers.{k}.", d, ffn, side == "decoder", looks)
                    if more.get("reach"):
                        p |= {f"{side}.layers.{k}.self_attn.relative_{of}.weight": draw(random, 2 * more["reach"] + 1, d // h, scale=0.5)
                              for of in ("key", "value")}
                if more.get("link") == "weighted":
                    p |= {f"{side}.combinations.{n}": draw(random, n, scale=0.3, around=1 / n) for n in range(1, len(layers) + 2)}
                    for j in range(len(layers) + 1):
                        p |= norm_params(random, f"{side}.state_norms.{j}", d)
                elif more.get("norm_before"):
                    p |= norm_params(random, f"{side}.layer_norm", d)
            if not tied:
                p["decoder.output_projection.weight"] = draw(random, vocabularies[1], d, scale=d ** -0.5)
            source, target = random.integers(3, vocabularies[0], (B, S)), random.integers(3, vocabularies[1], (B, T))
            source[0, 0 if left else -1] = PAD
            target[0, -2:] = END, PAD
            target[1:, -1] = END
            i = {"src_tokens": source, "prev_output_tokens": np.concatenate([np.full((B, 1), END), target[:, :-1]], 1), "target": target}
            i["prev_output_tokens"][i["target"] == PAD] = PAD
            return p, i

        p, i = clear(drawn, decoded, config)
        save(folder, "lrf_model", case, run_lrf, p, i, {}, config, search=decoded)

    lrf("smoothed_padded_left", 2, 3, 3, 4, 2, 3, (True, True), (True,), True, "label_smoothed", left=True)
    lrf("plain_encoder", 2, 2, 3, 5, 1, 4, (False,), (False, True), False, "ce")

    def cfq(case, B, S, T, d, h, hidden, layers, tied, decode_from, reach, vocabulary=6):
        config = settings("cfq", h, B=B, src_len=S, tgt_len=T, d=d, layers=layers, vocab=vocabulary, tied=tied, input_encoding="relational",
                          decode_from=decode_from, pad_token_id=CFQ_PAD, decoder_start_token_id=CFQ_PAD, eos_token_id=CFQ_END, max_length=6, reach=reach)

        def drawn():
            p, unused = {"emb.weight": draw(random, vocabulary, d), "lm_head.weight": draw(random, vocabulary, d, scale=d ** -0.5)}, []
            for side in "encoder.", "decoder.":
                p |= {side + "bos_vector": draw(random, d), side + "spatial_relations_builder.rel_embeddings.weight": draw(random, 2 * reach + 3, d)}
                for k in range(1 if tied else layers):
                    more, without = layer_params(random, f"{side}layers.{k}.", d, hidden, config, True)
                    p, unused = p | more, unused + without
            labels = random.integers(3, vocabulary, (B, T))
            labels[0, -1] = -100
            i = {"input_ids": random.integers(3, vocabulary, (B, S)), "labels": labels, "attention_mask": 1 - padded_behind(random, B, S)}
            i["input_ids"] *= i["attention_mask"]
            return p, i, unused

        p, i, unused = clear(drawn, cfq_decoded, config)
        save(folder, "et_cfq", case, run_cfq, p, i, {}, config, unused, search=cfq_decoded)

    cfq("tied_padded", 2, 3, 2, 4, 2, 5, 2, True, "i_to_i", 1)
    cfq("read_from_begin", 1, 2, 3, 3, 1, 4, 2, False, "start_to_i", 2)

    lrf("shared_positions_down", 2, 3, 3, 4, 2, 3, (True, False), (True,), True, "ce", vocabularies=(7, 7), shared_embedding=True,
        embedding_scale="positions_down")
    lrf("unscaled", 2, 2, 3, 4, 1, 3, (False,), (True,), False, "ce", embedding_scale="unscaled")
    lrf("relative_norm_before", 2, 4, 4, 4, 2, 3, (True,), (False, True), True, "ce", reach=2, norm_before=True)
    lrf("linked_weighted", 2, 3, 3, 4, 2, 3, (False, True), (False,), True, "ce", norm_before=True, link="weighted")
    lrf("linked_sum", 2, 2, 3, 4, 1, 3, (False, True), (False, True), False, "ce", norm_before=True, link="sum")
