/** How much a model reads at once, and how much of that something takes. */

/** By the model's name, wherever it is served. What is written here is sure, so that nobody has to be asked. */
const knownContexts: [name: RegExp, tokens: number][] = [
  [/claude-(?:3|[a-z]+-4(?:-[0-5])?(?:-20\d{6}|-latest)?$)/, 200_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-4o|gpt-4-turbo|gpt-5[\d.]*-chat|gpt-oss/, 128_000],
  // What these take as input at their usual price; some take more.
  [/gpt-[56]/, 272_000],
  [/^(?:.*\/)?o[134](?:-|$)/, 200_000],
  [/gemini-/, 1_048_576],
  [/llama-3\.3-70b-instruct-fp8-fast/, 24_000],
];

/** When nobody says. */
export const defaultContextTokens = 128_000;

/** A script is played, not read: only who configures it gives it a limit. */
const scriptContextTokens = 10_000_000;

/** A model that is loaded now may have been loaded anew with another length. */
const freshForMs = 600_000;
/** Programs of this machine say it once they have loaded the model. */
const unknownLocalForMs = 5_000;

export interface ContextWindows {
  /** How many tokens the model of that id reads at once, as far as is known. */
  getContextTokens(id: string): Promise<number>;
}

interface ContextSource {
  configured?: Readonly<Record<string, number>> | undefined;
  /** Does it run on this machine? How it was loaded counts then, not how it was made. */
  isLocal(id: string): boolean;
  /** What its provider says; nothing where it says nothing. */
  ask(id: string): Promise<number | undefined>;
}

/** What the configuration says, then what is known of the name, then what the provider says when it is asked once. */
export function openContextWindows({ configured = {}, isLocal, ask }: ContextSource): ContextWindows {
  const answers = new Map<string, { at: number; tokens: number | undefined }>();
  return {
    async getContextTokens(id) {
      const known =
        findKnownContext(id, configured, isLocal(id)) ?? (id.startsWith("scripted:") ? scriptContextTokens : undefined);
      if (known) return known;
      const last = answers.get(id);
      const keep = last?.tokens === undefined && isLocal(id) ? unknownLocalForMs : freshForMs;
      if (last && Date.now() - last.at < keep) return last.tokens ?? defaultContextTokens;
      const tokens = await ask(id).catch(() => undefined);
      answers.set(id, { at: Date.now(), tokens });
      return tokens ?? defaultContextTokens;
    },
  };
}

/** What is known without asking anybody. */
export function findKnownContext(
  id: string,
  configured: Readonly<Record<string, number>>,
  local: boolean,
): number | undefined {
  if (Object.hasOwn(configured, id)) return configured[id];
  return local ? undefined : knownContexts.find(([name]) => name.test(id.slice(id.indexOf(":") + 1)))?.[1];
}
