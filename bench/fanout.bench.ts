import { once } from "node:events";
import { type Bench, compareMedians } from "./kit/bench.ts";
import { openHostSubject } from "./kit/host-subject.ts";
import { spawnNode, startModelServer } from "./kit/model.ts";
import { type Dial, type Frame, AgentSocket } from "./kit/subject.ts";

const clients = 100;
const events = 1000;
const rounds = 5;

/**
 * Ours has more to do: a whole turn, whose model says 1,000 words, all of which every client sees.
 * Node's `ws` has its 1,000 frames ready.
 */
export const fanout: Bench = {
  name: "fanout",
  about: `${events} events to ${clients} sockets, an agent's turn against Node's ws sending one by one`,
  async run() {
    const model = await startModelServer();
    const { house, create, dial } = await openHostSubject(model.base);
    await create("crowd", `zero-${events}`);
    const plain = spawnNode(new URL("fanout/one-by-one.ts", import.meta.url), [String(events)]);
    const [line] = (await once(plain.stdout!, "data")) as [Buffer];
    const ours = await Crowd.gather(dial, "crowd");
    const theirs = await Crowd.gather(() => ({ url: `ws://127.0.0.1:${line.toString().trim()}` }), "plain");

    const took: Record<"ours" | "theirs", number[]> = { ours: [], theirs: [] };
    await theirs.hear();
    await ours.hear();
    for (let round = 0; round < rounds; round++) {
      took.theirs.push(await theirs.hear());
      took.ours.push(await ours.hear());
    }
    ours.leave();
    theirs.leave();
    plain.kill("SIGKILL");
    await house.stop();
    await model.stop();
    return [
      compareMedians("to everybody, ours / ws", ["a turn of ours", took.ours], ["ws, one by one", took.theirs], 0.5),
    ];
  },
};

class Crowd {
  #talks: AgentSocket[] = [];
  #heard: number[] = [];
  #all: (() => void) | undefined;

  static async gather(dial: Dial, agent: string): Promise<Crowd> {
    const crowd = new Crowd();
    for (let client = 0; client < clients; client++)
      crowd.#talks.push(await AgentSocket.open(dial(agent), (frame) => crowd.#hear(client, frame)));
    return crowd;
  }

  /** Milliseconds until every client has all the words and knows that the turn is over. */
  async hear(): Promise<number> {
    this.#heard = this.#talks.map(() => 0);
    const everybody = new Promise<void>((resolve) => (this.#all = resolve));
    const begun = performance.now();
    await this.#talks[0]?.runTurn();
    await everybody;
    return performance.now() - begun;
  }

  leave(): void {
    for (const talk of this.#talks) talk.close();
  }

  #hear(client: number, { type, delta = "" }: Frame): void {
    if (type !== "text_delta") return;
    this.#heard[client] = (this.#heard[client] ?? 0) + delta.split("word").length - 1;
    if (this.#heard[client] === events && this.#heard.every((words) => words === events)) this.#all?.();
  }
}
