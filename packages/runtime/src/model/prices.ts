import type { Price } from "@thinkery/sdk";
import type { Usage } from "./model.ts";

/** US dollars per million tokens at the standard rate, as the providers published them in November 2026. */
const knownPrices: Record<string, [input: number, output: number, cachedInput?: number]> = {
  "anthropic:claude-fable-5-1": [10, 50, 1],
  "anthropic:claude-opus-5-5": [4, 20, 0.2],
  "anthropic:claude-opus-5": [5, 25, 0.5],
  "anthropic:claude-opus-4-8": [5, 25, 0.5],
  "anthropic:claude-opus-4-5": [5, 25, 0.5],
  "anthropic:claude-opus-4-1": [15, 75, 1.5],
  "anthropic:claude-sonnet-5-5": [2, 10, 0.2],
  "anthropic:claude-sonnet-5": [2, 10, 0.2],
  "anthropic:claude-sonnet-4-6": [3, 15, 0.3],
  "anthropic:claude-sonnet-4-5": [3, 15, 0.3],
  "anthropic:claude-haiku-5-5": [0.1, 0.5],
  "anthropic:claude-haiku-4-5": [1, 5, 0.1],
  "openai:gpt-6-astra": [10, 50, 1],
  "openai:gpt-6.1-sol": [2, 10, 0.1],
  "openai:gpt-6-sol": [2, 10, 0.2],
  "openai:gpt-6-luna": [0.1, 0.5, 0.01],
  "openai:gpt-5.6-sol": [4, 20, 0.4],
  "openai:gpt-5.6-terra": [2, 12, 0.2],
  "openai:gpt-5.6-luna": [0.2, 1.2, 0.02],
  "openai:gpt-5.5": [5, 30, 0.5],
  "openai:gpt-5.4": [2.5, 15, 0.25],
  "openai:gpt-5.4-mini": [0.75, 4.5, 0.075],
  "openai:gpt-5.4-nano": [0.2, 1.25, 0.02],
  "openai:gpt-5.1": [1.25, 10, 0.125],
  "openai:gpt-5": [1.25, 10, 0.125],
  "openai:gpt-5-mini": [0.25, 2, 0.025],
  "openai:gpt-5-nano": [0.05, 0.4, 0.005],
  "openai:gpt-4.1": [2, 8, 0.5],
  "openai:gpt-4.1-mini": [0.4, 1.6, 0.1],
  "openai:gpt-4.1-nano": [0.1, 0.4, 0.025],
  "openai:gpt-4o": [2.5, 10, 1.25],
  "openai:gpt-4o-mini": [0.15, 0.6, 0.075],
  "openai:o3": [2, 8, 0.5],
  "openai:o3-mini": [1.1, 4.4, 0.55],
  "openai:o4-mini": [1.1, 4.4, 0.275],
  "google:gemini-3.8-flash": [0.75, 3.75, 0.075],
  "google:gemini-2.5-pro": [1.25, 10, 0.125],
  "google:gemini-2.5-flash": [0.3, 2.5, 0.03],
  "google:gemini-2.5-flash-lite": [0.1, 0.4, 0.01],
};

/** Providers that run on the user's machine, or call no model. */
const freeProviders = new Set(["scripted", "ollama", "lmstudio"]);

export interface Prices {
  /** Returns undefined if the price is unknown, which is shown as unknown, never as free. */
  getPrice(id: string): Price | undefined;
  /** Returns the cost of a call in US dollars. */
  computeCost(id: string, usage: Usage): number | undefined;
}

/**
 * Configured prices take precedence over the table above. The table applies to a name wherever it is served:
 * a proxy of a well-known model most likely has to be paid, and a budget should overcount rather than count nothing.
 */
export function openPrices(configured: Readonly<Record<string, Price>> = {}): Prices {
  const getPrice = (id: string): Price | undefined => {
    if (Object.hasOwn(configured, id)) return configured[id];
    if (freeProviders.has(id.slice(0, id.indexOf(":")))) return { input: 0, output: 0 };
    const name = [id, stripDate(id)].find((candidate) => Object.hasOwn(knownPrices, candidate));
    const [input, output, cachedInput] = (name && knownPrices[name]) || [];
    if (input === undefined || output === undefined) return undefined;
    return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
  };

  return {
    getPrice,
    computeCost(id, usage) {
      const price = getPrice(id);
      if (!price) return undefined;
      // Cached tokens are a part of the input, as reasoning is of the output.
      const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
      const input = (usage.inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input);
      return (input + usage.outputTokens * price.output) / 1_000_000;
    },
  };
}

/** Lists the known models of a provider, for when it cannot be asked. */
export function listPricedModels(provider: string): string[] {
  return Object.keys(knownPrices).filter((id) => id.startsWith(`${provider}:`));
}

// A snapshot costs what its model costs: gpt-4o-2024-08-06, claude-sonnet-4-5-20250929.
function stripDate(id: string): string {
  return id.replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$/, "");
}
