import * as Y from "yjs";
import type { Snapshot } from "./live-store.ts";

/**
 * A document that nobody has open. New clients are served from the stored state, which takes a fraction of the time of
 * loading a document with many edits.
 */
export class SettledDocument {
  readonly #whole: Uint8Array;
  readonly vector: Uint8Array;

  constructor({ whole, vector }: Snapshot) {
    this.#whole = whole;
    this.vector = vector;
  }

  /** Encodes what a client with this state vector is missing. */
  encodeMissing(vector: Uint8Array): Uint8Array {
    return Y.decodeStateVector(vector).size === 0 ? this.#whole : Y.diffUpdate(this.#whole, vector);
  }
}
