import type { Command } from "commander";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

interface CompletionWord {
  text: string;
  description: string;
}

/** What may follow a command; `path` is empty for the program itself. */
interface CompletionNode {
  path: string;
  words: CompletionWord[];
  options: CompletionWord[];
}

/** Generates a completion script from the command definitions. */
export function createCompletionScript(program: Command, shell: Shell): string {
  const nodes = collectNodes(program, "");
  return { bash: createBashScript, zsh: createZshScript, fish: createFishScript }[shell](nodes);
}

function collectNodes(command: Command, path: string): CompletionNode[] {
  const help = command.createHelp();
  const children = help.visibleCommands(command);
  const globalOptions = help.visibleGlobalOptions(command);
  const node: CompletionNode = {
    path,
    words: [
      ...children.map((child) => ({ text: child.name(), description: child.description() })),
      ...command.registeredArguments.flatMap(({ argChoices }) =>
        (argChoices ?? []).map((text) => ({ text, description: "" })),
      ),
    ],
    options: [...help.visibleOptions(command), ...globalOptions].flatMap(({ long, description }) =>
      long ? [{ text: long, description }] : [],
    ),
  };
  const descendants = children
    .filter((child) => child.name() !== "help")
    .flatMap((child) => collectNodes(child, path ? `${path} ${child.name()}` : child.name()));
  return [node, ...descendants];
}

function createBashScript(nodes: CompletionNode[]): string {
  const cases = nodes.map(
    ({ path, words, options }) => `    "${path}") words="${joinWords(words)}"; options="${joinWords(options)}" ;;`,
  );
  return `# bash completion for thinkery
_thinkery() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words="" options=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}
complete -F _thinkery thinkery
`;
}

function createZshScript(nodes: CompletionNode[]): string {
  const cases = nodes.map(({ path, words, options }) => {
    const entries = [...words, ...options].map(({ text, description }) =>
      quote(description ? `${text.replaceAll(":", "\\:")}:${description}` : text),
    );
    return `    ${quote(path)}) entries=(${entries.join(" ")}) ;;`;
  });
  return `#compdef thinkery
# zsh completion for thinkery
_thinkery() {
  local -a entries typed
  typed=(\${\${words[2,CURRENT-1]}:#-*})
  case "\${(j: :)typed}" in
${cases.join("\n")}
  esac
  _describe 'thinkery' entries
}
if [ "$funcstack[1]" = "_thinkery" ]; then _thinkery "$@"; else compdef _thinkery thinkery; fi
`;
}

function createFishScript(nodes: CompletionNode[]): string {
  const lines = nodes.flatMap(({ path, words, options }) => {
    const when = `complete -c thinkery -n ${quote(`test (__thinkery_path) = "${path}"`)}`;
    const formatHelp = (description: string) => (description ? ` -d ${quote(description)}` : "");
    return [
      ...words.map(({ text, description }) => `${when} -f -a ${quote(text)}${formatHelp(description)}`),
      ...options.map(({ text, description }) => `${when} -l ${text.slice(2)}${formatHelp(description)}`),
    ];
  });
  return `# fish completion for thinkery
function __thinkery_path
  string join ' ' -- (string match -v -- '-*' (commandline -opc)[2..-1])
  or echo
end
complete -c thinkery -f
${lines.join("\n")}
`;
}

function joinWords(words: CompletionWord[]): string {
  return words.map(({ text }) => text).join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
