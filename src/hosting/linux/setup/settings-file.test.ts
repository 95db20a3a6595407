import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { differingSettings, extendedSettings, missingSettings, settingsText } from './settings-file.ts';

const REQUIRED = { HOMEPORT_HOST: 'linux', HOMEPORT_DATA_DIR: '/var/lib/homeport' };

test('what is written is read as it was, and nothing but settings', () => {
  const settings = {
    HOMEPORT_HOST_LISTEN: '10.0.0.2:7443',
    HOMEPORT_BACKUP_CREDENTIALS: 'id:a"b\\c #d$e\\n',
    HOMEPORT_HOST_FOLDER: "/srv/anna's",
  };
  const text = settingsText({ ...settings, HOMEPORT_SITE_DOMAIN: '', PATH: '/bin' }, {});
  expect(parseEnv(text)).toEqual(settings);
  expect(differingSettings(text, settings)).toEqual([]);
});

test('a required setting is added unless the environment names it', () => {
  const text = settingsText({ HOMEPORT_DATA_DIR: '/srv/homeport' }, REQUIRED);
  expect(parseEnv(text)).toEqual({ HOMEPORT_HOST: 'linux', HOMEPORT_DATA_DIR: '/srv/homeport' });
});

test('a file of an earlier set-up keeps its lines and gets what is missing', () => {
  const earlier = '# mine\nHOMEPORT_EDGE_HTTP=0.0.0.0:80\nHOMEPORT_DATA_DIR=/srv/homeport';
  const text = extendedSettings(earlier, REQUIRED);
  expect(text).toBe(`${earlier}\nHOMEPORT_HOST='linux'\n`);
  expect(missingSettings(earlier, Object.keys(REQUIRED))).toEqual(['HOMEPORT_HOST']);
  expect(missingSettings(text, Object.keys(REQUIRED))).toEqual([]);
});

test('settings that differ from the file, or are not in it, are named', () => {
  const file = '# mine\nHOMEPORT_EDGE_HTTP=0.0.0.0:80\nHOMEPORT_SSH_LISTEN="0.0.0.0:22"\n';
  expect(
    differingSettings(file, {
      HOMEPORT_EDGE_HTTP: '127.0.0.1:80',
      HOMEPORT_SSH_LISTEN: ' 0.0.0.0:22 ',
      HOMEPORT_HOST_LISTEN: '10.0.0.2:7443',
      HOMEPORT_SITE_DOMAIN: '',
      HOME: '/root',
    }),
  ).toEqual(['HOMEPORT_EDGE_HTTP', 'HOMEPORT_HOST_LISTEN']);
});
