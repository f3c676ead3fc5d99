from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import orjson
import pytest

from listwatch.protocol.objects import JSONObject
from listwatch.registry.json_web_tokens import SigningKey
from listwatch.registry.service_accounts import ISSUER, ServiceAccountTokens
from tests.registry.house import House, pod, refused


@pytest.fixture
def accounts(house: House, tmp_path: Path) -> ServiceAccountTokens:
    house.registry.accounts.key = SigningKey(tmp_path / "key")
    return house.registry.accounts


async def ask(house: House, name: str = "sa", **spec: Any) -> JSONObject:
    ctx = house.ctx("serviceaccounts/token", name)
    answer: JSONObject = orjson.loads(
        (await house.registry.create(ctx, {"spec": spec})).encoded.body
    )
    return answer


async def token(house: House, **spec: Any) -> str:
    await house.create("serviceaccounts", {"metadata": {"name": "sa"}})
    return str((await ask(house, **spec))["status"]["token"])


async def test_a_token_is_its_accounts_until_the_account_goes(
    house: House, accounts: ServiceAccountTokens
) -> None:
    made = await token(house)
    found = await accounts.user(made)
    assert found is not None
    assert found.user.name == "system:serviceaccount:default:sa"
    assert found.user.groups == (
        "system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated",
    )  # fmt: skip

    await house.delete("serviceaccounts", "sa")
    await house.registry.catch_up()
    assert await accounts.user(made) is None

    await house.create("serviceaccounts", {"metadata": {"name": "sa"}})
    assert await accounts.user(made) is None  # another account of the same name


async def test_a_token_expires(house: House, accounts: ServiceAccountTokens) -> None:
    made = await token(house, expirationSeconds=600)

    await house.clock.advance(599)
    assert await accounts.user(made) is not None
    await house.clock.advance(1)
    assert await accounts.user(made) is None


async def test_a_token_is_for_its_audiences_alone(
    house: House, accounts: ServiceAccountTokens
) -> None:
    made = await token(house, audiences=["vault"])

    assert await accounts.user(made) is None
    found = await accounts.user(made, (ISSUER, "vault"))
    assert found is not None
    assert found.audiences == ("vault",)


async def test_a_token_bound_to_a_pod_goes_with_the_pod(
    house: House, accounts: ServiceAccountTokens
) -> None:
    await house.create("pods", pod("p", serviceAccountName="sa"))
    made = await token(house, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})
    found = await accounts.user(made)
    assert found is not None
    assert found.user.extra["authentication.kubernetes.io/pod-name"] == ("p",)

    await house.delete("pods", "p")
    await house.registry.catch_up()
    assert await accounts.user(made) is None


@pytest.mark.parametrize(
    ("spec", "code", "text"),
    [
        ({"expirationSeconds": 5}, 422, "may not specify a duration less than 10 minutes"),
        ({"expirationSeconds": 2**33}, 422, "may not specify a duration larger than 2^32 seconds"),
        ({"boundObjectRef": {"kind": "Pod", "name": "none"}}, 404, 'pods "none" not found'),
        (
            {"boundObjectRef": {"kind": "Service", "name": "s"}},
            400,
            "cannot bind token to object of type /, Kind=Service",
        ),
    ],
)
async def test_what_no_token_is_made_for(
    house: House, accounts: ServiceAccountTokens, spec: JSONObject, code: int, text: str
) -> None:
    await house.create("serviceaccounts", {"metadata": {"name": "sa"}})

    error = await refused(ask(house, **spec))

    assert error.code == code
    assert text in error.message


async def test_a_token_of_an_account_that_is_not_there_is_refused(
    house: House, accounts: ServiceAccountTokens
) -> None:
    error = await refused(ask(house, "none"))

    assert (error.code, error.message) == (404, 'serviceaccounts "none" not found')


def _with(part: int, change: Any, made: str) -> str:
    parts = made.split(".")
    data = orjson.loads(base64.urlsafe_b64decode(parts[part] + "=="))
    text = base64.urlsafe_b64encode(orjson.dumps(change(data))).rstrip(b"=").decode()
    return ".".join([*parts[:part], text, *parts[part + 1 :]])


async def test_nobody_can_change_a_token(house: House, accounts: ServiceAccountTokens) -> None:
    made = await token(house)
    forged = [
        _with(1, lambda claims: {**claims, "sub": "system:serviceaccount:kube-system:x"}, made),
        _with(0, lambda head: {**head, "alg": "none"}, made),
        made.rpartition(".")[0] + ".",
        made[:-4] + "AAAA",
        "a.b.c", "..", "é.é.é", made + "=",
    ]  # fmt: skip

    assert [await accounts.user(one) for one in forged] == [None] * len(forged)


def test_another_key_makes_other_tokens(tmp_path: Path) -> None:
    mine, theirs = SigningKey(tmp_path / "mine"), SigningKey(tmp_path / "theirs")
    made = mine.sign({"sub": "x"})

    assert SigningKey(tmp_path / "mine").verify(made) == {"sub": "x"}
    assert theirs.verify(made) is None
    assert mine.key_id != theirs.key_id
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o600


async def test_a_review_tells_whose_a_token_is(
    house: House, accounts: ServiceAccountTokens
) -> None:
    made = await token(house)
    ctx = house.ctx("tokenreviews", group="authentication.k8s.io")

    good = await house.registry.create(ctx, {"spec": {"token": made}})
    bad = await house.registry.create(ctx, {"spec": {"token": "nonsense"}})
    error = await refused(house.registry.create(ctx, {"spec": {}}))

    assert orjson.loads(good.encoded.body)["status"]["user"]["username"].endswith("default:sa")
    assert orjson.loads(bad.encoded.body)["status"] == {"user": {}, "error": "invalid bearer token"}
    assert error.message == "token is required for TokenReview in authentication"
