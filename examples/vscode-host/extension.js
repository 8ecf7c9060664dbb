// An editor as a host without hooks: prompts are asked by a command, files that are saved are tools that were used.
"use strict";

const { randomUUID } = require("node:crypto");
const vscode = require("vscode");
const { Session } = require("./towline.js");

let session = null;
let prompt = "";

async function activate(context) {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!folder) return;
  session = new Session(randomUUID(), folder);
  const channel = vscode.window.createOutputChannel("Towline");
  context.subscriptions.push(
    channel,
    vscode.commands.registerCommand("towline.ask", ask),
    vscode.commands.registerCommand("towline.answered", answered),
    vscode.workspace.onDidSaveTextDocument((document) =>
      session.used("FileSave", { path: document.uri.fsPath }, `saved ${document.lineCount} lines`),
    ),
  );
  const known = await session.context();
  channel.appendLine(known || "No server: run `tow data serve --write`.");
}

async function ask() {
  prompt = (await vscode.window.showInputBox({ prompt: "What do you want done?" })) || "";
  if (prompt) await session.asked(prompt);
}

async function answered() {
  const words = await vscode.window.showInputBox({ prompt: "What was answered?" });
  if (words) await session.answered(prompt, words);
}

function deactivate() {
  return session?.over("exit");
}

module.exports = { activate, deactivate };
