import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { closest } from 'fastest-levenshtein';
import ipaddr from 'ipaddr.js';
import { parseUuid } from './ids.ts';
import { OperatorError } from './operator-error.ts';

/** An address to listen on. Port 0 lets the system choose one. */
export interface ListenAddress {
  host: string;
  port: number;
}

/** A range of IP addresses, as CIDR. */
export type AddressRange = ReturnType<typeof ipaddr.parseCIDR>;

/** What every part of Homeport is configured by; read once, here. */
export interface Config {
  dataDir: string;
  databaseUrl: string | null;
  listen: ListenAddress;
  publicUrl: string;
  tlsCert: string | null;
  tlsKey: string | null;
  trustProxy: AddressRange[];
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  sshListen: ListenAddress;
  siteDomain: string;
  host: 'embedded';
  initialCredential: { username: string; password: string } | null;
  rateLimit: number;
  anonymousRateLimit: number;
  authFailureLimit: number;
  workers: number;
  smtpUrl: string | null;
  mailFrom: string;
  invitationDays: number;
  s3Endpoint: string | null;
  s3PathStyle: boolean;
  s3Credentials: { accessKeyId: string; secretAccessKey: string } | null;
  logLevel: (typeof LOG_LEVELS)[number];
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** A configuration that cannot be used; the message says which setting, and what it should be. */
export class ConfigError extends OperatorError {
  override name = 'ConfigError';
}

interface Setting<Value> {
  /** The environment variable, and the name in the file given with `--config`. */
  variable: string;
  /** As it stands in the documents. */
  defaultText: string;
  meaning: string;
  /** Makes the value of the text, or of undefined when the setting is absent. Throws a ConfigError. */
  parse(text: string | undefined, variable: string): Value;
}

const absentOr =
  <Value>(parse: (text: string, variable: string) => Value) =>
  (text: string | undefined, variable: string): Value | null =>
    text === undefined ? null : parse(text, variable);

/** Every setting there is: the one source for reading, checking and the table in README. */
export const SETTINGS: { [Name in keyof Config]: Setting<Config[Name]> } = {
  dataDir: {
    variable: 'HOMEPORT_DATA_DIR',
    defaultText: './data',
    meaning: 'database, keys, sites and mails of the embedded default',
    parse: (text) => resolve(text ?? './data'),
  },
  databaseUrl: {
    variable: 'HOMEPORT_DATABASE_URL',
    defaultText: 'none: SQLite in the data folder',
    meaning: '`postgres://user:password@host:5432/name`',
    parse: absentOr((text, variable) => url(text, variable, ['postgres:', 'postgresql:']).href),
  },
  listen: {
    variable: 'HOMEPORT_LISTEN',
    defaultText: '127.0.0.1:8443',
    meaning: 'API and documents, HTTPS',
    parse: (text, variable) => listenAddress(text ?? '127.0.0.1:8443', variable),
  },
  publicUrl: {
    variable: 'HOMEPORT_PUBLIC_URL',
    defaultText: 'https://localhost:8443',
    meaning: 'what `next`, `previous` and links in mails are built on',
    parse: (text, variable) =>
      url(text ?? 'https://localhost:8443', variable, ['https:', 'http:']).href.replace(/\/+$/, ''),
  },
  tlsCert: {
    variable: 'HOMEPORT_TLS_CERT',
    defaultText: 'made at first start',
    meaning: 'PEM file: certificate chain of the API',
    parse: (text) => text ?? null,
  },
  tlsKey: {
    variable: 'HOMEPORT_TLS_KEY',
    defaultText: 'made at first start',
    meaning: 'PEM file: its private key',
    parse: (text) => text ?? null,
  },
  trustProxy: {
    variable: 'HOMEPORT_TRUST_PROXY',
    defaultText: 'none',
    meaning:
      'addresses or ranges, comma-separated, whose `X-Forwarded-*` count; plain HTTP from them is accepted',
    parse: (text, variable) => list(text).map((part) => addressRange(part, variable)),
  },
  edgeHttp: {
    variable: 'HOMEPORT_EDGE_HTTP',
    defaultText: '127.0.0.1:8080',
    meaning: 'the hosted sites, HTTP',
    parse: (text, variable) => listenAddress(text ?? '127.0.0.1:8080', variable),
  },
  edgeHttps: {
    variable: 'HOMEPORT_EDGE_HTTPS',
    defaultText: '127.0.0.1:8444',
    meaning: 'the hosted sites, HTTPS',
    parse: (text, variable) => listenAddress(text ?? '127.0.0.1:8444', variable),
  },
  sshListen: {
    variable: 'HOMEPORT_SSH_LISTEN',
    defaultText: '127.0.0.1:2222',
    meaning: 'SFTP gateway',
    parse: (text, variable) => listenAddress(text ?? '127.0.0.1:2222', variable),
  },
  siteDomain: {
    variable: 'HOMEPORT_SITE_DOMAIN',
    defaultText: 'localhost',
    meaning: 'installs answer as `<name>.<site domain>`',
    parse: (text, variable) => domainSuffix(text ?? 'localhost', variable),
  },
  host: {
    variable: 'HOMEPORT_HOST',
    defaultText: 'embedded',
    meaning: 'what runs the websites; `embedded` serves files from this process',
    parse: (text, variable) => oneOf(text ?? 'embedded', variable, ['embedded'] as const),
  },
  initialCredential: {
    variable: 'HOMEPORT_INITIAL_CREDENTIAL',
    defaultText: 'random',
    meaning:
      '`username:password` (a lower-case UUID and at least 16 characters) of the first owner, for scripted set-ups',
    parse: absentOr(credential),
  },
  rateLimit: {
    variable: 'HOMEPORT_RATE_LIMIT',
    defaultText: '3000',
    meaning: 'requests a minute for one credential; 0 switches the general limits off',
    parse: (text, variable) => wholeNumber(text ?? '3000', variable, 0, 1_000_000_000),
  },
  anonymousRateLimit: {
    variable: 'HOMEPORT_ANONYMOUS_RATE_LIMIT',
    defaultText: '300',
    meaning: 'requests a minute for one address without valid credentials; 0: no limit',
    parse: (text, variable) => wholeNumber(text ?? '300', variable, 0, 1_000_000_000),
  },
  authFailureLimit: {
    variable: 'HOMEPORT_AUTH_FAILURE_LIMIT',
    defaultText: '100',
    meaning: 'failed authentications a minute for one address, and for one username; 0: no limit',
    parse: (text, variable) => wholeNumber(text ?? '100', variable, 0, 1_000_000_000),
  },
  workers: {
    variable: 'HOMEPORT_WORKERS',
    defaultText: '4',
    meaning: 'jobs that one process runs at the same time',
    parse: (text, variable) => wholeNumber(text ?? '4', variable, 1, 64),
  },
  smtpUrl: {
    variable: 'HOMEPORT_SMTP_URL',
    defaultText: 'none: `.eml` files in the data folder',
    meaning: '`smtp://user:password@host:587` or `smtps://…`',
    parse: absentOr((text, variable) => url(text, variable, ['smtp:', 'smtps:']).href),
  },
  mailFrom: {
    variable: 'HOMEPORT_MAIL_FROM',
    defaultText: '`Homeport <homeport@localhost>`',
    meaning: 'sender of the mails',
    parse: (text) => text ?? 'Homeport <homeport@localhost>',
  },
  invitationDays: {
    variable: 'HOMEPORT_INVITATION_DAYS',
    defaultText: '7',
    meaning: 'days for which the link in an invitation works',
    parse: (text, variable) => wholeNumber(text ?? '7', variable, 1, 365),
  },
  s3Endpoint: {
    variable: 'HOMEPORT_S3_ENDPOINT',
    defaultText: 'AWS',
    meaning: 'object storage for media offload, S3 protocol',
    parse: absentOr((text, variable) => url(text, variable, ['https:', 'http:']).href),
  },
  s3PathStyle: {
    variable: 'HOMEPORT_S3_PATH_STYLE',
    defaultText: 'false',
    meaning: '`true`: the bucket stands in the path (`endpoint/bucket/key`) and not in the host name',
    parse: (text, variable) => oneOf(text ?? 'false', variable, ['true', 'false'] as const) === 'true',
  },
  s3Credentials: {
    variable: 'HOMEPORT_S3_CREDENTIALS',
    defaultText: 'none: unsigned requests',
    meaning: '`access key id:secret access key` with which buckets are read',
    parse: absentOr(s3Credentials),
  },
  logLevel: {
    variable: 'HOMEPORT_LOG_LEVEL',
    defaultText: 'info',
    meaning: LOG_LEVELS.map((level) => `\`${level}\``).join(', '),
    parse: (text, variable) => oneOf(text ?? 'info', variable, LOG_LEVELS),
  },
};

/**
 * Reads the settings from the environment and, below it in rank, from the file of `--config` (lines of `NAME=value`).
 * Throws a ConfigError that names the setting.
 */
export function readConfig(environment: Record<string, string | undefined>, file?: string): Config {
  const fromFile = file === undefined ? {} : readSettingsFile(file);
  const texts: Record<string, string | undefined> = { ...fromFile, ...ownVariables(environment) };
  refuseUnknown(Object.keys(texts));
  const read = <Name extends keyof Config>(name: Name): Config[Name] => {
    const { variable, parse } = SETTINGS[name];
    const text = texts[variable]?.trim();
    return parse(text === '' ? undefined : text, variable);
  };
  const config: Config = {
    dataDir: read('dataDir'),
    databaseUrl: read('databaseUrl'),
    listen: read('listen'),
    publicUrl: read('publicUrl'),
    tlsCert: read('tlsCert'),
    tlsKey: read('tlsKey'),
    trustProxy: read('trustProxy'),
    edgeHttp: read('edgeHttp'),
    edgeHttps: read('edgeHttps'),
    sshListen: read('sshListen'),
    siteDomain: read('siteDomain'),
    host: read('host'),
    initialCredential: read('initialCredential'),
    rateLimit: read('rateLimit'),
    anonymousRateLimit: read('anonymousRateLimit'),
    authFailureLimit: read('authFailureLimit'),
    workers: read('workers'),
    smtpUrl: read('smtpUrl'),
    mailFrom: read('mailFrom'),
    invitationDays: read('invitationDays'),
    s3Endpoint: read('s3Endpoint'),
    s3PathStyle: read('s3PathStyle'),
    s3Credentials: read('s3Credentials'),
    logLevel: read('logLevel'),
  };
  if ((config.tlsCert === null) !== (config.tlsKey === null)) {
    throw new ConfigError('HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY go together: set both, or neither.');
  }
  return config;
}

function ownVariables(environment: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith('HOMEPORT_')));
}

