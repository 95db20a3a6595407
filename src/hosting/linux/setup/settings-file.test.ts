import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { differingSettings, settingsText } from './settings-file.ts';

test('what is written is read as it was, and nothing but settings', () => {
  const settings = {
    HOMEPORT_HOST_LISTEN: '10.0.0.2:7443',
    HOMEPORT_BACKUP_CREDENTIALS: 'id:a"b\\c #d$e\\n',
    HOMEPORT_HOST_FOLDER: "/srv/anna's",
  };
  const text = settingsText({ ...settings, HOMEPORT_SITE_DOMAIN: '', PATH: '/bin' });
  expect(parseEnv(text)).toEqual(settings);
  expect(differingSettings(text, settings)).toEqual([]);
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
