import type { Command, ExecResult, IFileSystem } from "just-bash/browser";

// The bundled programs accept only some spellings of their options. These normalizers rewrite others that are common
// with
// the real programs: “-n1” for “-n 1”, “cp -rf”, several “-e”, “--color=never”.

interface ProgramContext {
  fs: Pick<IFileSystem, "cp" | "readFile" | "resolvePath" | "stat">;
  cwd: string;
  /** Runs the bundled program. */
  run(args: string[]): Promise<ExecResult>;
}

/** Returns arguments that the bundled program understands, or the result if it could not get them right. */
type ArgsNormalizer = (args: readonly string[], context: ProgramContext) => string[] | Promise<string[] | ExecResult>;

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
  cp: (args, context) =>
    checkCopyTarget(
      "cp",
      splitOptions(args, "t").flatMap((arg) =>
        arg === "-a" || arg === "--archive" ? ["-r", "-p"] : cpIgnored.has(arg) ? [] : [arg],
      ),
      context,
    ),
  mv: (args, context) => checkCopyTarget("mv", [...args], context),
  awk: normalizeAwk,
};

/** Custom commands that normalize their arguments, then run the bundled command. */
export const normalizedPrograms: readonly Command[] = Object.entries(normalizers).map(([name, normalize]) => ({
  name,
  async execute(args, { fs, cwd, origCommand: run }) {
    if (!run) throw new Error("command not found");
    const normalized = await normalize(args, { fs, cwd, run });
    return Array.isArray(normalized) ? run(normalized) : normalized;
  },
}));

const xargsValued = "InPdLsaE";
/** Options for what the bundled program does anyway. */
const cpIgnored = new Set(["-f", "--force", "-L"]);

type ShortOptions = Readonly<Record<string, string>>;

/** Replaces long options with a value by their short names. */
function createShortener(short: ShortOptions): (arg: string) => string[] {
  return (arg) => {
    const [, long = "", value = ""] = /^(--[a-z-]+)=(.*)$/s.exec(arg) ?? [];
    const name = Object.hasOwn(short, long) ? short[long] : undefined;
    return name === undefined ? [arg] : [name, value];
  };
}

/**
 * Does the same for all arguments and splits “-rnA2” into “-r -n -A 2”; `valued` lists the letters that take a value.
 */
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

/** Returns where the value starts in an argument such as “-rnA2”, or its length if there is none. */
function findValueStart(arg: string, valued: string): number {
  for (let at = 1; at < arg.length; at += 1) if (valued.includes(arg[at] as string)) return at + 1;
  return arg.length;
}

function takesNext(arg: string, valued: string): boolean {
  return (
    /^-[A-Za-z0-9]/.test(arg) && valued.includes(arg.at(-1) as string) && findValueStart(arg, valued) === arg.length
  );
}

/** Returns the index of the first argument that is not an option. */
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
/** Options about binary files, messages and buffering, which make no difference here. */
const grepIgnored = new Set(["-s", "--no-messages", "-a", "--text", "-I", "--line-buffered"]);

function normalizeGrep(args: readonly string[]): string[] {
  const options: string[] = [];
  const patterns: string[] = [];
  const operands: string[] = [];
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const expandContext = (arg: string) => (/^-\d+$/.test(arg) ? `-C${arg.slice(1)}` : arg);
  const given = splitOptions(args.slice(0, end).map(expandContext), "ABCmef", grepShort);
  let withFilename = false;
  for (let at = 0; at < given.length; at += 1) {
    const arg = given[at] as string;
    const next = given[at + 1];
    if (arg === "-e" && next !== undefined) patterns.push(given[++at] as string);
    else if (["-A", "-B", "-C", "-m", "-f"].includes(arg) && next !== undefined)
      options.push(arg, given[++at] as string);
    else if (["--include", "--exclude", "--exclude-dir"].includes(arg) && next !== undefined)
      options.push(`${arg}=${given[++at]}`);
    else if (arg === "-H" || arg === "--with-filename") withFilename = true;
    else if (grepIgnored.has(arg) || isColor(arg)) continue;
    else if (isOption(arg)) options.push(arg);
    else operands.push(arg);
  }
  operands.push(...args.slice(end + 1));
  // With a second file, grep prints file names.
  if (
    withFilename &&
    operands.length > (patterns.length > 0 ? 0 : 1) &&
    !options.some((option) => ["-c", "-L", "-r", "-R"].includes(option))
  )
    operands.push("/dev/null");
  return [...options, ...(patterns.length > 0 ? ["-e", patterns.join("\n")] : []), "--", ...operands];
}

/** “3a\  text”: the text after the backslash, including leading white space. */
const oneLineText =
  /^(\s{0,9}(?:(?:\d+|\$|\/(?:[^/\\\n]|\\.)+\/)(?:,(?:\d+|\$|\/(?:[^/\\\n]|\\.)+\/))?)?[\s!]{0,9}[aic])\\(?=[^\n])/;

