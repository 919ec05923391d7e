import { createRedactor, type Redact } from "../store/redact.ts";
import { type ModelEnv, collectProviders } from "./providers.ts";

/**
 * Redacts the API keys of this environment's providers. Depends on the environment alone, so every isolate knows them
 * from the start, whether or not it has opened a model.
 */
export function createKeyRedactor(env: ModelEnv): Redact {
  return createRedactor([...collectProviders(env).values()].flatMap(({ key }) => key ?? []));
}
