// What the shell needs to run where there is no Node, and the two places in its interpreter that no option leads to.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const changes = [
  {
    // Programs are wrapped where they are registered; what the shell does by itself (cd, export, eval, …) is registered
    // nowhere. It is asked about where it is dispatched, with the arguments it really has, in place of being counted.
    what: "where builtins are dispatched; the rules for commands depend on it",
    from: /(async function \w+\(\w+,(\w+),(\w+),[^{]*\{let\{ctx:(\w+),runCommand:\w+\}=\w+;)if\(\4\.coverage&&(\w+)\.has\(\2\)&&\4\.coverage\.hit\(`bash:builtin:\$\{\2\}`\),/g,
    to: "$1if($4.coverage&&$5.has($2)){let denial=$4.coverage.builtin($2,$3,$4);if(denial)return denial}if(",
  },
  {
    // What ends a script keeps what the script has written. What a disk that is full or a name that is too long makes of
    // a statement, ends that statement, as it does in loops and functions already, and not everything.
    what: "where a statement of a script fails",
    from: /((\w+)=1,this\.ctx\.state\.lastExitCode=\2,this\.ctx\.state\.env\.set\("\?",String\(\2\)\);continue\}if\(\w+ instanceof \w+\|\|\w+ instanceof \w+\)\{[^}]*continue\})throw (\w+) instanceof \w+&&\3\.prependOutput\((\w+)\.stdout,\4\.stderr\),\3\}/g,
    to: '$1if(!$3.prependOutput){$4.append("stderr",`bash: ${$3.message}\n`);$2=1;this.ctx.state.lastExitCode=1;this.ctx.state.env.set("?","1");continue}throw $3.prependOutput($4.stdout,$4.stderr),$3}',
  },
];

export const justBash = {
  name: "just-bash",
  setup(bundler) {
    bundler.onResolve({ filter: /^node:zlib$/ }, () => ({ path: here("./zlib.js") }));
    bundler.onLoad({ filter: /just-bash\/dist\/bundle\/browser\.js$/ }, async ({ path }) => {
      let code = await readFile(path, "utf8");
      for (const { what, from, to } of changes) {
        const found = code.match(from)?.length ?? 0;
        if (found !== 1) throw new Error(`just-bash is not what it was: there are ${found} places like the one ${what}. See shims/just-bash.mjs.`);
        code = code.replace(from, to);
      }
      return { contents: `import ${JSON.stringify(here("./buffer.js"))};${code}`, loader: "js" };
    });
  },
};
