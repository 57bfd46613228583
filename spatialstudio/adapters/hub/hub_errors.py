"""Translation of the hub library's errors into messages with a next step."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx2
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.hub import (
    HUB_PAGES,
    GatedRepository,
    HubError,
    HubUnreachable,
    UnsuitableRepository,
)


class TooSlow(httpx2.ReadTimeout):
    """The data arrives, but so slowly that another attempt is better."""


BROKEN_OFF = (httpx2.TransportError, httpx2.StreamError)
"""Failures of the connection; the same request may succeed later."""

BUSY = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
"""Answers that may differ a moment later."""

MISSING_OR_PRIVATE = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND})
"""The hub does not say which of the two a repository is to someone without a token."""

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
TOKEN_HINT = (
    'store a token on the Models page or with "spatialstudio models token", or set HF_TOKEN.'
)
RESUME_HINT = "Resume the download; fetched bytes are kept."


@contextmanager
def explained(repository: str, endpoint: str, *, has_token: bool) -> Iterator[None]:
    """Translate the errors of a block.

    Args:
        repository: Id on the hub.
        endpoint: Address of the hub.
        has_token: Whether a token was sent.

    Raises:
        HubError: The block raised an error of the library, the network or the disk.
    """
    host = host_of(endpoint) or endpoint
    try:
        yield
    except HFValidationError as error:
        raise invalid_name(repository) from error
    except OfflineModeIsEnabled as error:
        raise offline() from error
    except HfHubHTTPError as error:
        raise _refusal(error, repository, has_token=has_token) from error
    except httpx2.HTTPError as error:
        raise _network_error(error, host) from error
    except OSError as error:
        raise disk_error(error) from error
    except (ValueError, LookupError, TypeError, AttributeError, httpx2.InvalidURL) as error:
        raise not_a_hub(host) from error


def _network_error(error: httpx2.HTTPError, host: str) -> HubError:
    if isinstance(error, TooSlow):
        return HubUnreachable(
            f"The data from the hub at {host} arrives too slowly.",
            hint=f"Check the network connection. {RESUME_HINT}",
        )
    if isinstance(error, httpx2.TimeoutException):
        return HubUnreachable(
            f"The hub at {host} does not respond.",
            hint=f"Check the network connection. {RESUME_HINT}",
        )
    if isinstance(error, httpx2.ConnectError):
        return HubUnreachable(
            f"The hub at {host} cannot be reached.",
            hint="Check the network connection, the proxy and HF_ENDPOINT, then try again.",
        )
    if isinstance(error, (httpx2.TooManyRedirects, httpx2.UnsupportedProtocol)):
        return HubUnreachable(
            f"The hub at {host} redirects to an address that cannot be used.",
            hint=f"Check HF_ENDPOINT and the proxy. {RESUME_HINT}",
        )
    return HubUnreachable(f"The connection to the hub at {host} was interrupted.", hint=RESUME_HINT)


def host_of(address: str) -> str:
    """Return the host of an http or https address; empty for any other text."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in ("http", "https") else ""


def not_a_hub(host: str) -> HubError:
    """Return the error for an answer that no hub gives, such as a login page."""
    return HubUnreachable(
        f"The server at {host} does not respond like a Hugging Face hub.",
        hint="Check HF_ENDPOINT, and whether the network asks for a login in the browser.",
    )


def invalid_name(name: str) -> HubError:
    """Return the error for a text that cannot name a repository."""
    return HubError(
        f'"{name}" is not the name of a repository.',
        hint='Use the form "maker/model", or choose a model of the catalogue.',
    )


def offline() -> HubError:
    """Return the error for disabled network access."""
    return HubUnreachable(
        "Access to the hub is disabled by HF_HUB_OFFLINE.",
        hint="Remove this environment variable, then start the program again.",
    )


def no_address(endpoint: str) -> HubError:
    """Return the error for an ``HF_ENDPOINT`` that names no host."""
    return HubError(
        f'HF_ENDPOINT is not the address of a hub: "{endpoint}".',
        hint=f'Set it to an address such as "{HUB_PAGES}", or remove it.',
    )


def gated(repository: str, *, has_token: bool) -> HubError:
    """Return the error for a repository whose licence must be accepted first."""
    page = f"{HUB_PAGES}/{repository}"
    if has_token:
        return GatedRepository(
            f'The account of the token has no access to "{repository}".',
            hint=f"Accept the licence at {page} with this account, then try again.",
        )
    return GatedRepository(
        f'The model "{repository}" is gated: its makers ask you to accept the licence.',
        hint=f"Accept it at {page}, then {TOKEN_HINT}",
    )


