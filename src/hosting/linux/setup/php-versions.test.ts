import { describe, expect, it } from 'vitest';
import { missingExtensions, PHP_PACKAGES, packagesOf } from '../machine/php-extensions.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import type { Apt } from './apt.ts';
import { completePhpVersion, installPhpVersion, listPhpVersions, removePhpVersion } from './php-versions.ts';

const DEBIAN = 'https://packages.example/debian trixie/main';
const EXTENSIONS = missingExtensions([]);
const packages = (version: string, without: string[] = []) =>
  [...PHP_PACKAGES, 'common', 'opcache', 'bcmath']
    .filter((part) => !without.includes(part))
    .map((part) => `php${version}-${part}`);

interface Start {
  installed?: string[];
  /** Packages of the sources before and after the lists are fetched. */
  offered?: string[];
  fetched?: string[];
  /** Installed extensions that are not enabled. */
  disabled?: string[];
  roots?: PhpRuntime[];
  installs?: Record<string, string[]>;
  dependants?: string[];
}

/** A machine whose apt only keeps books, and whose PHP loads what is installed and enabled. */
function machineWith(start: Start) {
  const installed = new Set(start.installed);
  const disabled = new Set(start.disabled);
  const steps: string[] = [];
  let offered = start.offered ?? [];
  const matching = (names: Iterable<string>, prefix: string) =>
    [...names].filter((name) => name.startsWith(prefix)).sort();
  const apt: Apt = {
    async update() {
      steps.push('update');
      offered = start.fetched ?? offered;
    },
    updateFrom: async () => {},
    search: async (pattern) => [...installed, ...offered].filter((name) => new RegExp(pattern).test(name)),
    offered: async (names) =>
      [...new Set(names)]
        .filter((name) => offered.includes(name))
        .map((name) => ({ name, version: '1-1', source: DEBIAN })),
    installed: async (pattern) => matching(installed, pattern.replace('*', '')),
    dependencies: async () => [...new Set(matching(installed, 'php8.2-fpm'))],
    async install(names) {
      steps.push(`install ${names.join(' ')}`);
      for (const name of [...names, ...matching(offered, `${names[0]?.slice(0, 6)}-common`)])
        installed.add(name);
    },
    async enable(_version, names) {
      steps.push(`enable ${names.join(' ')}`);
      for (const name of names) disabled.delete(name);
    },
    removedWith: async (names) => [...names, ...(start.dependants ?? [])],
    async remove(names) {
      steps.push(`remove ${names.join(' ')}`);
      for (const name of names) installed.delete(name);
    },
  };
  async function runtimes(): Promise<PhpRuntime[]> {
    const versions = [...installed].flatMap((name) => /^php(\d+\.\d+)-fpm$/.exec(name)?.[1] ?? []).sort();
    const own = versions.reverse().map((version) => ({
      ...{
        version,
        root: '/',
        fpm: `/usr/sbin/php-fpm${version}`,
        cli: `/usr/bin/php${version}`,
        fault: null,
      },
      modules: EXTENSIONS.filter((name) =>
        packagesOf(version, [name]).every((one) => installed.has(one) && !disabled.has(name)),
      ),
    }));
    return [...own, ...(start.roots ?? [])];
  }
  const installsOn = async (version: string) => start.installs?.[version] ?? [];
  return { parts: { apt, runtimes, installsOn }, steps };
}

const inRoot = (lacking: string[]): PhpRuntime => ({
  ...{ version: '8.4', root: '/srv/php/8.4', fpm: '/fpm', cli: '/php', fault: null },
  modules: EXTENSIONS.filter((name) => !lacking.includes(name)),
});

describe('the list of PHP versions', () => {
  it('has those of the machine and of its sources, newest first, with what is missing', async () => {
    const { parts } = machineWith({
      installed: [...packages('8.2'), ...packages('8.4', ['redis', 'xml'])],
      offered: [...packages('8.2'), ...packages('8.10')],
      installs: { '8.4': ['shop'] },
    });
    const nothing = { root: null, shortcoming: null, isOfRelease: false, installs: [] };
    const offered = { version: '1-1', source: DEBIAN };
    expect(await listPhpVersions(parts)).toEqual([
      {
        ...{ ...nothing, version: '8.10', state: 'available', offered },
        command: 'homeport host php add 8.10',
      },
      {
        ...{ version: '8.4', state: 'incomplete', root: '/', isOfRelease: false, offered: null },
        ...{ shortcoming: 'lacks dom, redis, simplexml, xmlreader', installs: ['shop'] },
        command: 'homeport host php add 8.4',
      },
      { ...nothing, version: '8.2', state: 'complete', root: '/', isOfRelease: true, offered, command: null },
    ]);
  });
});

