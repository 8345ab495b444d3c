"""Runs a script of Mininet's with stand-ins of Mininet's modules, and writes the network that it describes as JSON.

The whole of a process: `python -I stand_in.py DESCRIPTOR SCRIPT [NAME]`, where the
network goes to that descriptor. It imports nothing of fabriclab. No node is made and no
command runs: a topology (`mininet/topo.py`) is built, a network (`mininet/net.py`) notes what it is given, and a node
notes the commands that it is told to run (`mininet/node.py`).
"""

import json
import os
import sys
import types


class Node:
    """A node, or a node of a topology's own class: it notes what it is told to do."""

    def __init__(self, name, inNamespace=True, **params):
        self.name, self.params, self.commands = name, params, []
        self.inNamespace = inNamespace
        self.intfs = {}

    def config(self, **_):
        return {}

    def cmd(self, *words, **_):
        self.commands.append(" ".join(str(word) for word in words))
        return ""

    cmdPrint = sendCmd = cmd

    def pexec(self, *words, **_):
        self.cmd(*words)
        return "", "", 0

    def setIP(self, ip, prefixLen=8, intf=None, **_):
        address = ip if "/" in ip else f"{ip}/{prefixLen}"
        if intf is None:
            self.params["ip"] = address
        else:
            self.cmd(f"ip addr add {address} dev {intf}")

    def setMAC(self, mac, intf=None):
        if intf is None:
            self.params["mac"] = mac

    def setDefaultRoute(self, intf=None):
        self.params["defaultRoute"] = intf

    def setHostRoute(self, ip, intf):
        self.cmd(f"ip route add {ip} dev {intf}")

    def IP(self, intf=None):
        return str(self.params.get("ip") or "").partition("/")[0]

    def MAC(self, intf=None):
        return self.params.get("mac")

    def defaultIntf(self):
        return f"{self.name}-eth0"

    def intfNames(self):
        return list(self.intfs)

    def start(self, *_, **__):
        pass

    stop = terminate = start

    def __str__(self):
        return self.name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


class Host(Node):
    pass


class Switch(Node):
    pass


class Controller(Node):
    pass


class Topo:
    """`mininet.topo.Topo`: nodes and links with their options, in the order in which they come."""

    def __init__(self, *args, **params):
        self.hopts, self.sopts, self.lopts = (params.pop(key, None) or {} for key in ("hopts", "sopts", "lopts"))
        self.described, self.joined = {}, []
        self.build(*args, **params)

    def build(self, *_, **__):
        pass

    def addNode(self, name, **opts):
        self.described[name] = opts
        return name

    def addHost(self, name, **opts):
        return self.addNode(name, **{**self.hopts, **opts})

    def addSwitch(self, name, **opts):
        return self.addNode(name, isSwitch=True, **{**self.sopts, **opts})

    def addLink(self, node1, node2, port1=None, port2=None, key=None, **opts):
        self.joined.append((str(node1), str(node2), {**self.lopts, **opts, "port1": port1, "port2": port2}))
        return len(self.joined) - 1

    def isSwitch(self, name):
        return bool(self.described[name].get("isSwitch"))

    def nodes(self, sort=True):
        return list(self.described)

    def hosts(self, sort=True):
        return [name for name in self.described if not self.isSwitch(name)]

    def switches(self, sort=True):
        return [name for name in self.described if self.isSwitch(name)]

    def links(self, sort=True, **_):
        return [(a, b) for a, b, _ in self.joined]

    def nodeInfo(self, name):
        return self.described[name]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


class SingleSwitchTopo(Topo):
    def build(self, k=2, **_):
        switch = self.addSwitch("s1")
        for number in range(1, int(k) + 1):
            self.addLink(self.addHost(f"h{number}"), switch)


class SingleSwitchReversedTopo(Topo):
    def build(self, k=2, **_):
        switch = self.addSwitch("s1")
        for number in range(1, int(k) + 1):
            self.addLink(self.addHost(f"h{number}"), switch, port1=0, port2=int(k) - number + 1)


class MinimalTopo(SingleSwitchTopo):
    def build(self, **_):
        SingleSwitchTopo.build(self, k=2)


class LinearTopo(Topo):
    def build(self, k=2, n=1, sopts=None, **_):
        last = None
        for number in range(1, int(k) + 1):
            switch = self.addSwitch(f"s{number}", **(sopts or {}))
            for host in range(1, int(n) + 1):
                name = f"h{number}" if int(n) == 1 else f"h{host}s{number}"
                self.addLink(self.addHost(name), switch)
            if last:
                self.addLink(switch, last)
            last = switch


class TreeTopo(Topo):
    def build(self, depth=1, fanout=2):
        self.numbers = {"h": 1, "s": 1}
        self.addTree(int(depth), int(fanout))

    def addTree(self, depth, fanout):
        kind = "s" if depth > 0 else "h"
        name = f"{kind}{self.numbers[kind]}"
        self.numbers[kind] += 1
        node = self.addSwitch(name) if depth > 0 else self.addHost(name)
        for _ in range(fanout if depth > 0 else 0):
            self.addLink(node, self.addTree(depth - 1, fanout))
        return node


class Link:
    def __init__(self, *_, **__):
        pass


class TCLink(Link):
    pass


