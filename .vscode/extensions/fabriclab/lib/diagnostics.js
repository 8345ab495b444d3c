// Mistakes under the lines that have them, while one types: one check at a time for each lab, the newest text wins.
"use strict";

const fs = require("node:fs");
const vscode = require("vscode");
const { check, fileOf, labOf, rangeOf } = require("./checking");

const PAUSE_MS = 500;

/** Checks labs whose files are edited. `program` returns the command, or throws where nothing may be started. */
class Diagnostics {
  constructor(program, tell, pauseMs = PAUSE_MS) {
    this.program = program;
    this.tell = tell;
    this.pauseMs = pauseMs;
    this.shown = vscode.languages.createDiagnosticCollection("fabriclab");
    this.waiting = new Map();
    this.running = new Map();
    this.files = new Map();
  }

  /** Check the lab of a document soon, or at once; documents of no lab are left alone. */
  async changed(document, isSoon = true) {
    const lab = document.uri.scheme === "file" ? labOf(document.uri.fsPath) : null;
    if (lab === null || !vscode.workspace.isTrusted) return;
    clearTimeout(this.waiting.get(lab));
    if (!isSoon) {
      await this.check(lab);
      return;
    }
    this.waiting.set(
      lab,
      setTimeout(() => this.check(lab).catch(this.tell), this.pauseMs),
    );
  }

  /** Check a lab with all its unsaved texts; returns the number of its errors, null where a newer check came first. */
  async check(lab) {
    this.running.get(lab)?.abort();
    const stop = new AbortController();
    this.running.set(lab, stop);
    try {
      const dirty = vscode.workspace.textDocuments.filter(
        (one) => one.isDirty && one.uri.scheme === "file" && labOf(one.uri.fsPath) === lab,
      );
      const unsaved = new Map(dirty.map((one) => [one.uri.fsPath, one.getText()]));
      const findings = await check(this.program(), lab, unsaved, stop.signal);
      if (stop.signal.aborted) return null;
      this.show(lab, findings);
      return findings.filter((finding) => finding.severity === "error").length;
    } catch (error) {
      if (stop.signal.aborted) return null;
      throw error;
    } finally {
      if (this.running.get(lab) === stop) this.running.delete(lab);
    }
  }

  show(lab, findings) {
    const byFile = new Map();
    for (const finding of findings) {
      const file = fileOf(finding, lab);
      byFile.set(file, [...(byFile.get(file) ?? []), finding]);
    }
    for (const file of this.files.get(lab) ?? []) {
      if (!byFile.has(file)) this.shown.delete(vscode.Uri.file(file));
    }
    this.files.set(lab, [...byFile.keys()]);
    for (const [file, some] of byFile) {
      const lines = textOf(file).split(/\r?\n/);
      this.shown.set(
        vscode.Uri.file(file),
        some.map((finding) => diagnostic(finding, lines)),
      );
    }
  }

  dispose() {
    for (const timer of this.waiting.values()) clearTimeout(timer);
    for (const stop of this.running.values()) stop.abort();
    this.shown.dispose();
  }
}

function textOf(file) {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.fsPath === file);
  if (open) return open.getText();
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function diagnostic(finding, lines) {
  const [line, first, last] = rangeOf(finding, lines);
  const severity = vscode.DiagnosticSeverity[finding.severity === "error" ? "Error" : "Warning"];
  const text = finding.key ? `${finding.key}: ${finding.message}` : finding.message;
  return Object.assign(new vscode.Diagnostic(new vscode.Range(line, first, line, last), text, severity), {
    source: "fabriclab",
  });
}

module.exports = { Diagnostics };
