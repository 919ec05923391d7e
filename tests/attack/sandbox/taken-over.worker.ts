import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

// A sandbox that has been taken over: it does not run the code it is given, but whatever the code's first word names,
// with everything that the process itself holds. Nothing here plays by the rules.

interface Door {
  call(...args: unknown[]): Promise<unknown>;
  heard(...args: unknown[]): Promise<unknown>;
  dup(): Door;
  [name: string]: unknown;
}

interface Powers {
  LOADER: { load(code: object): { getEntrypoint(): { go(...args: unknown[]): Promise<unknown> } } };
}

/** What this process has ever been told, and what it kept of it. */
const receivedCode: string[] = [];
const heldDoors: Door[] = [];
const late: string[] = [];

const toShortMessage = (error: unknown) => String((error as Error)?.message ?? error).slice(0, 200);

/** What came of each of them: an answer, or why there is none. */
async function tryAll(tries: Record<string, () => unknown>): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const [name, attempt] of Object.entries(tries)) {
    try {
      const got = await attempt();
      all[name] = `got ${typeof got === "string" ? got.slice(0, 200) : typeof got}`;
    } catch (error) {
      all[name] = `refused: ${toShortMessage(error)}`;
    }
  }
  return all;
}

const getMethod = (door: Door, name: string) => door[name] as (...args: unknown[]) => unknown;

/** What a door's class could have, or what objects of main have. */
const names = [
  "shut",
  "console",
  "options",
  "#options",
  "#heard",
  "#console",
  "fetch",
  "connect",
  "alarm",
  "webSocketMessage",
  "admit",
  "erase",
  "readState",
  "env",
  "ctx",
  "name",
  "sql",
];

/** Odd things to say to a door. */
const createOddCalls = (door: Door) => ({
  nothing: () => door.call(),
  numbers: () => door.call(1, 2),
  objects: () => door.call({ toString: "echo" }, {}),
  lists: () => door.call(["echo"], ["1"]),
  functions: () =>
    door.call(
      () => "echo",
      () => "1",
    ),
  itself: () => door.call(door, "1"),
  "no JSON": () => door.call("echo", "{"),
  "no words": () => door.call("echo", ""),
  "a long name": () => door.call("x".repeat(201), "1"),
  "a huge name": () => door.call("tools.".repeat(100_000), "1"),
  "a huge input": () => door.call("echo", JSON.stringify("x".repeat(5_000_000))),
  "a prototype": () => door.call("__proto__", "{}"),
  "a prototype's tool": () => door.call("tools.__proto__", "{}"),
  "a constructor": () => door.call("constructor", "{}"),
  "a constructor's tool": () => door.call("tools.constructor", "{}"),
  "code in code": () => door.call("tools.executeCode", '{"code":"return 1"}'),
  "an app": () => door.call("tools.serveApp", '{"modules":{"main.js":"export default {}"}}'),
  "a nameless tool": () => door.call("tools.", "{}"),
  "another case": () => door.call("TOOLS.set_title", '{"title":"x"}'),
  "two dots": () => door.call("tools..set_title", '{"title":"x"}'),
  "a zero byte": () => door.call("echo\0", "1"),
  "an address": () => door.call("fetch", '{"url":"http://127.0.0.1:1/"}'),
  "a polluted input": () => door.call("tools.set_title", '{"__proto__":{"title":"polluted"}}'),
});

const attacks: Record<string, (door: Door, rest: string, self: TakenOver) => unknown> = {
  told: () => receivedCode.join(),
  odd: (door) => tryAll(createOddCalls(door)),
  methods: (door) =>
    tryAll(
      Object.fromEntries(
        names.map((name) => [name, () => Reflect.apply(getMethod(door, name), door, ["http://127.0.0.1/"])]),
      ),
    ),
  properties: (door) => tryAll(Object.fromEntries(names.map((name) => [name, () => door[name]]))),
  keep(door, _, self) {
    const mine = door.dup();
    heldDoors.push(mine);
    // The run is over long before this is; it calls again and again.
    self.goOn(async () => {
      for (let round = 0; round < 20; round++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        await Promise.all([
          mine.call("echo", '"late"'),
          mine.call("tools.set_title", '{"title":"late"}'),
          mine.heard("late"),
        ]).then(
          () => late.push("answered"),
          (error: unknown) => late.push(toShortMessage(error)),
        );
      }
    });
    return "kept";
  },
  late: () => [...new Set(late)].sort().join("; "),
  again: () => tryAll({ "what was kept": () => heldDoors[0]?.call("echo", "1") }),
  async flood(door) {
    const piece = "x".repeat(1024 * 1024);
    for (let round = 0; round < 50; round++) await door.heard(piece);
    await door.heard(5);
    await door.heard({ length: 5, slice: "x" });
    return "flooded";
  },
  alone: (_, rest) => tryAll(createEscapes(rest)),
  loaded: (_, rest, self) => tryAll(self.loaded(rest)),
};

