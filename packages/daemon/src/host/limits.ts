/** Limits of supervision. */
export interface Limits {
  /** Interval between pings. */
  pingMs: number;
  /** A ready child that does not respond for this long is killed. */
  silenceMs: number;
  /** A child that is not ready after this long is killed. */
  startMs: number;
  backoffMs: number;
  maxBackoffMs: number;
  /** Number of failures within the window after which supervision gives up. */
  failures: number;
  windowMs: number;
  /** Delay after giving up until a child with `canRetry` is started again. */
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
