/** All in milliseconds but `failures`. */
export interface Limits {
  /** How often a child is asked whether it lives. */
  pingMs: number;
  /** A child that was ready and is silent for so long is killed. */
  silenceMs: number;
  /** A child that is not ready after so long is killed. */
  startMs: number;
  backoffMs: number;
  maxBackoffMs: number;
  /** So many failures within the window, and it gives up. */
  failures: number;
  windowMs: number;
  /** After giving up, a child with `retry` is tried again after this pause. */
  retryMs: number;
}

export const defaultLimits: Limits = {
  pingMs: 1_000,
  silenceMs: 10_000,
  startMs: 30_000,
  backoffMs: 50,
  maxBackoffMs: 5_000,
  failures: 5,
  windowMs: 60_000,
  retryMs: 60_000,
};
