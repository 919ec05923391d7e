import type { ChannelMessage, ChannelMessageList, ChannelQuery, TeamFrame } from "@thinkery/sdk";
import { createStore, type Store } from "../store.ts";
import { addMessage, appendPage, mergeNewest, type MessagePages, prependPage } from "./message-pages.ts";
import type { TeamLink } from "./team-link.ts";

export interface LogState extends MessagePages {
  /** Undefined until the first page is loaded. */
  at?: number;
  loading?: "first" | "older" | "newer" | undefined;
  error?: Error | undefined;
}

type LogQuery = Partial<Pick<ChannelQuery, "since" | "until" | "before" | "newest" | "limit" | "thread">>;

export interface LogOptions {
  link: TeamLink;
  channel: string;
  /** Only this message and its replies. */
  thread?: string | undefined;
  /** The message to show first. The latest one without it. */
  around?: string | undefined;
  load(query: LogQuery): Promise<ChannelMessageList>;
}

const pageSize = 60;

/** The messages of a channel or a thread, page by page, and live at the end. */
export class MessageLog {
  readonly #options: LogOptions;
  readonly #store: Store<LogState> = createStore<LogState>({ messages: [], hasOlder: false, hasNewer: false });
  #subscriberCount = 0;
  #stop: (() => void) | undefined;
  /** What arrived during each request that is under way. */
  readonly #missed = new Set<ChannelMessage[]>();
  #round = 0;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  readonly get = (): LogState => this.#store.get();

  readonly subscribe = (listener: () => void): (() => void) => {
    const unsubscribe = this.#store.subscribe(listener);
    if (++this.#subscriberCount === 1) this.#start();
    return () => {
      unsubscribe();
      if (--this.#subscriberCount > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  };

  /** Adds a message that this page has posted; its frame may take a moment. */
  add(message: ChannelMessage): void {
    if (!this.#contains(message)) return;
    for (const missed of this.#missed) missed.push(message);
    this.#store.set({ ...this.get(), ...addMessage(this.get(), message) });
  }

  loadOlder(): Promise<void> {
    const first = this.get().messages[0];
    if (!first || !this.get().hasOlder) return Promise.resolve();
    return this.#load("older", { before: first.id }, (pages, list) =>
      prependPage(pages, list.messages, list.previous !== undefined),
    );
  }

  loadNewer(): Promise<void> {
    const last = this.get().messages.at(-1);
    if (!last || !this.get().hasNewer) return Promise.resolve();
    return this.#load("newer", { since: last.id }, (pages, list) =>
      appendPage(pages, list.messages, list.next !== undefined),
    );
  }

  /** Shows the end of the channel, wherever the reader is. */
  showLatest(): Promise<void> {
    return this.#load("first", { newest: "1" }, (_pages, list) => toPages(list));
  }

  /** Loads again what is shown first. */
  retry(): Promise<void> {
    return this.#loadFirst();
  }

  #start(): void {
    this.#stop = this.#options.link.listen((frame) => this.#receive(frame));
    // Shown before: what happened since then was missed.
    void (this.get().at === undefined ? this.#loadFirst() : this.#catchUp());
  }

  #receive(frame: TeamFrame): void {
    if (frame.type === "sync") {
      if (this.get().at !== undefined) void this.#catchUp();
      else if (this.get().error) void this.#loadFirst();
    } else if (frame.type === "message") this.add(frame.message);
  }

  #contains({ channel, thread, id }: ChannelMessage): boolean {
    if (channel !== this.#options.channel) return false;
    return this.#options.thread === undefined || thread === this.#options.thread || id === this.#options.thread;
  }

  async #loadFirst(): Promise<void> {
    const { around } = this.#options;
    if (around === undefined) return this.showLatest();
    // The page that ends with the message, and the one after it.
    await this.#load("first", { newest: "1", until: around }, (_pages, list) => ({ ...toPages(list), hasNewer: true }));
    await this.loadNewer();
  }

  #catchUp(): Promise<void> {
    return this.#load("newer", { newest: "1" }, (pages, list) => mergeNewest(pages, toPages(list)));
  }

  async #load(
    loading: NonNullable<LogState["loading"]>,
    query: LogQuery,
    merge: (pages: MessagePages, list: ChannelMessageList) => MessagePages,
  ): Promise<void> {
    if (this.get().loading === loading && loading !== "first") return;
    const round = loading === "first" ? ++this.#round : this.#round;
    const missed: ChannelMessage[] = [];
    this.#missed.add(missed);
    this.#store.set({ ...this.get(), loading, error: undefined });
    try {
      const { thread } = this.#options;
      const list = await this.#options.load({
        limit: pageSize,
        ...(thread === undefined ? {} : { thread }),
        ...query,
      });
      if (round !== this.#round) return;
      const pages = missed.reduce(addMessage, merge(this.get(), list));
      this.#store.set({ ...pages, at: Date.now() });
    } catch (error) {
      if (round === this.#round) this.#store.set({ ...this.get(), loading: undefined, error: error as Error });
    } finally {
      this.#missed.delete(missed);
    }
  }
}

const toPages = ({ messages, previous, next }: ChannelMessageList): MessagePages => ({
  messages,
  hasOlder: previous !== undefined,
  hasNewer: next !== undefined,
});
