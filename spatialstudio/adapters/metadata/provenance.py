"""The XMP packet: that a model drew the picture (IPTC digital source type), and our record.

PNG holds the record in a text chunk of its own. JPEG and WebP have none, so it travels in XMP,
compressed: a JPEG segment ends at 64 kB.
"""

import base64
import binascii
import zlib
from xml.sax.saxutils import quoteattr

GENERATED = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
NAMESPACE = "https://spatial-studio.example/ns/1.0/"
LARGEST_RECORD_BYTES = 16_000_000

_RECORD = "spatialstudio:record"
_PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""{attributes}/>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>"""


def write_packet(creator: str, *, is_generated: bool, record: str = "") -> bytes:
    """Return an XMP packet.

    Args:
        creator: Name and version of the program.
        is_generated: Whether to say that a model drew the picture.
        record: Our record; empty to leave it out.
    """
    attributes = {"xmlns:xmp": "http://ns.adobe.com/xap/1.0/", "xmp:CreatorTool": creator}
    if is_generated:
        attributes["xmlns:Iptc4xmpExt"] = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
        attributes["Iptc4xmpExt:DigitalSourceType"] = GENERATED
    if record:
        packed = base64.b64encode(zlib.compress(record.encode("ascii"), level=9))
        attributes |= {"xmlns:spatialstudio": NAMESPACE, _RECORD: packed.decode("ascii")}
    text = "".join(f"\n {name}={quoteattr(value)}" for name, value in attributes.items())
    return _PACKET.format(attributes=text).encode("utf-8")


def says_generated(packet: str) -> bool:
    """Say whether an XMP packet marks its picture as drawn by a model."""
    return GENERATED in packet


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
