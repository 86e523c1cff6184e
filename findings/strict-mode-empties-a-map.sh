#!/usr/bin/env bash
# One would expect: a tool with an optional number (default 7) and an optional map of labels means the same in each library that makes
# it strict for OpenAI, or each refuses it.
# What happens: four libraries, four tools. langchain-core closes the map, so a model can send {} alone and no label ever arrives. pydantic-ai does
# that when told strict=True, and says "not compatible" when asked. openai-agents raises an error. openai leaves the map open, which strict mode does not
# allow. All make both keys mandatory without allowing null: a model must think of a number, and the server's default of 7 is never used again.
# Versions: langchain-core 1.8.3, pydantic-ai-slim 2.68.0, openai-agents 0.24.0, openai 3.57.0 (PyPI). Date: 2026-11-28.
# Source: OpenAI's guide to structured outputs: each key is required, an optional one is written as a union with null, each object is closed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check langchain-core==1.8.3 pydantic-ai-slim==2.68.0 openai-agents==0.24.0 openai==3.57.0
cat >convert.py <<'PY'
from agents.strict_schema import ensure_strict_json_schema
from langchain_core.utils.function_calling import convert_to_openai_function
from openai.lib._pydantic import _ensure_strict_json_schema
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

def schema():
    labels = {'type': 'object', 'additionalProperties': {'type': 'string'}}
    return {'type': 'object', 'properties': {'days': {'type': 'integer', 'default': 7}, 'labels': labels}, 'required': []}

def openai():
    root = schema()
    return _ensure_strict_json_schema(root, path=(), root=root)

def pydantic_ai(strict):
    transformer = OpenAIJsonSchemaTransformer(schema(), strict=strict)
    made = transformer.walk()
    if not transformer.is_strict_compatible: raise ValueError('not compatible')
    return made

tools = {
    'langchain-core': lambda: convert_to_openai_function({'title': 't', 'description': 't', **schema()}, strict=True)['parameters'],
    'pydantic-ai, strict=True': lambda: pydantic_ai(True),
    'pydantic-ai, strict=None': lambda: pydantic_ai(None),
    'openai-agents': lambda: ensure_strict_json_schema(schema()),
    'openai': openai,
}
for name, make in tools.items():
    try:
        made = make()
        print(f"{name}: mandatory {made['required']}, days {made['properties']['days']}, map {made['properties']['labels']['additionalProperties']}")
    except Exception as error:
        print(f'{name}: {type(error).__name__}: {str(error)[:60]}')
PY
py/bin/python convert.py | tee seen
diff - seen <<'E2'
langchain-core: mandatory ['days', 'labels'], days {'type': 'integer', 'default': 7}, map False
pydantic-ai, strict=True: mandatory ['days', 'labels'], days {'type': 'integer'}, map False
pydantic-ai, strict=None: ValueError: not compatible
openai-agents: UserError: additionalProperties should not be set for object types. Thi
openai: mandatory ['days', 'labels'], days {'type': 'integer', 'default': 7}, map {'type': 'string'}
E2
