import type { Tool } from "@thinkery/sdk";
import { deleteFile } from "./delete-file.ts";
import { editFile } from "./edit-file.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listFiles } from "./list-files.ts";
import { moveFile } from "./move-file.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

export const fileTools: readonly Tool[] = [listFiles, readFile, writeFile, editFile, deleteFile, moveFile, glob, grep];
