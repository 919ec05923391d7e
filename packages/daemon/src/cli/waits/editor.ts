import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Environment } from "../../config/environment.ts";

/** Lets the user edit a text in their editor, in a private temporary file. */
export async function editText(env: Environment, text: string, fileName: string): Promise<string> {
  const editor = env.VISUAL || env.EDITOR || (process.platform === "win32" ? "notepad" : "vi");
  const folder = await mkdtemp(join(tmpdir(), "thinkery-edit-"));
  const file = join(folder, fileName);
  try {
    await writeFile(file, text, { mode: 0o600 });
    await runEditor(editor, file);
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As in git, the editor may have arguments, so a shell runs it. The file is an argument of its own. */
function runEditor(editor: string, file: string): Promise<void> {
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${file}"`, { stdio: "inherit", shell: true })
      : spawn("/bin/sh", ["-c", `${editor} "$@"`, editor, file], { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.once("error", () => reject(fail("bad_request", `Cannot start the editor “${editor}”. Set EDITOR.`)));
    child.once("exit", (code) =>
      code === 0
        ? resolve()
        : reject(fail("bad_request", `The editor “${editor}” failed. Set EDITOR to another one, or save and quit it.`)),
    );
  });
}
