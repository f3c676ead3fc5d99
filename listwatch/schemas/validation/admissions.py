"""Faults of webhooks and policies; upstream: pkg/apis/admissionregistration/validation."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from listwatch.protocol.names import (
    qualified_name_faults,
    subdomain_faults,
)
from listwatch.schemas.validation.expressions import expression_faults
from listwatch.schemas.validation.faults import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.selectors import selector_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_FAILURES = ("Fail", "Ignore")
_MATCHES = ("Equivalent", "Exact")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_INVOCATIONS = ("IfNeeded", "Never")
_REVIEWS = ("v1", "v1beta1")
_SCOPES = ("*", "Cluster", "Namespaced")
_ACTIONS = ("Audit", "Deny", "Warn")
_PATCHES = ("ApplyConfiguration", "JSONPatch")


def webhook_configuration_faults(document: JSONObject) -> list[Cause]:
    """Faults of a configuration of either kind of webhook by itself."""
    faults: list[Cause] = []
    names: set[str] = set()
    for index, webhook in enumerate(document.get("webhooks") or ()):
        field, name = f"webhooks[{index}]", webhook.get("name") or ""
        faults += _webhook_faults(webhook, field, name)
        if name in names:
            faults.append(duplicate(f"{field}.name", name))
        names.add(name)
    return faults


def _webhook_faults(webhook: JSONObject, field: str, name: str) -> list[Cause]:
    faults = _full_name_faults(name, f"{field}.name")
    versions = webhook.get("admissionReviewVersions") or []
    if not versions:
        why = f"must specify one of {', '.join(_REVIEWS)}"
        faults.append(required(f"{field}.admissionReviewVersions", why))
    elif not set(versions) & set(_REVIEWS):
        why = f"must include at least one of {', '.join(_REVIEWS)}"
        faults.append(invalid(f"{field}.admissionReviewVersions", versions, why))
    for index, rule in enumerate(webhook.get("rules") or ()):
        faults += rule_faults(rule, f"{field}.rules[{index}]")
    for key, values in (
        ("failurePolicy", _FAILURES),
        ("matchPolicy", _MATCHES),
        ("reinvocationPolicy", _INVOCATIONS),
    ):
        faults += _among(webhook, key, values, field)
    effects = webhook.get("sideEffects")
    if effects is None:
        why = f"must specify one of {', '.join(_SIDE_EFFECTS)}"
        faults.append(required(f"{field}.sideEffects", why))
    elif effects not in _SIDE_EFFECTS:
        faults.append(not_supported(f"{field}.sideEffects", effects, _SIDE_EFFECTS))
    timeout = webhook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        why = "the timeout value must be between 1 and 30 seconds"
        faults.append(invalid(f"{field}.timeoutSeconds", timeout, why))
    faults += _selectors(webhook, field)
    faults += client_faults(webhook.get("clientConfig") or {}, f"{field}.clientConfig")
    return faults + _condition_faults(webhook, field)


def _full_name_faults(name: str, field: str) -> list[Cause]:
    if not name:
        return [required(field)]
    faults = [invalid(field, name, why) for why in subdomain_faults(name)]
    if not faults and len(name.split(".")) < 3:
        why = "should be a domain with at least three segments separated by dots"
        faults.append(invalid(field, name, why))
    return faults


def client_faults(client: JSONObject, field: str, *, plain: bool = False) -> list[Cause]:
    """Faults of where a webhook is reached; a `plain` one needs no certificate."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(field, "exactly one of url or service is required")]
    if service is not None:
        return _service_faults(service, field)
    return _url_faults(url or "", f"{field}.url", plain=plain)


