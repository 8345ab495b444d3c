// fabriclab in VS Code: labs, their mistakes, runs, the live page, captures. What needs no editor is in lib.
"use strict";

const path = require("node:path");
const vscode = require("vscode");
const { MissingViewerError, PLACE, capture } = require("./lib/capture");
const { EXPERIMENT, labOf } = require("./lib/checking");
const { Diagnostics } = require("./lib/diagnostics");
const { labAt, labsUp, newestReport, shippedLabs } = require("./lib/labs");
const { panelDocument, servePage } = require("./lib/page");
const { NotFoundError, UntrustedError, locate } = require("./lib/program");
const { LabTree } = require("./lib/tree");

const MOST_LABS = 500;

function activate(context) {
  const diagnostics = new Diagnostics(program, tellOnce);
  const tree = new LabTree(readLabs);
  const pages = new Map();
  const actions = new Actions(diagnostics, tree, pages);
  context.subscriptions.push(
    diagnostics,
    vscode.window.registerTreeDataProvider("fabriclab.labs", tree),
    ...Object.entries(actions.commands()).map(([name, action]) =>
      vscode.commands.registerCommand(`fabriclab.${name}`, async (...given) => {
        try {
          await action(...given);
        } catch (error) {
          await tell(error);
        }
      }),
    ),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (setting("checkAsYouType")) diagnostics.changed(document).catch(tellOnce);
    }),
    vscode.workspace.onDidSaveTextDocument((document) => diagnostics.changed(document).catch(tellOnce)),
    vscode.workspace.onDidOpenTextDocument((document) => diagnostics.changed(document).catch(tellOnce)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => tree.refresh()),
    vscode.tasks.onDidEndTaskProcess(({ execution }) => execution.task.source === "fabriclab" && tree.refresh()),
    { dispose: () => pages.forEach((panel) => panel.dispose()) },
  );
  for (const document of vscode.workspace.textDocuments) diagnostics.changed(document).catch(tellOnce);
}

function setting(name) {
  return vscode.workspace.getConfiguration("fabriclab").get(name);
}

function folders() {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter((one) => one.uri.scheme === "file")
    .map((one) => one.uri.fsPath);
}

/** Return the program. Throws UntrustedError: all that starts something comes through here. */
function program() {
  if (!vscode.workspace.isTrusted) throw new UntrustedError();
  return locate(setting("command"), folders());
}

/** Tell what went wrong with something that was asked for. */
async function tell(error) {
  if (error instanceof vscode.CancellationError) return;
  if (!(error instanceof NotFoundError)) {
    vscode.window.showErrorMessage(error.message);
    return;
  }
  const chosen = await vscode.window.showErrorMessage(error.message, "Open Settings");
  if (chosen === "Open Settings")
    await vscode.commands.executeCommand("workbench.action.openSettings", "fabriclab.command");
}

let lastTold = "";

/** Tell what went wrong with a check that nobody asked for: the same is told once, or each key stroke would tell it. */
async function tellOnce(error) {
  if (error.message === lastTold) return;
  lastTold = error.message;
  await tell(error);
}

/** Return all that the view shows. Files are read without trust; the program is asked only with it. */
async function readLabs() {
  const files = await vscode.workspace.findFiles(`**/${EXPERIMENT}`, "**/{node_modules,runs,.venv}/**", MOST_LABS);
  const own = files
    .map((uri) => labAt(path.dirname(uri.fsPath)))
    .sort((one, other) => (one.directory < other.directory ? -1 : 1));
  const found = { up: [], own, shipped: [], problem: null };
  if (!vscode.workspace.isTrusted) return found;
  try {
    const [cwd] = folders();
    [found.up, found.shipped] = await Promise.all([labsUp(program(), cwd), shippedLabs(program(), cwd, own)]);
  } catch (error) {
    found.problem = error.message;
  }
  return found;
}

/** The commands. Each takes an item of the view, or asks. */
class Actions {
  constructor(diagnostics, tree, pages) {
    Object.assign(this, { diagnostics, tree, pages });
  }

  commands() {
    const task = (verb) => async (item) => this.start(verb, [verb, (await this.lab(item)).directory]);
    return {
      refresh: () => this.tree.refresh(),
      open: (directory) => vscode.window.showTextDocument(vscode.Uri.file(path.join(directory, EXPERIMENT))),
      new: () => this.new(),
      check: (item) => this.check(item),
      run: task("run"),
      sweep: task("sweep"),
      validate: task("validate"),
      report: (item) => this.report(item),
      up: async (item) => this.up((await this.lab(item)).directory, []),
      story: (item) => this.up(item.lab.directory, ["--story", item.story]),
      page: async (item) => this.page((await this.labUp(item)).name),
      shell: (item) => this.start("shell", ["shell", `${item.lab.name}:${item.node}`]),
      capture: (item) => this.capture(item),
      down: async (item) => this.start("down", ["down", (await this.labUp(item)).name]),
    };
  }

  /** Return the lab of an item, of the file in the editor, or the one that is chosen. */
  async lab(item) {
    program(); // Whoever may start nothing is not asked first.
    if (item?.lab) return item.lab;
    const file = item?.fsPath ?? vscode.window.activeTextEditor?.document.uri.fsPath;
    const directory = file ? labOf(file) : null;
    if (directory) return labAt(directory);
    const { own, shipped } = await readLabs();
    return this.chosen([...own, ...shipped], "Which lab?", "there is no lab in this workspace");
  }