class Mininet:
    """`mininet.net.Mininet`: what it is given becomes the network of this process."""

    def __init__(self, topo=None, **params):
        self.topo, self.params = topo, params
        self.named, self.joined = {}, []
        self.isBuilt = False
        NETWORKS.append(self)
        if topo is not None and params.get("build", True):
            self.build()

    def build(self):
        if self.topo is not None and not self.isBuilt:
            for name, opts in self.topo.described.items():
                self.take(name, opts, opts.get("isSwitch", False))
            self.joined += self.topo.joined
            self.topo = None
        self.isBuilt = True

    buildFromTopo = build

    def take(self, name, opts, isSwitch):
        made = opts.get("cls")
        made = made if isinstance(made, type) and issubclass(made, Node) else Switch if isSwitch else Host
        node = made(name, **{key: value for key, value in opts.items() if key not in ("cls", "isSwitch")})
        node.isSwitch = isSwitch
        self.named[name] = node
        node.config(**node.params)
        return node

    def addHost(self, name, cls=None, **params):
        return self.take(name, {**params, "cls": cls}, False)

    def addSwitch(self, name, cls=None, **params):
        return self.take(name, {**params, "cls": cls}, True)

    def addController(self, name="c0", *_, **__):
        return Controller(getattr(name, "name", name))

    def addLink(self, node1, node2, port1=None, port2=None, cls=None, **params):
        self.joined.append((str(node1), str(node2), {**params, "port1": port1, "port2": port2}))
        return Link()

    def addNAT(self, name="nat0", **_):
        LEFT_OUT.append(f"{name}: a way to the host's network, which nothing here has")
        return Node(name)

    def get(self, *names):
        self.build()
        found = [self.named[name] for name in names]
        return found[0] if len(found) == 1 else found

    def __getitem__(self, name):
        return self.get(name)

    getNodeByName = get

    @property
    def hosts(self):
        self.build()
        return [node for node in self.named.values() if not node.isSwitch]

    @property
    def switches(self):
        self.build()
        return [node for node in self.named.values() if node.isSwitch]

    def start(self):
        self.build()

    def stop(self):
        raise SystemExit(0)

    def iperf(self, *_, **__):
        return ["0", "0"]

    def pingAll(self, *_, **__):
        return 0.0

    ping = pingPair = pingFull = pingAllFull = pingAll

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


def CLI(*_, **__):
    """Where a script hands over to a person, it has said all."""
    raise SystemExit(0)


NETWORKS, LEFT_OUT = [], []
_KNOWN = {
    **{"Topo": Topo, "SingleSwitchTopo": SingleSwitchTopo, "SingleSwitchReversedTopo": SingleSwitchReversedTopo},
    **{"LinearTopo": LinearTopo, "MinimalTopo": MinimalTopo, "TreeTopo": TreeTopo},
    **{"Mininet": Mininet, "MininetWithControlNet": Mininet, "CLI": CLI, "Link": Link, "TCLink": TCLink},
    **{"Node": Node, "Host": Host, "CPULimitedHost": Host, "Switch": Switch, "Controller": Controller},
    **{"irange": lambda first, last: list(range(first, last + 1))},
}
_MODULES = (
    "clean",
    "cli",
    "examples",
    "link",
    "log",
    "moduledeps",
    "net",
    "node",
    "nodelib",
    "term",
    "topo",
    "topolib",
    "util",
)


class Module(types.ModuleType):
    """A module of Mininet's: what nobody needs to know is a switch, a controller, or a function without effect."""

    __path__: tuple[str, ...] = ()
    __all__ = (*_KNOWN,)

    def __getattr__(self, name):
        if name in _KNOWN:
            return _KNOWN[name]
        if name.startswith("__"):
            raise AttributeError(name)
        if name.endswith(("Switch", "Bridge")):
            return Switch
        if name.endswith(("Controller", "Ryu", "NOX")) or name in ("DefaultController", "Ryu", "NOX"):
            return Controller
        if name.endswith("Link"):
            return TCLink
        if name[:1].isupper():
            return type(name, (Node,), {})
        return lambda *_, **__: None


def main():
    script, wanted = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    for name in ("mininet", *(f"mininet.{one}" for one in _MODULES)):
        sys.modules[name] = Module(name)
    out = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    sys.argv = [script]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    space = {"__name__": "__main__", "__file__": script}
    failed = None
    try:
        with open(script, encoding="utf-8") as file:
            exec(compile(file.read(), script, "exec"), space)
    except SystemExit:
        pass
    except BaseException as error:  # of whatever kind: what was described before it counts
        line = error.__traceback__
        while line is not None and line.tb_next is not None:
            line = line.tb_next
        failed = f"line {line.tb_lineno if line else 0}: {type(error).__name__}: {error}"
    topologies = {str(key): value for key, value in (space.get("topos") or {}).items()}
    classes = {
        key: value
        for key, value in space.items()
        if isinstance(value, type) and issubclass(value, Topo) and value not in _KNOWN.values()
    }
    choices = {**classes, **topologies}
    network = None
    if wanted is not None and wanted in choices:
        network = Mininet(topo=choices[wanted]())
    elif wanted is None and NETWORKS:
        network = NETWORKS[-1]
    elif wanted is None and len(topologies or classes) == 1:
        network = Mininet(topo=next(iter((topologies or classes).values()))())
    json.dump(described(network, choices, failed), out, default=str)
    out.close()


def described(network, choices, failed):
    answer = {"choices": sorted(choices), "failed": failed, "left_out": LEFT_OUT, "nodes": None, "links": None}
    if network is None:
        return answer
    network.build()
    answer["nodes"] = [
        {
            "name": node.name,
            "switch": bool(node.isSwitch),
            **{key: node.params.get(key) for key in ("ip", "mac", "defaultRoute")},
            "commands": node.commands,
        }
        for node in network.named.values()
    ]
    answer["links"] = [{"a": a, "b": b, **opts} for a, b, opts in network.joined]
    answer["options"] = {key: str(network.params[key]) for key in ("ipBase", "autoSetMacs") if key in network.params}
    return answer


if __name__ == "__main__":
    main()
