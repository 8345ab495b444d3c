"""A lab with a page and published data, as `fabriclab figures` knows it."""

from __future__ import annotations

PUBLISHED = """matrices:
  demo: {}
tables:
  goodput:
    matrices: [demo]
    rows: [variant]
    columns: senders
    words: {cubic: CUBIC}
    last: senders
    bold: {cubic: [8]}
    cells:
      - {metric: goodput_bps, unit: Mbps}
sentences:
  - text: CUBIC has {} Mbps
    values:
      - {matrix: demo, where: {variant: cubic, senders: 8}, metric: goodput_bps, unit: Mbps}
pictures:
  goodput.svg: {matrix: demo, picture: goodput-against-senders.svg}
"""


PAGE = """# A lab

CUBIC has 1
Mbps with eight senders.

<!-- table: goodput -->

<!-- end -->

<!-- made from -->
<!-- end -->
"""
