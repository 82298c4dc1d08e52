"""Download a file of bounded size over HTTP into memory."""

from http.client import HTTPException
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

__all__ = ["download"]

_TIMEOUT = 30.0  # seconds without a byte
_LARGEST = 64 * 2**20  # bytes; the largest of our files has 8 MB


def download(url: str) -> bytes:
    """Return what is at the address; an OSError says why it is not all there."""
    try:
        with urlopen(Request(url, headers={"User-Agent": "adatron"}), timeout=_TIMEOUT) as response:
            _refuse_other_scheme(url, response.url)
            content = response.read(_LARGEST + 1)
            announced = response.headers.get("Content-Length", "")
    except HTTPException as error:
        raise OSError(f"the answer is incomplete or not HTTP ({error!r})") from error
    if len(content) > _LARGEST:
        raise OSError(f"the file has more than {_LARGEST} bytes")
    if announced.isdigit() and len(content) != int(announced):
        raise OSError(f"the connection ended after {len(content)} of {announced} bytes")
    return content


def _refuse_other_scheme(asked: str, answered: str) -> None:
    # https must not be led to http, where anyone may answer.
    if urlsplit(asked).scheme != urlsplit(answered).scheme:
        raise OSError(f"the server redirects to {answered}")
