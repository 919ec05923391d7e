import { type Command, defineCommand } from "just-bash/browser";

/** Common programs that the interpreter lacks. */
export const programs: Command[] = [
  defineCommand("mktemp", async (args, { fs, env, cwd }) => {
    const isFolder = args.some((arg) => /^-[a-z]*d|^--directory$/.test(arg));
    const template = args.find((arg) => arg.includes("XXX"));
    const name = (template ?? "tmp.XXXXXXXXXX").replace(/X{3,}(?!.*X{3})/, (placeholder) =>
      Array.from(placeholder, () => letters[Math.floor(Math.random() * letters.length)]).join(""),
    );
    const path = template === undefined || args.includes("-t") ? `${env.get("TMPDIR") ?? "/tmp"}/${name}` : name;
    const fullPath = fs.resolvePath(cwd, path);
    await (isFolder ? fs.mkdir(fullPath) : fs.writeFile(fullPath, ""));
    return { stdout: `${path}\n`, stderr: "", exitCode: 0 };
  }),
  defineCommand("realpath", async (args, { fs, cwd }) => {
    const resolving = args
      .filter((arg) => !arg.startsWith("-"))
      .map(async (path) => {
        const fullPath = fs.resolvePath(cwd, path);
        return { path, real: await fs.realpath(fullPath).catch(() => (args.includes("-m") ? fullPath : undefined)) };
      });
    const all = await Promise.all(resolving);
    const missing = all.filter(({ real }) => real === undefined);
    return {
      stdout: all.flatMap(({ real }) => (real === undefined ? [] : `${real}\n`)).join(""),
      stderr: missing.map(({ path }) => `realpath: ${path}: No such file or directory\n`).join(""),
      exitCode: missing.length > 0 ? 1 : 0,
    };
  }),
  // Scripts that clean up on exit should continue without it: nothing outside the workspace persists anyway.
  defineCommand("trap", async () => ({
    stdout: "",
    stderr: "trap: not supported, nothing is run on signals or exit\n",
    exitCode: 0,
  })),
];

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
