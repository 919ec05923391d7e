// The protocol's schemas probe for `eval` when they are made; the page's CSP forbids it and would report each probe.
// Must be the first import of the page. `jitless` is zod's own setting, held on the global object.
(globalThis as { __zod_globalConfig?: { jitless?: boolean } }).__zod_globalConfig = { jitless: true };

export {};
