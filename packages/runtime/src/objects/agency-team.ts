import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import type { AgencyResources } from "./agency-resources.ts";
import type { AgencyTasks } from "./agency-tasks.ts";
import { TeamApi } from "./team-api.ts";

interface TeamOptions extends AgencyContext {
  resources: AgencyResources;
  tasks: AgencyTasks;
}

/** What the agents of an agency write to each other and to people. */
export class AgencyTeam implements AgencyFeature {
  readonly api = new TeamApi();

  constructor(_options: TeamOptions) {}

  forgetAgent(_name: string): void {}
}