function readSettingsFile(file: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(`The configuration file ${file} cannot be read: ${reasonOf(error)}.`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function refuseUnknown(variables: string[]): void {
  const known = Object.values(SETTINGS).map((setting) => setting.variable);
  for (const variable of variables) {
    if (!known.includes(variable)) {
      throw new ConfigError(
        `There is no setting ${variable}. The nearest is ${closest(variable, known)}; README lists them all.`,
      );
    }
  }
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function wholeNumber(text: string, variable: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new ConfigError(`${variable} must be a whole number from ${least} to ${most}; it is "${text}".`);
  }
  return value;
}

function oneOf<const Choice extends string>(
  text: string,
  variable: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) {
    throw new ConfigError(`${variable} must be one of ${choices.join(', ')}; it is "${text}".`);
  }
  return choice;
}

/** The value may hold a password, so no message repeats it. */
function url(text: string, variable: string, protocols: string[]): URL {
  const parsed = URL.parse(text);
  if (!parsed || !protocols.includes(parsed.protocol)) {
    throw new ConfigError(`${variable} must be an address that begins with ${protocols.join('// or ')}//.`);
  }
  return parsed;
}

function listenAddress(text: string, variable: string): ListenAddress {
  const parts = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (host === undefined || port > 65_535) {
    throw new ConfigError(
      `${variable} must be "address:port", like 127.0.0.1:8443 or [::1]:8443; it is "${text}".`,
    );
  }
  return { host, port };
}

function addressRange(text: string, variable: string): AddressRange {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    throw new ConfigError(`${variable} must list IP addresses or ranges like 10.0.0.0/8; "${text}" is none.`);
  }
}

function domainSuffix(text: string, variable: string): string {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (
    name.length > 200 ||
    !/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(name)
  ) {
    throw new ConfigError(`${variable} must be a domain name like sites.example.com; it is "${text}".`);
  }
  return name;
}

function credential(text: string, variable: string): { username: string; password: string } {
  const colon = text.indexOf(':');
  const username = text.slice(0, Math.max(colon, 0));
  const password = text.slice(colon + 1);
  if (parseUuid(username) !== username || password.length < 16) {
    throw new ConfigError(
      `${variable} must be a lower-case UUID, a colon, and a password of at least 16 characters.`,
    );
  }
  return { username, password };
}

function s3Credentials(text: string, variable: string): { accessKeyId: string; secretAccessKey: string } {
  const [accessKeyId = '', ...rest] = text.split(':');
  const secretAccessKey = rest.join(':');
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new ConfigError(`${variable} must be an access key id, a colon, and the secret access key.`);
  }
  return { accessKeyId, secretAccessKey };
}
