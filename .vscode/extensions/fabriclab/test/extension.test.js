"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const { fakeLab, fakeProgram } = require("./fake");
const { document, stub, withStub } = require("./vscode_stub");

const HERE = path.join(__dirname, "..");
const MANIFEST = JSON.parse(fs.readFileSync(path.join(HERE, "package.json"), "utf8"));

/** Activate the extension in a workspace with one lab. */
function activated(t, { title, ...more } = {}) {
  const fake = fakeProgram();
  const lab = fakeLab(fake.place, title);
  const settings = { command: fake.file, checkAsYouType: true, wireshark: "/nowhere/wireshark", ...more.settings };
  const host = stub({ folder: fake.place, files: [path.join(lab, "experiment.yml")], ...more, settings });
  const context = { subscriptions: [] };
  withStub(host.vscode, path.join(HERE, "extension.js")).activate(context);
  t.after(() => {
    for (const one of context.subscriptions) one.dispose();
    fake.remove();
  });
  const item = { lab: { name: "mine", directory: lab, question: "", stories: ["one"] } };
  return { ...host, fake, lab, item, call: (name, ...given) => host.commands.get(`fabriclab.${name}`)(...given) };
}

async function until(holds) {
  for (let tries = 0; !holds(); tries += 1) {
    assert.ok(tries < 3000, "it did not come to pass in 60 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("what the manifest names is there", (t) => {
  const { commands } = activated(t);
  const named = MANIFEST.contributes.commands.map((one) => one.command);
  assert.deepEqual(
    named.filter((name) => !commands.has(name)),
    [],
  );
  const used = Object.values(MANIFEST.contributes.menus)
    .flat()
    .map((one) => one.command);
  assert.deepEqual(
    used.filter((name) => !named.includes(name)),
    [],
  );
  for (const { url } of MANIFEST.contributes.yamlValidation) JSON.parse(fs.readFileSync(path.join(HERE, url), "utf8"));
  for (const file of [MANIFEST.main, MANIFEST.contributes.viewsContainers.activitybar[0].icon]) {
    assert.ok(fs.existsSync(path.join(HERE, file)), file);
  }
});

test("nothing is started before the workspace is trusted", async (t) => {
  const host = activated(t, { isTrusted: false });
  const file = path.join(host.lab, "experiment.yml");
  host.events.open.fire(document(file, "title: wrong\n"));
  host.events.change.fire({ document: document(file, "title: wrong\n", true) });
  const groups = await host.calls.tree.getChildren();
  assert.deepEqual(
    groups.map((one) => one.label),
    ["In this workspace"],
  );
  host.fake.bringUp();
  const commands = MANIFEST.contributes.commands.map((one) => one.command.slice("fabriclab.".length));
  const item = { lab: { ...host.item.lab, nodes: ["s1"], ports: { s1: ["eth1"] } }, story: "one", node: "s1" };
  for (const name of commands.filter((one) => one !== "refresh" && one !== "report")) {
    host.calls.errors.length = 0;
    await host.call(name, item);
    assert.match(host.calls.errors[0] ?? "", /not trusted/, name);
  }
  await new Promise((resolve) => setTimeout(resolve, 700)); // Longer than the pause before a check.
  assert.deepEqual([host.fake.asked(), host.calls.tasks, host.calls.panels], [[], [], []]);
  const restricted = MANIFEST.capabilities.untrustedWorkspaces.restrictedConfigurations;
  const programs = Object.keys(MANIFEST.contributes.configuration.properties).filter(
    (name) => !name.endsWith("checkAsYouType"),
  );
  assert.deepEqual(restricted, programs);
});

test("a mistake is underlined while one types, and goes away", async (t) => {
  const host = activated(t);
  const file = path.join(host.lab, "experiment.yml");
  const type = (text) => {
    const typed = document(file, text, true);
    host.vscode.workspace.textDocuments = [typed];
    host.events.change.fire({ document: typed });
  };
  type("title: a\n");
  type("title: wrong\n");
  await until(() => host.diagnostics.has(file));
  const [[mistake]] = [host.diagnostics.get(file)];
  assert.deepEqual([mistake.range.numbers, mistake.severity, mistake.source], [[0, 7, 0, 12], 0, "fabriclab"]);
  assert.equal(host.fake.asked().filter(([verb]) => verb === "check").length, 1, "two key strokes are one check");
  type("title: right\n");
  await until(() => !host.diagnostics.has(file));
});

test("the view has labs, their stories, and what is up", async (t) => {
  const host = activated(t);
  host.fake.bringUp();
  const isListed = (words) => words[0] === "setContext" && words[1] === "fabriclab.listed";
  assert.ok(!host.calls.executed.some(isListed), "the view does not say that there is no lab before it has looked");
  const groups = await host.calls.tree.getChildren();
  assert.ok(host.calls.executed.some(isListed));
  assert.deepEqual(
    groups.map((one) => one.label),
    ["Up", "In this workspace"],
  );
  const [lab] = await host.calls.tree.getChildren(groups[1]);
  assert.deepEqual([lab.label, lab.description, lab.contextValue], ["mine", "Why: so?", "lab"]);
  assert.deepEqual(
    (await host.calls.tree.getChildren(lab)).map((one) => [one.label, one.contextValue]),
    [["one", "story"]],
  );
  const [up] = await host.calls.tree.getChildren(groups[0]);
  assert.deepEqual(
    (await host.calls.tree.getChildren(up)).map((one) => [one.label, one.ports]),
    [
      ["s1", ["eth1"]],
      ["h1", ["eth1"]],
    ],
  );
});

test("a run is a task of words, and no shell reads a lab's name", async (t) => {
  const host = activated(t);
  await host.call("run", { lab: { name: "x", directory: "/labs/a; rm -r $HOME", stories: [] } });
  const [{ execution }] = host.calls.tasks;
  assert.deepEqual([execution.process, execution.args], [host.fake.file, ["run", "/labs/a; rm -r $HOME"]]);
});

test("a lab that comes up is shown in a panel, whose closing ends the page", async (t) => {
  const host = activated(t);
  const execute = host.vscode.tasks.executeTask;
  host.vscode.tasks.executeTask = (task) => (host.fake.bringUp(), execute(task));
  await host.call("story", { ...host.item, story: "one" });
  assert.deepEqual(host.calls.errors, []);
  const [task] = host.calls.tasks;
  assert.deepEqual(task.execution.args, ["up", host.lab, "--story", "one"]);
  const [panel] = host.calls.panels;
  const [, address] = /src="([^"]+)"/.exec(panel.webview.html);
  assert.equal(await (await fetch(address.replace("&#38;", "&"))).text(), "/?lab=incast");
  assert.equal(panel.options.portMapping[0].webviewPort, Number(new URL(address).port));
  panel.dispose();
  await until(() => !fs.existsSync(path.dirname(host.fake.asked().find(([verb]) => verb === "ui")[2])));
});

