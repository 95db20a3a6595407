import { readFile } from 'node:fs/promises';
import { ifThere } from '../../../lib/if-there.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { ownNetworkProgram } from './own-network.ts';
import type { SandboxFile } from './sandbox-file.ts';
import { tenantFilterFile } from './system-calls.ts';
import { writeSystemFile } from './system-file.ts';

/** Writes the files that all sandboxes use. */
export async function writeSandboxFiles(layout: LinuxLayout): Promise<void> {
  for (const { path, content } of await wrongSandboxFiles(layout)) {
    await writeSystemFile(path, content, { mode: 0o644, lasting: false });
  }
}

/** Those that are missing, or have another content. */
export async function wrongSandboxFiles(layout: LinuxLayout): Promise<SandboxFile[]> {
  const wrong: SandboxFile[] = [];
  for (const file of [tenantFilterFile(layout), ownNetworkProgram(layout)]) {
    if ((await ifThere(readFile(file.path)))?.equals(file.content) !== true) wrong.push(file);
  }
  return wrong;
}
