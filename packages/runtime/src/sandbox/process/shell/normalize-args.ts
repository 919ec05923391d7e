import type { Command, ExecResult, IFileSystem } from "just-bash/browser";

/**
 * Options as they are written everywhere, for programs that read them in one way only: “-n1” for “-n 1”, “cp -rf”, two
 * “-e”, “--color=never”. Whoever knows the real programs writes these without thinking.
 */

interface ProgramContext {
  fs: Pick<IFileSystem, "cp" | "readFile" | "resolvePath" | "stat">;
  cwd: string;
  /** Runs the program itself. */
  run(args: string[]): Promise<ExecResult>;
}

/** The arguments in the program's own way; or, where it would get them wrong, the answer. */
type ArgsNormalizer = (args: readonly string[], place: ProgramContext) => string[] | Promise<string[] | ExecResult>;

const normalizers: Record<string, ArgsNormalizer> = {
  xargs: (args) => {
    const end = findOperandStart(args, xargsValued);
    return [
      ...splitOptions(args.slice(0, end), xargsValued, {
        "--max-args": "-n",
        "--max-procs": "-P",
        "--replace": "-I",
        "--delimiter": "-d",
      }),
      ...args.slice(end),
    ];
  },
  grep: normalizeGrep,
  egrep: normalizeGrep,
  fgrep: normalizeGrep,
  sed: normalizeSed,
  ls: normalizeLs,
  diff: (args) => args.filter((arg) => !isColor(arg)),
  sort: (args) => splitOptions(args, "ktoST"),
  cut: (args) => args.flatMap(createShortener({ "--delimiter": "-d", "--fields": "-f", "--characters": "-c" })),
  cp: (args, place) =>
    checkCopyTarget(
      "cp",
      splitOptions(args, "t").flatMap((arg) =>
        arg === "-a" || arg === "--archive" ? ["-r", "-p"] : cpIdle.has(arg) ? [] : [arg],
      ),
      place,
    ),
  mv: (args, place) => checkCopyTarget("mv", [...args], place),
  awk: normalizeAwk,
};

/** Custom commands in place of the bundled ones: they rewrite their arguments, then run the bundled one. */
export const normalizedPrograms: readonly Command[] = Object.entries(normalizers).map(([name, normalize]) => ({
  name,
  async execute(args, { fs, cwd, origCommand: run }) {
    if (!run) throw new Error("command not found");
    const normalized = await normalize(args, { fs, cwd, run });
    return Array.isArray(normalized) ? run(normalized) : normalized;
  },
}));

const xargsValued = "InPdLsaE";
/** What is there is replaced, and links are followed, without being told. */
const cpIdle = new Set(["-f", "--force", "-L"]);

type ShortOptions = Readonly<Record<string, string>>;

/** A long option with its value by its short name. */
function createShortener(short: ShortOptions): (arg: string) => string[] {
  return (arg) => {
    const [, long = "", value = ""] = /^(--[a-z-]+)=(.*)$/s.exec(arg) ?? [];
    const name = Object.hasOwn(short, long) ? short[long] : undefined;
    return name === undefined ? [arg] : [name, value];
  };
}

/** The same for all, and “-rnA2” as “-r -n -A 2”; `valued` are the letters that something comes after. */
function splitOptions(args: readonly string[], valued: string, short: ShortOptions = {}): string[] {
  const parts: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    const end = /^-[A-Za-z0-9]./.test(arg) ? findValueStart(arg, valued) : 0;
    if (end === 0) parts.push(...createShortener(short)(arg));
    else
      parts.push(
        ...Array.from(arg.slice(1, end), (letter) => `-${letter}`),
        ...(end < arg.length ? [arg.slice(end)] : []),
      );
    if (takesNext(arg, valued) && at + 1 < args.length) parts.push(args[++at] as string);
  }
  return parts;
}

/** Where in “-rnA2” the value of its last letter begins, or would. */
function findValueStart(arg: string, valued: string): number {
  for (let at = 1; at < arg.length; at += 1) if (valued.includes(arg[at] as string)) return at + 1;
  return arg.length;
}

