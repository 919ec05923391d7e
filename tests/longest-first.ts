import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders whose tests take long, the longest first. */
const long = ["tests/crash/", "tests/attack/", "tests/e2e/", "tests/"];

/** What takes long begins first, so that no core idles at the end while the last of them goes on. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = `${this.ctx.config.root}/`;
    const rank = ({ moduleId }: TestSpecification) => {
      const found = long.findIndex((folder) => moduleId.startsWith(root + folder));
      return found < 0 ? long.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
