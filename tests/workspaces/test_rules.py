"""Names of test files, scratch files and keys."""

from __future__ import annotations

import pytest

from treadle.workspaces.rules import is_git_name, is_key, is_scratch, is_test

TESTS = "tests/a.py src/test/x.txt web/__tests__/a.js spec/a_spec.rb test_a.py a_test.go a/b.test.tsx c.spec.mjs"
MORE_TESTS = " conftest.py app/tests.py src/FooTest.java lib/x_test.exs"
CODE = "src/flask/testing.py contest.py attest.py latest.py numpy/testing/x.py specs.py my_tests_runner.py test.txt"
SCRATCH = "reproduce.py repro_1.py debug.py scratch.txt tmp.json test_it.sh out.log fix.patch a/b.py.orig x~ a/b.pyc"
MORE_SCRATCH = " a/__pycache__/b.txt pkg.egg-info/PKG-INFO"
WANTED = "reprojection.py debugger.py template.py src/debug.py debian/patches/a.patch logs/keep.log a.py testament.py"
KEYS = ".env a/.env.local x.pem id_rsa id_ed25519.pub .netrc .npmrc .pypirc credentials-1.json service-account.json"
OPEN = ".env.example environment.py .env.template pem.py credentials.py keys.md"


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        (is_test, TESTS + MORE_TESTS, CODE),
        (is_scratch, SCRATCH + MORE_SCRATCH, WANTED),
        (is_key, KEYS, OPEN),
        (is_git_name, "a/.GIT/x git~1", ".gitignore"),
    ],
    ids=["tests", "scratch", "keys", "git"],
)
def test_names(rule: object, yes: str, no: str) -> None:
    assert callable(rule)
    assert [name for name in yes.split() if not rule(name)] == []
    assert [name for name in no.split() if rule(name)] == []
