import type { Tool } from "@thinkery/sdk";
import { docAppend } from "./doc-append.ts";
import { docCreate } from "./doc-create.ts";
import { docList } from "./doc-list.ts";
import { docRead } from "./doc-read.ts";
import { docWrite } from "./doc-write.ts";
import { resourceCreate } from "./resource-create.ts";
import { resourceRead } from "./resource-read.ts";

export const documentTools: readonly Tool[] = [docList, docRead, docWrite, docAppend, docCreate];

export const resourceTools: readonly Tool[] = [resourceCreate, resourceRead];
