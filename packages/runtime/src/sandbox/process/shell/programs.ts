import { type Command, defineCommand } from "just-bash/browser";

/** Programs that scripts are full of, and that the interpreter comes without. */
export const programs: Command[] = [
  defineCommand("mktemp", async (args, { fs, env, cwd }) => {
    const isFolder = args.some((arg) => /^-[a-z]*d|^--directory$/.test(arg));
    const template = args.find((arg) => arg.includes("XXX"));
    const made = (template ?? "tmp.XXXXXXXXXX").replace(/X{3,}(?!.*X{3})/, (places) =>
      Array.from(places, () => letters[Math.floor(Math.random() * letters.length)]).join(""),
    );
    const path = template === undefined || args.includes("-t") ? `${env.get("TMPDIR") ?? "/tmp"}/${made}` : made;
    const place = fs.resolvePath(cwd, path);
    await (isFolder ? fs.mkdir(place) : fs.writeFile(place, ""));
    return { stdout: `${path}\n`, stderr: "", exitCode: 0 };
  }),
  defineCommand("realpath", async (args, { fs, cwd }) => {
    const found = args
      .filter((arg) => !arg.startsWith("-"))
      .map(async (path) => {
        const place = fs.resolvePath(cwd, path);
        return { path, real: await fs.realpath(place).catch(() => (args.includes("-m") ? place : undefined)) };
      });
    const all = await Promise.all(found);
    const missing = all.filter(({ real }) => real === undefined);
    return {
      stdout: all.flatMap(({ real }) => (real === undefined ? [] : `${real}\n`)).join(""),
      stderr: missing.map(({ path }) => `realpath: ${path}: No such file or directory\n`).join(""),
      exitCode: missing.length > 0 ? 1 : 0,
    };
  }),
  // A script that cleans up behind itself is to go on without: nothing that it left outside the workspace lasts.
  defineCommand("trap", async () => ({
    stdout: "",
    stderr: "trap: there are no signals here, and nothing is run at the end\n",
    exitCode: 0,
  })),
];

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
