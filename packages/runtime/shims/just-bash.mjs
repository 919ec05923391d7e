// What the shell needs to run where there is no Node, and the places in it that no option leads to.
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
  {
    // What is left of “||” and “&&”, and what “!” is before, may fail: in a function that is called there, too.
    what: "where “set -e” looks at a list of commands",
    from: /let (\w+)=await this\.executePipeline\((\w+)\);(?=\w+\.appendResult\(\1,[\w$]+\(\1\)\),\w+=\1\.exitCode,\w+=(\w+),\w+=\2\.negated,)/g,
    to: "let $1,outside=this.ctx.state.inCondition;this.ctx.state.inCondition||=$2.negated||$3<arguments[0].pipelines.length-1;try{$1=await this.executePipeline($2)}finally{this.ctx.state.inCondition=outside}",
  },
  {
    // Whoever writes “rm -r */” means folders.
    what: "where a pattern is cut into names",
    from: /(let \w+=(\w+)\.startsWith\("\/"\),(\w+)=\2\.split\("\/"\)\.filter\(\w+=>\w+!==""\),\w+=-1;)(?=for\(let \w+=0;\w+<\3\.length;\w+\+\+\)if\(this\.hasGlobChars\()/g,
    to: '$1if($2.endsWith("/")&&$3.length>0)$3.push("");',
  },
  {
    what: "where a pattern is followed from folder to folder",
    from: /(async expandSegments\(\w+,(\w+),(\w+)\)\{)(?=if\(this\.checkOpsLimit\(\),\3\.length===0\)return\[\2\];)/g,
    to: '$1if($3[0]==="")return[$2+"/"];',
  },
  {
    // Real ones leave out nothing, and what is in .github or .env is looked for as often as anything else.
    what: "where “grep -r” leaves out names that begin with a dot",
    from: /if\((\w+)\((\w+)\),(\w+)\.name\.startsWith\("\."\)\)continue;(?=let \w+=\w+==="\."\?\3\.name:)/g,
    to: "$1($2);",
  },
  {
    // Otherwise “ls *.ts | wc -l” counts them.
    what: "where “ls” writes an empty line between two names",
    from: /if\((\w+)>0&&(\w+)&&(!\2\.endsWith\(`\n\n`\)&&\(\2=\w+\((\w+),\2,`\n`\)\)),(\w+)\)(?=\{let \w+=\4\.fs\.resolvePath\(\4\.cwd,(\w+)\))/g,
    to: "if($1>0&&$2&&!$5&&await $4.fs.stat($4.fs.resolvePath($4.cwd,$6)).then((found)=>found.isDirectory,()=>false)&&$3,$5)",
  },
  {
    // As LANG says, and as programs that expect what is sorted compare it.
    what: "where names and lines are put in order",
    from: /\b(\w+(?:\.\w+)*)\.localeCompare\((\w+(?:\.\w+)*)\)/g,
    to: "byCharacters($1,$2)",
    times: 13,
  },
];

const order = "const byCharacters=(one,other)=>one<other?-1:one>other?1:0;";

export const justBash = {
  name: "just-bash",
  setup(bundler) {
    bundler.onResolve({ filter: /^node:zlib$/ }, () => ({ path: here("./zlib.js") }));
    bundler.onLoad({ filter: /just-bash\/dist\/bundle\/browser\.js$/ }, async ({ path }) => {
      let code = await readFile(path, "utf8");
      for (const { what, from, to, times = 1 } of changes) {
        const found = code.match(from)?.length ?? 0;
        if (found !== times) throw new Error(`just-bash is not what it was: there are ${found} places like the one ${what}. See shims/just-bash.mjs.`);
        code = code.replace(from, to);
      }
      return { contents: `import ${JSON.stringify(here("./buffer.js"))};${order}${code}`, loader: "js" };
    });
  },
};
