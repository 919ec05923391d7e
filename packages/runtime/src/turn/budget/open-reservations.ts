import { addReservations, noReservation, type Reservation } from "../../store/usage-totals.ts";

/** What is reserved for calls in progress. A call that ends after everything was released counts no second time. */
export class OpenReservations {
  readonly #calls = new Set<Reservation>();

  get total(): Reservation {
    return [...this.#calls].reduce(addReservations, noReservation);
  }

  add(call: Reservation): void {
    this.#calls.add(call);
  }

  release(call: Reservation): void {
    this.#calls.delete(call);
  }

  releaseAll(): void {
    this.#calls.clear();
  }
}
