import type { Automaton, Node } from "./automaton.ts";
import { matchesToken, slash } from "./path-pattern.ts";

/** Runs an automaton on all of its paths at once. Sets of nodes are lists without duplicates, in any order. */
export class Simulation {
  readonly #nodes: readonly Node[];
  readonly #starts: readonly number[];
  /** The round in which each node was added last. */
  readonly #added: Float64Array;
  #round = 0;
  #steps = 0;

  constructor({ nodes, starts }: Automaton) {
    this.#nodes = nodes;
    this.#starts = starts;
    this.#added = new Float64Array(nodes.length);
  }

  /** Nodes and edges visited so far. */
  get steps(): number {
    return this.#steps;
  }

  start(): number[] {
    const reached: number[] = [];
    this.#round++;
    for (const index of this.#starts) this.#enter(reached, index);
    return reached;
  }

  /** Writes the nodes that a character leads to into `reached`. */
  advance(from: readonly number[], code: number, reached: number[] = []): number[] {
    reached.length = 0;
    this.#round++;
    let steps = from.length;
    for (const index of from) {
      const { loop, edges } = this.#nodes[index] as Node;
      if (loop !== undefined && (loop === "folders" || code !== slash)) this.#add(reached, index);
      for (const { token, target } of edges) if (matchesToken(token, code)) this.#enter(reached, target);
      steps += edges.length;
    }
    this.#steps += steps;
    return reached;
  }

  isAccepting(nodes: readonly number[]): boolean {
    return nodes.some((index) => this.#nodes[index]?.isAccepting);
  }

  /** Adds a node, and also its successors if it stands for folders, which may be absent. Not used for loops. */
  #enter(reached: number[], index: number): void {
    this.#add(reached, index);
    const { loop, edges } = this.#nodes[index] as Node;
    if (loop === "folders") for (const { target } of edges) this.#add(reached, target);
  }

  #add(reached: number[], index: number): void {
    if (this.#added[index] === this.#round) return;
    this.#added[index] = this.#round;
    reached.push(index);
  }
}
