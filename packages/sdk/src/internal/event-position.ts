/**
 * Positions reserved for each event: the messages it adds and the results of a step's tool calls. A message's position
 * in the conversation follows from the event numbers alone.
 */
export const positionsPerEvent = 1000;