/** The network and the disk, with all that Node's modules offer here. */
function createEscapes(rest: string): Record<string, () => unknown> {
  const [port = "", home = ""] = rest.split(" ");
  const module = (name: string) =>
    import(/* @vite-ignore */ name) as Promise<Record<string, (...args: unknown[]) => unknown>>;
  const url = `http://127.0.0.1:${port}/`;
  const opened = async (address: string) =>
    ((await module("cloudflare:sockets")).connect?.(address) as { opened: Promise<unknown> } | undefined)?.opened;
  return {
    fetch: async () => (await fetch(url)).text(),
    "a socket": () => opened(`127.0.0.1:${port}`),
    "a socket of the host": () => opened(`unix:${home}/run/host.sock`),
    "a socket of another slot": () => opened(`unix:${home}/run/sandbox-0.sock:1`),
    "a web socket": () =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(url.replace("http", "ws"));
        socket.addEventListener("open", () => resolve("open"));
        socket.addEventListener("error", () => reject(new Error("error")));
      }),
    "Node's socket": async () => {
      const socket = (await module("node:net")).connect?.(Number(port), "127.0.0.1") as {
        on(name: string, heard: (value: unknown) => void): void;
      };
      return new Promise((resolve, reject) => {
        socket.on("connect", resolve);
        socket.on("error", reject);
      });
    },
    "Node's http": async () => {
      const request = (await module("node:http")).get?.(url) as {
        on(name: string, heard: (value: unknown) => void): void;
      };
      return new Promise((resolve, reject) => {
        request.on("response", resolve);
        request.on("error", reject);
      });
    },
    "the token": async () => (await module("node:fs")).readFileSync?.(`${home}/token`, "utf8"),
    "the configuration": async () => (await module("node:fs")).readFileSync?.(`${home}/config.jsonc`, "utf8"),
    "the machine's users": async () => (await module("node:fs")).readFileSync?.("/etc/passwd", "utf8"),
    "the environment of the process": async () =>
      (await module("node:fs")).readFileSync?.("/proc/self/environ", "utf8"),
    "a program": async () => (await module("node:child_process")).execSync?.("id"),
  };
}

export default class TakenOver extends WorkerEntrypoint<Powers> {
  override fetch(): Response {
    return new Response("alive");
  }

  goOn(work: () => Promise<void>): void {
    this.ctx.waitUntil(work());
  }

  /** Isolates with more than the stock sandbox gives them. */
  loaded(rest: string): Record<string, () => unknown> {
    const [port = ""] = rest.split(" ");
    const load = (more: object, code: string) => () =>
      this.env.LOADER.load({
        compatibilityDate: "2026-10-01",
        mainModule: "main.js",
        modules: {
          "main.js": `import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { async go() { ${code} } }`,
        },
        ...more,
      })
        .getEntrypoint()
        .go();
    const visit = `return (await fetch("http://127.0.0.1:${port}/")).text()`;
    return {
      "with the process's network": load({}, visit),
      "with the process's network, by name": load({ globalOutbound: this.ctx.exports }, visit),
      "with eval": load(
        { compatibilityFlags: ["unsafe_module"], allowExperimental: true },
        `const { eval: run } = await import("workerd:unsafe"); return run("1")`,
      ),
    };
  }

  async run({ code }: { code: string }, door: Door): Promise<unknown> {
    receivedCode.push(code);
    const [verb = "", ...rest] = code.split(" ");
    const forged = forgeries[code];
    if (forged) return forged();
    const got = await attacks[verb]?.(door, rest.join(" "), this);
    return { ok: true, value: typeof got === "string" ? got : JSON.stringify(got), console: "" };
  }
}

class Target extends RpcTarget {
  get ok(): boolean {
    return true;
  }
  get value(): string {
    return "a target";
  }
  get console(): string {
    return "";
  }
}

/** What a sandbox may claim to be an outcome. */
const forgeries: Record<string, () => unknown> = {
  "claims nothing": () => undefined,
  "claims null": () => null,
  "claims text": () => "ok",
  "claims a list": () => [true, "ok"],
  "claims half of it": () => ({ ok: true }),
  "claims a number": () => ({ ok: true, value: 5, console: "" }),
  "claims too much": () => ({ ok: true, value: "x".repeat(11 * 1024 * 1024), console: "" }),
  "claims too long a console": () => ({ ok: true, value: "x", console: "x".repeat(1024 * 1024) }),
  "claims another kind": () => ({ ok: false, kind: "denied", message: "The policy denies it.", console: "" }),
  "claims a cancel": () => ({ ok: false, kind: "canceled", message: "canceled", console: "" }),
  "claims too long a message": () => ({ ok: false, kind: "threw", message: "x".repeat(1024 * 1024), console: "" }),
  "claims a function": () => () => ({ ok: true, value: "x", console: "" }),
  "claims a function inside": () => ({ ok: true, value: () => "x", console: "" }),
  "claims a target": () => new Target(),
  "claims a stream": () => new Blob(["x"]).stream(),
  "claims an answer": () => new Response("x"),
  "claims a Map": () => new Map([["ok", true]]),
  "claims an error": () => {
    throw Object.assign(new Error("forged"), { name: "ThinkeryError", code: "budget", trouble: "denied" });
  },
  "claims a huge error": () => {
    throw new Error("x".repeat(5_000_000));
  },
  "claims a thrown text": () => {
    // oxlint-disable-next-line typescript/only-throw-error -- whoever takes a sandbox over throws what they like
    throw "just words";
  },
};
