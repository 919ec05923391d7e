import { Option } from "commander";
import type { Cli } from "./cli.ts";
import { formatAgencySuffix, getDefaultAgency, parseAgencyId } from "./target.ts";

export interface AgencyFlags {
  agency?: string;
}

export const createAgencyOption = () =>
  new Option("-a, --agency <agency>", "agency, as @review (default: @global)").argParser(parseAgencyId);

/** Formats what is typed after a command so that it means this agency, such as ` -a @review`. */
export function formatAgencyFlag(cli: Cli, agency: string): string {
  const suffix = formatAgencySuffix(cli, agency);
  return suffix && ` -a ${suffix}`;
}

export const getAgency = (cli: Cli, { agency = getDefaultAgency(cli) }: AgencyFlags) => agency;
