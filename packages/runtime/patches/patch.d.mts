export interface PatchHeader {
  package: string;
  file: string;
  sha256: string;
  formatter: string;
}

export function patchPackageFile(packageFolder: string, patchFile: string): Promise<string>;
export function format(source: string): Promise<string>;
export function readHeader(patch: string): PatchHeader;
export function applyPatch(text: string, patch: string): string;
