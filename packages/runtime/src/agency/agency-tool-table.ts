import {
  type AgencyTool,
  type AgencyToolDefinition,
  type AgencyToolQuery,
  fail,
  type NewAgencyTool,
} from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { isMock } from "../tools/agency-tools.ts";

const maxTools = 64;
/** All of them together: each agent reads those it has. */
const maxTotalBytes = 1024 * 1024;

interface Row extends Record<string, SqlStorageValue> {
  name: string;
  agent: string;
  is_mock: number;
  definition: string;
  added_by: string;
  added_at: number;
}

/** The tools that were given to the agents of an agency: to all of them, or to one. */
export class AgencyToolTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  list(): AgencyTool[] {
    return this.#read("ORDER BY name, agent, is_mock").map(toAgencyTool);
  }

  /** Returns what an agent has. Of tools with the same name, its own comes before that of all. */
  listOf(agent: string): AgencyToolDefinition[] {
    const seen = new Set<string>();
    return this.#read("WHERE agent IN (?, '') ORDER BY agent = '', name", agent)
      .filter(({ name, is_mock }) => {
        const key = `${is_mock} ${name}`;
        return !seen.has(key) && seen.add(key);
      })
      .map(({ definition }) => JSON.parse(definition) as AgencyToolDefinition);
  }

  /** Throws if a tool would be one of two with the same name. A mock may have any. */
  checkName({ tool, agent = "" }: NewAgencyTool): void {
    if (isMock(tool)) return;
    const others = this.#read("WHERE name = ? AND is_mock = 0 AND agent <> ?", tool.name, agent);
    const other = others.find((row) => agent === "" || row.agent === "");
    if (!other) return;
    const owner = other.agent === "" ? "all agents have" : `${other.agent} has`;
    throw fail("conflict", `Of the tools of this agency, ${owner} one named “${tool.name}”. Delete that first.`);
  }

  put(input: NewAgencyTool, by: string): AgencyTool {
    this.checkName(input);
    const { tool, agent = "" } = input;
    const definition = JSON.stringify(tool);
    this.#checkSize(tool, agent, countBytes(definition));
    this.#sql.exec(
      `INSERT OR REPLACE INTO agency_tools (name, agent, is_mock, definition, added_by, added_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      tool.name,
      agent,
      Number(isMock(tool)),
      definition,
      by,
      Date.now(),
    );
    return toAgencyTool(this.#find(tool.name, agent, isMock(tool))!);
  }

  /** Deletes a mock if there is one, otherwise the tool. Throws if there is neither. */
  delete(name: string, { agent = "", kind }: AgencyToolQuery): void {
    const row =
      (kind === "tool" ? undefined : this.#find(name, agent, true)) ??
      (kind === "mock" ? undefined : this.#find(name, agent, false));
    if (!row) throw this.#createMissingError(name, agent, kind ?? "tool");
    this.#sql.exec("DELETE FROM agency_tools WHERE name = ? AND agent = ? AND is_mock = ?", name, agent, row.is_mock);
  }

  /** Returns whether a deleted agent had any of its own. */
  forgetAgent(agent: string): boolean {
    return this.#sql.exec("DELETE FROM agency_tools WHERE agent = ? RETURNING name", agent).toArray().length > 0;
  }

  #checkSize(tool: AgencyToolDefinition, agent: string, bytes: number): void {
    const { count, total } = this.#sql
      .exec<{ count: number; total: number }>(
        `SELECT count(*) AS count, coalesce(sum(length(CAST(definition AS BLOB))), 0) AS total FROM agency_tools
         WHERE NOT (name = ? AND agent = ? AND is_mock = ?)`,
        tool.name,
        agent,
        Number(isMock(tool)),
      )
      .one();
    if (count >= maxTools) throw fail("conflict", `An agency can have at most ${maxTools} tools. Delete some.`);
    if (total + bytes > maxTotalBytes)
      throw fail(
        "too_large",
        `The tools of an agency can have at most ${maxTotalBytes} bytes together; with “${tool.name}” they would have ${total + bytes}.`,
      );
  }

  #createMissingError(name: string, agent: string, kind: "mock" | "tool"): Error {
    const known = this.list();
    const same = known.find((tool) => tool.name === name);
    const suggestion = same
      ? undefined
      : findNearest(
          name,
          known.map((tool) => tool.name),
        );
    const hint = same
      ? ` ${same.agent ?? "All agents"} ${same.agent ? "has" : "have"} one of the kind ${same.kind}.`
      : suggestion
        ? ` Did you mean “${suggestion}”?`
        : "";
    const message = `No ${kind} named “${name}” was given to ${agent === "" ? "all agents" : agent}.${hint}`;
    return fail("not_found", message, suggestion ? { suggestion } : undefined);
  }

  #find(name: string, agent: string, isMocked: boolean): Row | undefined {
    return this.#read("WHERE name = ? AND agent = ? AND is_mock = ?", name, agent, Number(isMocked))[0];
  }

  #read(where: string, ...values: SqlStorageValue[]): Row[] {
    return this.#sql.exec<Row>(`SELECT * FROM agency_tools ${where}`, ...values).toArray();
  }
}

function toAgencyTool({ name, agent, definition, added_by, added_at }: Row): AgencyTool {
  const tool = JSON.parse(definition) as AgencyToolDefinition;
  return {
    name,
    description: tool.description ?? "A mock.",
    kind: isMock(tool) ? "mock" : "code" in tool ? "code" : "webhook",
    ...(agent === "" ? {} : { agent }),
    addedBy: added_by,
    addedAt: new Date(added_at).toISOString(),
  };
}

const countBytes = (text: string) => new TextEncoder().encode(text).byteLength;
