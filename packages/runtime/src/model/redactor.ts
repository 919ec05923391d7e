import { Redactor } from "@thinkery/sdk/internal";
import { type ModelEnv, collectProviders } from "./providers.ts";

/** Names of bindings that hold a secret: API keys, whether or not a provider uses them, the signing key, the token. */
const secretNamePattern = /_(?:KEY|TOKEN|SECRET)$/;

/**
 * Redacts the secrets of this environment. Depends on the environment alone, so every isolate knows them from the
 * start, whether or not it has opened a model.
 */
export function createSecretRedactor(env: ModelEnv): Redactor {
  const keys = [...collectProviders(env).values()].flatMap(({ key }) => key ?? []);
  const bindings = Object.entries(env).filter(([name]) => secretNamePattern.test(name));
  return new Redactor([...keys, ...bindings.flatMap(([, value]) => (typeof value === "string" ? value.trim() : []))]);
}
