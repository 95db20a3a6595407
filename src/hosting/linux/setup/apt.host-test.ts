import { expect, it } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import { linuxLayout } from '../machine/layout.ts';
import { loadedModules } from '../machine/php-modules.ts';
import { findPhpRuntimes, isComplete } from '../machine/php-runtimes.ts';
import { createApt } from './apt.ts';
import { listPhpVersions } from './php-versions.ts';

const apt = createApt();
const layout = linuxLayout('/nowhere', '/nowhere');

/** The version of this Debian release, which set-up installs. */
async function release(): Promise<string> {
  const [name = ''] = (await apt.dependencies('php-fpm')).filter((one) => /^php\d+\.\d+-fpm$/.test(one));
  return name.replace(/^php(.*)-fpm$/, '$1');
}

it('finds the installed packages of a PHP version, and what a removal would take along', async () => {
  const version = await release();
  const installed = await apt.installed(`php${version}-*`);
  expect(installed).toEqual(expect.arrayContaining([`php${version}-fpm`, `php${version}-redis`]));
  expect(await apt.removedWith(installed)).toEqual(expect.arrayContaining([...installed, 'php-fpm']));
  expect([await apt.installed('php0.1-*'), await apt.dependencies('php0.1-fpm')]).toEqual([[], []]);
});

it('runs the PHP of the machine, which has every extension', async () => {
  const [runtime] = (await findPhpRuntimes(layout)).filter(({ root }) => root === '/');
  if (runtime === undefined) throw new Error('this machine has no PHP');
  expect(isComplete(runtime)).toBe(true);
  // As for another Debian's root, in a sandbox that shows nothing else.
  expect(await loadedModules({ ...runtime, root: '//' })).toEqual(runtime.modules);
});

onlyInLong(it)('lists the version of the release as complete, with its package', async () => {
  const version = await release();
  const parts = { apt, runtimes: () => findPhpRuntimes(layout), installsOn: async () => ['shop'] };
  const listed = await listPhpVersions(parts);
  expect(listed.find((one) => one.version === version)).toMatchObject({
    ...{ state: 'complete', root: '/', isOfRelease: true, command: null, installs: ['shop'] },
  });
  const names = await apt.search(`^php${version.replace('.', '\\.')}-fpm$`);
  expect(names).toEqual([`php${version}-fpm`]);
  for (const offer of await apt.offered(names)) {
    expect(offer).toEqual({
      name: `php${version}-fpm`,
      version: expect.stringMatching(/^\d/),
      source: expect.stringMatching(/^https?:\/\/\S+ \S+$/),
    });
  }
});
