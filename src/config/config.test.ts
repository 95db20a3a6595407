import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Config, ConfigError, readConfig } from './config.ts';
import { SETTINGS } from './settings.ts';
import { settingsTable, withSettingsTable } from './settings-table.ts';

/** Each setting: its default, valid texts with their values, and invalid texts. */
const CASES: {
  [Name in keyof Config]: { standard: Config[Name]; good: [string, Config[Name]][]; bad: string[] };
} = {
  dataDir: {
    standard: resolve('data'),
    good: [
      ['/srv/homeport', '/srv/homeport'],
      ['x', resolve('x')],
    ],
    bad: [],
  },
  databaseUrl: {
    standard: null,
    good: [
      ['postgres://u:p@db.example:5432/homeport', 'postgres://u:p@db.example:5432/homeport'],
      ['postgresql:///homeport?host=/run/postgresql', 'postgresql:///homeport?host=/run/postgresql'],
    ],
    bad: ['mysql://hidden@db/x', 'db.example:5432/hidden', 'hidden'],
  },
  listen: {
    standard: { host: '127.0.0.1', port: 8443 },
    good: [
      ['0.0.0.0:443', { host: '0.0.0.0', port: 443 }],
      ['[::1]:0', { host: '::1', port: 0 }],
      ['localhost:65535', { host: 'localhost', port: 65_535 }],
    ],
    bad: [
      '8443',
      ':8443',
      '127.0.0.1',
      '127.0.0.1:65536',
      '127.0.0.1:-1',
      '::1:8443',
      '[127.0.0.1]:1',
      '[::g]:1',
      'https://a:1',
      'a b:1',
    ],
  },
  publicUrl: {
    standard: 'https://localhost:8443',
    good: [
      ['https://api.example.com/', 'https://api.example.com'],
      ['https://api.example.com/hosting//', 'https://api.example.com/hosting'],
      ['http://inner.example:8080', 'http://inner.example:8080'],
      ['https://api.example.com/?', 'https://api.example.com'],
    ],
    bad: [
      'api.example.com',
      'ftp://api.example.com',
      'https://',
      'https://a/?b=c',
      'https://a/#b',
      'https://user:hidden@a/',
    ],
  },
  httpsProxy: {
    standard: null,
    good: [
      ['http://proxy.example:3128', 'http://proxy.example:3128/'],
      ['https://user:secret@proxy.example', 'https://user:secret@proxy.example/'],
      ['proxy.example:3128', 'http://proxy.example:3128/'],
      ['user:p%40ss@proxy.example:3128', 'http://user:p%40ss@proxy.example:3128/'],
    ],
    bad: ['socks5://proxy.example:1080', 'http://', 'a proxy', 'http://user:hidden%@proxy.example:3128'],
  },
  httpProxy: {
    standard: null,
    good: [
      ['http://10.0.0.1:8080', 'http://10.0.0.1:8080/'],
      ['10.0.0.1:8080', 'http://10.0.0.1:8080/'],
    ],
    bad: ['ftp://10.0.0.1'],
  },
  command: {
    standard: null,
    good: [['docker compose exec homeport homeport', 'docker compose exec homeport homeport']],
    bad: [],
  },
  noProxy: { standard: null, good: [['.internal,10.0.0.5', '.internal,10.0.0.5']], bad: [] },
  otlpEndpoint: {
    standard: null,
    good: [['http://127.0.0.1:4318/', 'http://127.0.0.1:4318']],
    bad: ['127.0.0.1:4318', 'http://user:hidden@collector.example'],
  },
  otlpTracesEndpoint: {
    standard: null,
    good: [['https://collector.example/in/traces', 'https://collector.example/in/traces']],
    bad: ['grpc://collector.example'],
  },
  otlpHeaders: {
    standard: null,
    good: [
      ['api-key=a%20secret, x = 1=2,', { 'api-key': 'a secret', x: '1=2' }],
      ['authorization=Bearer%20t', { authorization: 'Bearer t' }],
    ],
    bad: ['hidden', '=hidden', 'a b=hidden', 'a=hidden%', 'a=hidden%0A', 'a=hidden%C3%A9', 'ä=hidden'],
  },
  otlpServiceName: { standard: null, good: [['hosting eu', 'hosting eu']], bad: [] },
  otlpResource: {
    standard: null,
    good: [['deployment.environment.name=eu%2C1', { 'deployment.environment.name': 'eu,1' }]],
    bad: ['hidden'],
  },
  tracesSampler: {
    standard: 'parentbased_always_on',
    good: [['traceidratio', 'traceidratio']],
    bad: ['jaeger_remote'],
  },
  tracesSamplerRatio: {
    standard: 1,
    good: [
      ['0.25', 0.25],
      ['0', 0],
    ],
    bad: ['1.1', '-1', 'x', '1.0.0', '.'],
  },
  otelDisabled: { standard: false, good: [['true', true]], bad: ['yes'] },
  tlsCert: { standard: null, good: [], bad: [] },
  tlsKey: { standard: null, good: [], bad: [] },
  trustProxy: {
    standard: [],
    good: [
      [
        '10.0.0.0/8, 192.0.2.1,, ::1 ',
        [ipaddr.parseCIDR('10.0.0.0/8'), ipaddr.parseCIDR('192.0.2.1/32'), ipaddr.parseCIDR('::1/128')],
      ],
    ],
    bad: ['proxy.example', '10.0.0.0/33', '10.0.0', '*'],
  },
  hstsSeconds: {
    standard: 0,
    good: [
      ['31536000', 31_536_000],
      ['63072000', 63_072_000],
    ],
    bad: ['-1', 'a year', '63072001'],
  },
  edgeHttp: {
    standard: { host: '127.0.0.1', port: 8080 },
    good: [['[::]:80', { host: '::', port: 80 }]],
    bad: ['80'],
  },
  edgeHttps: {
    standard: { host: '127.0.0.1', port: 8444 },
    good: [['a.b:1', { host: 'a.b', port: 1 }]],
    bad: ['x'],
  },
  edgeForward: {
    standard: null,
    good: [
      ['10.0.0.2:8471', { host: '10.0.0.2', port: 8471 }],
      ['none', 'none'],
    ],
    bad: ['8471'],
  },
  sshListen: {
    standard: { host: '127.0.0.1', port: 2222 },
    good: [['a:22', { host: 'a', port: 22 }]],
    bad: ['ssh://a:22'],
  },
  siteDomain: {
    standard: 'localhost',
    good: [
      ['Sites.Example.COM.', 'sites.example.com'],
      ['x', 'x'],
    ],
    bad: [
      '.example.com',
      'exa mple',
      'a..b',
      '-a.b',
      'a_b.c',
      `${'a'.repeat(64)}.b`,
      `${'a.'.repeat(120)}b`,
      '*.a',
    ],
  },
  edgeAddresses: {
    standard: [],
    good: [['192.0.2.1, 2001:db8::1', ['192.0.2.1', '2001:db8::1']]],
    bad: ['edge.example', '192.0.2.1:80', '192.0.2.0/24'],
  },
  resolvers: {
    standard: null,
    good: [
      ['127.0.0.1:5353', [{ host: '127.0.0.1', port: 5353 }]],
      [
        '9.9.9.9, [2620:fe::fe]:53,::1',
        [
          { host: '9.9.9.9', port: 53 },
          { host: '2620:fe::fe', port: 53 },
          { host: '::1', port: 53 },
        ],
      ],
    ],
    bad: ['dns.example', 'dns.example:53', '9.9.9.9:0', '9.9.9.9:65536', ','],
  },
  allowPrivateTargets: {
    standard: [],
    good: [['127.0.0.0/8', [ipaddr.parseCIDR('127.0.0.0/8')]]],
    bad: ['localhost', '127.0.0.0/40'],
  },
  acmeDirectory: {
    standard: null,
    good: [['https://127.0.0.1:14000/dir', 'https://127.0.0.1:14000/dir']],
    bad: ['http://acme.example/directory', 'acme.example', 'hidden'],
  },
  acmeContact: {
    standard: null,
    good: [['hostmaster@example.com', 'hostmaster@example.com']],
    bad: ['example.com', 'mailto:a@', 'a@b@c', 'a b@c', 'a@b, c@d'],
  },
  operatorEmail: {
    standard: null,
    good: [['ops@example.com', 'ops@example.com']],
    bad: ['example.com', 'a@, b@c'],
  },
  acmeCa: { standard: null, good: [['/etc/ca.pem', '/etc/ca.pem']], bad: [] },
  domainOwnership: {
    standard: 'first',
    good: [
      ['first', 'first'],
      ['required', 'required'],
    ],
    bad: ['always', 'FIRST'],
  },
  webhookHttp: {
    standard: false,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes'],
  },
  watchDomains: {
    standard: true,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['daily'],
  },
  watchWebsites: {
    standard: true,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['daily'],
  },
  acmeTermsAgreed: {
    standard: true,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes'],
  },
  sealingKey: { standard: null, good: [['/etc/homeport.key', '/etc/homeport.key']], bad: [] },
  metricsListen: {
    standard: null,
    good: [['127.0.0.1:9100', { host: '127.0.0.1', port: 9100 }]],
    bad: ['9100'],
  },
  releasesUrl: {
    standard: null,
    good: [['https://example.com/homeport/releases.json', 'https://example.com/homeport/releases.json']],
    bad: ['example.com', 'https://example.com/releases.json?who=me'],
  },
  updateCheck: { standard: 'on', good: [['off', 'off']], bad: ['no'] },
  host: {
    standard: 'embedded',
    good: [
      ['embedded', 'embedded'],
      ['linux', 'linux'],
    ],
    bad: ['windows', 'Embedded'],
  },
  hostFolder: {
    standard: '/var/lib/homeport-host',
    good: [['/srv/hosting', '/srv/hosting']],
    bad: [],
  },
  hostRunFolder: { standard: '/run/homeport-host', good: [['/run/hp', '/run/hp']], bad: [] },
  hostGroup: { standard: 'homeport', good: [['hosting', 'hosting']], bad: [] },
  hostListen: {
    standard: null,
    good: [['10.0.0.2:7443', { host: '10.0.0.2', port: 7443 }]],
    bad: ['7443'],
  },
  hostIdentity: { standard: null, good: [['/etc/homeport/host.pem', '/etc/homeport/host.pem']], bad: [] },
  hostUids: {
    standard: { first: 200_000, last: 299_999 },
    good: [['5000-6000', { first: 5000, last: 6000 }]],
    bad: ['5000', '6000-5000', '0-10', 'a-b'],
  },
  hostCapacity: { standard: null, good: [['250', 250]], bad: ['0', 'many'] },
  installLogMb: { standard: 1024, good: [['64', 64]], bad: ['63', '1G'] },
  logDays: { standard: 14, good: [['1', 1]], bad: ['0', '401'] },
  logAddressHours: {
    standard: 24,
    good: [
      ['0', 0],
      ['always', null],
    ],
    bad: ['-1', 'never'],
  },
  installDiskGb: { standard: 50, good: [['0', 0]], bad: ['-1', '50G'] },
  installFiles: { standard: 500_000, good: [['0', 0]], bad: ['-1', 'many'] },
  installMemoryMb: { standard: 512, good: [['1024', 1024]], bad: ['63', '1G'] },
  installCpuPercent: { standard: 100, good: [['250', 250]], bad: ['4', '50%'] },
  installProcesses: { standard: 64, good: [['200', 200]], bad: ['7'] },
  installTargets: {
    standard: [],
    good: [['10.1.0.0/16', [ipaddr.parseCIDR('10.1.0.0/16')]]],
    bad: ['10.1.0.0/33'],
  },
  installRuntime: { standard: 'wordpress', good: [['static', 'static']], bad: ['php'] },
  embeddedPhp: { standard: 'auto', good: [['wasm', 'wasm']], bad: ['fpm'] },
  embeddedPhpMb: { standard: null, good: [['2048', 2_048]], bad: ['-1', 'much'] },
  embeddedPhpIdleMinutes: { standard: 10, good: [['1', 1]], bad: ['0', '1441'] },
  wordpressSource: { standard: null, good: [['packaged', 'packaged']], bad: [] },
  wordpressUrl: {
    standard: 'https://wordpress.org',
    good: [['http://127.0.0.1:8000/wp/', 'http://127.0.0.1:8000/wp']],
    bad: ['wordpress.org'],
  },
  wordpressReleasesUrl: {
    standard: 'https://api.wordpress.org/core/version-check/1.7',
    good: [['http://127.0.0.1:8000/releases', 'http://127.0.0.1:8000/releases']],
    bad: ['wordpress.org'],
  },
  wordpressFetch: { standard: true, good: [['false', false]], bad: ['no'] },
  phpMemoryMb: {
    standard: { standard: 256, most: 512 },
    good: [['128-128', { standard: 128, most: 128 }]],
    bad: ['256', '512-256', '1-512'],
  },
  phpUploadMb: { standard: { standard: 64, most: 1024 }, good: [], bad: ['64-1025'] },
  phpSeconds: { standard: { standard: 120, most: 300 }, good: [], bad: ['120-301'] },
  phpWorkers: { standard: 16, good: [['4', 4]], bad: ['1'] },
  phpInputVars: { standard: { standard: 5000, most: 20_000 }, good: [], bad: ['5000-'] },
  wpCliSource: { standard: 'packaged', good: [['none', 'none']], bad: [] },
  wpCliUrl: {
    standard: 'https://raw.githubusercontent.com/wp-cli/builds/gh-pages/phar/wp-cli.phar',
    good: [['http://127.0.0.1:8000/wp-cli.phar', 'http://127.0.0.1:8000/wp-cli.phar']],
    bad: ['wp-cli.phar'],
  },
  backupRepository: { standard: null, good: [['/mnt/backups', '/mnt/backups']], bad: [] },
  backupCredentials: {
    standard: null,
    good: [['key:secret', { accessKeyId: 'key', secretAccessKey: 'secret' }]],
    bad: ['hidden'],
  },
  platformBackup: { standard: null, good: [['/mnt/backups', '/mnt/backups']], bad: [] },
  platformBackupCredentials: {
    standard: null,
    good: [['id:secret', { accessKeyId: 'id', secretAccessKey: 'secret' }]],
    bad: ['hidden', ':hidden'],
  },
  platformBackupAt: {
    standard: { hour: 2, minute: 30 },
    good: [['23:05', { hour: 23, minute: 5 }]],
    bad: ['24:00', '2:30', '02:60', 'night'],
  },
  platformBackupKeep: { standard: 14, good: [['1', 1]], bad: ['0', '-1', '10001'] },
  platformBackupSealingKey: { standard: false, good: [['true', true]], bad: ['yes'] },
  deletedDays: { standard: 14, good: [['0', 0]], bad: ['3651', '-1'] },
  recoveryPointMinutes: { standard: 0, good: [['5', 5]], bad: ['1441', '-1'] },
  backupDays: { standard: 14, good: [['0', 0]], bad: ['3651', '-1'] },
  cdnZone: { standard: null, good: [['0123456789abcdef', '0123456789abcdef']], bad: [] },
  cdnToken: { standard: null, good: [['token', 'token']], bad: [] },
  cdnApi: {
    standard: 'https://api.cloudflare.com/client/v4',
    good: [['http://127.0.0.1:9000', 'http://127.0.0.1:9000']],
    bad: ['api.cloudflare.com'],
  },
  initialCredential: {
    standard: null,
    good: [
      [
        '7b1c8f0e-3f0b-4b57-9c4f-0d4c0a6f2b11:a:password:with:colons',
        { username: '7b1c8f0e-3f0b-4b57-9c4f-0d4c0a6f2b11', password: 'a:password:with:colons' },
      ],
    ],
    bad: [
      'admin:hidden-hidden-hidden',
      '7b1c8f0e-3f0b-4b57-9c4f-0d4c0a6f2b11:hidden',
      '7b1c8f0e-3f0b-4b57-9c4f-0d4c0a6f2b11',
      '7B1C8F0E-3F0B-4B57-9C4F-0D4C0A6F2B11:hidden-hidden-hidden',
    ],
  },
  rateLimit: {
    standard: 3000,
    good: [
      ['0', 0],
      ['1000000000', 1e9],
    ],
    bad: ['-1', '1.5', '1e3', 'many', '1000000001', '0x10'],
  },
  anonymousRateLimit: { standard: 300, good: [['0', 0]], bad: ['-1'] },
  authFailureLimit: { standard: 100, good: [['5', 5]], bad: ['five'] },
  workers: {
    standard: 8,
    good: [
      ['1', 1],
      ['64', 64],
    ],
    bad: ['0', '65'],
  },
  smtpUrl: {
    standard: null,
    good: [['smtps://u:p@mail.example:465', 'smtps://u:p@mail.example:465']],
    bad: ['mail.example:25', 'https://user:hidden@mail.example'],
  },
  mailFrom: { standard: 'Homeport <homeport@localhost>', good: [['a@b.example', 'a@b.example']], bad: [] },
  invitationDays: { standard: 7, good: [['365', 365]], bad: ['0', '366'] },
  relayUrl: {
    standard: null,
    good: [
      ['smtp://relay.example:2525', 'smtp://relay.example:2525'],
      ['smtps://relay.example', 'smtps://relay.example'],
    ],
    bad: ['relay.example:25', 'smtp://user:hidden@relay.example', 'smtp://relay.example/x', 'smtp://'],
  },
  relayCredentials: { standard: null, good: [['/etc/relay', '/etc/relay']], bad: [] },
  relaySender: {
    standard: null,
    good: [
      ['bounces+{name}@example.com', 'bounces+{name}@example.com'],
      ['web@{name}.example.com', 'web@{name}.example.com'],
    ],
    bad: ['{name}', 'a b@example.com', 'Web <web@example.com>'],
  },
  installMailsPerHour: { standard: 200, good: [['0', 0]], bad: ['-1', '1000001'] },
  s3Endpoint: {
    standard: null,
    good: [['http://127.0.0.1:9000', 'http://127.0.0.1:9000/']],
    bad: ['s3://hidden'],
  },
  s3PathStyle: {
    standard: false,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes', '1', 'TRUE'],
  },
  s3Credentials: {
    standard: null,
    good: [['id:se:cret', { accessKeyId: 'id', secretAccessKey: 'se:cret' }]],
    bad: ['hidden', ':hidden', 'id:'],
  },
  logLevel: {
    standard: null,
    good: [
      ['debug', 'debug'],
      ['silent', 'silent'],
    ],
    bad: ['verbose', ''.padEnd(3, 'x')],
  },
};

