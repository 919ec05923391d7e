/** Context windows by model name, whichever provider serves it. Only certain values: these are never looked up. */
const knownContexts: [name: RegExp, tokens: number][] = [
  [/claude-(?:3|[a-z]+-4(?:-[0-5])?(?:-20\d{6}|-latest)?$)/, 200_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-4o|gpt-4-turbo|gpt-5[\d.]*-chat|gpt-oss/, 128_000],
  // The input limit at the standard price; some accept more.
  [/gpt-[56]/, 272_000],
  [/^(?:.*\/)?o[134](?:-|$)/, 200_000],
  [/gemini-/, 1_048_576],
  [/llama-3\.3-70b-instruct-fp8-fast/, 24_000],
];

/** For models whose context window is unknown. */
export const defaultContextTokens = 128_000;

/** Scripts read nothing, so they have no real limit unless one is configured. */
const scriptContextTokens = 10_000_000;

/** A local model may be reloaded with another context length. */
const contextTtlMs = 600_000;
/** Local servers report the length only once the model is loaded, so look again soon. */
const unloadedTtlMs = 5_000;

export interface ContextWindows {
  /** Returns the model's context window in tokens, or the default if unknown. */
  getContextTokens(id: string): Promise<number>;
}

interface ContextSource {
  configured?: Readonly<Record<string, number>> | undefined;
  /**
   * Whether the model runs on this machine. The length it was loaded with then counts, not the one it was trained for.
   */
  isLocal(id: string): boolean;
  /** Asks the provider. Returns undefined if it does not say. */
  fetchContextTokens(id: string): Promise<number | undefined>;
}

/** Looks in the configuration, then in the table above, then asks the provider once. */
export function openContextWindows({ configured = {}, isLocal, fetchContextTokens }: ContextSource): ContextWindows {
  const results = new Map<string, { at: number; tokens: number | undefined }>();
  return {
    async getContextTokens(id) {
      const known =
        findKnownContext(id, configured, isLocal(id)) ?? (id.startsWith("scripted:") ? scriptContextTokens : undefined);
      if (known) return known;
      const last = results.get(id);
      const ttlMs = last?.tokens === undefined && isLocal(id) ? unloadedTtlMs : contextTtlMs;
      if (last && Date.now() - last.at < ttlMs) return last.tokens ?? defaultContextTokens;
      const tokens = await fetchContextTokens(id).catch(() => undefined);
      results.set(id, { at: Date.now(), tokens });
      return tokens ?? defaultContextTokens;
    },
  };
}

/** Returns what is known without asking a provider. */
export function findKnownContext(
  id: string,
  configured: Readonly<Record<string, number>>,
  local: boolean,
): number | undefined {
  if (Object.hasOwn(configured, id)) return configured[id];
  return local ? undefined : knownContexts.find(([name]) => name.test(id.slice(id.indexOf(":") + 1)))?.[1];
}
