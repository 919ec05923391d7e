/** Who does something in an agency. A sub-agent acts under the name of its root agent. */
export interface Actor {
  kind: "agent" | "user";
  name: string;
}
