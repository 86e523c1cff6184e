# `gemini.py COMMAND...`: Google's SDK converts the whole list of tools, as it does before it asks Gemini.
import asyncio
import sys

from google.genai._mcp_utils import mcp_to_gemini_tools
from mcp import Client, StdioServerParameters


async def main():
    command, *args = sys.argv[1:]
    async with Client(StdioServerParameters(command=command, args=args)) as client:
        tools = (await client.list_tools()).tools
        converted = mcp_to_gemini_tools(tools)
        assert len(tools) > 10 and sum(len(tool.function_declarations) for tool in converted) == len(tools), converted
        print(len(tools), "tools")


asyncio.run(main())
