import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ifThere } from '../../lib/if-there.ts';
import { type SettingsPlace, serviceSettings, settingsWithoutServices } from './service-settings.ts';

let folder: string;
let place: SettingsPlace;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-settings-'));
  place = {
    file: join(folder, 'etc/homeport.conf'),
    earlier: join(folder, 'host.conf'),
    retired: join(folder, 'host.conf.replaced'),
  };
});
afterEach(() => rm(folder, { recursive: true }));

const group = { gid: process.getgid?.() ?? 0 };

test('the first set-up writes the settings that it was called with, for root and the control plane only', async () => {
  const environment = { HOMEPORT_EDGE_HTTP: '0.0.0.0:80', HOME: '/root' };
  const { config, provide, warning } = await serviceSettings(environment, place);
  expect(config).toMatchObject({ host: 'linux', dataDir: '/var/lib/homeport', edgeHttp: { port: 80 } });
  expect(warning).toBeNull();
  expect(await provide(group)).toBe(`wrote ${place.file}`);
  expect((await stat(place.file)).mode & 0o777).toBe(0o640);
  const again = await serviceSettings({}, place);
  expect(again.config).toEqual(config);
  expect(await again.provide(group)).toBeNull();
});

test('a data folder that is in use stays the one of a machine without systemd', async () => {
  const used = join(folder, 'data');
  const dataDirOf = async (environment: Record<string, string> = {}) =>
    (await settingsWithoutServices(environment, used, place)).config.dataDir;
  expect(await dataDirOf()).toBe('/var/lib/homeport');
  await mkdir(used);
  await writeFile(join(used, 'homeport.sqlite'), '');
  expect(await dataDirOf()).toBe(used);
  expect(await dataDirOf({ HOMEPORT_DATA_DIR: '/srv/data' })).toBe('/srv/data');
});

test('a relative data folder counts from where the set-up was called', async () => {
  const { config } = await serviceSettings({ HOMEPORT_DATA_DIR: 'mine' }, place);
  expect(config.dataDir).toBe(join(process.cwd(), 'mine'));
});

test('settings of an earlier set-up move to the one file, and the old file is set aside', async () => {
  await writeFile(place.earlier, '# mine\nHOMEPORT_SSH_LISTEN=0.0.0.0:2222\n');
  const { config, provide } = await serviceSettings({}, place);
  expect(config).toMatchObject({ host: 'linux', dataDir: '/var/lib/homeport', sshListen: { port: 2222 } });
  expect(await provide(group)).toBe(`moved the settings of ${place.earlier} to ${place.file}`);
  expect(await readFile(place.file, 'utf8')).toContain('# mine\nHOMEPORT_SSH_LISTEN=0.0.0.0:2222\n');
  expect(await ifThere(readFile(place.earlier))).toBeNull();
  expect(await readFile(place.retired, 'utf8')).toContain('# mine');
});

test('a broken file of an earlier set-up is reported with its line, and nothing is written', async () => {
  await writeFile(place.earlier, 'HOMEPORT_SSH_LISTEN=0.0.0.0:2222\nwhat is this\n');
  await expect(serviceSettings({}, place)).rejects.toThrow(`${place.earlier}, line 2`);
});

test('an existing file counts, and other settings of the environment are named', async () => {
  await (await serviceSettings({}, place)).provide(group);
  const { config, warning } = await serviceSettings({ HOMEPORT_SSH_LISTEN: '0.0.0.0:2299' }, place);
  expect(config.sshListen.port).not.toBe(2299);
  expect(warning).toContain('HOMEPORT_SSH_LISTEN. Change them there');
});

test('a file without what both services need is refused, with the lines to add', async () => {
  const file = join(folder, 'homeport.conf');
  await writeFile(file, 'HOMEPORT_HOST=linux\n');
  await expect(serviceSettings({}, { ...place, file })).rejects.toThrow(
    `${file} lacks HOMEPORT_DATA_DIR. Add these lines: HOMEPORT_DATA_DIR=/var/lib/homeport.`,
  );
  await writeFile(file, 'HOMEPORT_HOST=embedded\nHOMEPORT_DATA_DIR=/var/lib/homeport\n');
  await expect(serviceSettings({}, { ...place, file })).rejects.toThrow('Write HOMEPORT_HOST=linux there.');
});
