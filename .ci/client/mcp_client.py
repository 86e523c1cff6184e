# `mcp_client.py COMMAND...`: the official client lists the tools and calls one.
import asyncio
import sys

from mcp import Client, StdioServerParameters


async def main():
    command, *args = sys.argv[1:]
    async with Client(StdioServerParameters(command=command, args=args)) as client:
        tools = (await client.list_tools()).tools
        answer = await client.call_tool("fleet-overview", {})
        assert not answer.is_error and answer.structured_content["row_count"] == 12, answer
        print(len(tools), "tools")


asyncio.run(main())
