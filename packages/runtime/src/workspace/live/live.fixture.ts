import { fail, type FileContent, type FileEdit, parseFilePath, type Origin, type Version } from "@thinkery/sdk";
import { createDecoder, readVarUint, readVarUint8Array } from "lib0/decoding";
import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import { applyAwarenessUpdate, Awareness, encodeAwarenessUpdate } from "y-protocols/awareness";
import { readSyncMessage, writeSyncStep1, writeUpdate } from "y-protocols/sync";
import * as Y from "yjs";
import { findConflictPath } from "../three-way-merge.ts";
import type { LiveFiles } from "./live-document.ts";
import type { LiveStorage, Snapshot } from "./live-store.ts";
import { type Peer, Room } from "./room.ts";

/** An in-memory branch without history, with an in-memory document store. */
export function createMemoryWorkspace(initialFiles: Record<string, FileContent> = {}) {
  const rows = new Map<string, FileContent>(Object.entries(initialFiles));
  const commits: { edits: readonly FileEdit[]; origin: Origin }[] = [];
  const storage = {
    client: 2 ** 32 + 5,
    snapshot: undefined as Snapshot | undefined,
    version: 0,
    tail: [] as Uint8Array[],
    damaged: false,
    steps: 0,
  };
  const current = { room: undefined as Room | undefined };

  const files: LiveFiles = {
    iterateContents: () => [...rows].map(([path, content]) => ({ path, content, info: undefined as never })),
    getContent: (path) => rows.get(parseFilePath(path)),
    latest: () => commits.length,
    findConflictPath: (path, label) => findConflictPath(path, label, (candidate) => !rows.has(candidate)),
    commit(edits, origin, { runInTransaction } = {}) {
      const changes = edits.map((edit) => {
        if ("move" in edit) throw new Error("moving files is not supported here");
        const path = "write" in edit ? edit.write : edit.delete;
        if (path === "full.txt") throw fail("too_large", "The workspace is full.");
        if (path === "long.txt") throw fail("too_large", "“” ".repeat(50));
        if (path === "taken.txt") throw fail("conflict", "The path is taken.");
        return { path, before: rows.get(path), after: "write" in edit ? edit.content : undefined };
      });
      for (const { path, after } of changes) {
        if (after === undefined) rows.delete(path);
        else rows.set(path, after);
      }
      if (edits.length > 0) commits.push({ edits, origin });
      runInTransaction?.();
      if (edits.length === 0) return { overlaps: [], patches: [] };
      current.room?.applyCommit({ branch: "main", version: commits.length, origin, changes });
      return { version: { id: commits.length } as Version, overlaps: [], patches: [] };
    },
  };

  const store: LiveStorage = {
    get hasTail() {
      return storage.tail.length > 0;
    },
    get needsSnapshot() {
      return storage.tail.length > 20;
    },
    readSettled: (version) =>
      storage.version === version && storage.tail.length === 0 && !storage.damaged ? storage.snapshot : undefined,
    read: () =>
      storage.damaged ? undefined : [...(storage.snapshot ? [storage.snapshot.whole] : []), ...storage.tail],
    getSteps: () => storage.steps,
    addSteps: (steps) => void (storage.steps += steps),
    getClientId: () => storage.client,
    renewClientId: () => (storage.client += 2 ** 32),
    append: (update) => storage.tail.push(update) > 0,
    replace(snapshot, version) {
      storage.snapshot = snapshot;
      storage.version = version;
      storage.tail = [];
    },
    forget() {
      storage.client += 2 ** 32;
      storage.snapshot = undefined;
      storage.tail = [];
      storage.damaged = false;
      storage.steps = 0;
    },
  };

  /** Reopens the room, as after a crash or hibernation: only stored state is left. */
  const open = () => (current.room = new Room({ branch: "main", files, store }));
  return { rows, commits, storage, files, store, current, open, room: open() };
}

