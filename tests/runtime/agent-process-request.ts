/** A request that the test has an agent's object send to its code. */
export interface SendOptions {
  owner: string;
  code: string;
  isolateId: string;
  payload: object;
  isAlone?: boolean;
  waitMs?: number;
}
