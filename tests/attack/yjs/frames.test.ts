import { parseFilePath } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import * as Y from "yjs";
import {
  createPresenceMessage,
  createUpdateMessage,
  createVectorMessage,
} from "../../../packages/runtime/src/workspace/live/crafted.fixture.ts";
import { type Editor, openEditor } from "../../kit/editor.ts";
import { type HostProcess, startHostProcess } from "../../kit/host-process.ts";
import { findMain } from "../../kit/processes.ts";
import { createRandom } from "../../kit/random.ts";
import { getRepeatCount } from "../../kit/sample.ts";
import { waitUntil } from "../../kit/wait-until.ts";
import { createHostileFrame, type FrameKind, listKinds, type KnownDocument } from "./frames.ts";

/** All kinds are sent equally often. */
const frames = getRepeatCount("hostile frames", { sample: 50 * listKinds().length, full: 5_100 });
const attackers = 12;

let host: HostProcess;
let readOnly: string;
const editors: Editor[] = [];

beforeAll(async () => {
  host = await startHostProcess();
  readOnly = (await host.client.call("createToken", { body: { name: "reader", scopes: ["read"] } })).token;
  for (const name of ["open", "closed"])
    await host.client.call("createAgent", { params: { agency: "global" }, body: { name } });
});

afterAll(async () => {
  for (const editor of editors) editor.stop();
  await host?.stop();
});

const buildAgentPath = (name: string) => `/agency/global/agent/${name}`;

/** Two users who edit together, and what an attacker can learn by watching them. */
async function openPair(
  name: string,
): Promise<{ ada: Editor; ben: Editor; vector: () => Uint8Array; known: KnownDocument }> {
  const [ada, ben] = [0, 1].map(() => openEditor({ ...host, at: buildAgentPath(name) })) as [Editor, Editor];
  editors.push(ada, ben);
  const valid: Uint8Array[] = [];
  ada.doc.on("update", (update: Uint8Array) => void valid.push(createUpdateMessage(update)));
  await Promise.all([ada.waitForSync(), ben.waitForSync()]);
  await fetch(`${host.url}${buildAgentPath(name)}/files/by-the-host.md`, {
    method: "PUT",
    headers: { authorization: `Bearer ${host.token}` },
    body: "The host wrote this.\n",
  });
  ada.doc.getMap<Y.Text>("files").set("ada.md", new Y.Text("Ada was here.\n"));
  ben.doc.getMap<Y.Text>("files").set("ben.md", new Y.Text("Ben was here.\n"));
  for (let key = 0; key < 10; key += 1) {
    ada.text("ada.md").insert(key, "a");
    if (key % 3 === 0) ada.text("ada.md").delete(0, 1);
  }
  await waitUntil(
    "both to have all files",
    () => Object.keys(ada.readAll()).length >= 3 && ben.read("ada.md") === ada.read("ada.md"),
  );
  const vector = () => Y.encodeStateVector(ada.doc);
  valid.push(
    createUpdateMessage(Y.encodeStateAsUpdate(ada.doc), 1),
    createVectorMessage(vector()),
    new Uint8Array([3]),
  );
  // Without the users' own client ids: taking the id of the same user's other connection only harms that user.
  const clients = [...Y.decodeStateVector(vector())].filter(
    ([client]) => client !== ada.doc.clientID && client !== ben.doc.clientID,
  );
  // A frame may be valid by chance and then is an ordinary edit, so one file is not among the known paths.
  return { ada, ben, vector, known: { valid, clients, paths: ["ada.md", "ben.md"] } };
}

/** Types at the beginning of a file; creates it if an attacker deleted it. */
function type({ doc }: Editor, path: string, text: string): void {
  const files = doc.getMap<Y.Text>("files");
  const file = files.get(path);
  if (file) file.insert(0, text);
  else files.set(path, new Y.Text(text));
}