def token_withheld(endpoint: str) -> HubError:
    """Return the error for a gated repository of a hub whose address is not encrypted."""
    return GatedRepository(
        f"The model is gated, and the token is not sent unencrypted to {endpoint}.",
        hint="Set HF_ENDPOINT to an address that begins with https://.",
    )


def damaged(name: str) -> HubError:
    """Return the error for a file whose content differs from the announced one."""
    return HubError(
        f'The file "{name}" is damaged: its size or hash differs from the one on the hub.',
        hint="Resume the download: this file is fetched again. If it fails again, check the "
        "network and HF_ENDPOINT.",
    )


def file_is_gone(name: str) -> HubError:
    """Return the error for a file that was listed and is not there."""
    return HubError(
        f'The hub lists the file "{name}", but does not have it.',
        hint="Start the download again in a while: the files are listed again.",
    )


def denied(repository: str) -> HubError:
    """Return the error for a denial without a stated reason."""
    return GatedRepository(
        f'The hub denies access to "{repository}", which may be gated.',
        hint=f"Accept the licence at {HUB_PAGES}/{repository} and {TOKEN_HINT}",
    )


def pickles_only(repository: str) -> HubError:
    """Return the error for weights that can run code."""
    return UnsuitableRepository(
        f'The repository "{repository}" contains only pickle files, which can execute code.',
        hint="Choose a repository with safetensors weights.",
    )


def custom_code(repository: str) -> HubError:
    """Return the error for a model that needs Python code from its repository."""
    return UnsuitableRepository(
        f'The model "{repository}" requires custom code, which is never run.',
        hint="Choose a model that diffusers or transformers supports without custom code.",
    )


def nothing_to_load(repository: str) -> HubError:
    """Return the error for a repository without a loadable model."""
    return UnsuitableRepository(
        f'The repository "{repository}" contains neither a diffusers folder nor a '
        "transformers model with safetensors weights.",
        hint="Choose another repository; put a single checkpoint file into the models folder.",
    )


def no_space(needed_bytes: int, free_bytes: int) -> HubError:
    """Return the error for a download that does not fit on the disk."""
    return HubError(
        f"The download needs {size_in_words(needed_bytes)} with some spare, but only "
        f"{size_in_words(free_bytes)} are free on the disk of the hub cache.",
        hint="Free some space, or set HF_HOME to a folder on another disk.",
    )


def disk_error(error: OSError) -> HubError:
    """Return the error for a failure of the disk."""
    if error.errno in FULL:
        return HubError(
            "The disk of the hub cache is full.", hint=f"Free some space. {RESUME_HINT}"
        )
    if error.errno in FORBIDDEN:
        return HubError(
            "The hub cache cannot be written.",
            hint="Grant yourself write permission for it, or set HF_HOME to another folder.",
        )
    reason = (error.strerror or "unknown reason").lower()
    return HubError(
        f"The hub cache cannot be used: {reason}.",
        hint="Check the disk, or set HF_HOME to another folder.",
    )


def _refusal(error: HfHubHTTPError, repository: str, *, has_token: bool) -> HubError:
    status = error.response.status_code if error.response is not None else 0
    if isinstance(error, GatedRepoError):
        return gated(repository, has_token=has_token)
    if isinstance(error, RevisionNotFoundError):
        return HubError(
            f'The repository "{repository}" does not have this revision.',
            hint="Check the name of the branch, the tag or the commit.",
        )
    if status == HTTPStatus.UNAUTHORIZED and has_token:
        return GatedRepository(
            "The hub rejects the token.",
            hint=f"Create a token at {HUB_PAGES}/settings/tokens, and store it.",
        )
    if isinstance(error, RepositoryNotFoundError) or status in MISSING_OR_PRIVATE:
        return HubError(
            f'There is no repository "{repository}" on the hub, or it is private.',
            hint=f"Check the name; for a private repository, {TOKEN_HINT}",
        )
    if status == HTTPStatus.FORBIDDEN:
        return denied(repository)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return HubUnreachable(
            "The hub limits the number of requests.",
            hint=f"Wait for some minutes. {RESUME_HINT}",
        )
    if status in BUSY:
        return HubUnreachable(
            f"The hub reports an internal error ({status}).",
            hint=f"Try again later. {RESUME_HINT}",
        )
    return HubError(
        f"The hub rejects the request ({status}).", hint="Check the name and HF_ENDPOINT."
    )
