import { Option } from "commander";
import type { Cli } from "./cli.ts";
import { getDefaultAgency, parseAgencyId } from "./target.ts";

export interface AgencyFlags {
  agency?: string;
}

export const createAgencyOption = () =>
  new Option("-a, --agency <agency>", "agency, as @review (default: @global)").argParser(parseAgencyId);

export const getAgency = (cli: Cli, { agency = getDefaultAgency(cli) }: AgencyFlags) => agency;
