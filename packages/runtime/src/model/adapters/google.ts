import type { Model, ModelSettings } from "../model.ts";
import { getEffort } from "../reasoning.ts";
import type { WireOptions } from "../wire/call.ts";
import { createRedirectError } from "../wire/create-model-error.ts";
import { createAiSdkModel } from "./ai-sdk.ts";

/** Google's native format, through the AI SDK. */
export async function createGoogleModel(options: WireOptions): Promise<Model> {
  const { createGoogle } = await import("@ai-sdk/google");
  const google = createGoogle({
    baseURL: options.base,
    // Without a key the provider rejects the call, and our error names the variable to set.
    apiKey: options.key || "none",
    fetch: createGuardedFetch(options),
    ...(options.headers ? { headers: options.headers } : {}),
  });
  // Later models only know levels, which the AI SDK derives from the effort.
  const hasBudget = /^(models\/)?gemini-2\.5/.test(options.model);
  const createThinking = (settings: ModelSettings | undefined) => ({
    includeThoughts: getEffort(settings) !== "none",
    ...(hasBudget && settings?.thinkingBudget !== undefined ? { thinkingBudget: settings.thinkingBudget } : {}),
  });
  const supportsThinking = /^(models\/)?gemini-(2\.5|[3-9])/.test(options.model);
  return createAiSdkModel(google(options.model), {
    ...options,
    ...(supportsThinking
      ? { providerOptions: (settings) => ({ google: { thinkingConfig: createThinking(settings) } }) }
      : {}),
  });
}

/** Rejects redirects, which would carry the key elsewhere. */
const createGuardedFetch =
  (options: WireOptions): typeof fetch =>
  async (input, init) => {
    const response = await options.fetch(input as never, { ...init, redirect: "manual" } as never);
    if (response.status < 300 || response.status >= 400) return response;
    void response.body?.cancel().catch(() => {});
    throw createRedirectError(options, response.status);
  };
