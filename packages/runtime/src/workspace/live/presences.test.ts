import { afterEach, expect, test } from "vitest";
import { createPresenceMessage } from "./crafted.fixture.ts";
import { connect, disconnectAll, createMemoryWorkspace, settle } from "./live.fixture.ts";

afterEach(disconnectAll);

test("presence is shown to all clients, also later ones, and ends with the connection", () => {
  const { room } = createMemoryWorkspace();
  const ada = connect(room);
  ada.awareness.setLocalState({ name: "Ada" });
  settle(ada);
  const ben = connect(room);
  expect(ben.awareness.getStates().get(ada.doc.clientID)).toEqual({ name: "Ada" });
  ben.awareness.setLocalState({ name: "Ben" });
  settle(ben, ada);
  expect(ada.awareness.getStates().get(ben.doc.clientID)).toEqual({ name: "Ben" });
  ben.leave();
  settle(ada);
  expect([...ada.awareness.getStates().keys()]).toEqual([ada.doc.clientID]);
});

test("a client cannot set the presence of another, connected or departed", () => {
  const { room } = createMemoryWorkspace();
  const ada = connect(room);
  const eve = connect(room);
  const watcher = connect(room);
  ada.awareness.setLocalState({ name: "Ada" });
  settle(ada, eve, watcher);
  const spoof = (clock: number, state: string) => {
    eve.sendRaw(createPresenceMessage([[ada.doc.clientID, clock, state]]));
    eve.flush();
  };
  spoof(1000, '{"name":"Eve"}');
  spoof(1001, "null");
  expect(watcher.awareness.getStates().get(ada.doc.clientID)).toEqual({ name: "Ada" });
  ada.leave();
  spoof(1, '{"name":"Ada"}');
  settle(watcher);
  expect(watcher.awareness.getStates().has(ada.doc.clientID)).toBe(false);
  expect(connect(room).awareness.getStates().has(ada.doc.clientID)).toBe(false);
  expect(eve.closed).toBeUndefined();
});

test("presence is limited per connection, in number and size", () => {
  const { room } = createMemoryWorkspace();
  const eve = connect(room);
  const watcher = connect(room);
  for (let client = 1; client <= 20; client += 1) eve.sendRaw(createPresenceMessage([[client, 1, '"small"']]));
  eve.sendRaw(createPresenceMessage([[eve.doc.clientID, 100, JSON.stringify("x".repeat(20_000))]]));
  settle(eve, watcher);
  const states = watcher.awareness.getStates();
  expect([...states.keys()].filter((client) => client <= 20)).toEqual([1, 2, 3]);
  expect(states.get(eve.doc.clientID)).toEqual({ name: "Somebody" });
});
