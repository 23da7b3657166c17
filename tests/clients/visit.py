"""What every client in Python does with the service: it lists the tools, calls each of them without a key, makes a
mistake, takes a key and comes back with it. Prints one line of JSON, which tests/clients/main.rs compares."""

import asyncio
import base64
import json
import sys
from importlib.metadata import version

TOOLS = [
    "browse", "discover", "fetch", "get_api_key", "get_project", "list_taste_terms",
    "search", "search_by_taste", "search_projects", "similar_projects",
]
LARGEST_PICTURE = 2_000_000
MAGIC = {
    "image/jpeg": lambda data: data[:3] == b"\xff\xd8\xff",
    "image/png": lambda data: data[:8] == b"\x89PNG\r\n\x1a\n",
    "image/webp": lambda data: data[:4] == b"RIFF" and data[8:12] == b"WEBP",
}


class Result:
    """An answer of a tool as a client gives it: `texts`, `pictures` as pairs of type and base64, `structured` content
    and whether it `is_error`."""

    def __init__(self, texts, pictures, structured, is_error):
        self.texts, self.pictures, self.structured, self.is_error = texts, pictures, structured, is_error

    @classmethod
    def of(cls, content, structured, is_error):
        """From the content items of the SDKs, of which the second version writes `mime_type`."""
        texts = [item.text for item in content if item.type == "text"]
        images = [item for item in content if item.type == "image"]
        pictures = [(getattr(item, "mime_type", None) or item.mimeType, item.data) for item in images]
        return cls(texts, pictures, structured, is_error)

    def answer(self, name):
        """The one text item as JSON, which the structured content must equal."""
        assert not self.is_error, f"{name}: {self.texts}"
        assert len(self.texts) == 1, f"{name} has one text item: {self.texts}"
        told = json.loads(self.texts[0])
        assert self.structured == told, f"{name} says the same twice: {self.structured}"
        return told


def headers(key):
    """The headers that carry a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def picture(media_type, data):
    assert len(data) <= LARGEST_PICTURE, f"the picture has {len(data)} characters"
    assert MAGIC[media_type](base64.b64decode(data, validate=True)), f"the picture is no {media_type}"
    return media_type


async def visit(package, connect):
    """`connect(url, key)` opens a connection of the client in `package`, as a context that gives `revision`,
    `names()` and `call(name, arguments)`, which gives a `Result`."""
    url, email = sys.argv[1:3]
    called = []
    async with connect(url, None) as server:
        assert sorted(await server.names()) == TOOLS
        revision = server.revision

        async def call(tool, **arguments):
            result = await server.call(tool, arguments)
            called.append(tool)
            return result.answer(tool), result.pictures

        found, _ = await call("search", query="house")
        slug = found["results"][0]["id"]
        anonymous, _ = await call("search_projects", query="house", limit=8)
        await call("list_taste_terms", dimension="material", limit=3)
        await call("search_by_taste", material="oak", limit=3)
        await call("browse", category="architecture", limit=3)
        await call("discover")
        await call("similar_projects", slug=slug, limit=3)
        record, _ = await call("get_project", slug=slug)
        assert record["slug"] == slug
        fetched, pictures = await call("fetch", id=slug)
        assert fetched["id"] == slug
        issued, _ = await call("get_api_key", email=email)

        refusal = await server.call("get_project", {"slug": "no-such-project"})
        assert refusal.is_error

    async with connect(url, issued["key"]) as server:
        keyed = (await server.call("search_projects", {"query": "house", "limit": 8})).answer("search_projects")

    print(json.dumps({
        "client": f"{package} {version(package)}",
        "revision": revision,
        "called": sorted(called),
        "pictures": [picture(*one) for one in pictures],
        "refused": "no-such-project" in refusal.texts[0],
        "results": {"anonymous": len(anonymous["results"]), "keyed": len(keyed["results"])},
    }))


def run(package, connect):
    asyncio.run(visit(package, connect))