const names = Object.keys(SETTINGS).filter((name): name is keyof Config => name in CASES);

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('was not refused');
}

describe('each setting', () => {
  it.each(names)('%s', (name) => {
    const { variable } = SETTINGS[name];
    const { standard, good, bad } = CASES[name];
    for (const nothing of [{}, { [variable]: undefined }, { [variable]: '' }, { [variable]: '  ' }]) {
      expect(readConfig(nothing)[name]).toEqual(standard);
    }
    for (const [text, value] of good)
      expect(readConfig({ [variable]: ` ${text} ` })[name], text).toEqual(value);
    for (const text of bad) {
      const message = refusal(() => readConfig({ [variable]: text }));
      expect(message).toContain(variable);
      expect(message, 'a secret').not.toContain('hidden');
    }
  });

  it('has a valid default, and a name that begins with HOMEPORT_ or that other programs share', () => {
    for (const name of names) {
      const { variable, defaultText, meaning } = SETTINGS[name];
      expect(variable).toMatch(/^HOMEPORT_[A-Z0-9_]+$|^(HTTPS?|NO)_PROXY$|^OTEL_[A-Z_]+$/);
      expect(meaning).not.toBe('');
      const literal = /^`(.*)`$/.exec(defaultText)?.[1];
      if (literal !== undefined)
        expect(readConfig({ [variable]: literal })[name]).toEqual(CASES[name].standard);
    }
    expect(names.length).toBe(Object.keys(SETTINGS).length);
  });

  it('of the proxy counts in lower case too, which comes first', () => {
    const both = { http_proxy: 'http://a.example', HTTP_PROXY: 'http://b.example', no_proxy: '*' };
    expect(readConfig(both)).toMatchObject({
      httpProxy: 'http://a.example/',
      httpsProxy: null,
      noProxy: '*',
    });
  });

  it('of the certificate requires the other one', () => {
    const both = { HOMEPORT_TLS_CERT: 'a.crt', HOMEPORT_TLS_KEY: 'a.key' };
    expect(readConfig(both)).toMatchObject({ tlsCert: 'a.crt', tlsKey: 'a.key' });
    for (const one of ['HOMEPORT_TLS_CERT', 'HOMEPORT_TLS_KEY'] as const) {
      expect(refusal(() => readConfig({ [one]: both[one] }))).toMatch(
        /HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY/,
      );
    }
  });
});

