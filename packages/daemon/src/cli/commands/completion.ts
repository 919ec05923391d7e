import type { Command } from "commander";
import { Argument } from "commander";
import type { Cli } from "../cli.ts";
import { createCompletionScript, shells, type Shell } from "../completion.ts";
import { formatExamples } from "../help.ts";

export function addCompletion(program: Command, cli: Cli): void {
  program
    .command("completion")
    .description("print a shell completion script")
    .addArgument(new Argument("<shell>", "shell").choices(shells))
    .addHelpText(
      "after",
      formatExamples(
        ["completion bash > ~/.local/share/bash-completion/completions/thinkery", ""],
        ["completion zsh > ~/.zfunc/_thinkery", ""],
        ["completion fish > ~/.config/fish/completions/thinkery.fish", ""],
      ),
    )
    .action((shell: Shell) => {
      const script = createCompletionScript(program, shell);
      cli.output.reply({ shell, script }, () => script);
    });
}
