"""Checks compose files and Kubernetes manifests: by their schemas, and that what they name is there.

check.py compose FILE | kubernetes VERSION FILE...: prints a line a fault; exit status 1 if there is one.
"""

import importlib.util
import json
import pathlib
import sys

import jsonschema
import kubernetes_validate
import yaml


def compose(path):
    # For the schema beside it alone; it is never imported.
    package = importlib.util.find_spec("check_jsonschema").submodule_search_locations[0]
    vendored = pathlib.Path(package) / "builtin_schemas/vendor/compose-spec.json"
    schema = json.loads(vendored.read_text())
    read = yaml.safe_load(pathlib.Path(path).read_text())
    for fault in jsonschema.Draft7Validator(schema).iter_errors(read):
        yield f"{path}: {'/'.join(map(str, fault.absolute_path))}: {fault.message}"
    services = read["services"]
    for name, service in services.items():
        for kind in ("networks", "secrets"):
            for used in service.get(kind, []):
                if used not in read.get(kind, {}):
                    yield f"{path}: {name} uses {used}, which is none of the {kind}"
        for used in service.get("depends_on", []):
            if used not in services:
                yield f"{path}: {name} depends on {used}, which is no service"
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            if not source.startswith((".", "/")) and source not in read.get("volumes", {}):
                yield f"{path}: {name} mounts {source}, which is no volume"
            if source.startswith("./") and source.endswith(".cfg"):
                if not (pathlib.Path(path).parent / source).is_file():
                    yield f"{path}: {name} mounts {source}, which is not there"


def kubernetes(version, paths):
    known, wanted, images, pinned = set(), [], [], set()
    for path in paths:
        for read in yaml.safe_load_all(pathlib.Path(path).read_text()):
            told = f"{path}: {read['kind']} {read.get('metadata', {}).get('name', '')}"
            if read["apiVersion"].startswith("kustomize."):
                wanted += [(told, "file", name) for name in read["resources"]]
                pinned |= {image["name"] for image in read["images"] if image["newTag"] != "latest"}
                continue
            try:
                kubernetes_validate.validate(read, version, strict=True)
            except kubernetes_validate.ValidationError as fault:
                yield f"{told}: {'/'.join(map(str, fault.path))}: {fault.message}"
                continue
            known.add((read["kind"], read["metadata"]["name"]))
            if read["kind"] == "StatefulSet":
                yield from stateful_set(told, read["spec"])
                wanted.append((told, "Service", read["spec"]["serviceName"]))
            for pod in pods(read):
                yield from workload(told, pod, read["spec"].get("volumeClaimTemplates", []))
                for container in pod["containers"]:
                    images.append((told, container["image"]))
                    for source in container.get("envFrom", []):
                        wanted.append((told, "ConfigMap", source["configMapRef"]["name"]))
    for told, image in images:
        if image not in pinned:
            yield f"{told} runs the image {image}, which kustomization.yaml gives no version"
    names = {pathlib.Path(path).name for path in paths}
    for told, kind, name in wanted:
        if (name not in names) if kind == "file" else ((kind, name) not in known):
            yield f"{told} names the {kind} {name}, which is not there"


def pods(read):
    """The pods that an object makes."""
    spec = read.get("spec", {})
    if read["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return [spec["template"]["spec"]] if "template" in spec else []


def workload(told, pod, claims):
    """What the schema cannot say: mounts that lead somewhere, limits, and that little is allowed."""
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    volumes |= {claim["metadata"]["name"] for claim in claims}
    if not pod.get("securityContext", {}).get("runAsNonRoot"):
        yield f"{told} may run as root"
    for container in pod["containers"]:
        for mount in container["volumeMounts"]:
            if mount["name"] not in volumes:
                yield f"{told} mounts {mount['name']}, which is no volume"
        for kind in ("requests", "limits"):
            for what in ("cpu", "memory"):
                if what not in container.get("resources", {}).get(kind, {}):
                    yield f"{told} has no {kind} of {what}"
        allowed = container.get("securityContext", {})
        if not allowed.get("readOnlyRootFilesystem") or allowed.get("allowPrivilegeEscalation", True):
            yield f"{told} may write to its image or gain rights"
        if allowed.get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{told} keeps capabilities"


def stateful_set(told, spec):
    """What the schema cannot say: labels that are selected, and probes that ask a port."""
    template = spec["template"]
    labels = template["metadata"]["labels"]
    for label, value in spec["selector"]["matchLabels"].items():
        if labels.get(label) != value:
            yield f"{told} selects {label}={value}, which its pods have not"
    for container in template["spec"]["containers"]:
        ports = {port["name"] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if container[probe]["httpGet"]["port"] not in ports:
                yield f"{told}: its {probe} asks a port that is not there"


def main(kind, *rest):
    faults = list(compose(rest[0]) if kind == "compose" else kubernetes(rest[0], rest[1:]))
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
