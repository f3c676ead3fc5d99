"""How others verify the tokens of our service accounts: the public key, and where it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.api.responses import KubernetesResponse
from listwatch.api.views import KubernetesView
from listwatch.registry.json_web_tokens import ALGORITHM
from listwatch.registry.service_accounts import ISSUER

if TYPE_CHECKING:
    from rest_framework.request import Request

JWKS = "/openid/v1/jwks"


class OpenIDConfigurationView(KubernetesView):
    """`/.well-known/openid-configuration`."""

    async def get(self, request: Request) -> KubernetesResponse:
        """Issuer and address of the keys."""
        host = self.plain.META.get("HTTP_HOST") or "kubernetes.default.svc"
        scheme = self.plain.scope.get("scheme", "https")
        return KubernetesResponse(
            {
                "issuer": ISSUER,
                "jwks_uri": f"{scheme}://{host}{JWKS}",
                "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": [ALGORITHM],
            }
        )


class KeysView(KubernetesView):
    """`/openid/v1/jwks`."""

    async def get(self, request: Request) -> KubernetesResponse:
        """The one key there is."""
        accounts = self.plain.services.runtime.registry.accounts
        await accounts.load_key()
        return KubernetesResponse({"keys": [accounts.key.public_key()]})
