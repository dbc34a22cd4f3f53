"""The treadle.toml that `treadle init` writes."""

from __future__ import annotations

_STARTER = """\
# Treadle's configuration. Commands find it from their folder upwards; flags win over it.
# No key ever stands here: api_key_env names the environment variable that holds it.

# A model under a name of your own. Commands take such names or "provider:model".
# This one only simulates a model: right in 65 of 100 answers, costs nothing, needs no key.
[models.practice]
model = "simulated:llm?skill=0.65"

# [models.weak]
# model = "openai:gpt-5-mini"               # openai, anthropic, google, …
# api_key_env = "OPENAI_API_KEY"
# timeout_s = 120                           # the whole call, wall clock
# max_concurrency = 32                      # calls in flight
# requests_per_minute = 600
# tokens_per_minute = 2_000_000             # input and output
# retries = 5                               # after the first attempt
# price = { input = 0.25, cached_input = 0.025, output = 2.0 }   # USD per million tokens; else the price list
# settings = { temperature = 0.7, max_tokens = 4096 }
# context_window = 128_000                  # prompt and reply together; what shows candidates keeps within it

# [models.big]
# model = "anthropic:claude-sonnet-4-5"
# api_key_env = "ANTHROPIC_API_KEY"

# Any server that speaks OpenAI's protocol: vLLM, llama.cpp, Ollama, …
# [models.server]
# model = "openai:the-name-the-server-gives-it"
# base_url = "http://127.0.0.1:8000/v1"

# A small model on this machine; fetch it once with `treadle models pull smollm2`.
# [models.small]
# model = "local:smollm2"
# timeout_s = 600

# Who plays which role where a command names none: strong, weak, judge, generator, fuser, critic, ranker, verifier,
# tester, manager, worker, optimiser, executor.
[roles]
strong = "practice"
# weak = "weak"
# judge = "big"

# What others' structures call a model, and which of yours answers for it.
# [model_names]
# "Qwen/Qwen1.5-110B-Chat" = "big"

# Every call is kept and never paid twice. A relative path starts at this file's folder.
[store]
url = "sqlite:///.treadle/treadle.db"

# What one run may use at most; any subset. Flags such as --budget-usd win.
[budget]
# usd = 5.0
# calls = 10_000
# tokens = 5_000_000
# seconds = 3600

# What runs the programs that models write, and what one may take. `treadle doctor` says what works here.
[sandbox]
# kind = "auto"                             # the strongest here; or bubblewrap, namespaces, nsjail, landlock, …
# seconds = 10                              # wall clock
# memory_mb = 512
# processes = 64
"""


def starter_config() -> str:
    """A commented treadle.toml that loads as it stands and needs no key."""
    return _STARTER
