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
import { createHostileFrame, type Kind, listKinds, type Known } from "./frames.ts";

/** Each kind is sent as often as every other. */
const frames = getRepeatCount("hostile frames", { sample: 50 * listKinds().length, full: 5_100 });
const attackers = 12;

let house: HostProcess;
let readOnly: string;
const editors: Editor[] = [];

beforeAll(async () => {
  house = await startHostProcess();
  readOnly = (await house.client.call("createToken", { body: { name: "reader", scopes: ["read"] } })).token;
  for (const name of ["open", "closed"])
    await house.client.call("createAgent", { params: { agency: "global" }, body: { name } });
});

afterAll(async () => {
  for (const editor of editors) editor.stop();
  await house?.stop();
});

const buildAgentPath = (name: string) => `/agency/global/agent/${name}`;

/** Two people who edit together, and what can be known from watching them. */
async function openPair(name: string): Promise<{ ada: Editor; ben: Editor; vector: () => Uint8Array; known: Known }> {
  const [ada, ben] = [0, 1].map(() => openEditor({ ...house, at: buildAgentPath(name) })) as [Editor, Editor];
  editors.push(ada, ben);
  const valid: Uint8Array[] = [];
  ada.doc.on("update", (update: Uint8Array) => void valid.push(createUpdateMessage(update)));
  await Promise.all([ada.waitForSync(), ben.waitForSync()]);
  await fetch(`${house.url}${buildAgentPath(name)}/files/by-the-house.md`, {
    method: "PUT",
    headers: { authorization: `Bearer ${house.token}` },
    body: "The house wrote this.\n",
  });
  ada.doc.getMap<Y.Text>("files").set("ada.md", new Y.Text("Ada was here.\n"));
  ben.doc.getMap<Y.Text>("files").set("ben.md", new Y.Text("Ben was here.\n"));
  for (let key = 0; key < 10; key += 1) {
    ada.text("ada.md").insert(key, "a");
    if (key % 3 === 0) ada.text("ada.md").delete(0, 1);
  }
  await waitUntil(
    "both to have all",
    () => Object.keys(ada.readAll()).length >= 3 && ben.read("ada.md") === ada.read("ada.md"),
  );
  const vector = () => Y.encodeStateVector(ada.doc);
  valid.push(
    createUpdateMessage(Y.encodeStateAsUpdate(ada.doc), 1),
    createVectorMessage(vector()),
    new Uint8Array([3]),
  );
  // Whoever takes the id of another connection of the same user only harms themselves, so these two are left out.
  const clients = [...Y.decodeStateVector(vector())].filter(
    ([client]) => client !== ada.doc.clientID && client !== ben.doc.clientID,
  );
  // A frame may be right by chance, and then it is an edit like any other. So there is one file that none of them names.
  return { ada, ben, vector, known: { valid, clients, paths: ["ada.md", "ben.md"] } };
}

/** Types at the beginning of a file, which somebody may have taken away. */
function type({ doc }: Editor, path: string, text: string): void {
  const files = doc.getMap<Y.Text>("files");
  const file = files.get(path);
  if (file) file.insert(0, text);
  else files.set(path, new Y.Text(text));
}

