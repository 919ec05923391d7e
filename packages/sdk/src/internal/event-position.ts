/**
 * Number of positions reserved for each event: for the messages that it adds, and for the results of a step's tool
 * calls. That way, the position of a message in the conversation depends on event numbers only.
 */
export const positionsPerEvent = 1000;
