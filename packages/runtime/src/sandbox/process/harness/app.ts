import { maxConsoleChars } from "../../bounds.ts";
import type { RunHost } from "../../run.ts";
import { createErrorResponse } from "../error-response.ts";
import { defineGlobal } from "./absent.ts";
import { BoundedText } from "./bounded-text.ts";
import { createCapabilities } from "./capabilities.ts";
import { inspect } from "./inspect.ts";
import { setUpGlobals, describeThrown } from "./set-up-globals.ts";
import type { AppSettings } from "./settings.ts";
import { describe } from "./trace.ts";

type RequestHandler = (request: Request, env: unknown) => unknown;

const NativeResponse = Response;
let consoleOutput = new BoundedText(maxConsoleChars);
let isSetUp = false;

/** Lets the app of this isolate handle a request. Its errors become responses, too. */
export async function serve(settings: AppSettings, request: Request, host: RunHost): Promise<Response> {
  try {
    const handle = await loadApp(settings);
    return requireResponse(await handle(request, createCapabilities(host)));
  } catch (error) {
    return createErrorResponse(describeThrown(error));
  } finally {
    const text = consoleOutput.text;
    consoleOutput = new BoundedText(maxConsoleChars);
    if (text) await host.writeConsole(text).catch(() => {});
  }
}

/** Loads the app's module once for all requests, so its variables persist between them. */
async function loadApp(settings: AppSettings): Promise<RequestHandler> {
  if (!isSetUp) {
    isSetUp = true;
    setUpGlobals(settings, (text) => consoleOutput.add(text));
    for (const name of ["tools", "echo", "fetch"]) defineGlobal(name, createPerRequestError(name));
  }
  const { default: app } = (await import(`/${settings.main}`)) as { default: unknown };
  if (typeof app === "function" && !Function.prototype.toString.call(app).startsWith("class"))
    return app as RequestHandler;
  const handler = (app as { fetch?: unknown } | null | undefined)?.fetch;
  if (typeof handler !== "function") {
    throw new TypeError(
      `The default export of “${settings.main}” is ${inspect(app, { describe, depth: 0, maxChars: 200 })}. It must be an object with fetch(request, env), or such a function.`,
    );
  }
  return (request, env) => (handler as RequestHandler).call(app, request, env);
}

/** Capabilities belong to a request, so apps have none as globals. */
function createPerRequestError(name: string): () => never {
  return () => {
    throw new Error(`In an app, ${name} is passed with the request: fetch(request, env) { … env.${name} … }`);
  };
}

function requireResponse(value: unknown): Response {
  if (!(value instanceof NativeResponse)) {
    throw new TypeError(
      `The app's fetch returned ${inspect(value, { describe, depth: 0, maxChars: 200 })} instead of a Response.`,
    );
  }
  if (value.webSocket) throw new TypeError("The app's fetch returned a WebSocket. An app must return plain responses.");
  return value;
}
