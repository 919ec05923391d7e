import * as Y from "yjs";
import type { Snapshot } from "./live-store.ts";

/**
 * A document that nobody has open. What newcomers need of it is read off what is stored, which takes a fraction of the
 * time that making it does where much was typed.
 */
export class SettledDocument {
  readonly #whole: Uint8Array;
  readonly vector: Uint8Array;

  constructor({ whole, vector }: Snapshot) {
    this.#whole = whole;
    this.vector = vector;
  }

  /** What somebody lacks who has this much. */
  encodeMissing(vector: Uint8Array): Uint8Array {
    return Y.decodeStateVector(vector).size === 0 ? this.#whole : Y.diffUpdate(this.#whole, vector);
  }
}
