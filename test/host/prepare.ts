import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startWordPress, startWordPressMachine } from '../../src/hosting/linux/wordpress/machine.fixture.ts';
import { hostsFolder } from '../memory-folder.ts';
import { copyPart, PARTS } from './prepared.ts';

/** Creates once what all hosts share; tests of its creation start without it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(`${hostsFolder()}/hpt-prepared-`);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const machine = await startWordPressMachine({ isPrepared: false });
    try {
      const { templates, version } = await startWordPress(machine);
      await templates.ensure(version);
      // The server has written everything to disk once it has stopped.
      await machine.daemons.stop();
      for (const part of PARTS) await copyPart(machine.layout[part], join(folder, part));
    } finally {
      await machine.stop();
    }
  } catch (error) {
    await remove();
    throw error;
  }
  provide('preparedHost', folder);
  return remove;
}
