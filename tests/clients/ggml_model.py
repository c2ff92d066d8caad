"""ggml's HIP backend against its CPU backend: tokens of a model of random weights, written here, chosen greedily."""

import os
import sys
import tempfile

import gguf
import numpy
from checks import close, each, same

WORDS, WIDTH, INNER, HEADS, LAYERS, CONTEXT = 2048, 256, 768, 4, 4, 256
TOKENS = 24
PROMPT = [1, 300, 301, 700, 44, 1500, 9, 1021, 77, 650, 1999, 263]


def write(path, kind):
    """A model of the LLaMA architecture with about five million weights of a quantization."""
    random = numpy.random.default_rng(49)
    out = gguf.GGUFWriter(path, "llama")
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS // 2)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(WORDS)
    out.add_tokenizer_model("llama")
    out.add_token_list(["<unk>", "<s>", "</s>"] + [f"<0x{it:02X}>" for it in range(256)] + [f"w{it}" for it in range(WORDS - 259)])
    out.add_token_scores([0.0] * WORDS)
    out.add_token_types([2, 3, 3] + [6] * 256 + [1] * (WORDS - 259))
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)

    def weights(name, rows, columns, scale):
        values = random.standard_normal((rows, columns), dtype="float32") * scale / columns**0.5
        if kind == gguf.GGMLQuantizationType.F32:
            out.add_tensor(name, values)
        else:
            out.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)

    weights("token_embd.weight", WORDS, WIDTH, 16.0)
    weights("output.weight", WORDS, WIDTH, 8.0)
    out.add_tensor("output_norm.weight", numpy.ones(WIDTH, "float32"))
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            out.add_tensor(f"blk.{layer}.{norm}.weight", numpy.ones(WIDTH, "float32"))
        weights(f"blk.{layer}.attn_q.weight", WIDTH, WIDTH, 1.0)
        weights(f"blk.{layer}.attn_k.weight", WIDTH // 2, WIDTH, 1.0)
        weights(f"blk.{layer}.attn_v.weight", WIDTH // 2, WIDTH, 1.0)
        weights(f"blk.{layer}.attn_output.weight", WIDTH, WIDTH, 1.0)
        weights(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH, 1.0)
        weights(f"blk.{layer}.ffn_up.weight", INNER, WIDTH, 1.0)
        weights(f"blk.{layer}.ffn_down.weight", WIDTH, INNER, 1.0)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def run(path, gpu_layers):
    """Tokens chosen greedily after the prompt, and the logits of the first."""
    from inferna.llama import llama_cpp as llama

    llama.ggml_backend_load_all()
    parameters = llama.LlamaModelParams()
    parameters.n_gpu_layers = gpu_layers
    model = llama.LlamaModel(path, parameters, verbose=False)
    settings = llama.LlamaContextParams()
    settings.n_ctx = CONTEXT
    settings.n_batch = 64
    context = llama.LlamaContext(model, settings, verbose=False)
    tokens, given, past, first = [], PROMPT, 0, None
    for _ in range(TOKENS):
        if context.decode(llama.llama_batch_get_one(given, past)) != 0:
            raise RuntimeError("decode failed")
        past += len(given)
        logits = numpy.array(context.get_logits_ith(-1))[:WORDS]
        first = logits if first is None else first
        given = [int(logits.argmax())]
        tokens += given
    return tokens, first


def model(kind):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        write(path, kind)
        print(f"model of {os.path.getsize(path) / 1e6:.1f} MB", file=sys.stderr)
        gpu, cpu = run(path, 99), run(path, 0)
        close(f"logits of the first token, {kind.name}", gpu[1], cpu[1], LIMITS[kind.name])
        same(f"{TOKENS} tokens, {kind.name}", gpu[0], cpu[0])


# The CPU backend quantizes activations to 8 bits for quantized weights, in blocks of another size than the GPU.
LIMITS = {"F32": 1e-3, "F16": 1e-2, "Q8_0": 5e-2}


def f16():
    model(gguf.GGMLQuantizationType.F16)


def q8_0():
    model(gguf.GGMLQuantizationType.Q8_0)


each([f16, q8_0])