function connect(name: string, token: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${house.url.replace("http", "ws")}${buildAgentPath(name)}/yjs`, {
      headers: { authorization: `Bearer ${token}` },
    });
    socket.once("open", () => resolve(socket)).once("error", reject);
  });
}

/** With which code a socket is closed, without waiting for the end of its connection. */
async function waitForCloseCode(socket: WebSocket): Promise<number> {
  const code = new Promise<number>((resolve) => socket.once("close", resolve));
  await waitUntil("the socket to be closed", () => socket.readyState >= WebSocket.CLOSING);
  socket.terminate();
  return code;
}

/** Sends one frame after the other, each on a connection that is open, and waits until the host has dealt with it. */
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
      const heard = (data: Buffer) => {
        if (data[0] === 0 && data[1] === 1) resolve(undefined);
      };
      open.on("message", heard).once("close", resolve);
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

test(
  `${frames} hostile frames cost their senders the connection, and nobody else anything`,
  { timeout: 180_000 },
  async () => {
    const chance = createRandom("yjs frames");
    const [open, closed] = await Promise.all([openPair("open"), openPair("closed")]);
    const untouched = closed.ada.readAll();
    const main = findMain(house.home);
    let over = false;
    let pings = 0;
    const pinging = (async () => {
      for (; !over; pings += 1) {
        expect((await fetch(`${house.url}/health`)).status).toBe(200);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const typing = (async () => {
      for (let key = 0; !over; key += 1) {
        type(open.ben, "ben.md", String(key % 10));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();

    const all = listKinds();
    const sent = new Map<Kind, number>();
    let left = frames;
    const nextFor = (known: Known) => () => {
      if (left-- <= 0) return undefined;
      const kind = all[left % all.length] as Kind;
      sent.set(kind, (sent.get(kind) ?? 0) + 1);
      return createHostileFrame(kind, chance, known);
    };
    const closes = await Promise.all(
      Array.from({ length: attackers }, (_, index) =>
        index % 4 === 0
          ? attack("closed", readOnly, closed.vector, nextFor(closed.known))
          : attack("open", house.token, open.vector, nextFor(open.known)),
      ),
    );
    over = true;
    await Promise.all([pinging, typing]);

    // Refused for what it was. 1011 would say that a frame got as far as breaking something.
    const codes = new Set(closes.flatMap((one) => [...one.keys()]));
    console.log(
      `${[...sent.values()].reduce((sum, count) => sum + count)} frames, ${pings} pings, closed with ${[...codes].join(", ")}`,
    );
    expect([...codes].filter((code) => ![4400, 4409, 4413].includes(code))).toEqual([]);
    expect(codes.has(4400)).toBe(true);
    expect(pings).toBeGreaterThan(10);
    expect(findMain(house.home)?.pid).toBe(main?.pid);

    // Who may only read changed nothing.
    expect([closed.ada.readAll(), closed.ben.readAll(), closed.ada.closed, closed.ben.closed]).toEqual([
      untouched,
      untouched,
      [],
      [],
    ]);

    // The others go on, and all have the same: the people, whoever comes now, and the files.
    type(open.ada, "ada.md", "after all ");
    open.ben.doc.getMap<Y.Text>("files").set("after.md", new Y.Text("still here"));
    await waitUntil(
      "both to see what the other did",
      () => open.ben.read("ada.md")?.startsWith("after all ") && open.ada.read("after.md") === "still here",
    );
    const late = openEditor({ ...house, at: buildAgentPath("open") });
    editors.push(late);
    await late.waitForSync();
    const texts = open.ada.readAll();
    expect([open.ben.readAll(), late.readAll(), open.ada.closed, open.ben.closed]).toEqual([texts, texts, [], []]);
    for (const [path, text] of Object.entries(texts)) {
      expect(parseFilePath(path)).toBe(path);
      const response = await fetch(
        `${house.url}${buildAgentPath("open")}/files/${path.split("/").map(encodeURIComponent).join("/")}`,
        { headers: { authorization: `Bearer ${house.token}` } },
      );
      expect([path, response.status, await response.text()]).toEqual([path, 200, text]);
    }
    expect(texts["by-the-house.md"]).toBeDefined();
  },
);

test("a flood of presence does not cut off those who watch", async () => {
  const { ada, vector } = await openPair("open");
  const silent = await connect("open", readOnly);
  let bytes = 0;
  silent.on("message", (data: Buffer) => (bytes += data.length));
  const flood = Array.from({ length: 1_000 }, (_, index) => index);
  const state = JSON.stringify({ filler: "x".repeat(12_000) });
  const closes = await attack("open", house.token, vector, () => {
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

test("whoever asks for everything again and again is cut off", async () => {
  const headers = { authorization: `Bearer ${house.token}` };
  expect(
    (
      await fetch(`${house.url}${buildAgentPath("closed")}/files/large.md`, {
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

test("an agent has so many live connections, and no more", async () => {
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "crowded" } });
  const sockets: WebSocket[] = [];
  for (let count = 0; count < 200; count += 1) sockets.push(await connect("crowded", house.token));
  expect(await waitForCloseCode(await connect("crowded", house.token))).toBe(1013);
  sockets.pop()?.close();
  await waitUntil("another one to be let in", async () => {
    const next = await connect("crowded", house.token);
    sockets.push(next);
    const answer = new Promise<boolean>((resolve) =>
      next.once("message", () => resolve(true)).once("close", () => resolve(false)),
    );
    next.send(createVectorMessage(new Uint8Array([0])));
    return answer;
  });
  for (const socket of sockets) socket.terminate();
});
