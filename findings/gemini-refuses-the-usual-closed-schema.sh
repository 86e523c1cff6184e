#!/usr/bin/env bash
# One would expect: a tool whose input schema says `additionalProperties: false`, as OpenAI's strict mode demands, is a tool for every host of models.
# What happens: Google's SDK for Python converts tools of an MCP server itself and takes the value for a schema: an AttributeError
# ends the conversion of the whole list, so one such tool takes all others away. Without the key the same tool is converted.
# Versions: google-genai 3.6.1, mcp 2.3.0 (PyPI). Date: 2026-11-28. Source: the MCP specification, "Tools", shows additionalProperties: false.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check google-genai==3.6.1 mcp==2.3.0
cat >convert.py <<'PY'
from google.genai._mcp_utils import mcp_to_gemini_tools
from mcp.types import Tool

schema = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": []}
tools = {
    "open": Tool.model_validate({"name": "open", "inputSchema": schema}),
    "closed": Tool.model_validate({"name": "closed", "inputSchema": {**schema, "additionalProperties": False}}),
}
for names in (["open"], ["closed"], ["open", "closed"]):
    try:
        print(", ".join(names), "->", len(mcp_to_gemini_tools([tools[name] for name in names])), "converted")
    except Exception as error:
        print(", ".join(names), "->", type(error).__name__)
PY
{
  py/bin/pip list --disable-pip-version-check 2>/dev/null | grep -E '^(google-genai|mcp) ' | tr -s ' '
  py/bin/python convert.py
} | tee seen
diff - seen <<'E2'
google-genai 3.6.1
mcp 2.3.0
open -> 1 converted
closed -> AttributeError
open, closed -> AttributeError
E2
