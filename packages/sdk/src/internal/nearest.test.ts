import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { findNearest } from "./nearest.ts";

const keys = ["port", "host", "sandboxSlots", "allowedHosts", "allowedOrigins"];

test("a misspelled word finds the intended one", () => {
  expect(findNearest("prot", keys)).toBe("port");
  expect(findNearest("hots", keys)).toBe("host");
  expect(findNearest("sandboxslot", keys)).toBe("sandboxSlots");
  expect(findNearest("allowedHost", keys)).toBe("allowedHosts");
  expect(findNearest("allowdOrigin", keys)).toBe("allowedOrigins");
});

test("a word that resembles none of the candidates finds none", () => {
  expect(findNearest("colour", keys)).toBeUndefined();
  expect(findNearest("x", keys)).toBeUndefined();
  expect(findNearest("", keys)).toBeUndefined();
  expect(findNearest("a".repeat(100_000), keys)).toBeUndefined();
  expect(findNearest("port", [])).toBeUndefined();
});

test("the closest candidate wins, and the first one if several are equally close", () => {
  expect(findNearest("restar", ["start", "restart"])).toBe("restart");
  expect(findNearest("ls", ["la", "lb"])).toBe("la");
});

test("short cuts change nothing: the nearest is what comparing everything in full finds", () => {
  const random = createRandom("nearest words");
  const draw = () => random.text(random.below(7), "abc");
  for (let round = 0; round < 300; round++) {
    const word = draw();
    const candidates = Array.from({ length: 4 }, draw);
    const distances = candidates.map((candidate) => compareInFull(word, candidate));
    const isNear = (index: number) => {
      const maxDistance = Math.max(1, Math.floor(Math.max(word.length, candidates[index]?.length ?? 0) * 0.4));
      return (distances[index] ?? Infinity) <= maxDistance;
    };
    const near = [...distances.keys()].filter(isNear);
    const best = near.toSorted((one, other) => (distances[one] ?? 0) - (distances[other] ?? 0))[0];
    expect([word, candidates, findNearest(word, candidates)]).toEqual([
      word,
      candidates,
      best === undefined ? undefined : candidates[best],
    ]);
  }
});

/** The same distance by its definition, from the ends of the words. */
function compareInFull(one: string, other: string): number {
  if (one === "" || other === "") return one.length + other.length;
  const [a, b] = [one.slice(0, -1), other.slice(0, -1)];
  const isSame = one.at(-1) === other.at(-1);
  const costs = [compareInFull(a, other) + 1, compareInFull(one, b) + 1, compareInFull(a, b) + (isSame ? 0 : 1)];
  if (one.length > 1 && other.length > 1 && one.at(-1) === other.at(-2) && one.at(-2) === other.at(-1))
    costs.push(compareInFull(a.slice(0, -1), b.slice(0, -1)) + 1);
  return Math.min(...costs);
}
