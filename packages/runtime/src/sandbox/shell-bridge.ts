import { RpcTarget } from "cloudflare:workers";
import { maxPathChars } from "./bounds.ts";
import type { CommandBridge } from "./command.ts";
import type { ShellHost } from "./shell.ts";
import type { ViewSource } from "./views.ts";

interface ShellBridgeOptions {
  files: ViewSource;
  /** Nothing where the command may not reach the network. */
  fetch?(input: string): Promise<string>;
}

/** In bytes: of one file, and of all that a command reads beside what it was sent. */
const maxReadBytes = 16 * 1024 * 1024;
const maxTotalReadBytes = 64 * 1024 * 1024;
const maxInputChars = 2 * 1024 * 1024;

interface BridgeState {
  /** Nothing any more when the command is over. */
  options: ShellBridgeOptions | undefined;
  reading: CommandBridge["reading"];
  read: number;
}

/** What a command holds of main, for as long as it runs. Every public member can be called from inside, so there are these two. */
class ShellBridge extends RpcTarget implements ShellHost {
  readonly #opened: BridgeState;

  constructor(opened: BridgeState) {
    super();
    this.#opened = opened;
  }

  async read(path: unknown): Promise<string | Uint8Array | undefined> {
    const { options } = this.#opened;
    if (!options) throw new Error("The command that this was given to is over.");
    if (typeof path !== "string" || path.length > maxPathChars) throw new Error("A file is read by its path.");
    const content = await options.files.read(path, this.#opened.reading.version);
    const size = content?.length ?? 0;
    if (size > maxReadBytes)
      throw new Error(`EFBIG: file too large, a command can read ${maxReadBytes / 1024 / 1024} MB of one file`);
    this.#opened.read += size;
    if (this.#opened.read > maxTotalReadBytes)
      throw new Error(`EFBIG: too much was read, a command can read ${maxTotalReadBytes / 1024 / 1024} MB in all`);
    return content;
  }

  async fetch(input: unknown): Promise<string> {
    const { options } = this.#opened;
    if (!options?.fetch) throw new Error("There is no network here.");
    if (typeof input !== "string" || input.length > maxInputChars) throw new Error("A request is JSON, and not long.");
    return options.fetch(input);
  }
}

export function openShellBridge(options: ShellBridgeOptions) {
  const reading = { version: 0 };
  const opened: BridgeState = { options, reading, read: 0 };
  const door: CommandBridge = { host: new ShellBridge(opened), reading };
  return {
    door,
    shut() {
      opened.options = undefined;
    },
    console: () => "",
  };
}
