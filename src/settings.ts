import { resolve } from 'node:path';
import {
  addressRanges,
  baseUrl,
  credential,
  dnsServers,
  domainSuffix,
  ipAddresses,
  listenAddress,
  mailAddress,
  numberRange,
  oneOf,
  s3Credentials,
  url,
  type ValueParser,
  wholeNumber,
} from './setting-values.ts';

export interface Setting<Value> {
  /** The environment variable, and the name in the file given with `--config`. */
  variable: string;
  /** Its default as the documents have it, in Markdown. */
  defaultText: string;
  /** What it is for, in Markdown. */
  meaning: string;
  /** The value; `text` is undefined where the setting is absent. Throws a ConfigError. */
  read(text: string | undefined): Value;
}

/** A setting whose default is a text like any other. */
function setting<Value>(
  variable: string,
  standard: string,
  meaning: string,
  parse: ValueParser<Value>,
): Setting<Value> {
  return {
    variable,
    defaultText: `\`${standard}\``,
    meaning,
    read: (text) => parse(text ?? standard, variable),
  };
}

/** A setting that is null where it is absent; `absence` says what happens then. */
function optional<Value>(
  variable: string,
  absence: string,
  meaning: string,
  parse: ValueParser<Value>,
): Setting<Value | null> {
  return {
    variable,
    defaultText: absence,
    meaning,
    read: (text) => (text === undefined ? null : parse(text, variable)),
  };
}

/** A setting of several values, that is empty where it is absent. */
function list<Value>(variable: string, meaning: string, parse: ValueParser<Value[]>): Setting<Value[]> {
  return { variable, defaultText: 'none', meaning, read: (text) => parse(text ?? '', variable) };
}

const asItIs: ValueParser<string> = (text) => text;
const path: ValueParser<string> = (text) => resolve(text);
const trueOrFalse: ValueParser<boolean> = (text, variable) =>
  oneOf(['true', 'false'])(text, variable) === 'true';
