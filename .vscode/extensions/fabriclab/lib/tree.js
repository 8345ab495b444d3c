// The view: labs that are up with their nodes, labs of the workspace with their stories, labs that ship with fabriclab.
"use strict";

const vscode = require("vscode");

/** Shows what `read` returns: {up, own, shipped, problem}. */
class LabTree {
  constructor(read) {
    this.read = read;
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  refresh() {
    this.changed.fire();
  }

  getTreeItem(item) {
    return item;
  }

  async getChildren(item) {
    if (item) return item.below ?? [];
    const { up, own, shipped, problem } = await this.read();
    // Until now nobody knew whether there are labs, so that the view must not say that there are none.
    vscode.commands.executeCommand("setContext", "fabriclab.listed", true);
    const groups = [
      group("Up", up.map(upItem)),
      group("In this workspace", own.map(labItem)),
      group("Shipped with fabriclab", shipped.map(labItem)),
    ].filter((one) => one.below.length > 0);
    return problem ? [problemItem(problem), ...groups] : groups;
  }
}

function group(title, below) {
  const isLong = title.startsWith("Shipped");
  const state = vscode.TreeItemCollapsibleState[isLong ? "Collapsed" : "Expanded"];
  return Object.assign(new vscode.TreeItem(title, state), { below });
}

function labItem(lab) {
  const state = vscode.TreeItemCollapsibleState[lab.stories.length ? "Collapsed" : "None"];
  return Object.assign(new vscode.TreeItem(lab.name, state), {
    contextValue: "lab",
    description: lab.question,
    tooltip: `${lab.question}\n${lab.directory}`,
    iconPath: new vscode.ThemeIcon("beaker"),
    command: { command: "fabriclab.open", title: "Open", arguments: [lab.directory] },
    below: lab.stories.map((name) =>
      Object.assign(new vscode.TreeItem(name), {
        contextValue: "story",
        description: "story",
        iconPath: new vscode.ThemeIcon("book"),
        story: name,
        lab,
      }),
    ),
    lab,
  });
}

function upItem(lab) {
  return Object.assign(new vscode.TreeItem(lab.name, vscode.TreeItemCollapsibleState.Collapsed), {
    contextValue: "up",
    tooltip: lab.directory,
    iconPath: new vscode.ThemeIcon("vm-running"),
    below: lab.nodes.map((node) =>
      Object.assign(new vscode.TreeItem(node), {
        contextValue: "node",
        iconPath: new vscode.ThemeIcon("server"),
        ports: lab.ports[node] ?? [],
        node,
        lab,
      }),
    ),
    lab,
  });
}

function problemItem(problem) {
  return Object.assign(new vscode.TreeItem(problem), { iconPath: new vscode.ThemeIcon("warning"), tooltip: problem });
}

module.exports = { LabTree };
