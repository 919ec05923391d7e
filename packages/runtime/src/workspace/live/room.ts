import type { Commit } from "../commits.ts";
import { answerFrame, decoded, frameIn, presenceFrame, presencesIn, presenceWantedFrame, updateFrame, vectorFrame } from "./frames.ts";
import { LiveDocument, type LiveFiles } from "./live-document.ts";
import type { LiveStorage } from "./live-store.ts";
import { Presences, type Shower } from "./presences.ts";
import { Refusal, refusalOf, Spoilt } from "./refusal.ts";
import { SettledDocument } from "./settled.ts";

/** Somebody who is connected to a room. */
export interface Peer extends Shower {
  readonly user: string;
  readonly mayWrite: boolean;
  /** What they asked for themselves may be larger than what others may make them read. */
  send(frame: Uint8Array, asked?: boolean): void;
  close(code: number, reason: string): void;
  /** May this much more be sent in answer to what they ask for, or shown to others? */
  may(what: "ask" | "show", bytes: number): boolean;
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
  readonly #owing = new Set<Peer>();
  #document: LiveDocument | undefined;
  /** What there is to tell of the document while nobody has a need to change it. */
  #settled: SettledDocument | undefined;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#peers.size === 0;
  }

  /** Begins as y-websocket's own server does: with what is here, and who. */
  join(peer: Peer): void {
    this.#guarded(peer, () => {
      const { vector } = this.#told();
      this.#peers.add(peer);
      peer.send(vectorFrame(vector));
      this.#introduce(peer);
    });
  }

  /** One who stayed connected while the object slept. The document is opened when there is something to do with it. */
  restore(peer: Peer): void {
    this.#peers.add(peer);
    this.#presences.restore(peer);
  }

  leave(peer: Peer): void {
    this.#peers.delete(peer);
    this.#owing.delete(peer);
    const gone = this.#presences.leave(peer);
    if (gone.length > 0) this.#tell(presenceFrame(gone));
    if (this.isEmpty) this.#close();
  }

  /** A message that is wrong costs its sender the connection, and nobody else anything. */
  hear(peer: Peer, message: string | ArrayBuffer | Uint8Array): void {
    this.#guarded(peer, () => {
      const frame = frameIn(message);
      if (frame.kind === "vector") this.#answer(peer, frame.vector);
      if (frame.kind === "update") this.#receive(peer, frame.update);
      if (frame.kind === "presence") this.#show(peer, frame.presence);
      if (frame.kind === "presence wanted") this.#introduce(peer);
    });
  }

  /** A commit that was made on this branch, by whomever. */
  follow(commit: Commit): void {
    try {
      // One that is only opened now comes with the commit in it.
      const news = this.#document ? this.#document.follow(commit) : void this.#opened();
      if (news) this.#tell(updateFrame(news));
    } catch (error) {
      this.#failed(error);
      for (const peer of this.#peers) peer.send(updateFrame(this.#opened().missing()));
    }
  }

  /** The branch is gone. */
  dissolve(reason: string): void {
    this.#options.store.forget();
    this.#drop();
    for (const peer of this.#peers) peer.close(4404, reason);
  }

  #answer(peer: Peer, vector: Uint8Array): void {
    const document = this.#told();
    const missing = decoded(() => document.missing(vector));
    if (!peer.may("ask", missing.length)) throw new Refusal(1013, "You ask for the whole document too often.");
    peer.send(answerFrame(missing), true);
  }

  #receive(peer: Peer, update: Uint8Array): void {
    // y-websocket answers every vector with an update, also from those who only read or have nothing.
    if (!peer.mayWrite || isNothing(update)) return;
    const received = this.#opened().receive(update, peer.user, (clients) => this.#checkClients(peer, clients));
    const { news, corrected, gap, refusal } = received;
    if (news) {
      const frame = updateFrame(news);
      for (const other of this.#peers) if (other !== peer || corrected) other.send(frame);
    }
    if (refusal) throw refusal;
    this.#settle(peer, gap, news !== undefined);
  }

  /** Nobody edits under the id of somebody else who is here, which would take that one's own edits from them. */
  #checkClients(peer: Peer, clients: ReadonlySet<number>): void {
    for (const client of clients) {
      const speaker = this.#presences.speaker(client);
      if (speaker && speaker !== peer && speaker.user !== peer.user) throw new Refusal(4409, "Somebody else edits under this id.");
    }
  }

  /** Whoever built on what is not here is asked for everything, once; and again when others have brought something. */
  #settle(peer: Peer, gap: boolean, news: boolean): void {
    const ask = (one: Peer) => one.send(vectorFrame(this.#opened().vector));
    if (gap && !this.#owing.has(peer)) {
      this.#owing.add(peer);
      ask(peer);
      return;
    }
    if (!news) return;
    if (!gap) this.#owing.delete(peer);
    const owing = [...this.#owing].filter((one) => one !== peer);
    for (const one of owing) {
      this.#owing.delete(one);
      ask(one);
    }
  }

  #show(peer: Peer, bytes: Uint8Array): void {
    const presences = presencesIn(bytes);
    if (!peer.may("show", bytes.length)) return;
    const news = this.#presences.hear(peer, presences);
    if (news.length > 0) this.#tell(presenceFrame(news), peer);
  }

  #introduce(peer: Peer): void {
    const all = this.#presences.all();
    if (all.length > 0) {
      const frame = presenceFrame(all);
      if (!peer.may("ask", frame.length)) throw new Refusal(1013, "You ask who is here too often.");
      peer.send(frame);
    }
    for (const other of this.#presences.unknown()) if (other !== peer) other.send(presenceWantedFrame);
  }

  #tell(frame: Uint8Array, except?: Peer): void {
    for (const peer of this.#peers) if (peer !== except) peer.send(frame);
  }

  #told(): Pick<LiveDocument, "vector" | "missing"> {
    if (this.#document) return this.#document;
    const { store, files, branch } = this.#options;
    const stored = this.#settled ? undefined : store.settled(files.latest(branch));
    if (stored) this.#settled = new SettledDocument(stored);
    return this.#settled ?? this.#opened();
  }

  #opened(): LiveDocument {
    if (this.#document) return this.#document;
    const document = new LiveDocument(this.#options);
    this.#document = document;
    this.#settled = undefined;
    // Those who are here already have an older state of it, or one that is lost.
    if (document.news) this.#tell(updateFrame(document.news));
    return document;
  }

  #close(): void {
    try {
      this.#document?.close();
    } catch (error) {
      this.#failed(error);
    }
    this.#drop();
  }

  #drop(): void {
    this.#document = undefined;
    this.#settled = undefined;
  }

  #guarded(peer: Peer, work: () => void): void {
    try {
      work();
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal) this.#failed(error);
      if (refusal instanceof Spoilt) this.#drop();
      const { code, message } = refusal ?? new Refusal(1011, "Something went wrong here. The host's log says more.");
      peer.close(code, message);
    }
  }

  /** What is in memory may be half changed. Everything that anybody was told is stored, and so is everything that was committed. */
  #failed(error: unknown): void {
    console.error(`the live document of branch ${this.#options.branch} failed and is opened anew: ${error instanceof Error ? error.message : "for an unknown reason"}`);
    this.#drop();
  }
}

/** An update with nothing in it: no client has added anything, none has deleted anything. */
const isNothing = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0;