const requests = wholeNumber(0, 1_000_000_000);
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Every setting there is: the one source of what is read and checked, of its type, and of the table in README. */
export const SETTINGS = {
  dataDir: setting(
    'HOMEPORT_DATA_DIR',
    './data',
    'database, keys, sites and mails of the embedded default',
    path,
  ),
  databaseUrl: optional(
    'HOMEPORT_DATABASE_URL',
    'none: SQLite in the data folder',
    '`postgres://user:password@host:5432/name`',
    url(['postgres:', 'postgresql:']),
  ),
  listen: setting('HOMEPORT_LISTEN', '127.0.0.1:8443', 'API and documents, HTTPS', listenAddress),
  publicUrl: setting(
    'HOMEPORT_PUBLIC_URL',
    'https://localhost:8443',
    'what `next`, `previous` and links in mails are built on; its port follows `HOMEPORT_LISTEN`',
    baseUrl,
  ),
  tlsCert: optional(
    'HOMEPORT_TLS_CERT',
    'made at first start',
    'PEM file: certificate chain of the API',
    asItIs,
  ),
  tlsKey: optional('HOMEPORT_TLS_KEY', 'made at first start', 'PEM file: its private key', asItIs),
  trustProxy: list(
    'HOMEPORT_TRUST_PROXY',
    'addresses or ranges, comma-separated, whose `X-Forwarded-*` count; plain HTTP from them is accepted',
    addressRanges,
  ),
  edgeHttp: setting('HOMEPORT_EDGE_HTTP', '127.0.0.1:8080', 'the hosted sites, HTTP', listenAddress),
  edgeHttps: setting('HOMEPORT_EDGE_HTTPS', '127.0.0.1:8444', 'the hosted sites, HTTPS', listenAddress),
  sshListen: setting('HOMEPORT_SSH_LISTEN', '127.0.0.1:2222', 'SFTP gateway', listenAddress),
  siteDomain: setting(
    'HOMEPORT_SITE_DOMAIN',
    'localhost',
    'installs answer as `<name>.<site domain>`',
    domainSuffix,
  ),
  edgeAddresses: list(
    'HOMEPORT_EDGE_ADDRESSES',
    'addresses, comma-separated, at which the world reaches the edge: what A and AAAA records should hold; where none is given, the address that it listens on, or the public ones of this machine',
    ipAddresses,
  ),
  resolvers: optional(
    'HOMEPORT_RESOLVERS',
    "the system's",
    'DNS servers for domain checks, `host:port`, comma-separated',
    dnsServers,
  ),
  allowPrivateTargets: list(
    'HOMEPORT_ALLOW_PRIVATE_TARGETS',
    'address ranges, comma-separated, that domain checks may reach although they are private',
    addressRanges,
  ),
  acmeDirectory: optional(
    'HOMEPORT_ACME_DIRECTORY',
    'none: self-signed certificates',
    'directory of the certificate authority (ACME), like `https://acme-v02.api.letsencrypt.org/directory`; to set it is to agree to its terms',
    url(['https:']),
  ),
  acmeContact: optional(
    'HOMEPORT_ACME_CONTACT',
    'none',
    'mail address that the authority is told, and that is warned of certificates about to expire',
    mailAddress,
  ),
  acmeCa: optional(
    'HOMEPORT_ACME_CA',
    'none',
    'PEM file of roots to trust besides the well-known ones: for the authority’s own HTTPS, and for what it issues',
    path,
  ),
  acmeTermsAgreed: setting(
    'HOMEPORT_ACME_TERMS_AGREED',
    'true',
    '`false`: no account is made, and nothing issued, until the terms of the authority are agreed to',
    trueOrFalse,
  ),
  sealingKey: optional(
    'HOMEPORT_SEALING_KEY_FILE',
    '`sealing.key` in the data folder, made at first start',
    'file with the key (32 bytes, base64) that private keys are encrypted with',
    path,
  ),
  metricsListen: optional(
    'HOMEPORT_METRICS_LISTEN',
    'none: no metrics',
    'metrics for Prometheus at `/metrics`, plain HTTP; an address that the world cannot reach',
    listenAddress,
  ),
  host: setting(
    'HOMEPORT_HOST',
    'embedded',
    'what runs the websites: `embedded` serves files from this process, `linux` runs WordPress on Debian machines (`homeport host`)',
    oneOf(['embedded', 'linux']),
  ),
  hostFolder: setting(
    'HOMEPORT_HOST_FOLDER',
    '/var/lib/homeport-host',
    'Linux host: websites, databases, WordPress, backups; root’s own, on a file system with access control lists',
    path,
  ),
  hostRunFolder: setting(
    'HOMEPORT_HOST_RUN_FOLDER',
    '/run/homeport-host',
    'Linux host: its sockets; the control plane reaches it at `host.sock` in here',
    path,
  ),
  hostGroup: setting(
    'HOMEPORT_HOST_GROUP',
    'homeport',
    'Linux host: group of the control plane, which alone may use its socket',
    asItIs,
  ),
  hostListen: optional(
    'HOMEPORT_HOST_LISTEN',
    'none: the socket alone',
    'Linux host: address for a control plane on another machine, mutual TLS',
    listenAddress,
  ),
  hostIdentity: optional(
    'HOMEPORT_HOST_IDENTITY',
    'none',
    'Linux host: the PEM file that `homeport host add` wrote for this machine; goes with `HOMEPORT_HOST_LISTEN`',
    path,
  ),
  hostUids: setting(
    'HOMEPORT_HOST_UIDS',
    '200000-299999',
    'Linux host: user ids that installs get, first and last',
    numberRange,
  ),
  hostCapacity: optional(
    'HOMEPORT_HOST_CAPACITY',
    'by its memory and disk',
    'Linux host: how many installs it has room for',
    wholeNumber(1, 100_000),
  ),
  installMemoryMb: setting(
    'HOMEPORT_INSTALL_MEMORY_MB',
    '512',
    'Linux host: memory that the PHP of one install may take, in MiB',
    wholeNumber(64, 1_048_576),
  ),
  installCpuPercent: setting(
    'HOMEPORT_INSTALL_CPU_PERCENT',
    '100',
    'Linux host: processor time of one install, 100 is one processor',
    wholeNumber(5, 100_000),
  ),
  installProcesses: setting(
    'HOMEPORT_INSTALL_PROCESSES',
    '64',
    'Linux host: processes and threads of one install',
    wholeNumber(8, 100_000),
  ),
  installTargets: list(
    'HOMEPORT_INSTALL_TARGETS',
    'Linux host: private address ranges, comma-separated, that websites may connect to; without it none',
    addressRanges,
  ),
  wordpressSource: optional(
    'HOMEPORT_WORDPRESS_SOURCE',
    'the official download, else Debian’s package',
    'Linux host: where WordPress comes from: a folder, an archive (`.zip`, `.tar.gz`), `official` or `debian`',
    asItIs,
  ),
  wordpressUrl: setting(
    'HOMEPORT_WORDPRESS_URL',
    'https://wordpress.org',
    'Linux host: where the official download is',
    baseUrl,
  ),
  backupRepository: optional(
    'HOMEPORT_BACKUP_REPOSITORY',
    '`backups` in the host folder',
    'Linux host: where backups go: a folder, or `s3:https://endpoint/bucket/prefix`',
    asItIs,
  ),
  backupCredentials: optional(
    'HOMEPORT_BACKUP_CREDENTIALS',
    'none',
    'Linux host: `access key id:secret access key` for backups in S3',
    s3Credentials,
  ),
  backupDays: setting(
    'HOMEPORT_BACKUP_DAYS',
    '14',
    'Linux host: every install is backed up daily, and these backups are kept for so many days; 0: none are made',
    wholeNumber(0, 3650),
  ),
  cdnZone: optional(
    'HOMEPORT_CDN_ZONE',
    'none: no CDN to purge',
    'zone at Cloudflare, in whose cache the host names of an install are purged',
    asItIs,
  ),
  cdnToken: optional('HOMEPORT_CDN_TOKEN', 'none', 'API token for it, with the right to purge', asItIs),
  cdnApi: setting('HOMEPORT_CDN_API', 'https://api.cloudflare.com/client/v4', 'where its API is', baseUrl),
  initialCredential: optional(
    'HOMEPORT_INITIAL_CREDENTIAL',
    'random',
    '`username:password` (a lower-case UUID and at least 16 characters) of the first owner, for scripted set-ups',
    credential,
  ),
  rateLimit: setting(
    'HOMEPORT_RATE_LIMIT',
    '3000',
    'requests a minute for one credential, and for one person in the portal; 0 switches the general limits off',
    requests,
  ),
  anonymousRateLimit: setting(
    'HOMEPORT_ANONYMOUS_RATE_LIMIT',
    '300',
    'requests a minute for one address without valid credentials; 0: no limit',
    requests,
  ),
  authFailureLimit: setting(
    'HOMEPORT_AUTH_FAILURE_LIMIT',
    '100',
    'failed authentications a minute for one address, and for one username; 0: no limit, nor those by the minute on signing in to the portal',
    requests,
  ),
  workers: setting(
    'HOMEPORT_WORKERS',
    '8',
    'jobs that one process runs at the same time',
    wholeNumber(1, 64),
  ),
  smtpUrl: optional(
    'HOMEPORT_SMTP_URL',
    'none: `.eml` files in the data folder',
    '`smtp://user:password@host:587` or `smtps://…`',
    url(['smtp:', 'smtps:']),
  ),
  mailFrom: setting('HOMEPORT_MAIL_FROM', 'Homeport <homeport@localhost>', 'sender of the mails', asItIs),
  invitationDays: setting(
    'HOMEPORT_INVITATION_DAYS',
    '7',
    'days for which the link in an invitation works',
    wholeNumber(1, 365),
  ),
  s3Endpoint: optional(
    'HOMEPORT_S3_ENDPOINT',
    'AWS',
    'object storage for media offload, S3 protocol',
    url(['https:', 'http:']),
  ),
  s3PathStyle: setting(
    'HOMEPORT_S3_PATH_STYLE',
    'false',
    '`true`: the bucket stands in the path (`endpoint/bucket/key`) and not in the host name',
    trueOrFalse,
  ),
  s3Credentials: optional(
    'HOMEPORT_S3_CREDENTIALS',
    'none: unsigned requests',
    '`access key id:secret access key` with which buckets are read',
    s3Credentials,
  ),
  logLevel: setting(
    'HOMEPORT_LOG_LEVEL',
    'info',
    LOG_LEVELS.map((level) => `\`${level}\``).join(', '),
    oneOf(LOG_LEVELS),
  ),
} satisfies Record<string, Setting<unknown>>;