function connect(name: string, token: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${host.url.replace("http", "ws")}${buildAgentPath(name)}/yjs`, {
      headers: { authorization: `Bearer ${token}` },
    });
    socket.once("open", () => resolve(socket)).once("error", reject);
  });
}

/** Waits until a socket is closed and returns the code, without waiting for the connection to end. */
async function waitForCloseCode(socket: WebSocket): Promise<number> {
  const code = new Promise<number>((resolve) => socket.once("close", resolve));
  await waitUntil("the socket to be closed", () => socket.readyState >= WebSocket.CLOSING);
  socket.terminate();
  return code;
}

/**
 * Sends frames one by one, each on an open connection, and waits until the host has processed it. Counts close codes.
 */
async function attack(
  name: string,
  token: string,
  vector: () => Uint8Array,
  next: () => Uint8Array | string | undefined,
): Promise<Map<number, number>> {
  const closes = new Map<number, number>();
  let socket: WebSocket | undefined;
  for (let frame = next(); frame !== undefined; frame = next()) {
    socket ??= await connect(name, token);
    const open: WebSocket = socket;
    const code = await new Promise<number | undefined>((resolve) => {
      const onMessage = (data: Buffer) => {
        if (data[0] === 0 && data[1] === 1) resolve(undefined);
      };
      open.on("message", onMessage).once("close", resolve);
      open.send(frame as Uint8Array);
      open.send(createVectorMessage(vector()));
    });
    open.removeAllListeners("message").removeAllListeners("close");
    if (code === undefined) continue;
    closes.set(code, (closes.get(code) ?? 0) + 1);
    socket = undefined;
  }
  socket?.terminate();
  return closes;
}

test(`${frames} hostile frames disconnect their senders and affect nobody else`, { timeout: 180_000 }, async () => {
  const chance = createRandom("yjs frames");
  const [open, closed] = await Promise.all([openPair("open"), openPair("closed")]);
  const untouched = closed.ada.readAll();
  const main = findMain(host.home);
  let isOver = false;
  let pings = 0;
  const pinging = (async () => {
    for (; !isOver; pings += 1) {
      expect((await fetch(`${host.url}/health`)).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const typing = (async () => {
    for (let key = 0; !isOver; key += 1) {
      type(open.ben, "ben.md", String(key % 10));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();

  const kinds = listKinds();
  const sent = new Map<FrameKind, number>();
  let remaining = frames;
  const nextFor = (known: KnownDocument) => () => {
    if (remaining-- <= 0) return undefined;
    const kind = kinds[remaining % kinds.length] as FrameKind;
    sent.set(kind, (sent.get(kind) ?? 0) + 1);
    return createHostileFrame(kind, chance, known);
  };
  const closes = await Promise.all(
    Array.from({ length: attackers }, (_, index) =>
      index % 4 === 0
        ? attack("closed", readOnly, closed.vector, nextFor(closed.known))
        : attack("open", host.token, open.vector, nextFor(open.known)),
    ),
  );
  isOver = true;
  await Promise.all([pinging, typing]);

  // Rejected as invalid. 1011 would mean that a frame caused an internal error.
  const codes = new Set(closes.flatMap((counts) => [...counts.keys()]));
  console.log(
    `${[...sent.values()].reduce((sum, count) => sum + count)} frames, ${pings} pings, closed with ${[...codes].join(", ")}`,
  );
  expect([...codes].filter((code) => ![4400, 4409, 4413].includes(code))).toEqual([]);
  expect(codes.has(4400)).toBe(true);
  expect(pings).toBeGreaterThan(10);
  expect(findMain(host.home)?.pid).toBe(main?.pid);

  // Read-only clients changed nothing.
  expect([closed.ada.readAll(), closed.ben.readAll(), closed.ada.closed, closed.ben.closed]).toEqual([
    untouched,
    untouched,
    [],
    [],
  ]);

  // Everyone else continues with the same content: the users, a new client, and the files.
  type(open.ada, "ada.md", "after all ");
  open.ben.doc.getMap<Y.Text>("files").set("after.md", new Y.Text("still here"));
  await waitUntil(
    "both to see what the other did",
    () => open.ben.read("ada.md")?.startsWith("after all ") && open.ada.read("after.md") === "still here",
  );
  const late = openEditor({ ...host, at: buildAgentPath("open") });
  editors.push(late);
  await late.waitForSync();
  const texts = open.ada.readAll();
  expect([open.ben.readAll(), late.readAll(), open.ada.closed, open.ben.closed]).toEqual([texts, texts, [], []]);
  for (const [path, text] of Object.entries(texts)) {
    expect(parseFilePath(path)).toBe(path);
    const response = await fetch(
      `${host.url}${buildAgentPath("open")}/files/${path.split("/").map(encodeURIComponent).join("/")}`,
      { headers: { authorization: `Bearer ${host.token}` } },
    );
    expect([path, response.status, await response.text()]).toEqual([path, 200, text]);
  }
  expect(texts["by-the-host.md"]).toBeDefined();
});

test("a flood of presence updates does not disconnect watchers", async () => {
  const { ada, vector } = await openPair("open");
  const silent = await connect("open", readOnly);
  let bytes = 0;
  silent.on("message", (data: Buffer) => (bytes += data.length));
  const flood = Array.from({ length: 1_000 }, (_, index) => index);
  const state = JSON.stringify({ filler: "x".repeat(12_000) });
  const closes = await attack("open", host.token, vector, () => {
    const clock = flood.shift();
    return clock === undefined
      ? undefined
      : createPresenceMessage([
          [77, clock + 1, state],
          [ada.doc.clientID, clock + 1, state],
        ]);
  });
  expect([...closes]).toEqual([]);
  expect([silent.readyState, bytes < 4 * 1024 * 1024]).toEqual([WebSocket.OPEN, true]);
  silent.terminate();
  expect([ada.closed, ada.provider.wsconnected]).toEqual([[], true]);
  expect(ada.provider.awareness.getStates().has(ada.doc.clientID)).toBe(true);
});

test("a client that repeatedly requests the whole document is disconnected", async () => {
  const headers = { authorization: `Bearer ${host.token}` };
  expect(
    (
      await fetch(`${host.url}${buildAgentPath("closed")}/files/large.md`, {
        method: "PUT",
        headers,
        body: "large ".repeat(150_000),
      })
    ).status,
  ).toBe(201);
  const greedy = await connect("closed", readOnly);
  let bytes = 0;
  greedy.on("message", (data: Buffer) => (bytes += data.length));
  for (let time = 0; time < 200; time += 1) greedy.send(createVectorMessage(new Uint8Array([0])));
  expect(await waitForCloseCode(greedy)).toBe(1013);
  expect(bytes).toBeLessThan(100 * 1024 * 1024);
});

test("an agent has a maximum number of live connections", async () => {
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "crowded" } });
  const sockets: WebSocket[] = [];
  for (let count = 0; count < 200; count += 1) sockets.push(await connect("crowded", host.token));
  expect(await waitForCloseCode(await connect("crowded", host.token))).toBe(1013);
  sockets.pop()?.close();
  await waitUntil("another connection to be accepted", async () => {
    const next = await connect("crowded", host.token);
    sockets.push(next);
    const accepted = new Promise<boolean>((resolve) =>
      next.once("message", () => resolve(true)).once("close", () => resolve(false)),
    );
    next.send(createVectorMessage(new Uint8Array([0])));
    return accepted;
  });
  for (const socket of sockets) socket.terminate();
});
