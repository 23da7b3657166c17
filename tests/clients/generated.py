"""Generates a client from the OpenAPI document with openapi-python-client, and calls the service with it.

Arguments: the address of the site, the path of the document, a key, and a folder for the client."""

import json
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path

base, document, key, folder = sys.argv[1:]
made = subprocess.run(
    [sys.executable, "-S", "-s", "-m", "openapi_python_client", "generate", "--url", base + document, "--meta", "none",
     "--config", "/dev/stdin", "--output-path", str(Path(folder) / "catalog_client"), "--overwrite"],
    input="post_hooks: []\n", capture_output=True, text=True,
)
assert made.returncode == 0, made.stdout + made.stderr

sys.path.insert(0, folder)
from catalog_client import AuthenticatedClient
from catalog_client.api.default import cite, project, search, similar, usage
from catalog_client.models import Problem

client = AuthenticatedClient(base_url=base + "/v1", token=key)
found = search.sync(client=client, q="house", limit=3)
one = project.sync("house-1", client=client)
near = similar.sync("house-1", client=client, limit=2)
month = usage.sync(client=client)
unknown = project.sync_detailed("nowhere", client=client)
assert unknown.status_code == HTTPStatus.NOT_FOUND and isinstance(unknown.parsed, Problem)
refused = search.sync(client=AuthenticatedClient(base_url=base + "/v1", token="wrong"), q="house")
print(json.dumps({
    "count": found.count,
    "years": [result.year for result in found.results],
    "published": one.published.isoformat(),
    "material": one.taste.material,
    "near": near.count,
    "tier": month.tier,
    "month": len(month.month),
    "unknown": unknown.parsed.title,
    "refused": refused.title,
}))
