import { getCommandNames, getNetworkCommandNames } from "just-bash/browser";
import { FileBody } from "./file-body.ts";
import { programs } from "./programs.ts";
import { type Folder, splitPath, createFolder, Tree } from "./tree.ts";

/** The folders of the workspace and of temporary files. */
export const workFolder = "work";
export const scratchFolder = "tmp";

/** They need what a sandbox lacks, such as a database engine or a DOM. */
const unavailableCommands = ["sqlite3", "html-to-markdown", "python3", "python", "js-exec", "node"];

export const commandNames = getCommandNames().filter((name) => !unavailableCommands.includes(name));

const allNames = [...commandNames, ...programs.map(({ name }) => name)];

/** What a shell finds besides the workspace: commands and devices. Shared by all shells and never changed. */
export const systems = {
  alone: createSystem(allNames),
  connected: createSystem([...allNames, ...getNetworkCommandNames()]),
};

function createSystem(names: readonly string[]): Folder {
  const tree = new Tree(undefined);
  const write = (path: string, text = "", mode?: number) =>
    tree.put(splitPath(path), {
      kind: "file",
      body: FileBody.of(text),
      mtime: 0,
      ...(mode === undefined ? {} : { mode }),
    });
  for (const name of names) {
    for (const folder of ["bin", "usr/bin"])
      write(`${folder}/${name}`, `#!/bin/bash\n# Built-in command: ${name}\n`, 0o755);
  }
  for (const device of ["null", "zero", "stdin", "stdout", "stderr"]) write(`dev/${device}`, "", 0o666);
  for (const folder of ["dev/fd", scratchFolder, workFolder]) tree.put(splitPath(folder), createFolder(tree));
  return tree.root;
}