  async labUp(item) {
    if (item?.lab) return item.lab;
    const up = await labsUp(program(), folders()[0]);
    return up.length === 1 ? up[0] : this.chosen(up, "Which lab?", "no lab is up; fabriclab: Start Live starts one");
  }

  async chosen(labs, placeHolder, none) {
    if (labs.length === 0) throw new Error(none);
    const picks = labs.map((lab) => ({ label: lab.name, description: lab.question ?? lab.directory, lab }));
    const pick = await vscode.window.showQuickPick(picks, { placeHolder, matchOnDescription: true });
    if (!pick) throw new vscode.CancellationError();
    return pick.lab;
  }

  /** Run a command in a terminal, by its words and not by a shell; resolves to its exit status. */
  async start(name, args, env = undefined) {
    const execution = new vscode.ProcessExecution(program(), args, { cwd: folders()[0], env });
    const task = new vscode.Task({ type: "fabriclab" }, vscode.TaskScope.Workspace, name, "fabriclab", execution);
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated };
    let running = null;
    const ended = new Promise((resolve) => {
      const listener = vscode.tasks.onDidEndTaskProcess((event) => {
        if (event.execution.task === task || event.execution === running) {
          listener.dispose();
          resolve(event.exitCode);
        }
      });
    });
    running = await vscode.tasks.executeTask(task);
    return ended;
  }

  async new() {
    const [cwd] = folders();
    if (!cwd) throw new Error("open a folder first: a lab is a directory in it");
    program();
    const value = await vscode.window.showInputBox({ prompt: "The directory of the new lab", value: "labs/mine" });
    if (value) await this.start("new", ["new", value]);
  }

  async check(item) {
    const lab = await this.lab(item);
    const errors = await this.diagnostics.check(lab.directory);
    if (errors === 0) vscode.window.showInformationMessage(`${lab.name}: no mistake`);
    if (errors > 0) await vscode.commands.executeCommand("workbench.actions.view.problems");
  }

  async report(item) {
    const lab = await this.lab(item);
    const file = folders()
      .map((folder) => newestReport(folder, lab.name))
      .find((found) => found !== null);
    if (!file) throw new Error(`${lab.name} has no report yet in runs/${lab.name}; run it first`);
    await vscode.env.openExternal(vscode.Uri.file(file));
  }

  /** Start a lab live in a terminal, where it may ask for consent, then show its page. */
  async up(directory, more) {
    const before = new Set((await labsUp(program(), folders()[0])).map((lab) => lab.name));
    // A story opens a browser by itself; here the panel shows the page.
    const status = await this.start("up", ["up", directory, ...more], more.length ? { BROWSER: "true" } : undefined);
    if (status !== 0) return;
    const lab = (await labsUp(program(), folders()[0])).find((one) => !before.has(one.name));
    if (lab) await this.page(lab.name);
  }

  async page(name) {
    const known = this.pages.get(name);
    if (known) {
      known.reveal();
      return;
    }
    const served = await servePage(program(), folders()[0]);
    const options = {
      enableScripts: true,
      retainContextWhenHidden: true,
      portMapping: [{ webviewPort: served.port, extensionHostPort: served.port }],
    };
    const panel = vscode.window.createWebviewPanel(
      "fabriclab.page",
      `${name}: live`,
      vscode.ViewColumn.Beside,
      options,
    );
    this.pages.set(name, panel);
    panel.onDidDispose(() => {
      this.pages.delete(name);
      served.close();
    });
    panel.webview.html = panelDocument(served.address(name), `The live page of ${name}`);
    served.ended.then(() => this.pages.get(name) === panel && panel.dispose());
  }

  async capture(item) {
    const command = program();
    const place = await this.place(item);
    try {
      const { status, said } = await capture(command, place, setting("wireshark"), { cwd: folders()[0] });
      if (status) vscode.window.showWarningMessage(`The capture of ${place} ended: ${said}`);
    } catch (error) {
      if (!(error instanceof MissingViewerError)) throw error;
      if ((await vscode.window.showErrorMessage(error.message, "Save as a File")) !== "Save as a File") return;
      const defaultUri = vscode.Uri.file(path.join(folders()[0] ?? "", `${place.replace(/[^\w.-]/g, "-")}.pcapng`));
      const uri = await vscode.window.showSaveDialog({ defaultUri, filters: { Captures: ["pcapng"] } });
      if (uri) await this.start("capture", ["capture", place, "-w", uri.fsPath]);
    }
  }

  /** Return the port to capture at, as NAME:NODE:PORT. */
  async place(item) {
    const lab = await this.labUp(item);
    const nodes = item?.node ? [item.node] : lab.nodes;
    const places = nodes.flatMap((node) => ["any", ...(lab.ports[node] ?? [])].map((port) => `${node}:${port}`));
    const pick = await vscode.window.showQuickPick(places, { placeHolder: "Which port? `any` is all ports of a node" });
    if (!pick) throw new vscode.CancellationError();
    const place = `${lab.name}:${pick}`;
    if (!PLACE.test(place)) throw new Error(`${place}: is no port`);
    return place;
  }
}

function deactivate() {}

module.exports = { activate, deactivate };
