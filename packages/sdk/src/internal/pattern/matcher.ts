import { buildAutomaton } from "./automaton.ts";
import type { Step } from "./path-pattern.ts";
import { Simulation } from "./simulation.ts";

/** A set of nodes that the automaton can be in, and where each character leads from there. */
interface State {
  nodes: readonly number[];
  isAccepting: boolean;
  next: Map<number, State>;
}

/** Nodes and transitions that are cached. A pattern that needs more gains nothing from a cache. */
const maxCacheSize = 50_000;

/**
 * Matches texts against a pattern without backtracking: all alternatives are followed at once, so the time is at most
 * proportional to the length of the text times the size of the pattern. Sets of nodes are cached with where they lead
 * (a deterministic automaton that is built lazily), so that most characters take one lookup.
 */
export class Matcher {
  readonly #simulation: Simulation;
  #cache: Map<string, State> | undefined = new Map();
  #cacheSize = 0;
  #start: State | undefined;
  #lookups = 0;

  constructor(alternatives: readonly (readonly Step[])[]) {
    this.#simulation = new Simulation(buildAutomaton(alternatives));
  }

  /** The work done so far: cache lookups, and nodes and edges visited. */
  get steps(): number {
    return this.#lookups + this.#simulation.steps;
  }

  matches(text: string): boolean {
    if (!this.#cache) return this.#simulate(text);
    let state = (this.#start ??= this.#getState(this.#simulation.start(), this.#cache));
    for (let at = 0; at < text.length; at++) {
      const code = text.codePointAt(at) as number;
      if (code > 0xffff) at++;
      this.#lookups++;
      state = state.next.get(code) ?? this.#advance(state, code, this.#cache);
      if (state.nodes.length === 0) return false;
    }
    if (this.#cacheSize > maxCacheSize) {
      this.#cache = undefined;
      this.#start = undefined;
    }
    return state.isAccepting;
  }

  #simulate(text: string): boolean {
    let nodes = this.#simulation.start();
    let spare: number[] = [];
    for (let at = 0; at < text.length && nodes.length > 0; at++) {
      const code = text.codePointAt(at) as number;
      if (code > 0xffff) at++;
      [nodes, spare] = [this.#simulation.advance(nodes, code, spare), nodes];
    }
    return this.#simulation.isAccepting(nodes);
  }

  #advance(state: State, code: number, cache: Map<string, State>): State {
    const next = this.#getState(this.#simulation.advance(state.nodes, code), cache);
    state.next.set(code, next);
    this.#cacheSize++;
    return next;
  }

  #getState(nodes: number[], cache: Map<string, State>): State {
    const key = nodes.sort((one, other) => one - other).join();
    const known = cache.get(key);
    if (known) return known;
    const state: State = { nodes, isAccepting: this.#simulation.isAccepting(nodes), next: new Map() };
    cache.set(key, state);
    this.#cacheSize += 1 + nodes.length;
    return state;
  }
}
