"""The Python SDK, version 1, which validates structured content against the tools' output schemas."""

from contextlib import asynccontextmanager

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from visit import Result, headers, run


class Server:
    def __init__(self, session, revision):
        self.session, self.revision = session, revision

    async def names(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def call(self, tool, arguments):
        result = await self.session.call_tool(tool, arguments)
        return Result.of(result.content, result.structuredContent, result.isError)


@asynccontextmanager
async def connect(url, key):
    async with streamablehttp_client(url, headers=headers(key)) as (incoming, outgoing, _):
        async with ClientSession(incoming, outgoing) as session:
            yield Server(session, (await session.initialize()).protocolVersion)


run("mcp", connect)
