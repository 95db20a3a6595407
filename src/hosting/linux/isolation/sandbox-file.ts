import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { LinuxLayout } from '../machine/layout.ts';

/** A file in the run folder that all sandboxes use. The name contains a hash, so that daemons restart when it changes. */
export interface SandboxFile {
  path: string;
  content: Buffer;
}

export function sandboxFile(
  { runFolder }: LinuxLayout,
  name: string,
  kind: string,
  content: Buffer,
): SandboxFile {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: join(runFolder, `${name}-${hash}.${kind}`), content };
}
