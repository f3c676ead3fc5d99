"""Profiles and privileges of containers: what is taken, and what is refused in which words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schemas.validated import POD, Document, pod, told

MAIN = {"name": "main", "image": "i:1"}


def of_container(**context: Any) -> list[str]:  # Any: JSON
    containers = [{**MAIN, "securityContext": context}]
    field = "spec.containers[0].securityContext"
    return [text.removeprefix(field) for text in told(POD, pod(containers=containers))]


@pytest.mark.parametrize(
    ("name", "profile", "expected"),
    [
        ("seccompProfile", {"type": "Localhost", "localhostProfile": ""}, []),
        (
            "seccompProfile",
            {"type": "Localhost"},
            [".localhostProfile: Required value: must be set when seccomp type is Localhost"],
        ),
        (
            "seccompProfile",
            {"type": "Localhost", "localhostProfile": "/../a"},
            [
                '.localhostProfile: Invalid value: "/../a": must be a relative path',
                ".localhostProfile: Invalid value: \"/../a\": must not contain '..'",
            ],
        ),
        (
            "seccompProfile",
            {"type": "", "localhostProfile": ""},
            [
                ".type: Required value: type is required when seccompProfile is set",
                (
                    '.localhostProfile: Invalid value: {"Type":"","LocalhostProfile":""}: can only '
                    "be set when seccomp type is Localhost"
                ),
            ],
        ),
        (
            "appArmorProfile",
            {"type": "Localhost", "localhostProfile": ""},
            [".localhostProfile: Required value: must be set when AppArmor type is Localhost"],
        ),
        (
            "appArmorProfile",
            {"type": "Localhost", "localhostProfile": " "},
            ['.localhostProfile: Invalid value: " ": must not be padded with whitespace'],
        ),
        (
            "appArmorProfile",
            {"type": "Localhost", "localhostProfile": "x" * 4096},
            [".localhostProfile: Too long: may not be more than 4095 bytes"],
        ),
        (
            "appArmorProfile",
            {"type": "Unconfined", "localhostProfile": ""},
            [
                (
                    '.localhostProfile: Invalid value: "": can only be set when AppArmor type is '
                    "Localhost"
                )
            ],
        ),
        (
            "appArmorProfile",
            {"type": "Some", "localhostProfile": "a"},
            [
                (
                    '.type: Unsupported value: "Some": supported values: "Localhost", '
                    '"RuntimeDefault", "Unconfined"'
                )
            ],
        ),
    ],
)
def test_a_profile_of_a_pod_is_one_of_a_container(
    name: str, profile: Document, expected: list[str]
) -> None:
    whole = told(POD, pod(securityContext={name: profile}))

    assert whole == [f"spec.securityContext.{name}{text}" for text in expected]
    assert of_container(**{name: profile}) == [f".{name}{text}" for text in expected]


def test_a_privileged_container_cannot_be_kept_from_more() -> None:
    shown = (
        '{"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,'
        '"SELinuxOptions":{"User":"","Role":"","Type":"","Level":"s0"},"WindowsOptions":'
        '{"GMSACredentialSpecName":null,"GMSACredentialSpec":"y","RunAsUserName":"x",'
        '"HostProcess":null},"RunAsUser":1,"RunAsGroup":null,"RunAsNonRoot":true,'
        '"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,'
        '"SeccompProfile":{"Type":"RuntimeDefault","LocalhostProfile":null},"AppArmorProfile":null}'
    )
    no = "cannot set `allowPrivilegeEscalation` to false and"
    context: Document = {
        "allowPrivilegeEscalation": False, "privileged": True, "runAsUser": 1, "runAsNonRoot": True,
        "capabilities": {"add": ["CAP_SYS_ADMIN"]}, "seLinuxOptions": {"level": "s0"},
        "windowsOptions": {"runAsUserName": "x", "gmsaCredentialSpec": "y"},
        "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip

    assert of_container(**context) == [
        f": Invalid value: {shown}: {no} `privileged` to true",
        f": Invalid value: {shown}: {no} `capabilities.Add` CAP_SYS_ADMIN",
    ]
    for more in ({"privileged": True}, {"capabilities": {"add": ["CAP_SYS_ADMIN"]}}):
        assert of_container(**more) == of_container(allowPrivilegeEscalation=True, **more) == []
    # The name without its prefix is another one.
    named = {"capabilities": {"add": ["SYS_ADMIN"]}}
    assert of_container(allowPrivilegeEscalation=False, **named) == []


def test_proc_is_unmasked_for_users_of_the_pod_alone() -> None:
    containers = [{**MAIN, "securityContext": {"procMount": "Unmasked"}}]
    why = 'procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'
    refused = [f"spec.containers[0].securityContext.{why}"]

    assert told(POD, pod(containers=containers)) == refused
    assert told(POD, pod(containers=containers, hostUsers=True)) == refused
    assert told(POD, pod(containers=containers, hostUsers=False)) == []
