import { createHash } from "node:crypto";
import { chmod, chown, copyFile, lstat, mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { removeFolder } from "../folder/remove.ts";
import type { Home } from "../home/home.ts";
import { nobody, programFdPath } from "./isolation.ts";
import type { Module } from "./workerd-config.ts";

/** The files of a slot's process. */
export interface SlotFiles {
  configFile: string;
  modules: Module[];
  /** The only folder that the process can write. */
  folder: string;
  /** Where the process creates its socket. */
  ownSocket: string;
  /** Set if the process runs as another user. */
  programLink?: string;
  /** Empties the folder. */
  prepare(): Promise<void>;
  /**
   * Moves the socket to where main expects it, out of the process's folder, so that nothing the process does there
   * later affects main.
   */
  publishSocket(): Promise<void>;
}

interface SlotFilesOptions {
  home: Pick<Home, "path" | "run">;
  /** Name of the slot. */
  name: string;
  modules: Module[];
  /** Where main expects the socket. */
  socket: string;
}

/** The files of a process that runs as our own user, in the data folder. */
export function createOwnSlotFiles({ home, name, modules, socket }: SlotFilesOptions): SlotFiles {
  const folder = join(home.run, name);
  const ownSocket = join(folder, "s");
  return {
    configFile: join(home.run, `${name}.capnp`),
    modules,
    folder,
    ownSocket,
    async prepare() {
      await removeFolder(folder);
      await mkdir(folder, { mode: 0o700 });
    },
    publishSocket: () => moveSocket(ownSocket, socket),
  };
}

/**
 * The files of a process that runs as nobody. That user cannot enter the data folder, nor perhaps the folders of our own
 * program, so they are copied to a folder in /tmp that only we can write. They contain no secrets.
 */
export function createNobodySlotFiles({ home, name, modules, socket }: SlotFilesOptions): SlotFiles {
  const root = getNobodyRoot(home);
  const folder = join(root, name);
  const ownSocket = join(folder, "s");
  const movedSocket = join(root, `${name}.sock`);
  const programLink = join(root, "workerd");
  const copies = modules.map((module, index) => ({ ...module, path: join(root, `${name}-${index}.js`) }));
  return {
    configFile: join(root, `${name}.capnp`),
    modules: copies,
    folder,
    ownSocket,
    programLink,
    async prepare() {
      await openRoot(root);
      await symlink(programFdPath, programLink).catch(ignoreExisting);
      for (const [index, { path }] of modules.entries()) {
        const copy = (copies[index] as Module).path;
        await copyFile(path, copy);
        await chmod(copy, 0o644);
      }
      await removeFolder(folder);
      await mkdir(folder, { mode: 0o700 });
      await chown(folder, nobody, nobody);
    },
    async publishSocket() {
      await moveSocket(ownSocket, movedSocket);
      // Main's folder may be on another disk.
      await rm(socket, { force: true });
      await symlink(movedSocket, socket);
    },
  };
}

/** Not os.tmpdir(), which may be a folder that only we can enter. */
export function getNobodyRoot(home: Pick<Home, "path">): string {
  return `/tmp/thinkery-slots-${createHash("sha256").update(home.path).digest("hex").slice(0, 16)}`;
}

async function openRoot(root: string): Promise<void> {
  await mkdir(root, { mode: 0o700 }).catch(ignoreExisting);
  const found = await lstat(root);
  // Another user may have created it first.
  if (!found.isDirectory() || found.uid !== 0)
    throw fail("unavailable", `${root} is not a folder of root. Remove it and try again.`);
  await chmod(root, 0o711);
}

async function moveSocket(from: string, to: string): Promise<void> {
  await rename(from, to);
  // From here on, nothing but this process can replace it.
  if (!(await lstat(to)).isSocket()) throw new Error("not a socket");
  await chmod(to, 0o600);
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