def _url_faults(url: str, field: str, *, plain: bool) -> list[Cause]:
    form = "; desired format: https://host[/path]"
    try:
        if url.startswith(":"):
            raise ValueError(f'parse "{url}": missing protocol scheme')
        parts = urlsplit(url)
    except ValueError as error:
        return [required(field, f"url must be a valid URL: {error}{form}")]
    faults = []
    if parts.scheme != "https" and not (plain and parts.scheme == "http"):
        why = f"'https' is the only allowed URL scheme{form}"
        faults.append(invalid(field, parts.scheme, why))
    if not parts.netloc:
        faults.append(invalid(field, "", f"host must be specified{form}"))
    if "@" in parts.netloc:
        user = parts.netloc.rpartition("@")[0]
        faults.append(invalid(field, user, "user information is not permitted in the URL"))
    if parts.fragment:
        faults.append(invalid(field, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        why = "query parameters are not permitted in the URL"
        faults.append(invalid(field, parts.query, why))
    return faults


def _service_faults(service: JSONObject, field: str) -> list[Cause]:
    where = f"{field}.service"
    # Upstream takes one for the other, so that what is missing is told of as the other.
    others = (("name", "namespace"), ("namespace", "name"))
    faults = [required(f"{where}.{told}") for told, name in others if not service.get(name)]
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        why = "port is not valid: must be between 1 and 65535, inclusive"
        faults.append(invalid(f"{where}.port", port, why))
    return faults + _path_faults(service.get("path") or "", f"{where}.path")


def _path_faults(path: str, field: str) -> list[Cause]:
    if path in ("", "/"):
        return []
    if path == "//":
        return [invalid(field, path, "segment[0] may not be empty")]
    faults = []
    if not path.startswith("/"):
        faults.append(invalid(field, path, "must start with a '/'"))
    # What stands first is taken for the slash, whatever it is.
    for index, part in enumerate(path[1:].removesuffix("/").split("/")):
        if not part:
            faults.append(invalid(field, path, f"segment[{index}] may not be empty"))
            continue
        found = subdomain_faults(part)
        faults += [invalid(field, path, f"segment[{index}]: {why}") for why in found]
    return faults


def rule_faults(rule: JSONObject, field: str) -> list[Cause]:
    """Faults of which operations on which resources are meant."""
    faults: list[Cause] = []
    operations = rule.get("operations") or []
    if not operations:
        faults.append(required(f"{field}.operations"))
    faults += _star_faults(operations, f"{field}.operations", "operations")
    faults += [
        not_supported(f"{field}.operations[{index}]", operation, _OPERATIONS)
        for index, operation in enumerate(operations)
        if operation not in _OPERATIONS
    ]
    for name, words in (("apiGroups", "groups"), ("apiVersions", "versions")):
        values = rule.get(name) or []
        if not values:
            faults.append(required(f"{field}.{name}"))
        faults += _star_faults(values, f"{field}.{name}", words)
    faults += [
        required(f"{field}.apiVersions[{index}]")
        for index, version in enumerate(rule.get("apiVersions") or ())
        if not version
    ]
    faults += _resource_faults(rule.get("resources") or [], f"{field}.resources")
    return faults + _among(rule, "scope", _SCOPES, field)


def _star_faults(values: list[str], field: str, what: str) -> list[Cause]:
    if "*" not in values or len(values) == 1:
        return []
    words = "API versions" if what == "versions" else "API groups" if what == "groups" else what
    return [invalid(field, values, f"if '*' is present, must not specify other {words}")]


def _resource_faults(resources: list[str], field: str) -> list[Cause]:
    faults: list[Cause] = []
    if not resources:
        faults.append(required(field))
    for index, resource in enumerate(resources):
        where = f"{field}[{index}]"
        if not resource:
            faults.append(required(where))
        elif resource == "*/*" and len(resources) > 1:
            why = "if '*/*' is present, must not specify other resources"
            faults.append(invalid(field, resources, why))
    if "*" in resources and any("/" not in one for one in resources if one != "*"):
        why = "if '*' is present, must not specify other resources without subresources"
        faults.append(invalid(field, resources, why))
    return faults


def _among(of: JSONObject, key: str, values: tuple[str, ...], field: str) -> list[Cause]:
    value = of.get(key)
    if value is None or value in values:
        return []
    return [not_supported(f"{field}.{key}", value, values)]


def _selectors(of: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    for name in ("namespaceSelector", "objectSelector"):
        if of.get(name):
            faults += selector_faults(of[name], f"{field}.{name}")
    return faults


def _condition_faults(of: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    names: set[str] = set()
    for index, condition in enumerate(of.get("matchConditions") or ()):
        where, name = f"{field}.matchConditions[{index}]", condition.get("name") or ""
        if not (condition.get("expression") or "").strip():
            faults.append(required(f"{where}.expression"))
        faults += expression_faults(condition.get("expression"), f"{where}.expression")
        if not name:
            faults.append(required(f"{where}.name"))
        else:
            faults += [invalid(f"{where}.name", name, w) for w in qualified_name_faults(name)]
        if name and name in names:
            faults.append(duplicate(f"{where}.name", name))
        names.add(name)
    return faults


def policy_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ValidatingAdmissionPolicy by itself."""
    spec = document.get("spec") or {}
    faults = _policy_faults(spec)
    validations = spec.get("validations") or []
    if not validations and not spec.get("auditAnnotations"):
        why = "validations or auditAnnotations must contain at least one item"
        faults += [required("spec.validations", why), required("spec.auditAnnotations", why)]
    for index, rule in enumerate(validations):
        where = f"spec.validations[{index}]"
        if not (rule.get("expression") or "").strip():
            faults.append(required(f"{where}.expression", "expression is not specified"))
        for name in ("expression", "messageExpression"):
            faults += expression_faults(rule.get(name), f"{where}.{name}")
    for index, note in enumerate(spec.get("auditAnnotations") or ()):
        field = f"spec.auditAnnotations[{index}]"
        if not note.get("key"):
            faults.append(required(f"{field}.key", "key is not specified"))
        if not (note.get("valueExpression") or "").strip():
            why = "valueExpression is not specified"
            faults.append(required(f"{field}.valueExpression", why))
        faults += expression_faults(note.get("valueExpression"), f"{field}.valueExpression")
    return faults


def mutating_policy_faults(document: JSONObject) -> list[Cause]:
    """Faults of a MutatingAdmissionPolicy by itself."""
    spec = document.get("spec") or {}
    faults = _policy_faults(spec)
    mutations = spec.get("mutations") or []
    if not mutations:
        why = "mutations must contain at least one item"
        faults.append(required("spec.mutations", why))
    for index, mutation in enumerate(mutations):
        field, kind = f"spec.mutations[{index}]", mutation.get("patchType") or ""
        if not kind:
            faults.append(required(f"{field}.patchType"))
        elif kind not in _PATCHES:
            faults.append(not_supported(f"{field}.patchType", kind, _PATCHES))
        else:
            part = "applyConfiguration" if kind == "ApplyConfiguration" else "jsonPatch"
            if mutation.get(part) is None:
                faults.append(required(f"{field}.{part}"))
            else:
                text = mutation[part].get("expression")
                faults += expression_faults(text, f"{field}.{part}.expression")
    invocation = spec.get("reinvocationPolicy")
    if not invocation:
        faults.append(required("spec.reinvocationPolicy"))
    return faults + _among(spec, "reinvocationPolicy", _INVOCATIONS, "spec")


def _policy_faults(spec: JSONObject) -> list[Cause]:
    faults = _among(spec, "failurePolicy", _FAILURES, "spec")
    kind = spec.get("paramKind")
    if kind is not None:
        faults += [
            required(f"spec.paramKind.{name}")
            for name in ("apiVersion", "kind")
            if not kind.get(name)
        ]
    matched = spec.get("matchConstraints")
    if matched is None:
        faults.append(required("spec.matchConstraints"))
    else:
        faults += _matched_faults(matched, "spec.matchConstraints")
        if not matched.get("resourceRules"):
            faults.append(required("spec.matchConstraints.resourceRules"))
    faults += _condition_faults(spec, "spec")
    for index, variable in enumerate(spec.get("variables") or ()):
        field, name = f"spec.variables[{index}]", variable.get("name") or ""
        if not name:
            faults.append(required(f"{field}.name", "name is not specified"))
        elif not name.isidentifier() or not name.isascii():
            why = "name is not a valid CEL identifier"
            faults.append(invalid(f"{field}.name", name, why))
        if not (variable.get("expression") or "").strip():
            faults.append(required(f"{field}.expression", "expression is not specified"))
        faults += expression_faults(variable.get("expression"), f"{field}.expression")
    return faults


def _matched_faults(matched: JSONObject, field: str) -> list[Cause]:
    faults = _among(matched, "matchPolicy", _MATCHES, field) + _selectors(matched, field)
    for name in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(matched.get(name) or ()):
            faults += rule_faults(rule, f"{field}.{name}[{index}]")
    return faults


def policy_binding_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ValidatingAdmissionPolicyBinding by itself."""
    spec = document.get("spec") or {}
    faults = _binding_faults(spec)
    actions = spec.get("validationActions") or []
    if not actions:
        faults.append(required("spec.validationActions"))
    seen: set[str] = set()
    for index, action in enumerate(actions):
        where = f"spec.validationActions[{index}]"
        if action not in _ACTIONS:
            faults.append(not_supported(where, action, _ACTIONS))
        if action in seen:
            faults.append(duplicate(where, action))
        seen.add(action)
    if {"Deny", "Warn"} <= seen:
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        faults.append(invalid("spec.validationActions", actions, why))
    return faults


def mutating_policy_binding_faults(document: JSONObject) -> list[Cause]:
    """Faults of a MutatingAdmissionPolicyBinding by itself."""
    return _binding_faults(document.get("spec") or {})


def _binding_faults(spec: JSONObject) -> list[Cause]:
    faults, name = [], spec.get("policyName") or ""
    if not name:
        faults.append(required("spec.policyName"))
    else:
        faults += [invalid("spec.policyName", name, why) for why in subdomain_faults(name)]
    reference = spec.get("paramRef")
    if reference is not None:
        named, selector = reference.get("name"), reference.get("selector")
        if named and selector is not None:
            why = "name and selector are mutually exclusive"
            faults.append(forbidden("spec.paramRef.name", why))
        elif not named and selector is None:
            why = "one of name or selector must be specified"
            faults.append(required("spec.paramRef", why))
        action = reference.get("parameterNotFoundAction")
        if action is None:
            faults.append(required("spec.paramRef.parameterNotFoundAction"))
        faults += _among(reference, "parameterNotFoundAction", ("Allow", "Deny"), "spec.paramRef")
    if spec.get("matchResources") is not None:
        faults += _matched_faults(spec["matchResources"], "spec.matchResources")
    return faults