/** A client like y-websocket's. Its outgoing messages are sent by `flush`. */
export class TestClient implements Peer {
  readonly doc = new Y.Doc();
  readonly awareness = new Awareness(this.doc);
  readonly user: string;
  readonly mayWrite: boolean;
  clients: readonly number[] = [];
  lastSeenAt = Date.now();
  closed: { code: number; reason: string } | undefined;
  received: Uint8Array[] = [];
  #room: Room;
  #outbox: Uint8Array[] = [];

  constructor(room: Room, { user = "owner", mayWrite = true } = {}) {
    this.#room = room;
    this.user = user;
    this.mayWrite = mayWrite;
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== this) this.sendSync((encoder) => writeUpdate(encoder, update));
    });
    this.awareness.on("update", ({ added, updated, removed }: Record<"added" | "updated" | "removed", number[]>) =>
      this.sendPresence([...added, ...updated, ...removed]),
    );
    this.connect();
  }

  get files(): Y.Map<Y.Text> {
    return this.doc.getMap<Y.Text>("files");
  }

  text(path: string): string | undefined {
    return this.files.get(path)?.toString();
  }

  all(): Record<string, string> {
    return this.files.toJSON() as Record<string, string>;
  }

  /** Connects on a new socket, for example after the host was down. */
  connect(room = this.#room): void {
    this.#room = room;
    this.closed = undefined;
    this.clients = [];
    this.#outbox = [];
    room.join(this);
    this.sendSync((encoder) => writeSyncStep1(encoder, this.doc));
    this.sendPresence([this.doc.clientID]);
    this.flush();
  }

  /** Keeps its socket while the object hibernates. */
  stay(room: Room): void {
    this.#room = room;
    room.restore(this);
  }

  sendPresence(clients: number[]): void {
    const known = clients.filter((client) => this.awareness.meta.has(client));
    this.sendRaw(
      createFrame(1, (encoder) => writeVarUint8Array(encoder, encodeAwarenessUpdate(this.awareness, known))),
    );
  }

  sendSync(write: Parameters<typeof createFrame>[1]): void {
    this.sendRaw(createFrame(0, write));
  }

  sendRaw(bytes: Uint8Array): void {
    this.#outbox.push(bytes);
  }

  /** Sends queued messages until there are none left. */
  flush(): void {
    for (let next = this.#outbox.shift(); next && !this.closed; next = this.#outbox.shift())
      this.#room.handleMessage(this, next);
  }

  leave(): void {
    this.#room.leave(this);
  }

  setClients(clients: readonly number[]): void {
    this.clients = clients;
  }

  takeAllowance(): boolean {
    return true;
  }

  send(bytes: Uint8Array): void {
    if (this.closed) return;
    this.received.push(bytes);
    const decoder = createDecoder(bytes);
    const kind = readVarUint(decoder);
    if (kind === 0) {
      const encoder = createEncoder();
      writeVarUint(encoder, 0);
      readSyncMessage(decoder, encoder, this.doc, this);
      const reply = toUint8Array(encoder);
      if (reply.length > 1) this.sendRaw(reply);
    }
    if (kind === 1) applyAwarenessUpdate(this.awareness, readVarUint8Array(decoder), this);
    if (kind === 3) this.sendPresence([...this.awareness.getStates().keys()]);
  }

  close(code: number, reason: string): void {
    this.closed ??= { code, reason };
    this.leave();
  }
}

const connectedClients: TestClient[] = [];

/** Connects a client that shows its presence. */
export function connect(...options: ConstructorParameters<typeof TestClient>): TestClient {
  const client = new TestClient(...options);
  client.awareness.setLocalState({ name: "Somebody" });
  client.flush();
  connectedClients.push(client);
  return client;
}

/** Stops the timers that renew presence. */
export function disconnectAll(): void {
  for (const client of connectedClients.splice(0)) client.awareness.destroy();
}

/** Flushes all clients in turn until no messages are left. */
export function settle(...clients: TestClient[]): void {
  for (let round = 0; round < 10; round += 1) for (const client of clients) client.flush();
}

function createFrame(kind: number, write: (encoder: ReturnType<typeof createEncoder>) => void): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, kind);
  write(encoder);
  return toUint8Array(encoder);
}
