import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** A folder in which the first test that needs a WordPress prepares it for all others of the run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-prepared-'));
  project.provide('preparedFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