function takesNext(arg: string, valued: string): boolean {
  return (
    /^-[A-Za-z0-9]/.test(arg) && valued.includes(arg.at(-1) as string) && findValueStart(arg, valued) === arg.length
  );
}

/** Where the options end that a program has before what it is to run. */
function findOperandStart(args: readonly string[], valued: string): number {
  let at = 0;
  for (let arg = args[at]; arg !== undefined && isOption(arg); arg = args[at]) at += takesNext(arg, valued) ? 2 : 1;
  return at;
}

const isOption = (arg: string) => /^-./.test(arg);

const isFolder = (path: string, { fs, cwd }: ProgramContext) =>
  fs.stat(fs.resolvePath(cwd, path)).then(
    ({ isDirectory }) => isDirectory,
    () => false,
  );

const isColor = (arg: string) => /^--colou?r(?:=|$)/.test(arg);

const grepShort = {
  "--context": "-C",
  "--after-context": "-A",
  "--before-context": "-B",
  "--regexp": "-e",
  "--max-count": "-m",
  "--file": "-f",
};
/** They say how to read what is no text, or to say less of what cannot be read. */
const grepIdle = new Set(["-s", "--no-messages", "-a", "--text", "-I", "--line-buffered"]);

function normalizeGrep(args: readonly string[]): string[] {
  const options: string[] = [];
  const patterns: string[] = [];
  const operands: string[] = [];
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const lines = (arg: string) => (/^-\d+$/.test(arg) ? `-C${arg.slice(1)}` : arg);
  const given = splitOptions(args.slice(0, end).map(lines), "ABCmef", grepShort);
  let named = false;
  for (let at = 0; at < given.length; at += 1) {
    const arg = given[at] as string;
    const next = given[at + 1];
    if (arg === "-e" && next !== undefined) patterns.push(given[++at] as string);
    else if (["-A", "-B", "-C", "-m", "-f"].includes(arg) && next !== undefined)
      options.push(arg, given[++at] as string);
    else if (["--include", "--exclude", "--exclude-dir"].includes(arg) && next !== undefined)
      options.push(`${arg}=${given[++at]}`);
    else if (arg === "-H" || arg === "--with-filename") named = true;
    else if (grepIdle.has(arg) || isColor(arg)) continue;
    else if (isOption(arg)) options.push(arg);
    else operands.push(arg);
  }
  operands.push(...args.slice(end + 1));
  // Where there are two files, each is named.
  if (
    named &&
    operands.length > (patterns.length > 0 ? 0 : 1) &&
    !options.some((option) => ["-c", "-L", "-r", "-R"].includes(option))
  )
    operands.push("/dev/null");
  return [...options, ...(patterns.length > 0 ? ["-e", patterns.join("\n")] : []), "--", ...operands];
}

/** “3a\  text”: what is behind the backslash is the line, with the white space that it begins with. */
const oneLine =
  /^(\s{0,9}(?:(?:\d+|\$|\/(?:[^/\\\n]|\\.)+\/)(?:,(?:\d+|\$|\/(?:[^/\\\n]|\\.)+\/))?)?[\s!]{0,9}[aic])\\(?=[^\n])/;

async function normalizeSed(args: readonly string[], { fs, cwd }: ProgramContext): Promise<string[]> {
  const given = args.flatMap(createShortener({ "--expression": "-e" }));
  const options: string[] = [];
  const operands: string[] = [];
  let script = false;
  let suffix = "";
  for (let at = 0; at < given.length; at += 1) {
    const arg = given[at] as string;
    const [, ending = ""] = /^(?:-i|--in-place=)(.+)$/.exec(arg) ?? [];
    // “-in” is taken for two options: nobody wants copies that end with an n.
    if (ending && !/^-i[Enrsuz]+$/.test(arg)) {
      suffix = ending;
      options.push("-i");
    } else if ((arg === "-e" || arg === "--expression") && given[at + 1] !== undefined) {
      script = true;
      options.push("-e", (given[++at] as string).replace(oneLine, "$1\\\n"));
    } else if (arg === "-f" && given[at + 1] !== undefined) {
      script = true;
      options.push("-f", given[++at] as string);
    } else if (isOption(arg)) options.push(arg);
    else if (!script) {
      script = true;
      operands.push(arg.replace(oneLine, "$1\\\n"));
    } else operands.push(arg);
  }
  const files = options.includes("-e") || options.includes("-f") ? operands : operands.slice(1);
  if (suffix) {
    for (const file of files) {
      const name = file.slice(file.lastIndexOf("/") + 1);
      const kept = suffix.includes("*") ? file.slice(0, -name.length) + suffix.replaceAll("*", name) : file + suffix;
      await fs.cp(fs.resolvePath(cwd, file), fs.resolvePath(cwd, kept)).catch(() => {});
    }
  }
  return [...options, ...operands];
}

