/**
 * Returns the code of an agent without the SDK between it and its host. `onMessage` and `describe` are bodies of async
 * functions that may return a response; they have `request`, `env`, `payload`, and `call` and `say`.
 */
export const createRawAgent = ({
  onMessage = "",
  describe = "",
}: {
  onMessage?: string;
  describe?: string;
}): string => `
const inner = defineAgent({ onMessage() {} });
const kept = [];
const done = () => Response.json({ state: { set: {}, deleted: [] } });
async function onMessage(request, env, payload, call, say) {
${onMessage}
}
async function describe(request, env, normal) {
${describe}
}
export default {
  async fetch(request, env) {
    const route = new URL(request.url).pathname.slice(1);
    if (route === "describe")
      return (await describe(request, env, await (await inner.fetch(request.clone(), env)).json())) ?? inner.fetch(request, env);
    if (route !== "message") return inner.fetch(request, env);
    /** Calls the host with a value, or with text as it is. */
    const call = (name, input) =>
      env.HOST.call(name, typeof input === "string" ? input : JSON.stringify(input)).then(
        (output) => "got " + output,
        (error) => "refused: " + error.message,
      );
    const say = (text) => env.HOST.call("reply", JSON.stringify({
      operations: [{ reply: 0, type: "write", text: typeof text === "string" ? text : JSON.stringify(text) }],
    }));
    return (await onMessage(request, env, await request.json(), call, say)) ?? done();
  },
};`;
