import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { isTimely, parseWebhookSignature, verifyWebhookSignature } from "./webhook-signature.ts";

const hex = "0123456789abcdef".repeat(4);
const body = new TextEncoder().encode('{"a":"ä"}');
const sign = (secret: string, timestamp: number, text: string | Uint8Array = body) =>
  createHmac("sha256", secret).update(`${timestamp}.`).update(text).digest("hex");

test("a signature is a timestamp and one or more signatures, with other keys ignored", () => {
  expect(parseWebhookSignature(`t=1700000000,v1=${hex}`)).toEqual({ timestamp: 1700000000, signatures: [hex] });
  expect(parseWebhookSignature(`v1=${hex.toUpperCase()}, v0=x , t=1,v1=${"f".repeat(64)}`)).toEqual({
    timestamp: 1,
    signatures: [hex, "f".repeat(64)],
  });
});

test.each<[string, string | null]>([
  ["no header", null],
  ["an empty header", ""],
  ["no timestamp", `v1=${hex}`],
  ["no signature", "t=1700000000"],
  ["two timestamps", `t=1,t=2,v1=${hex}`],
  ["a leading zero", `t=01,v1=${hex}`],
  ["a negative timestamp", `t=-1,v1=${hex}`],
  ["a fraction", `t=1.5,v1=${hex}`],
  ["an exponent", `t=1e9,v1=${hex}`],
  ["a timestamp that is too long", `t=1700000000000,v1=${hex}`],
  ["a short signature", `t=1,v1=${hex.slice(1)}`],
  ["a long signature", `t=1,v1=${hex}0`],
  ["a signature that is not hex", `t=1,v1=${"g".repeat(64)}`],
  ["one bad signature of two", `t=1,v1=${hex},v1=x`],
  ["a part without a value", `t=1,v1=${hex},x`],
  ["a part with two values", `t=1,v1=${hex}=1`],
  ["a trailing comma", `t=1,v1=${hex},`],
  ["eleven signatures", `t=1${`,v1=${hex}`.repeat(11)}`],
  ["a long header", `t=1,v1=${hex},x=${"y".repeat(2000)}`],
])("%s is refused", (_, header) => {
  expect(parseWebhookSignature(header)).toBeUndefined();
});

test("a signature is timely for five minutes in both directions", () => {
  const now = 1_700_000_000_000;
  const timely = (seconds: number) => isTimely({ timestamp: now / 1000 + seconds }, now);
  expect([-301, -300, 0, 300, 301].map(timely)).toEqual([false, true, true, true, false]);
});

test("one right signature of several is enough, and what was signed is the timestamp and the exact body", () => {
  const timestamp = 1_700_000_000;
  const right = sign("secret", timestamp);
  const verify = (signatures: string[], bytes: Uint8Array = body, at = timestamp) =>
    verifyWebhookSignature({ timestamp: at, signatures }, bytes, "secret");
  expect(verify([right])).toBe(right);
  expect(verify([sign("other", timestamp), right])).toBe(right);
  expect(verify([sign("other", timestamp)])).toBeUndefined();
  expect(verify([right], new TextEncoder().encode('{"a":"a"}'))).toBeUndefined();
  expect(verify([right], body, timestamp + 1)).toBeUndefined();
  expect(verify([sign("secret", timestamp, "")], new Uint8Array())).toBeDefined();
});