describe('adding a PHP version', () => {
  it('installs all its packages, and is complete then', async () => {
    const { parts, steps } = machineWith({ fetched: packages('8.4') });
    const reported: string[] = [];
    const names = await installPhpVersion(parts, '8.4', (step) => reported.push(step));
    expect(reported).toEqual(['fetching package lists', `installing ${names.length} packages`]);
    expect(names).toEqual(expect.arrayContaining(['php8.4-fpm', 'php8.4-redis', 'php8.4-bcmath']));
    expect(await completePhpVersion(parts, '8.4')).toEqual([]);
    expect(steps).toEqual(['update', `install ${names.join(' ')}`]);
  });

  it('does nothing for a version that is whole', async () => {
    const { parts, steps } = machineWith({ installed: packages('8.2'), offered: packages('8.2') });
    expect(await installPhpVersion(parts, '8.2')).toEqual([]);
    expect(await completePhpVersion(parts, '8.2')).toEqual([]);
    expect(steps).toEqual([]);
  });

  it('installs only what an incomplete version lacks', async () => {
    const installed = packages('8.2', ['redis', 'imagick']);
    const { parts } = machineWith({ installed, offered: packages('8.2') });
    expect(await installPhpVersion(parts, '8.2')).toEqual(['php8.2-imagick', 'php8.2-redis']);
  });

  it('enables an extension that is installed but not enabled', async () => {
    const { parts, steps } = machineWith({
      installed: packages('8.2'),
      offered: packages('8.2'),
      disabled: ['redis'],
    });
    expect(await installPhpVersion(parts, '8.2')).toEqual([]);
    expect(await completePhpVersion(parts, '8.2')).toEqual(['redis']);
    expect(steps).toEqual(['update', 'enable redis']);
  });

  it('refuses a version that no source has, with those that they have, and installs nothing', async () => {
    const { parts, steps } = machineWith({ installed: packages('8.2'), offered: packages('8.2') });
    await expect(installPhpVersion(parts, '9.9')).rejects.toThrow(
      /^No package source of this machine has PHP 9\.9; they have 8\.2\. .*--source/,
    );
    expect(steps).toEqual(['update']);
  });

  it('fails if the source lacks a package of a required extension', async () => {
    const { parts } = machineWith({ offered: packages('8.5', ['imagick']) });
    await installPhpVersion(parts, '8.5');
    await expect(completePhpVersion(parts, '8.5')).rejects.toThrow(/^PHP 8\.5 lacks imagick\..*not offered/);
  });

  it("names the command for another Debian's root, which apt of the machine does not reach", async () => {
    const { parts } = machineWith({ roots: [inRoot(['redis'])] });
    await expect(installPhpVersion(parts, '8.4')).rejects.toThrow(
      'PHP 8.4 in /srv/php/8.4 lacks redis. Run "chroot /srv/php/8.4 apt-get install --no-install-recommends php8.4-redis".',
    );
    expect(await installPhpVersion(machineWith({ roots: [inRoot([])] }).parts, '8.4')).toEqual([]);
  });
});

describe('removing a PHP version', () => {
  const both = { installed: [...packages('8.2'), ...packages('8.4')] };

  it('removes its packages, and does nothing the second time', async () => {
    const { parts, steps } = machineWith(both);
    const names = packages('8.4').sort();
    expect(await removePhpVersion(parts, '8.4')).toEqual(names);
    expect(await removePhpVersion(parts, '8.4')).toEqual([]);
    expect(steps).toEqual([`remove ${names.join(' ')}`]);
  });

  it.each([
    [
      'installs run on it',
      '8.4',
      { installs: { '8.4': ['blog', 'shop'] } },
      /^Installs run on PHP 8\.4: blog, shop\. /,
    ],
    ['set-up needs it', '8.2', {}, /^PHP 8\.2 is the version of this Debian release/],
    [
      'other packages need it',
      '8.4',
      { dependants: ['phpmyadmin'] },
      /^Other packages need PHP 8\.4: phpmyadmin\. /,
    ],
    [
      'it is the root of another Debian',
      '8.4',
      { installed: [], roots: [inRoot([])] },
      /root: \/srv\/php\/8\.4$/,
    ],
  ])('is refused while %s', async (_why, version, more, message) => {
    const { parts, steps } = machineWith({ ...both, ...more });
    await expect(removePhpVersion(parts, version)).rejects.toThrow(message);
    expect(steps).toEqual([]);
  });
});
