from __future__ import annotations

import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from treadle.redaction import REDACTED, holds_a_key, names_a_secret, redact

secrets = st.text(st.characters(codec="utf-8"), min_size=8)


@given(st.text(), secrets, st.text())
def test_no_secret_is_left_in_any_of_its_forms(before: str, secret: str, after: str) -> None:
    for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
        assert form not in redact(before + form + after, [secret]).replace(REDACTED, "")


@given(st.text(), st.lists(secrets))
def test_a_text_without_secrets_stays_as_it_is(text: str, others: list[str]) -> None:
    forms = [form for other in others for form in (other, quote(other, safe=""), json.dumps(other)[1:-1])]
    if not any(form in text for form in forms):
        assert redact(text, others) == text


def test_a_secret_that_begins_like_another_is_taken_out_whole() -> None:
    assert redact("Authorization: Bearer sk-test-123-long", {"sk-test-123", "sk-test-123-long"}) == (
        f"Authorization: Bearer {REDACTED}"
    )


def test_names_and_shapes_of_secrets() -> None:
    for name in (
        "api_key",
        "API-Key",
        "x-api-key",
        "openai_apikey",
        "token",
        "access_token",
        "Authorization",
        "secret",
    ):
        assert names_a_secret(name)
    for name in ("api_key_env", "max_tokens", "tokens_per_minute", "keys", "stop_token_ids", "eos_token", "key_points"):
        assert not names_a_secret(name)
    for text in ("sk-test-123", "see sk-ant-api03-abc_def", "-----BEGIN RSA PRIVATE KEY-----", "AKIAIOSFODNN7EXAMPLE"):
        assert holds_a_key(text)
    for text in ("", "risk-adjusted-returns", "sk-1", "task-oriented-model", "openai:gpt-5-mini", "hf:org/name"):
        assert not holds_a_key(text)
