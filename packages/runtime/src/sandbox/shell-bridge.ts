import { RpcTarget } from "cloudflare:workers";
import { maxPathChars } from "./bounds.ts";
import type { CommandBridge } from "./command.ts";
import type { ShellHost } from "./shell.ts";
import type { ViewSource } from "./views.ts";

interface ShellBridgeOptions {
  files: ViewSource;
  /** Omitted if the command has no network access. */
  fetch?(input: string): Promise<string>;
}

/** Per file, and in total, for contents that were not sent along with the view. */
const maxReadBytes = 16 * 1024 * 1024;
const maxTotalReadBytes = 64 * 1024 * 1024;
const maxInputChars = 2 * 1024 * 1024;

interface BridgeState {
  /** Undefined once the command is over. */
  options: ShellBridgeOptions | undefined;
  reading: CommandBridge["reading"];
  readBytes: number;
}

/**
 * The only object of main that a command can reach, while it runs. Code can call every public member, so there are only
 * these two.
 */
class ShellBridge extends RpcTarget implements ShellHost {
  readonly #state: BridgeState;

  constructor(state: BridgeState) {
    super();
    this.#state = state;
  }

  async read(path: unknown): Promise<string | Uint8Array | undefined> {
    const { options } = this.#state;
    if (!options) throw new Error("This command is over.");
    if (typeof path !== "string" || path.length > maxPathChars) throw new Error("A file is read by its path.");
    const content = await options.files.read(path, this.#state.reading.version);
    const size = content?.length ?? 0;
    if (size > maxReadBytes)
      throw new Error(`EFBIG: file too large, a command can read at most ${maxReadBytes / 1024 / 1024} MB per file`);
    this.#state.readBytes += size;
    if (this.#state.readBytes > maxTotalReadBytes)
      throw new Error(
        `EFBIG: read limit exceeded, a command can read at most ${maxTotalReadBytes / 1024 / 1024} MB in total`,
      );
    return content;
  }

  async fetch(input: unknown): Promise<string> {
    const { options } = this.#state;
    if (!options?.fetch) throw new Error("Network access is not allowed.");
    if (typeof input !== "string" || input.length > maxInputChars)
      throw new Error("A request must be JSON of limited length.");
    return options.fetch(input);
  }
}

/** Opens a bridge, with the controls that the command itself must not have. */
export function openShellBridge(options: ShellBridgeOptions) {
  const reading = { version: 0 };
  const state: BridgeState = { options, reading, readBytes: 0 };
  const bridge: CommandBridge = { host: new ShellBridge(state), reading };
  return {
    bridge,
    close() {
      state.options = undefined;
    },
    console: () => "",
  };
}
