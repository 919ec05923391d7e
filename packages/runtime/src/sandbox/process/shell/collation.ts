// LANG is C.UTF-8 here: names and lines are ordered by their characters' codes, as programs that read sorted input
// expect it. The interpreter compares with localeCompare and has no option for another order; nothing else runs in its
// isolate.

// oxlint-disable-next-line no-extend-native -- there is no other way to reach all places that compare
String.prototype.localeCompare = function localeCompare(this: string, other: string): number {
  const own = String(this);
  return own < other ? -1 : own > other ? 1 : 0;
};
