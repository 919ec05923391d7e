import type { Step, Token } from "./path-pattern.ts";

/** A state of a nondeterministic automaton; its targets are indexes. */
export interface Node {
  loop: Step["loop"];
  isAccepting: boolean;
  edges: { token: Token; target: number }[];
}

export interface Automaton {
  nodes: Node[];
  starts: number[];
}

interface TrieNode {
  loop: Step["loop"];
  isAccepting: boolean;
  children: Map<string, { token: Token; node: TrieNode }>;
}

/**
 * Builds one automaton for several alternatives. Alternatives share their beginnings (as in a trie) and their ends
 * (equal nodes are merged), so that a pattern with braces needs about as many nodes as it has characters.
 */
export function buildAutomaton(alternatives: readonly (readonly Step[])[]): Automaton {
  const [only, ...others] = alternatives;
  if (only && others.length === 0) return { nodes: only.map(toNode), starts: [0] };
  const roots = new Map<Step["loop"], TrieNode>();
  // Parents are created before their children.
  const trie: TrieNode[] = [];
  const createNode = (loop: Step["loop"]) => {
    const node: TrieNode = { loop, isAccepting: false, children: new Map() };
    trie.push(node);
    return node;
  };
  for (const steps of alternatives) {
    let node = getOrCreate(roots, steps[0]?.loop, createNode);
    for (const [index, { token }] of steps.entries()) {
      if (token === undefined) break;
      const loop = steps[index + 1]?.loop;
      const key = `${toKey(token)} ${loop ?? ""}`;
      node = getOrCreate(node.children, key, () => ({ token, node: createNode(loop) })).node;
    }
    node.isAccepting = true;
  }
  return mergeEqual(trie, [...roots.values()]);
}

function toNode({ loop, token }: Step, index: number): Node {
  return {
    loop,
    isAccepting: token === undefined,
    edges: token === undefined ? [] : [{ token, target: index + 1 }],
  };
}

function mergeEqual(trie: readonly TrieNode[], roots: readonly TrieNode[]): Automaton {
  const nodes: Node[] = [];
  const known = new Map<string, number>();
  const merged = new Map<TrieNode, number>();
  // Children first: nodes are equal if they lead to the same nodes.
  for (const trieNode of trie.toReversed()) {
    const { loop, isAccepting, children } = trieNode;
    const edges = [...children.values()].map(({ token, node }) => ({ token, target: merged.get(node) as number }));
    const outgoing = edges.map(({ token, target }) => `${toKey(token)}>${target}`).sort();
    const key = `${loop ?? ""} ${isAccepting} ${outgoing.join(" ")}`;
    merged.set(
      trieNode,
      getOrCreate(known, key, () => nodes.push({ loop, isAccepting, edges }) - 1),
    );
  }
  return { nodes, starts: roots.map((root) => merged.get(root) as number) };
}

function toKey(token: Token): string {
  return typeof token === "number" ? String(token) : `${token.negated ? "!" : ""}[${token.ranges.join(";")}]`;
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: (key: Key) => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create(key);
  map.set(key, created);
  return created;
}
