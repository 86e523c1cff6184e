# `openai.py COMMAND...`: OpenAI's SDK makes the tools strict, as it does before it asks a model, and calls one with null for each parameter.
import asyncio
import sys

from agents.mcp import MCPServerStdio
from agents.mcp.util import MCPUtil


async def main():
    command, *args = sys.argv[1:]
    async with MCPServerStdio(params={"command": command, "args": args}, client_session_timeout_seconds=60) as server:
        tools = await server.list_tools()
        functions = {tool.name: MCPUtil.to_function_tool(tool, server, convert_schemas_to_strict=True) for tool in tools}
        # It makes no tool without parameters strict: such a schema lacks additionalProperties, at which Gemini's fails.
        loose = [name for name, made in functions.items() if made.params_json_schema["properties"] and not made.strict_json_schema]
        assert len(tools) > 10 and loose == [], loose
        nulls = {name: None for name in functions["at-risk"].params_json_schema["properties"]}
        answer = await server.call_tool("at-risk", nulls)
        assert not getattr(answer, "is_error", False) and not getattr(answer, "isError", False), answer
        print(len(tools), "tools")


asyncio.run(main())