async function normalizeSed(args: readonly string[], { fs, cwd }: ProgramContext): Promise<string[]> {
  const given = args.flatMap(createShortener({ "--expression": "-e" }));
  const options: string[] = [];
  const operands: string[] = [];
  let hasScript = false;
  let suffix = "";
  for (let at = 0; at < given.length; at += 1) {
    const arg = given[at] as string;
    const [, ending = ""] = /^(?:-i|--in-place=)(.+)$/.exec(arg) ?? [];
    // “-in” is read as two options: nobody wants backups with the suffix “n”.
    if (ending && !/^-i[Enrsuz]+$/.test(arg)) {
      suffix = ending;
      options.push("-i");
    } else if ((arg === "-e" || arg === "--expression") && given[at + 1] !== undefined) {
      hasScript = true;
      options.push("-e", (given[++at] as string).replace(oneLineText, "$1\\\n"));
    } else if (arg === "-f" && given[at + 1] !== undefined) {
      hasScript = true;
      options.push("-f", given[++at] as string);
    } else if (isOption(arg)) options.push(arg);
    else if (!hasScript) {
      hasScript = true;
      operands.push(arg.replace(oneLineText, "$1\\\n"));
    } else operands.push(arg);
  }
  const files = options.includes("-e") || options.includes("-f") ? operands : operands.slice(1);
  if (suffix) {
    for (const file of files) {
      const name = file.slice(file.lastIndexOf("/") + 1);
      const backup = suffix.includes("*") ? file.slice(0, -name.length) + suffix.replaceAll("*", name) : file + suffix;
      await fs.cp(fs.resolvePath(cwd, file), fs.resolvePath(cwd, backup)).catch(() => {});
    }
  }
  return [...options, ...operands];
}

/**
 * Lists files before folders. The bundled program prints an empty line between any two names; this keeps it only before
 * folders, or “ls *.ts | wc -l” would count it.
 */
async function normalizeLs(args: readonly string[], context: ProgramContext): Promise<string[] | ExecResult> {
  const options: string[] = [];
  const files: string[] = [];
  const folders: string[] = [];
  for (const arg of args) {
    if (isColor(arg)) continue;
    if (isOption(arg)) options.push(arg);
    else ((await isFolder(arg, context)) ? folders : files).push(arg);
  }
  const given = [...options, ...files, ...folders];
  const namesFolders = options.some((option) => /^-[A-Za-z0-9]*d|^--directory$/.test(option));
  if (files.length + folders.length < 2 || options.includes("--help")) return given;
  if (files.length === 0 && !namesFolders) return given;
  const listed = await context.run(given);
  const end =
    folders.length === 0 || namesFolders ? listed.stdout.length : listed.stdout.indexOf(`\n\n${folders[0]}:\n`);
  const names = listed.stdout.slice(0, Math.max(0, end));
  return { ...listed, stdout: names.replaceAll("\n\n", "\n") + listed.stdout.slice(names.length) };
}

/** A target with a trailing slash must be a folder; otherwise the copy would get the folder's name. */
async function checkCopyTarget(name: string, args: string[], context: ProgramContext): Promise<string[] | ExecResult> {
  const target = args.at(-1) ?? "";
  const source = args.find((arg) => !isOption(arg)) ?? "";
  if (!target.endsWith("/") || (await isFolder(target, context)) || (await isFolder(source, context))) return args;
  return { stdout: "", stderr: `${name}: cannot create regular file '${target}': Not a directory\n`, exitCode: 1 };
}

const awkValued = "fvF";
const assignmentPattern = /^[A-Za-z_]\w*=/;

/** Supports programs in files, and assignments among the operands. */
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
    // The bundled awk honors FS, OFS, RS and ORS only if the program itself sets them.
    if (name) programs.unshift(`BEGIN { ${name} = "${value.replaceAll('"', '\\"')}" }`);
    else options.push("-v", text);
  };
  let hasProgramFile = false;
  for (let at = 0; at < given.length; at += 1) {
    const arg = given[at] as string;
    const next = given[at + 1];
    if (arg === "-v" && next !== undefined) assign(given[++at] as string);
    else if (arg === "-F" && next !== undefined) options.push("-F", given[++at] === "." ? "[.]" : next);
    else if (arg === "-f" && next !== undefined) {
      hasProgramFile = true;
      programs.push(await fs.readFile(fs.resolvePath(cwd, given[++at] as string)));
    } else options.push(arg);
  }
  const [program = "", ...operands] = hasProgramFile ? ["", ...args.slice(end)] : args.slice(end);
  for (const operand of operands) if (assignmentPattern.test(operand)) assign(operand);
  return [
    ...options,
    [...programs, program].filter(Boolean).join("\n"),
    ...operands.filter((operand) => !assignmentPattern.test(operand)),
  ];
}
