// The first and the last are V8's messages, the second is that of the platform's own classes.
const outOfMemoryPattern = /allocation failed|failed to allocate|out of memory/i;

/** Returns whether a run's error means that no memory is left for the next run. It is not freed at once. */
export const isOutOfMemory = (message: string): boolean => outOfMemoryPattern.test(message);