describe('the address of the operator', () => {
  it('is the contact of the certificate authority, unless another one is set', () => {
    const contact = { HOMEPORT_ACME_CONTACT: 'hostmaster@example.com' };
    expect(readConfig(contact).operatorEmail).toBe('hostmaster@example.com');
    const own = { ...contact, HOMEPORT_OPERATOR_EMAIL: 'ops@example.com' };
    expect(readConfig(own).operatorEmail).toBe('ops@example.com');
  });
});

describe('the public URL', () => {
  it('has the port of HOMEPORT_LISTEN by default', () => {
    expect(readConfig({ HOMEPORT_LISTEN: '127.0.0.1:9000' }).publicUrl).toBe('https://localhost:9000');
    expect(readConfig({ HOMEPORT_LISTEN: '127.0.0.1:0' }).publicUrl).toBe('https://localhost:8443');
  });
});

describe('an unknown setting', () => {
  it.each([
    ['HOMEPORT_LISTN', 'HOMEPORT_LISTEN'],
    ['HOMEPORT_DATADIR', 'HOMEPORT_DATA_DIR'],
    ['HOMEPORT_DATABASE_URI', 'HOMEPORT_DATABASE_URL'],
    ['HOMEPORT_rate_limit', 'HOMEPORT_RATE_LIMIT'],
  ])('%s is refused with the nearest setting: %s', (variable, nearest) => {
    const message = refusal(() => readConfig({ [variable]: '1' }));
    expect(message).toContain(`no setting ${variable}.`);
    expect(message).toContain(`nearest is ${nearest};`);
    expect(refusal(() => readConfig({ [variable]: '' }))).toBe(message);
  });

  it('without the prefix HOMEPORT_ is ignored', () => {
    expect(readConfig({ PATH: '/bin', homeport_listen: 'x', XHOMEPORT_LISTEN: 'x' })).toEqual(readConfig({}));
  });
});