/**
 * Files before folders, as they are listed. The program writes an empty line between any two names; only folders have
 * one before them, or “ls *.ts | wc -l” would count it.
 */
async function normalizeLs(args: readonly string[], place: ProgramContext): Promise<string[] | ExecResult> {
  const options: string[] = [];
  const files: string[] = [];
  const folders: string[] = [];
  for (const arg of args) {
    if (isColor(arg)) continue;
    if (isOption(arg)) options.push(arg);
    else ((await isFolder(arg, place)) ? folders : files).push(arg);
  }
  const given = [...options, ...files, ...folders];
  const namesFolders = options.some((option) => /^-[A-Za-z0-9]*d|^--directory$/.test(option));
  if (files.length + folders.length < 2 || options.includes("--help")) return given;
  if (files.length === 0 && !namesFolders) return given;
  const listed = await place.run(given);
  const end =
    folders.length === 0 || namesFolders ? listed.stdout.length : listed.stdout.indexOf(`\n\n${folders[0]}:\n`);
  const names = listed.stdout.slice(0, Math.max(0, end));
  return { ...listed, stdout: names.replaceAll("\n\n", "\n") + listed.stdout.slice(names.length) };
}

/** What ends with a slash is a folder, or cannot be: nothing is called what the folder was to be called. */
async function checkCopyTarget(name: string, args: string[], place: ProgramContext): Promise<string[] | ExecResult> {
  const target = args.at(-1) ?? "";
  const source = args.find((arg) => !isOption(arg)) ?? "";
  if (!target.endsWith("/") || (await isFolder(target, place)) || (await isFolder(source, place))) return args;
  return { stdout: "", stderr: `${name}: cannot create regular file '${target}': Not a directory\n`, exitCode: 1 };
}

const awkValued = "fvF";
const assignment = /^[A-Za-z_]\w*=/;

/** Its program may be in a file, and what it is assigned may stand among its files. */
async function normalizeAwk(args: readonly string[], { fs, cwd }: ProgramContext): Promise<string[]> {
  const end = findOperandStart(args, awkValued);
  const given = splitOptions(args.slice(0, end), awkValued, {
    "--file": "-f",
    "--assign": "-v",
    "--field-separator": "-F",
  });
  const options: string[] = [];
  const programs: string[] = [];
  const assign = (text: string) => {
    const [, name, value = ""] = /^(O?[FR]S)=(.*)$/s.exec(text) ?? [];
    // These four are heeded only where the program itself says so.
    if (name) programs.unshift(`BEGIN { ${name} = "${value.replaceAll('"', '\\"')}" }`);
    else options.push("-v", text);
  };
  let isWhole = false;
  for (let at = 0; at < given.length; at += 1) {
    const arg = given[at] as string;
    const next = given[at + 1];
    if (arg === "-v" && next !== undefined) assign(given[++at] as string);
    else if (arg === "-F" && next !== undefined) options.push("-F", given[++at] === "." ? "[.]" : next);
    else if (arg === "-f" && next !== undefined) {
      isWhole = true;
      programs.push(await fs.readFile(fs.resolvePath(cwd, given[++at] as string)));
    } else options.push(arg);
  }
  const [own = "", ...operands] = isWhole ? ["", ...args.slice(end)] : args.slice(end);
  for (const operand of operands) if (assignment.test(operand)) assign(operand);
  return [
    ...options,
    [...programs, own].filter(Boolean).join("\n"),
    ...operands.filter((operand) => !assignment.test(operand)),
  ];
}