test("that fabriclab is missing is told with what to do: for each command, and once while one types", async (t) => {
  const host = activated(t, { settings: { command: "/nowhere/fabriclab" } });
  host.answers.error = "Open Settings";
  await host.call("check", host.item);
  assert.equal(host.calls.errors.length, 1);
  assert.match(host.calls.errors[0], /pip install fabriclab/);
  assert.deepEqual(host.calls.executed, [["workbench.action.openSettings", "fabriclab.command"]]);
  const typed = document(path.join(host.lab, "experiment.yml"), "title: a\n");
  for (let count = 2; count < 4; count += 1) {
    host.events.save.fire(typed);
    await until(() => host.calls.errors.length > 1);
    await new Promise((resolve) => setTimeout(resolve, 700)); // Longer than the pause before a check.
    assert.equal(host.calls.errors.length, 2);
  }
  await host.call("check", host.item);
  assert.equal(host.calls.errors.length, 3);
  const [problem] = await host.calls.tree.getChildren();
  assert.match(problem.label, /was not found/);
});

test("without Wireshark a capture can be saved", async (t) => {
  const host = activated(t);
  host.fake.bringUp();
  host.answers.error = "Save as a File";
  host.answers.pick = (picks) => picks.at(-1);
  host.vscode.window.showSaveDialog = async () => ({ fsPath: "/tmp/a.pcapng" });
  await host.call("capture", { lab: { name: "incast", nodes: ["s1"], ports: { s1: ["eth1"] } }, node: "s1" });
  assert.deepEqual(host.calls.tasks[0].execution.args, ["capture", "incast:s1:eth1", "-w", "/tmp/a.pcapng"]);
});

test("who chooses nothing is told nothing", async (t) => {
  const host = activated(t);
  host.answers.pick = () => undefined;
  await host.call("run");
  assert.deepEqual([host.calls.errors, host.calls.tasks], [[], []]);
});
