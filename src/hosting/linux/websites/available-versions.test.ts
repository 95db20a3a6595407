import { expect, test } from 'vitest';
import { linuxLayout } from '../machine/layout.ts';
import { missingExtensions } from '../machine/php-extensions.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import { createAvailableVersions } from './available-versions.ts';

const COMPLETE = missingExtensions([]);

function versionsOf(...runtimes: PhpRuntime[]) {
  const cores = { list: async () => [] };
  return createAvailableVersions(linuxLayout('/nowhere', '/nowhere'), cores, async () => runtimes);
}

function runtime(version: string, lacking: string[] = []): PhpRuntime {
  const modules = COMPLETE.filter((name) => !lacking.includes(name));
  return { version, root: '/', fpm: `/fpm${version}`, cli: `/php${version}`, modules, fault: null };
}

test('new websites never get a PHP that lacks extensions, however new it is', async () => {
  const versions = versionsOf(runtime('8.4', ['redis', 'imagick']), runtime('8.2'));
  expect((await versions.php(null)).version).toBe('8.2');
});

test('websites that name a PHP with missing extensions keep it', async () => {
  const versions = versionsOf(runtime('8.4', ['redis']), runtime('8.2'));
  expect((await versions.php('8.4')).version).toBe('8.4');
});

test('without any complete PHP, new websites are refused with the command that helps', async () => {
  await expect(versionsOf(runtime('8.4', ['redis'])).php(null)).rejects.toThrow(
    'this host has no PHP for new websites: PHP 8.4 lacks redis; run "homeport host php add 8.4" there',
  );
});

test('the refusal of an absent version lists complete ones only', async () => {
  const versions = versionsOf(runtime('8.4', ['redis']), runtime('8.2'));
  await expect(versions.php('8.3')).rejects.toThrow('this host has no PHP 8.3; available: 8.2');
  await expect(versionsOf().php(null)).rejects.toThrow('this host has no PHP; available: none');
});
