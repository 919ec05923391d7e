import { readFile } from "node:fs/promises";

const file = /[\\/]agents[\\/]dist[\\/]lifecycle-[^\\/]+\.js$/;
const before = "const DEADMAN_ALARM_DELAY_MS = 3e4;";
const after = "const DEADMAN_ALARM_DELAY_MS = 3e3;";

/**
 * Before the Agents SDK runs what is due in an object, it sets the alarm half a minute ahead, in case the process dies
 * meanwhile. An agent whose heartbeat was running then would stay asleep for that long; with this it is a few seconds.
 */
export const earlyAlarm = {
  name: "early-alarm",
  setup(bundler) {
    bundler.onLoad({ filter: file }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!source.includes(before)) throw new Error(`${path} no longer has “${before}”.`);
      return { contents: source.replace(before, after), loader: "js" };
    });
    bundler.onEnd(({ metafile, errors }) => {
      const inputs = Object.keys(metafile?.inputs ?? {});
      if (errors.length > 0 || !inputs.some((input) => /[\\/]agents[\\/]dist[\\/]index\.js$/.test(input))) return;
      if (!inputs.some((input) => file.test(input)))
        throw new Error("The Agents SDK has no lifecycle module any more.");
    });
  },
};
