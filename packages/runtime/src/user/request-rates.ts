import { fail } from "@thinkery/sdk";
import { RateLimiter } from "../host/rate-limiter.ts";

/** For tokens of users without a limit: more than any person or ordinary program sends. */
const defaultRequestsPerMinute = 30_000;
/** Requests are granted in portions, so that not each one costs a call. */
const maxPortion = 100;
/** A user may create more tokens, but not send more with them than so many could. */
const maxTokensAtFullRate = 5;
const allTokens = "all";

interface TokenRate {
  limiter: RateLimiter;
  perMinute: number;
}

/** How many requests each credential may still send. Kept in memory: a restart of the host grants a minute's worth. */
export class RequestRates {
  readonly #rates = new Map<string, TokenRate>();

  /** Grants a credential its next requests. Throws if it has used up what it may send for now. */
  grant(hash: string, perMinute = defaultRequestsPerMinute): number {
    const portion = Math.max(1, Math.min(maxPortion, Math.floor(perMinute / 60)));
    this.#take(hash, perMinute, portion, "token has sent");
    this.#take(allTokens, perMinute * maxTokensAtFullRate, portion, "user's tokens have together sent");
    return portion;
  }

  /** Counts a request that came without a credential, by a key of its own. Throws if there were too many. */
  take(key: string, perMinute = defaultRequestsPerMinute): void {
    this.#take(key, perMinute, 1, "webhook has received");
  }

  #take(hash: string, perMinute: number, portion: number, subject: string): void {
    let rate = this.#rates.get(hash);
    if (rate?.perMinute !== perMinute) {
      rate = { perMinute, limiter: new RateLimiter(perMinute, perMinute / 60) };
      this.#rates.set(hash, rate);
    }
    if (rate.limiter.take(portion)) return;
    const retryAfter = Math.ceil((60 * portion) / perMinute);
    throw fail(
      "rate_limited",
      `This ${subject} more than ${perMinute} requests a minute. Try again in ${retryAfter} s.`,
      { retryAfter },
    );
  }
}
