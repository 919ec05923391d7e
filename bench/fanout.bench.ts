import { once } from "node:events";
import { type Bench, compareMedians } from "./kit/bench.ts";
import { openHostSubject } from "./kit/host-subject.ts";
import { spawnNode, startModelServer } from "./kit/model.ts";
import { type Dial, type Frame, AgentSocket } from "./kit/subject.ts";

const clients = 100;
const events = 1000;
const rounds = 5;

/**
 * Our side does more work: a whole turn whose model streams 1,000 words to every client. Node's `ws` server sends 1,000
 * prepared frames.
 */
export const fanout: Bench = {
  name: "fanout",
  about: `${events} events to ${clients} sockets, an agent's turn against Node's ws sending one by one`,
  async run() {
    const model = await startModelServer();
    const { host, create, dial } = await openHostSubject(model.base);
    await create("crowd", `zero-${events}`);
    const plain = spawnNode(new URL("fanout/one-by-one.ts", import.meta.url), [String(events)]);
    const [line] = (await once(plain.stdout!, "data")) as [Buffer];
    const ours = await ClientGroup.connect(dial, "crowd");
    const theirs = await ClientGroup.connect(() => ({ url: `ws://127.0.0.1:${line.toString().trim()}` }), "plain");

    const times: Record<"ours" | "theirs", number[]> = { ours: [], theirs: [] };
    await theirs.measureTurn();
    await ours.measureTurn();
    for (let round = 0; round < rounds; round++) {
      times.theirs.push(await theirs.measureTurn());
      times.ours.push(await ours.measureTurn());
    }
    ours.close();
    theirs.close();
    plain.kill("SIGKILL");
    await host.stop();
    await model.stop();
    return [
      compareMedians(
        "to all clients, ours / ws",
        ["a turn of ours", times.ours],
        ["ws, one by one", times.theirs],
        0.5,
      ),
    ];
  },
};

class ClientGroup {
  #sockets: AgentSocket[] = [];
  #wordCounts: number[] = [];
  #onAllReceived: (() => void) | undefined;

  static async connect(dial: Dial, agent: string): Promise<ClientGroup> {
    const group = new ClientGroup();
    for (let client = 0; client < clients; client++)
      group.#sockets.push(await AgentSocket.open(dial(agent), (frame) => group.#handleFrame(client, frame)));
    return group;
  }

  /** Returns the milliseconds until every client has received all words and the end of the turn. */
  async measureTurn(): Promise<number> {
    this.#wordCounts = this.#sockets.map(() => 0);
    const allReceived = new Promise<void>((resolve) => (this.#onAllReceived = resolve));
    const startedAt = performance.now();
    await this.#sockets[0]?.runTurn();
    await allReceived;
    return performance.now() - startedAt;
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }

  #handleFrame(client: number, { type, delta = "" }: Frame): void {
    if (type !== "text_delta") return;
    const count = (this.#wordCounts[client] ?? 0) + delta.split("word").length - 1;
    this.#wordCounts[client] = count;
    if (count === events && this.#wordCounts.every((words) => words === events)) this.#onAllReceived?.();
  }
}
