"""The XMP packet: that a model drew the picture (IPTC digital source type), and our record.

Figures and films, which show such a picture among other things, say just that.

PNG holds the record in a text chunk of its own. JPEG and WebP have none, so it travels in XMP,
compressed: a JPEG segment ends at 64 kB.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping
from html import escape

GENERATED = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
SHOWS_GENERATED = (
    "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
)
CREATOR = "Spatial Studio"
NAMESPACE = "https://spatial-studio.example/ns/1.0/"
LARGEST_RECORD_BYTES = 16_000_000

_RECORD = "spatialstudio:record"
_FRAME = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
{metadata}
<?xpacket end="w"?>"""
_METADATA = """<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""{attributes}/>
</rdf:RDF>
</x:xmpmeta>"""


def write_packet(creator: str, *, is_generated: bool, record: str = "") -> bytes:
    """Return an XMP packet.

    Args:
        creator: Name and version of the program.
        is_generated: Whether to say that a model drew the picture.
        record: Our record; empty to leave it out.
    """
    more = {}
    if record:
        packed = base64.b64encode(zlib.compress(record.encode("ascii"), level=9))
        more = {"xmlns:spatialstudio": NAMESPACE, _RECORD: packed.decode("ascii")}
    return _framed(_metadata(creator, GENERATED if is_generated else "", more))


def figure_metadata() -> str:
    """Return the XMP of a figure or film that shows what a model drew, for SVG and PDF."""
    return _metadata(CREATOR, SHOWS_GENERATED, {})


def figure_packet() -> bytes:
    """Return the same as a packet, for PNG, GIF and MP4."""
    return _framed(figure_metadata())


def says_generated(packet: str) -> bool:
    """Say whether an XMP packet marks its picture as drawn by a model, all of it or a part."""
    return GENERATED in packet or SHOWS_GENERATED in packet


def _metadata(creator: str, source: str, more: Mapping[str, str]) -> str:
    attributes = {"xmlns:xmp": "http://ns.adobe.com/xap/1.0/", "xmp:CreatorTool": creator}
    if source:
        attributes["xmlns:Iptc4xmpExt"] = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
        attributes["Iptc4xmpExt:DigitalSourceType"] = source
    all_of_them = {**attributes, **more}
    text = "".join(f'\n {name}="{escape(value)}"' for name, value in all_of_them.items())
    return _METADATA.format(attributes=text)


def _framed(metadata: str) -> bytes:
    return _FRAME.format(metadata=metadata).encode("utf-8")


def read_record(packet: str) -> str:
    """Return our record from an XMP packet; empty when there is none, or when it is damaged."""
    _, mark, rest = packet.partition(f'{_RECORD}="')
    value, end, _ = rest.partition('"')
    if not (mark and end):
        return ""
    try:
        unpacker = zlib.decompressobj()
        plain = unpacker.decompress(base64.b64decode(value, validate=True), LARGEST_RECORD_BYTES)
        return plain.decode("ascii")
    except (binascii.Error, zlib.error, ValueError):
        return ""