describe('the file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function file(text: string): string {
    const path = join(folder, `${crypto.randomUUID()}.conf`);
    writeFileSync(path, text);
    return path;
  }

  it('has lower precedence than the environment', () => {
    const path = file('HOMEPORT_WORKERS=2\nHOMEPORT_RATE_LIMIT=20\nHOMEPORT_LOG_LEVEL=debug\n');
    const config = readConfig({ HOMEPORT_WORKERS: '3', HOMEPORT_RATE_LIMIT: '' }, path);
    expect(config).toMatchObject({ workers: 3, rateLimit: 20, logLevel: 'debug', invitationDays: 7 });
  });

  it('may have comments, quotes, blank lines, spaces, and any line endings', () => {
    const path = file(
      '# Homeport\r\n\r\n  HOMEPORT_WORKERS = 2  # two\r\nexport HOMEPORT_MAIL_FROM="Us <us@example.com>"\r\nHOMEPORT_LISTEN=',
    );
    expect(readConfig({}, path)).toMatchObject({
      workers: 2,
      mailFrom: 'Us <us@example.com>',
      listen: { host: '127.0.0.1', port: 8443 },
    });
  });

  it.each([
    ['HOMEPORT_WORKERS 2', 1],
    ['HOMEPORT_WORKERS=2\n\n[section]', 3],
    ['{"HOMEPORT_WORKERS": 2}', 1],
    ['# fine\nHOMEPORT_WORKERS: 2', 2],
  ])('is refused with the number of a malformed line: %j', (text, line) => {
    expect(refusal(() => readConfig({}, file(text)))).toMatch(
      new RegExp(`line ${line}: not of the form NAME=value`),
    );
  });

  it('is refused with an unknown name, an invalid value, or if it is unreadable', () => {
    expect(refusal(() => readConfig({}, file('HOMEPORT_WORKER=2')))).toMatch(/HOMEPORT_WORKERS/);
    expect(refusal(() => readConfig({}, file('WORKERS=2')))).toMatch(/no setting WORKERS/);
    expect(refusal(() => readConfig({}, file('HOMEPORT_WORKERS=two')))).toMatch(/HOMEPORT_WORKERS must be/);
    expect(refusal(() => readConfig({}, join(folder, 'absent')))).toMatch(/absent cannot be read: ENOENT/);
    expect(refusal(() => readConfig({}, folder))).toMatch(/cannot be read: EISDIR/);
  });
});

describe('the table of settings', () => {
  it('has a line for each setting', () => {
    const lines = settingsTable().trimEnd().split('\n').slice(2);
    expect(lines.length).toBe(names.length);
    for (const line of lines) expect(line).toMatch(/^\| `(HOMEPORT_\w+|\w+_PROXY|OTEL_\w+)` \| .+ \| .+ \|$/);
    expect(lines).toContain('| `HOMEPORT_LISTEN` | `127.0.0.1:8443` | API and documents, HTTPS |');
  });

  it('replaces the text between its markers and changes nothing else', () => {
    const document = 'before <!-- settings -->\nold\n<!-- /settings -->\nafter';
    const renewed = withSettingsTable(document);
    expect(renewed).toBe(`before <!-- settings -->\n${settingsTable()}<!-- /settings -->\nafter`);
    expect(withSettingsTable(renewed)).toBe(renewed);
    expect(() => withSettingsTable('no marks')).toThrow();
  });

  it('matches docs/configuration.md; `npm run docs:tables` writes it', () => {
    const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
    expect(page).toBe(withSettingsTable(page));
  });
});
