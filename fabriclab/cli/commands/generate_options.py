"""`fabriclab generate`: the commands with their options. What they do lies in `generate.py`."""

from __future__ import annotations

from typing import Annotated

import typer

from fabriclab.cli.host.waiting import waiting

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Generate a topology: leaf-spine, fat-tree, star, dumbbell."
)

Rate = Annotated[str, typer.Option(metavar="RATE", help="Rate of a host's link.")]
Oversubscription = Annotated[
    str | None,
    typer.Option(
        metavar="DOWN:UP",
        help="Sum of the rates of a switch's host links, relative to that of its uplinks, such as 3:1.",
        show_default=False,
    ),
]
Delay = Annotated[str, typer.Option(metavar="DURATION", help="Propagation delay of every link, one way.")]
Mtu = Annotated[int, typer.Option(metavar="BYTES", help="Largest IP packet on every link.")]
Ipv6 = Annotated[
    bool,
    typer.Option(
        "--ipv6",
        help="Also give IPv6 addresses. With addresses: ipv6 in the experiment the lab has IPv6 only.",
    ),
]
Name = Annotated[str | None, typer.Option(help="Name of the lab.", show_default="the fabric's kind")]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help=(
            "Directory to write topology.clab.yml to, and a first experiment.yml if it has none; - is standard output."
        ),
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the topology if it exists.")]


@app.command("leaf-spine")
def leaf_spine(
    spines: Annotated[int, typer.Option(help="Spine switches.")] = 2,
    leaves: Annotated[int, typer.Option(help="Leaf switches, each with a link to every spine.")] = 4,
    hosts: Annotated[int, typer.Option(help="Hosts on each leaf.")] = 4,
    rate: Rate = "1 Gbps",
    uplink_rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Rate of a link between leaf and spine.", show_default="the hosts' rate"),
    ] = None,
    oversubscription: Oversubscription = None,
    delay: Delay = "25 us",
    mtu: Mtu = 1500,
    ipv6: Ipv6 = False,
    name: Name = None,
    out: Out = "-",
    force: Force = False,
) -> None:
    """Write a leaf-spine fabric.

    [bold]Examples[/bold]

      fabriclab generate leaf-spine --spines 2 --leaves 4 --hosts 4 --out labs/mine

      fabriclab generate leaf-spine --hosts 12 --spines 4 --oversubscription 3:1
    """
    with waiting("loading"):
        from fabriclab.cli.commands import generate as generating
        from fabriclab.cli.host import failure
    with failure.reported():
        shape = generating.LeafSpine(
            spines=spines,
            leaves=leaves,
            hosts=hosts,
            rate=rate,
            uplink_rate=uplink_rate,
            oversubscription=oversubscription,
            **generating.of_every_shape(delay, mtu, name, ipv6=ipv6),
        )
        generating.generate(shape, out, force)


@app.command("fat-tree")
def fat_tree(
    k: Annotated[int, typer.Option("--k", help="Ports of a switch, even: k pods, (k/2)^2 cores, k^3/4 hosts.")] = 4,
    hosts_per_edge: Annotated[int | None, typer.Option(help="Hosts on each edge switch.", show_default="k/2")] = None,
    host_rate: Rate = "1 Gbps",
    edge_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="Rate of a link between edge and aggregation.", show_default="the hosts' rate"
        ),
    ] = None,
    core_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="Rate of a link between aggregation and core.", show_default="the edges' rate"
        ),
    ] = None,
    oversubscription: Oversubscription = None,
    delay: Delay = "25 us",
    mtu: Mtu = 1500,
    ipv6: Ipv6 = False,
    name: Name = None,
    out: Out = "-",
    force: Force = False,
) -> None:
    """Write a k-ary fat-tree.

    [bold]Examples[/bold]

      fabriclab generate fat-tree --k 4 --host-rate '100 Mbps' --out labs/mine

      fabriclab generate fat-tree --k 4 --hosts-per-edge 8 --oversubscription 4:1
    """
    with waiting("loading"):
        from fabriclab.cli.commands import generate as generating
        from fabriclab.cli.host import failure
    with failure.reported():
        shape = generating.FatTree(
            k=k,
            hosts_per_edge=hosts_per_edge,
            host_rate=host_rate,
            edge_rate=edge_rate,
            core_rate=core_rate,
            oversubscription=oversubscription,
            **generating.of_every_shape(delay, mtu, name, ipv6=ipv6),
        )
        generating.generate(shape, out, force)


@app.command()
def star(
    hosts: Annotated[int, typer.Option(help="Hosts on the switch.")] = 8,
    rate: Rate = "1 Gbps",
    delay: Delay = "25 us",
    mtu: Mtu = 1500,
    ipv6: Ipv6 = False,
    name: Name = None,
    out: Out = "-",
    force: Force = False,
) -> None:
    """Write hosts h1, h2, ... on one switch.

    [bold]Example[/bold]

      fabriclab generate star --hosts 49 --out labs/mine
    """
    with waiting("loading"):
        from fabriclab.cli.commands import generate as generating
        from fabriclab.cli.host import failure
    with failure.reported():
        shape = generating.Star(hosts=hosts, rate=rate, **generating.of_every_shape(delay, mtu, name, ipv6=ipv6))
        generating.generate(shape, out, force)


@app.command()
def dumbbell(
    left: Annotated[int, typer.Option(help="Hosts on the left.")] = 2,
    right: Annotated[int, typer.Option(help="Hosts on the right.")] = 2,
    rate: Rate = "1 Gbps",
    bottleneck_rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Rate of the link between the switches.", show_default="the hosts' rate"),
    ] = None,
    bottleneck_delay: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Delay of the link between the switches.", show_default="as on every link"
        ),
    ] = None,
    delay: Delay = "25 us",
    mtu: Mtu = 1500,
    ipv6: Ipv6 = False,
    name: Name = None,
    out: Out = "-",
    force: Force = False,
) -> None:
    """Write hosts on two switches, and the bottleneck between them.

    [bold]Example[/bold]

      fabriclab generate dumbbell --left 8 --right 8 --bottleneck-rate '100 Mbps' --bottleneck-delay '5 ms'
    """
    with waiting("loading"):
        from fabriclab.cli.commands import generate as generating
        from fabriclab.cli.host import failure
    with failure.reported():
        shape = generating.Dumbbell(
            left=left,
            right=right,
            rate=rate,
            bottleneck_rate=bottleneck_rate,
            bottleneck_delay=bottleneck_delay,
            **generating.of_every_shape(delay, mtu, name, ipv6=ipv6),
        )
        generating.generate(shape, out, force)
