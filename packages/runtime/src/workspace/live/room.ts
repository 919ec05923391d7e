import type { Commit } from "../commits.ts";
import {
  createAnswerFrame,
  decodeSafely,
  parseFrame,
  createPresenceFrame,
  parsePresences,
  presenceQueryFrame,
  createUpdateFrame,
  createVectorFrame,
} from "./frames.ts";
import { LiveDocument, type LiveFiles } from "./live-document.ts";
import { LiveError, toLiveError, SpoiltDocumentError } from "./live-error.ts";
import type { LiveStorage } from "./live-store.ts";
import { Presences, type PresenceOwner } from "./presences.ts";
import { SettledDocument } from "./settled-document.ts";

/** Somebody who is connected to a room. */
export interface Peer extends PresenceOwner {
  readonly user: string;
  readonly mayWrite: boolean;
  /** What they asked for themselves may be larger than what others may make them read. */
  send(frame: Uint8Array, asked?: boolean): void;
  close(code: number, reason: string): void;
  /** May this much more be sent in answer to what they ask for, or shown to others? */
  hasAllowance(what: "ask" | "show", bytes: number): boolean;
}

interface RoomOptions {
  branch: string;
  files: LiveFiles;
  store: LiveStorage;
}

/** A branch's live document, and everybody who is connected to it. */
export class Room {
  readonly #options: RoomOptions;
  readonly #peers = new Set<Peer>();
  readonly #presences = new Presences<Peer>();
  /** Those who sent something that builds on what is not here. */
  readonly #incompletePeers = new Set<Peer>();
  #document: LiveDocument | undefined;
  /** What there is to tell of the document while nobody has a need to change it. */
  #settledDocument: SettledDocument | undefined;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#peers.size === 0;
  }

  /** Begins as y-websocket's own server does: with what is here, and who. */
  join(peer: Peer): void {
    this.#runGuarded(peer, () => {
      const { vector } = this.#getReadableDocument();
      this.#peers.add(peer);
      peer.send(createVectorFrame(vector));
      this.#sendPresences(peer);
    });
  }

  /** One who stayed connected while the object slept. The document is opened when there is something to do with it. */
  restore(peer: Peer): void {
    this.#peers.add(peer);
    this.#presences.restore(peer);
  }

  leave(peer: Peer): void {
    this.#peers.delete(peer);
    this.#incompletePeers.delete(peer);
    const gone = this.#presences.leave(peer);
    if (gone.length > 0) this.#broadcast(createPresenceFrame(gone));
    if (this.isEmpty) this.#close();
  }

  /** A message that is wrong costs its sender the connection, and nobody else anything. */
  handleMessage(peer: Peer, message: string | ArrayBuffer | Uint8Array): void {
    this.#runGuarded(peer, () => {
      const frame = parseFrame(message);
      if (frame.kind === "vector") this.#sendMissing(peer, frame.vector);
      if (frame.kind === "update") this.#receive(peer, frame.update);
      if (frame.kind === "presence") this.#receivePresences(peer, frame.presence);
      if (frame.kind === "presence wanted") this.#sendPresences(peer);
    });
  }

  /** A commit that was made on this branch, by whomever. */
  applyCommit(commit: Commit): void {
    try {
      // One that is only opened now comes with the commit in it.
      const news = this.#document ? this.#document.applyCommit(commit) : void this.#openDocument();
      if (news) this.#broadcast(createUpdateFrame(news));
    } catch (error) {
      this.#handleFailure(error);
      for (const peer of this.#peers) peer.send(createUpdateFrame(this.#openDocument().encodeMissing()));
    }
  }

  /** The branch is gone. */
  dissolve(reason: string): void {
    this.#options.store.forget();
    this.#drop();
    for (const peer of this.#peers) peer.close(4404, reason);
  }

  #sendMissing(peer: Peer, vector: Uint8Array): void {
    const document = this.#getReadableDocument();
    const missing = decodeSafely(() => document.encodeMissing(vector));
    if (!peer.hasAllowance("ask", missing.length))
      throw new LiveError(1013, "You ask for the whole document too often.");
    peer.send(createAnswerFrame(missing), true);
  }

  #receive(peer: Peer, update: Uint8Array): void {
    // y-websocket answers every vector with an update, also from those who only read or have nothing.
    if (!peer.mayWrite || isEmptyUpdate(update)) return;
    const received = this.#openDocument().receive(update, peer.user, (clients) => this.#checkClients(peer, clients));
    const { news, corrected, gap, error } = received;
    if (news) {
      const frame = createUpdateFrame(news);
      for (const other of this.#peers) if (other !== peer || corrected) other.send(frame);
    }
    if (error) throw error;
    this.#requestMissing(peer, gap, news !== undefined);
  }

  /** Nobody edits under the id of somebody else who is here, which would take that one's own edits from them. */
  #checkClients(peer: Peer, clients: ReadonlySet<number>): void {
    for (const client of clients) {
      const speaker = this.#presences.getSpeaker(client);
      if (speaker && speaker !== peer && speaker.user !== peer.user)
        throw new LiveError(4409, "Somebody else edits under this id.");
    }
  }

  /** Whoever built on what is not here is asked for everything, once; and again when others have brought something. */
  #requestMissing(peer: Peer, gap: boolean, news: boolean): void {
    const ask = (one: Peer) => one.send(createVectorFrame(this.#openDocument().vector));
    if (gap && !this.#incompletePeers.has(peer)) {
      this.#incompletePeers.add(peer);
      ask(peer);
      return;
    }
    if (!news) return;
    if (!gap) this.#incompletePeers.delete(peer);
    const owing = [...this.#incompletePeers].filter((one) => one !== peer);
    for (const one of owing) {
      this.#incompletePeers.delete(one);
      ask(one);
    }
  }

  #receivePresences(peer: Peer, bytes: Uint8Array): void {
    const presences = parsePresences(bytes);
    if (!peer.hasAllowance("show", bytes.length)) return;
    const news = this.#presences.receive(peer, presences);
    if (news.length > 0) this.#broadcast(createPresenceFrame(news), peer);
  }

  #sendPresences(peer: Peer): void {
    const all = this.#presences.listVisible();
    if (all.length > 0) {
      const frame = createPresenceFrame(all);
      if (!peer.hasAllowance("ask", frame.length)) throw new LiveError(1013, "You ask who is here too often.");
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
    // Those who are here already have an older state of it, or one that is lost.
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
      const refusal = toLiveError(error);
      if (!refusal) this.#handleFailure(error);
      if (refusal instanceof SpoiltDocumentError) this.#drop();
      const { code, message } = refusal ?? new LiveError(1011, "Something went wrong here. The host's log says more.");
      peer.close(code, message);
    }
  }

  /** What is in memory may be half changed. Everything that anybody was told is stored, and so is everything that was committed. */
  #handleFailure(error: unknown): void {
    console.error(
      `the live document of branch ${this.#options.branch} failed and is opened anew: ${error instanceof Error ? error.message : "for an unknown reason"}`,
    );
    this.#drop();
  }
}

/** An update with nothing in it: no client has added anything, none has deleted anything. */
const isEmptyUpdate = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0;
