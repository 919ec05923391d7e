import { maxConsoleChars } from "../../bounds.ts";
import type { RunHost } from "../../run.ts";
import { failedAnswer } from "../answer.ts";
import { put } from "./absent.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { furnish, told } from "./furnish.ts";
import { inspect } from "./inspect.ts";
import type { AppSetting } from "./setting.ts";
import { describe } from "./trace.ts";
import { Written } from "./written.ts";

type Answerer = (request: Request, env: unknown) => unknown;

const NativeResponse = Response;
let written = new Written(maxConsoleChars);
let isFurnished = false;

/** Lets the app of this isolate answer a request. Whatever goes wrong in it is an answer, too. */
export async function serve(setting: AppSetting, request: Request, host: RunHost): Promise<Response> {
  try {
    const answerer = await open(setting);
    return checked(await answerer(request, capabilitiesOf(host)));
  } catch (error) {
    return failedAnswer(told(error));
  } finally {
    const text = written.text;
    written = new Written(maxConsoleChars);
    if (text) await host.heard(text).catch(() => {});
  }
}

/** The module is the same for all requests: what it keeps in variables stays from one to the next. */
async function open(setting: AppSetting): Promise<Answerer> {
  if (!isFurnished) {
    isFurnished = true;
    furnish(setting, (text) => written.add(text));
    for (const name of ["tools", "echo", "fetch"]) put(name, perRequest(name));
  }
  const { default: app } = (await import(`/${setting.main}`)) as { default: unknown };
  if (typeof app === "function" && !Function.prototype.toString.call(app).startsWith("class")) return app as Answerer;
  const answerer = (app as { fetch?: unknown } | null | undefined)?.fetch;
  if (typeof answerer !== "function") {
    throw new TypeError(`The default export of “${setting.main}” is ${inspect(app, { describe, depth: 0, room: 200 })}. It has to be an object with fetch(request, env), or such a function.`);
  }
  return (request, env) => (answerer as Answerer).call(app, request, env);
}

/** A capability belongs to the request it is used for. */
function perRequest(name: string): () => never {
  return () => {
    throw new Error(`In an app, ${name} comes with the request: fetch(request, env) { … env.${name} … }`);
  };
}

function checked(answer: unknown): Response {
  if (!(answer instanceof NativeResponse)) {
    throw new TypeError(`The app's fetch gave back ${inspect(answer, { describe, depth: 0, room: 200 })} where a Response is expected.`);
  }
  if (answer.webSocket) throw new TypeError("The app's fetch gave back a WebSocket. An app answers with plain responses.");
  return answer;
}
