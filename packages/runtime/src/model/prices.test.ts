import { expect, test } from "vitest";
import { listPricedModels, openPrices } from "./prices.ts";

const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 };

test("a known model has the price from the table, and so does a dated snapshot of it", () => {
  const { computeCost } = openPrices();
  expect(computeCost("openai:gpt-4.1-mini", million)).toBeCloseTo(2);
  expect(computeCost("openai:gpt-4.1-mini-2025-04-14", million)).toBeCloseTo(2);
  expect(computeCost("anthropic:claude-sonnet-4-5-20250929", million)).toBeCloseTo(18);
});

test("cached tokens are a cheaper part of the input, and never exceed it", () => {
  const { computeCost } = openPrices();
  expect(computeCost("openai:gpt-4.1", { ...million, cachedInputTokens: 500_000 })).toBeCloseTo(1 + 0.25 + 8);
  expect(computeCost("openai:gpt-4.1", { ...million, cachedInputTokens: 9_000_000 })).toBeCloseTo(0.5 + 8);
  const flat = openPrices({ "groq:x": { input: 1, output: 1 } });
  expect(flat.computeCost("groq:x", { ...million, cachedInputTokens: 500_000 })).toBeCloseTo(2);
});

test("reasoning tokens are part of the output and not counted twice", () => {
  expect(openPrices().computeCost("openai:gpt-4.1", { ...million, reasoningTokens: 900_000 })).toBeCloseTo(10);
});

test("an unknown price is unknown, not free", () => {
  const { computeCost, getPrice } = openPrices();
  for (const id of ["openai:gpt-99", "groq:llama", "openai", "constructor:toString", "__proto__"]) {
    expect([getPrice(id), computeCost(id, million)]).toEqual([undefined, undefined]);
  }
});

test("local and scripted models are free", () => {
  for (const id of ["scripted:tour", "ollama:llama3.2:latest", "lmstudio:qwen"])
    expect(openPrices().computeCost(id, million)).toBe(0);
});

test("a configured price takes precedence", () => {
  const prices = { "openai:gpt-4.1": { input: 1, output: 2, cachedInput: 0.5 }, "ollama:big": { input: 0, output: 3 } };
  const { computeCost, getPrice } = openPrices(prices);
  expect(computeCost("openai:gpt-4.1", million)).toBeCloseTo(3);
  expect(computeCost("ollama:big", million)).toBeCloseTo(3);
  expect(getPrice("openai:gpt-4.1")).toEqual(prices["openai:gpt-4.1"]);
});

test("in the price table, output costs at least as much as input and cached input at most as much", () => {
  const { getPrice } = openPrices();
  const ids = ["openai", "anthropic", "google"].flatMap(listPricedModels);
  expect(ids.length).toBeGreaterThan(20);
  for (const id of ids) {
    const { input = 0, output = 0, cachedInput = 0 } = getPrice(id) ?? {};
    expect([id, input > 0, output >= input, cachedInput <= input]).toEqual([id, true, true, true]);
  }
});
