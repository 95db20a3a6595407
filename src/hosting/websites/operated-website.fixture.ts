import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { InstallRuntime } from '../runtime/runtime.ts';

/** A real website with WordPress on one of the runtimes, for the cases that both must pass. Its name is shop.test, with port 8080. */
export interface OperatedWebsite {
  id: string;
  runtime: InstallRuntime;
  /** Of its WordPress. */
  version: string;
  /** The document root. */
  root: string;
  /** The drop-in that the host itself puts into `wp-content`. */
  dropin: string;
  /** Whether the themes that came with WordPress are links into it. */
  hasLinkedThemes: boolean;
  /** Runs code after WordPress was loaded. Gives what it wrote. */
  inWordPress(code: string): Promise<string>;
  stop(): Promise<void>;
}

/** Writes a file below `wp-content`, as its owner would. */
export async function putContent(
  { root }: Pick<OperatedWebsite, 'root'>,
  path: string,
  text: string,
): Promise<void> {
  const file = join(root, 'wp-content', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
