import { countAppBytes, type AppFacts, appMain, type NewApp } from "@thinkery/sdk";

/** An app as stored in the blob store: its modules by name. */
export interface AppSource {
  main: string;
  modules: Record<string, string>;
}

/** Serializes an app. Deterministic: the order in which modules are given does not matter. */
export function packApp({ code, modules = {} }: NewApp): Uint8Array {
  const sorted = Object.entries({ ...modules, [appMain]: code }).sort(([one], [other]) => (one < other ? -1 : 1));
  return new TextEncoder().encode(
    JSON.stringify({ main: appMain, modules: Object.fromEntries(sorted) } satisfies AppSource),
  );
}

export function unpackApp(content: Uint8Array): AppSource {
  return JSON.parse(new TextDecoder().decode(content)) as AppSource;
}

/** Returns the metadata of an app whose source is stored in this blob. */
export function createAppFacts(app: NewApp, blob: string, by: string): AppFacts {
  return {
    version: blob.slice(0, 12),
    blob,
    main: appMain,
    modules: Object.keys(app.modules ?? {}).sort(),
    bytes: countAppBytes(app),
    by,
  };
}
