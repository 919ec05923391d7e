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

/** Lets the app of this isolate answer a request. Whatever goes wrong in it is an answer, too. */
export async function serve(setting: AppSettings, request: Request, host: RunHost): Promise<Response> {
  try {
    const answerer = await loadApp(setting);
    return requireResponse(await answerer(request, createCapabilities(host)));
  } catch (error) {
    return createErrorResponse(describeThrown(error));
  } finally {
    const text = consoleOutput.text;
    consoleOutput = new BoundedText(maxConsoleChars);
    if (text) await host.heard(text).catch(() => {});
  }
}

/** The module is the same for all requests: what it keeps in variables stays from one to the next. */
async function loadApp(setting: AppSettings): Promise<RequestHandler> {
  if (!isSetUp) {
    isSetUp = true;
    setUpGlobals(setting, (text) => consoleOutput.add(text));
    for (const name of ["tools", "echo", "fetch"]) defineGlobal(name, createPerRequestError(name));
  }
  const { default: app } = (await import(`/${setting.main}`)) as { default: unknown };
  if (typeof app === "function" && !Function.prototype.toString.call(app).startsWith("class"))
    return app as RequestHandler;
  const answerer = (app as { fetch?: unknown } | null | undefined)?.fetch;
  if (typeof answerer !== "function") {
    throw new TypeError(
      `The default export of “${setting.main}” is ${inspect(app, { describe, depth: 0, room: 200 })}. It has to be an object with fetch(request, env), or such a function.`,
    );
  }
  return (request, env) => (answerer as RequestHandler).call(app, request, env);
}

/** A capability belongs to the request it is used for. */
function createPerRequestError(name: string): () => never {
  return () => {
    throw new Error(`In an app, ${name} comes with the request: fetch(request, env) { … env.${name} … }`);
  };
}

function requireResponse(answer: unknown): Response {
  if (!(answer instanceof NativeResponse)) {
    throw new TypeError(
      `The app's fetch gave back ${inspect(answer, { describe, depth: 0, room: 200 })} where a Response is expected.`,
    );
  }
  if (answer.webSocket)
    throw new TypeError("The app's fetch gave back a WebSocket. An app answers with plain responses.");
  return answer;
}
