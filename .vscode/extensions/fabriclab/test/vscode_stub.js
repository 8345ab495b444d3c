// As much of the module `vscode` as the extension uses; `install` puts it in the module's place.
"use strict";

const Module = require("node:module");

class EventEmitter {
  constructor() {
    this.listeners = [];
    this.event = (listener) => {
      this.listeners.push(listener);
      return { dispose: () => (this.listeners = this.listeners.filter((one) => one !== listener)) };
    };
  }
  fire(value) {
    for (const listener of [...this.listeners]) listener(value);
  }
}

class Range {
  constructor(...numbers) {
    this.numbers = numbers;
  }
}

function uri(fsPath) {
  return { scheme: "file", fsPath, toString: () => `file://${fsPath}` };
}

/** Return a stub of the module: `calls` has what it was told, `answers` what a person chooses. */
function stub({ isTrusted = true, folder, settings = {}, files = [] } = {}) {
  const calls = { errors: [], infos: [], tasks: [], panels: [], executed: [], external: [] };
  const answers = { error: undefined, pick: (picks) => picks[0], input: undefined };
  const events = Object.fromEntries(
    ["change", "save", "open", "trust", "taskEnd"].map((name) => [name, new EventEmitter()]),
  );
  const diagnostics = new Map();
  const commands = new Map();
  const vscode = {
    EventEmitter,
    Range,
    CancellationError: class extends Error {},
    Diagnostic: class {
      constructor(range, message, severity) {
        Object.assign(this, { range, message, severity });
      }
    },
    DiagnosticSeverity: { Error: 0, Warning: 1 },
    TreeItem: class {
      constructor(label, collapsibleState = 0) {
        Object.assign(this, { label, collapsibleState });
      }
    },
    TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
    ThemeIcon: class {},
    Task: class {
      constructor(definition, scope, name, source, execution) {
        Object.assign(this, { definition, scope, name, source, execution });
      }
    },
    ProcessExecution: class {
      constructor(process, args, options) {
        Object.assign(this, { process, args, options });
      }
    },
    TaskScope: { Workspace: 2 },
    TaskRevealKind: { Always: 1 },
    TaskPanelKind: { Dedicated: 2 },
    ViewColumn: { Beside: -2 },
    Uri: { file: uri, parse: (text) => ({ toString: () => text }) },
    languages: {
      createDiagnosticCollection: () => ({
        set: (one, some) => diagnostics.set(one.fsPath, some),
        delete: (one) => diagnostics.delete(one.fsPath),
        dispose() {},
      }),
    },
    workspace: {
      isTrusted,
      textDocuments: [],
      workspaceFolders: folder ? [{ uri: uri(folder) }] : [],
      getConfiguration: () => ({ get: (name) => settings[name] }),
      findFiles: async () => files.map(uri),
      onDidChangeTextDocument: events.change.event,
      onDidSaveTextDocument: events.save.event,
      onDidOpenTextDocument: events.open.event,
      onDidGrantWorkspaceTrust: events.trust.event,
    },
    window: {
      activeTextEditor: undefined,
      registerTreeDataProvider: (id, provider) => ((calls.tree = provider), { dispose() {} }),
      showErrorMessage: async (text) => (calls.errors.push(text), answers.error),
      showInformationMessage: async (text) => calls.infos.push(text),
      showWarningMessage: async (text) => calls.errors.push(text),
      showQuickPick: async (picks) => answers.pick(picks),
      showInputBox: async () => answers.input,
      showTextDocument: async () => {},
      createWebviewPanel: (type, title, column, options) => {
        const closing = new EventEmitter();
        const panel = {
          type,
          title,
          options,
          webview: { html: "" },
          reveal() {},
          onDidDispose: closing.event,
          dispose: () => closing.fire(),
        };
        calls.panels.push(panel);
        return panel;
      },
    },
    commands: {
      registerCommand: (name, action) => (commands.set(name, action), { dispose() {} }),
      executeCommand: async (...words) => calls.executed.push(words),
    },
    env: { openExternal: async (target) => calls.external.push(String(target)) },
    tasks: {
      onDidEndTaskProcess: events.taskEnd.event,
      executeTask: async (task) => {
        calls.tasks.push(task);
        const execution = { task };
        setImmediate(() => events.taskEnd.fire({ execution, exitCode: answers.status ?? 0 }));
        return execution;
      },
    },
  };
  return { vscode, calls, answers, events, diagnostics, commands };
}

/** Load a module of the extension anew, with the stub in the place of `vscode`. */
function withStub(vscode, file) {
  const load = Module._load;
  Module._load = (request, ...rest) => (request === "vscode" ? vscode : load(request, ...rest));
  for (const name of Object.keys(require.cache)) {
    if (/extension\.js$|lib.(tree|diagnostics)\.js$/.test(name)) delete require.cache[name];
  }
  try {
    return require(file);
  } finally {
    Module._load = load;
  }
}

function document(fsPath, text, isDirty = false) {
  return { uri: uri(fsPath), getText: () => text, isDirty };
}

module.exports = { document, stub, withStub };
