"""Containerlab files that are Go templates: rendered by Go where there is one, told for what they are elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.api.as_frr import lab_as_frr
from fabriclab.api.rendering import rendered
from fabriclab.cli.app import app
from fabriclab.engine.go_templates import TemplateError, has_go, render_go_template
from fabriclab.lab.reading.problems import LabError

NEEDS_GO = pytest.mark.skipif(not has_go(), reason="there is no Go")
RUNNER = CliRunner()
TEMPLATE = """name: clos
topology:
  defaults: {kind: nokia_srlinux}
  nodes:
{{- range $spine := seq 1 $.spines.num }}
    {{ $.spines.prefix }}{{ $spine }}: {}
{{- end }}
{{- range $leaf := seq $.leaves.num }}
    leaf{{ $leaf }}: {}
{{- end }}
  links:
{{- range $spine := seq 1 $.spines.num }}{{ range $leaf := seq 1 $.leaves.num }}
    - endpoints: ["{{ $.spines.prefix }}{{ $spine }}:e1-{{ $leaf }}", "leaf{{ $leaf }}:e1-{{ add $spine 48 }}"]
{{- end }}{{ end }}
"""
VARIABLES = "spines: {num: 2, prefix: spine}\nleaves: {num: 3}\n"


def write(directory: Path, **files: str) -> Path:
    """Write the template, and other files under their names; return its path."""
    (directory / "clos.clab.gotmpl").write_text(TEMPLATE)
    for name, text in files.items():
        (directory / name).write_text(text)
    return directory / "clos.clab.gotmpl"


@NEEDS_GO
def test_variables_beside_the_file(tmp_path: Path) -> None:
    files = {
        "clos.clab_vars.yml": VARIABLES,
        "clos.clab_vars.z.json": '{"leaves": {"num": 4}}',
        "clos.clab_vars.txt": "x",
    }
    file = write(tmp_path, **files)
    made = rendered(file)
    assert made is not None
    text = made.text
    assert text.count("    leaf") == 4 and text.count("endpoints") == 8 and '"leaf4:e1-50"]' in text
    assert lab_as_frr(file).lab.written.topology.name == "clos"


@NEEDS_GO
def test_the_commands(tmp_path: Path) -> None:
    file = write(tmp_path, **{"mine.yml": VARIABLES})
    result = RUNNER.invoke(app, ["check", str(file), "--vars", str(tmp_path / "mine.yml")])
    assert "clos: a topology with 5 nodes of other kinds, 0 hosts, 5 switches, 6 links" in result.output
    arguments = ["--as", "frr", "--vars", str(tmp_path / "mine.yml")]
    result = RUNNER.invoke(app, ["check", str(file), *arguments])
    assert result.exit_code == 0 and "5 hosts, 5 switches, 11 links" in result.output
    made = tmp_path / "made"
    assert RUNNER.invoke(app, ["new", str(made), "--from", str(file), *arguments]).exit_code == 0
    assert "leaf3" in (made / "topology.clab.yml").read_text()
    result = RUNNER.invoke(app, ["graph", str(file), "--vars", str(tmp_path / "mine.yml"), "-o", "-"])
    assert "leaf3" in result.output and result.output.lstrip().startswith("<svg")
    result = RUNNER.invoke(app, ["plan", str(file), *arguments])
    assert result.exit_code == 0 and "leaf3" in result.output


@NEEDS_GO
def test_templates_that_it_includes(tmp_path: Path) -> None:
    file = tmp_path / "two.clab.yml"
    file.write_text('name: two\n{{ template "nodes.gotmpl" . }}\n{{ template "links" . }}')
    (tmp_path / "clab_templates").mkdir()
    (tmp_path / "clab_templates" / "nodes.gotmpl").write_text(
        "topology:\n  nodes: {a: {kind: linux}, b: {kind: linux}}"
    )
    (tmp_path / "clab_templates" / "more.gotmpl").write_text(
        '{{ define "links" }}  links: [{endpoints: ["a:eth1", "b:eth1"]}]{{ end }}'
    )
    result = RUNNER.invoke(app, ["graph", str(file), "-o", "-"])
    assert result.exit_code == 0, result.output


@NEEDS_GO
def test_mistakes(tmp_path: Path) -> None:
    def said(*variables: Path) -> str:
        with pytest.raises(LabError) as caught:
            rendered(tmp_path / "clos.clab.gotmpl", variables)
        return str(caught.value).replace(f"{tmp_path}/", "")

    write(tmp_path, wrong="- 1\n", broken="a: [\n", good=VARIABLES)
    assert said().startswith("clos.clab.gotmpl:5: the file is a Go template that can't be rendered: executing")
    assert said(tmp_path / "none") == "none: no such file"
    assert said(tmp_path / "wrong") == "wrong: is not a mapping; a template's variables are such as spines: {num: 2}"
    assert said(tmp_path / "broken").startswith("broken:")
    (tmp_path / "clos.clab.gotmpl").write_text("name: x\n{{ range }}\n")
    assert said(tmp_path / "good").startswith(
        "clos.clab.gotmpl:2: the file is a Go template that can't be rendered: missing value"
    )
    (tmp_path / "clos.clab.gotmpl").write_text("name: x\ntopology:\n  nodes: {a: {kind: {{ .k }}, image: [}}\n")
    (tmp_path / "good").write_text("k: linux\n")
    with pytest.raises(LabError, match=r"clos\.clab\.gotmpl \(rendered\):3"):
        lab_as_frr(tmp_path / "clos.clab.gotmpl", variables=[tmp_path / "good"])


def test_without_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.api.rendering.has_go", lambda: False)
    file = write(tmp_path, **{"clos.clab_vars.yaml": VARIABLES})
    with pytest.raises(LabError) as caught:
        rendered(file)
    made, variables = tmp_path / "clos.rendered.clab.yml", tmp_path / "clos.clab_vars.yaml"
    assert f"gomplate -f {file} -c .={variables} -o {made}" in str(caught.value)
    assert f"containerlab deploy -t {file} --export-rendered {made}" in str(caught.value)
    plain = tmp_path / "plain.clab.yml"
    plain.write_text("name: x\n")
    assert rendered(plain) is None


FUNCTIONS = [
    ("{{ seq 3 }}", "[1 2 3]"),
    ("{{ seq 3 1 }}", "[3 2 1]"),
    ("{{ seq 0 10 5 }}", "[0 5 10]"),
    ("{{ add 1 2 3 }} {{ add 1.5 1 }} {{ mul 2 3 }} {{ subtract 5 2 }}", "6 2.5 6 3"),
    ("{{ div 5 2 }} {{ idiv 5 2 }} {{ rem 5 2 }}", "2.5 2 1"),
    ('{{ conv.Join (slice "a" 1) "," }} {{ conv.ToInt "0x10" }}', "a,1 16"),
    ('{{ strings.Split "-" "a-b" }} {{ strings.ReplaceAll "a" "b" "aa" }}', "[a b] bb"),
    (
        '{{ net.CIDRHost 1 "10.0.0.0/24" }} {{ net.CIDRHost -1 "2001:db8::/64" }}',
        "10.0.0.1 2001:db8::ffff:ffff:ffff:ffff",
    ),
    ('{{ ToJSON .list }} {{ ToJSONPretty .map "" " " }}', '[1,"a"] {\n "k": 0.5\n}'),
    ("{{ .count }} {{ if gt .count 1 }}many{{ end }}", "2 many"),
]


@NEEDS_GO
def test_the_functions() -> None:
    variables = {"list": [1, "a"], "map": {"k": 0.5}, "count": 2}
    text = "\n".join(given for given, _ in FUNCTIONS)
    assert render_go_template("x", text, {}, variables) == "\n".join(wanted for _, wanted in FUNCTIONS)


@NEEDS_GO
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ idiv 1 0 }}", "division by 0"),
        ("{{ seq 100000000 }}", "seq of more than 1000000 numbers"),
        ('{{ net.CIDRHost 300 "10.0.0.0/24" }}', "10.0.0.0/24 has no address 300"),
        ("{{ nothing }}", 'function "nothing" not defined'),
    ],
)
def test_wrong_calls(text: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message.replace("(", r"\(")):
        render_go_template("x", text, {}, None)
