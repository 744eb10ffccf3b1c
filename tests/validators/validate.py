"""Runs one validator over final responses; called by validate.sh, in the environment of that validator.

    validate.py schema FOLDER              (translator-tom) writes the TRAPI schemas that `validator` needs
    validate.py pydantic FILE...           (reasoner-pydantic)
    validate.py validator FOLDER FILE...   (reasoner-validator) with the schemas and predicate mapping in FOLDER

Ends with 1 and says why when a file is not valid.
"""

import json
import shutil
import sys
from pathlib import Path


def write_schemas(folder):
    """The official schemas cannot be had offline; those of translator-tom's models say the same."""
    import importlib

    import translator_tom
    from pydantic import BaseModel
    from pydantic.json_schema import models_json_schema

    for version, name in (("1.6.0", "v1_6"), ("2.0.0", "v2_0")):
        module = importlib.import_module(f"translator_tom.{name}")
        public = (getattr(module, name) for name in module.__all__)
        models = [item for item in public if isinstance(item, type) and issubclass(item, BaseModel)]
        _, schemas = models_json_schema(
            [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
        )
        definitions = schemas["$defs"]
        if "PathfinderQueryGraph" in definitions:
            # version 7 of the validator knows one kind of query graph, as 2.0 has
            definitions["EdgeQueryGraph"] = definitions.pop("QueryGraph")
            kinds = ("EdgeQueryGraph", "PathfinderQueryGraph")
            definitions["QueryGraph"] = {
                "anyOf": [{"$ref": f"#/components/schemas/{kind}"} for kind in kinds]
            }
        # JSON is YAML; the validator reads the version from the name of the file
        path = folder / f"TRAPI_{version}.yaml"
        path.write_text(json.dumps({"components": {"schemas": definitions}}))
    biolink = Path(translator_tom.__file__).parent / "data" / "biolink"
    shutil.copy(next(biolink.glob("*/predicate_mapping.yaml")), folder)
    return []


def pydantic_problems(path):
    from reasoner_pydantic import Response

    # the older of the two versions checked is built on pydantic 1
    read = getattr(Response, "model_validate", None) or Response.parse_obj
    try:
        read(json.loads(path.read_text()))
    except ValueError as error:
        return [str(error)]
    return []


def work_offline(folder):
    """Gives reasoner-validator from files what it wants from the network."""
    import types

    import bmt.toolkit
    import reasoner_validator.biolink as biolink
    import reasoner_validator.validator as validator
    from reasoner_validator.trapi import TRAPISchemaValidator

    TRAPISchemaValidator._validation_metadata_checked = True
    mapping = types.SimpleNamespace(text=(folder / "predicate_mapping.yaml").read_text())
    bmt.toolkit.requests = types.SimpleNamespace(get=lambda _url: mapping)
    toolkit = bmt.toolkit.Toolkit(schema=biolink.get_biolink_schema().schema)
    for module in (biolink, validator):
        module.get_biolink_model_toolkit = lambda biolink_version=None: toolkit


class EdgeOfVersion1(dict):
    """Version 7 looks for these two where TRAPI 2.0 has them, whatever the schema says."""

    def __missing__(self, name):
        kind = f"biolink:{name}"
        for attribute in self["attributes"]:
            if attribute["attribute_type_id"] == kind and name in ("knowledge_level", "agent_type"):
                return attribute["value"]
        raise KeyError(name)


def validator_problems(path, folder):
    from reasoner_validator.trapi import TRAPISchemaValidator
    from reasoner_validator.validator import TRAPIResponseValidator

    response = json.loads(path.read_text())
    schema = str(folder / f"TRAPI_{response['schema_version']}.yaml")
    checks = [TRAPISchemaValidator(trapi_version=schema), TRAPIResponseValidator(trapi_version=schema)]
    checks[0].is_valid_trapi_query(response, component="Response")
    if response["schema_version"].startswith("1."):
        edges = response["message"]["knowledge_graph"]["edges"]
        edges.update((name, EdgeOfVersion1(edge)) for name, edge in edges.items())
    checks[1].check_compliance_of_trapi_response(response)
    found = [(check.get_errors(), check.get_critical()) for check in checks]
    return [json.dumps(messages) for pair in found for messages in pair if messages]


def main():
    command, *rest = sys.argv[1:]
    paths = [Path(argument) for argument in rest]
    if command == "schema":
        return write_schemas(paths[0])
    if command == "pydantic":
        problems = [(path, pydantic_problems(path)) for path in paths]
    else:
        work_offline(paths[0])
        problems = [(path, validator_problems(path, paths[0])) for path in paths[1:]]
    return [f"{path}: {problem}" for path, found in problems for problem in found]


if __name__ == "__main__":
    failures = main()
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)
