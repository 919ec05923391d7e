import type { Commit } from "../commits.ts";
import {
  createReplyFrame,
  decodeSafely,
  parseFrame,
  createPresenceFrame,
  parsePresences,
  presenceQueryFrame,
  createUpdateFrame,
  createVectorFrame,
} from "./frames.ts";
import { LiveDocument, type LiveFiles } from "./live-document.ts";
import { LiveError, toLiveError, CorruptedDocumentError } from "./live-error.ts";
import type { LiveStorage } from "./live-store.ts";
import { Presences, type PresenceOwner } from "./presences.ts";
import { SettledDocument } from "./settled-document.ts";

/** A client connected to a room. */
export interface Peer extends PresenceOwner {
  readonly user: string;
  readonly mayWrite: boolean;
  /** A requested frame may be larger than frames that other peers cause. */
  send(frame: Uint8Array, isRequested?: boolean): void;
  close(code: number, reason: string): void;
  /** Takes bytes from the peer's rate limit for requests or presence; returns false if it is exceeded. */
  takeAllowance(kind: "request" | "presence", bytes: number): boolean;
}

interface RoomOptions {
  branch: string;
  files: LiveFiles;
  store: LiveStorage;
}

/** A branch's live document and its connected peers. */
export class Room {
  readonly #options: RoomOptions;
  readonly #peers = new Set<Peer>();
  readonly #presences = new Presences<Peer>();
  /** Peers that sent updates with missing dependencies. */
  readonly #incompletePeers = new Set<Peer>();
  #document: LiveDocument | undefined;
  /** Serves reads while nobody has changed the document. */
  #settledDocument: SettledDocument | undefined;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#peers.size === 0;
  }

  /** Starts like y-websocket's own server: with the state vector and the presences. */
  join(peer: Peer): void {
    this.#runGuarded(peer, () => {
      const { vector } = this.#getReadableDocument();
      this.#peers.add(peer);
      peer.send(createVectorFrame(vector));
      this.#sendPresences(peer);
    });
  }

  /** Restores a peer that stayed connected while the object hibernated. The document is opened when it is needed. */
  restore(peer: Peer): void {
    this.#peers.add(peer);
    this.#presences.restore(peer);
  }

  leave(peer: Peer): void {
    this.#peers.delete(peer);
    this.#incompletePeers.delete(peer);
    const departed = this.#presences.leave(peer);
    if (departed.length > 0) this.#broadcast(createPresenceFrame(departed));
    if (this.isEmpty) this.#close();
  }

  /** Handles a message. An invalid one closes the sender's connection and affects nobody else. */
  handleMessage(peer: Peer, message: string | ArrayBuffer | Uint8Array): void {
    this.#runGuarded(peer, () => {
      const frame = parseFrame(message);
      if (frame.kind === "vector") this.#sendMissing(peer, frame.vector);
      if (frame.kind === "update") this.#receive(peer, frame.update);
      if (frame.kind === "presence") this.#receivePresences(peer, frame.presence);
      if (frame.kind === "presence-query") this.#sendPresences(peer);
    });
  }

  /** Applies a commit on this branch and broadcasts it. */
  applyCommit(commit: Commit): void {
    try {
      // A document that is opened now already contains the commit.
      const update = this.#document ? this.#document.applyCommit(commit) : void this.#openDocument();
      if (update) this.#broadcast(createUpdateFrame(update));
    } catch (error) {
      this.#handleFailure(error);
      for (const peer of this.#peers) peer.send(createUpdateFrame(this.#openDocument().encodeMissing()));
    }
  }

  /** Disconnects all peers because the branch was removed. */
  dissolve(reason: string): void {
    this.#options.store.forget();
    this.#drop();
    for (const peer of this.#peers) peer.close(4404, reason);
  }

  #sendMissing(peer: Peer, vector: Uint8Array): void {
    const document = this.#getReadableDocument();
    const missing = decodeSafely(() => document.encodeMissing(vector));
    if (!peer.takeAllowance("request", missing.length))
      throw new LiveError(1013, "Too many requests for the whole document.");
    peer.send(createReplyFrame(missing), true);
  }

  #receive(peer: Peer, update: Uint8Array): void {
    // y-websocket replies to every state vector with an update, even if the client may only read or has no changes.
    if (!peer.mayWrite || isEmptyUpdate(update)) return;
    const result = this.#openDocument().receive(update, peer.user, (clients) => this.#checkClients(peer, clients));
    const { delta, corrected, gap, error } = result;
    if (delta) {
      const frame = createUpdateFrame(delta);
      for (const other of this.#peers) if (other !== peer || corrected) other.send(frame);
    }
    if (error) throw error;
    this.#requestMissing(peer, gap, delta !== undefined);
  }

  /** Throws if a peer edits under the id of another connected user, whose own edits would then be lost. */
  #checkClients(peer: Peer, clients: ReadonlySet<number>): void {
    for (const client of clients) {
      const owner = this.#presences.getOwner(client);
      if (owner && owner !== peer && owner.user !== peer.user)
        throw new LiveError(4409, "This client id belongs to another user.");
    }
  }

  /** Asks a peer with missing dependencies for its whole state: once, and again after others have sent something. */
  #requestMissing(peer: Peer, gap: boolean, hasChanged: boolean): void {
    const requestState = (from: Peer) => from.send(createVectorFrame(this.#openDocument().vector));
    if (gap && !this.#incompletePeers.has(peer)) {
      this.#incompletePeers.add(peer);
      requestState(peer);
      return;
    }
    if (!hasChanged) return;
    if (!gap) this.#incompletePeers.delete(peer);
    const others = [...this.#incompletePeers].filter((other) => other !== peer);
    for (const other of others) {
      this.#incompletePeers.delete(other);
      requestState(other);
    }
  }

  #receivePresences(peer: Peer, bytes: Uint8Array): void {
    const presences = parsePresences(bytes);
    if (!peer.takeAllowance("presence", bytes.length)) return;
    const changed = this.#presences.receive(peer, presences);
    if (changed.length > 0) this.#broadcast(createPresenceFrame(changed), peer);
  }

  #sendPresences(peer: Peer): void {
    const presences = this.#presences.listVisible();
    if (presences.length > 0) {
      const frame = createPresenceFrame(presences);
      if (!peer.takeAllowance("request", frame.length)) throw new LiveError(1013, "Too many presence requests.");
      peer.send(frame);
    }
    for (const other of this.#presences.listSilent()) if (other !== peer) other.send(presenceQueryFrame);
  }

  #broadcast(frame: Uint8Array, except?: Peer): void {
    for (const peer of this.#peers) if (peer !== except) peer.send(frame);
  }

  #getReadableDocument(): Pick<LiveDocument, "vector" | "encodeMissing"> {
    if (this.#document) return this.#document;
    const { store, files, branch } = this.#options;
    const stored = this.#settledDocument ? undefined : store.readSettled(files.latest(branch));
    if (stored) this.#settledDocument = new SettledDocument(stored);
    return this.#settledDocument ?? this.#openDocument();
  }

  #openDocument(): LiveDocument {
    if (this.#document) return this.#document;
    const document = new LiveDocument(this.#options);
    this.#document = document;
    this.#settledDocument = undefined;
    // Connected peers have an older state, or one that was lost.
    if (document.openingUpdate) this.#broadcast(createUpdateFrame(document.openingUpdate));
    return document;
  }

  #close(): void {
    try {
      this.#document?.close();
    } catch (error) {
      this.#handleFailure(error);
    }
    this.#drop();
  }

  #drop(): void {
    this.#document = undefined;
    this.#settledDocument = undefined;
  }

  #runGuarded(peer: Peer, work: () => void): void {
    try {
      work();
    } catch (error) {
      const liveError = toLiveError(error);
      if (!liveError) this.#handleFailure(error);
      if (liveError instanceof CorruptedDocumentError) this.#drop();
      const { code, message } = liveError ?? new LiveError(1011, "Internal error. See the host's log for details.");
      peer.close(code, message);
    }
  }

  /** Drops the document, which may be half changed. Everything that was sent or committed is stored. */
  #handleFailure(error: unknown): void {
    console.error(
      `the live document of branch ${this.#options.branch} failed and will be reopened: ${error instanceof Error ? error.message : "unknown error"}`,
    );
    this.#drop();
  }
}

/** Whether an update has neither insertions nor deletions. */
const isEmptyUpdate = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0;
