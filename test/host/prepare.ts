import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createCompiledCores } from '../../src/hosting/linux/wordpress/compiled-cores.ts';
import { startWordPress, startWordPressMachine } from '../../src/hosting/linux/wordpress/machine.fixture.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { hostsFolder } from '../memory-folder.ts';
import { codeIn, copyPart, OWN_CORES, PARTS } from './prepared.ts';

/** Creates once what all hosts share; tests of its creation start without it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(`${hostsFolder()}/hpt-prepared-`);
  // Web servers and sandboxes pass through it.
  await chmod(folder, 0o711);
  const code = codeIn(folder);
  const remove = async () => {
    for (const path of Object.values(code)) await runCommand('umount', ['--lazy', path]).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const machine = await startWordPressMachine({ isPrepared: false, code });
    try {
      const { templates, version } = await startWordPress(machine);
      await templates.ensure(version);
      await createCompiledCores(machine).ensure(machine.php, version);
      // The server has written everything to disk once it has stopped.
      await machine.daemons.stop();
      for (const part of PARTS) await copyPart(machine.layout[part], join(folder, part));
    } finally {
      await machine.stop();
    }
    // Outside of the mounts below, because no hard link leads out of a mount.
    await copyPart(code.cores, join(folder, OWN_CORES), ['--link']);
    // A test that changed it would change it for all others.
    for (const path of Object.values(code)) {
      await runCommand('mount', ['--bind', path, path]);
      await runCommand('mount', ['-o', 'remount,bind,ro', path]);
    }
  } catch (error) {
    await remove();
    throw error;
  }
  provide('preparedHost', folder);
  return remove;
}
