import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { createSystemctl } from '../../../hosting/linux/daemons/systemctl.ts';
import { keptServiceDropIn, serveInstalled, serveKept } from './kept-service.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** systemd's part, which notes the commands that it gets. */
function placeOf(dropIn: string) {
  const calls = join(folder.path, 'calls');
  const program = join(folder.path, 'systemctl');
  writeFileSync(program, `#!/bin/sh\necho "$@" >> '${calls}'\n`, { mode: 0o755 });
  const words = () =>
    existsSync(calls) ? readFileSync(calls, 'utf8').replaceAll('--no-ask-password --no-pager ', '') : '';
  return { place: { dropIn, systemctl: createSystemctl(program) }, words };
}

it('starts the control plane from the kept files, and lets it go back to the installed ones', async () => {
  const { place, words } = placeOf(join(folder.path, 'homeport.service.d/kept.conf'));
  await serveKept('/kept', place);
  expect(readFileSync(place.dropIn, 'utf8')).toBe(keptServiceDropIn('/kept'));
  expect(words()).toBe('daemon-reload\nstart --no-block -- homeport.service\n');
  expect(await serveInstalled(place)).toBe(true);
  expect(existsSync(place.dropIn)).toBe(false);
  expect(words()).toMatch(/daemon-reload\n$/);
  expect(await serveInstalled(place)).toBe(false);
});

it('lets the return go on if the drop-in cannot be written', async () => {
  const { place, words } = placeOf(join(folder.path, 'homeport.service.d/kept.conf'));
  writeFileSync(dirname(place.dropIn), 'no folder');
  await serveKept('/kept', place);
  expect(words()).toBe('');
});
