import { list, optional, setting } from './setting.ts';
import {
  addressRanges,
  anyText,
  baseUrl,
  hoursOrAlways,
  listenAddress,
  numberRange,
  oneOf,
  path,
  trueOrFalse,
  wholeNumber,
} from './setting-values.ts';

/** The kind of host, and the resources of each install on a Linux host. */
export const HOST_SETTINGS = {
  host: setting(
    'HOMEPORT_HOST',
    'embedded',
    'kind of host: `embedded` serves files from this process, `linux` runs WordPress on Debian machines (`homeport host`)',
    oneOf(['embedded', 'linux']),
  ),
  hostFolder: setting(
    'HOMEPORT_HOST_FOLDER',
    '/var/lib/homeport-host',
    'Linux host: folder of websites, databases, WordPress and backups; owned by root, on a file system with access control lists',
    path,
  ),
  hostRunFolder: setting(
    'HOMEPORT_HOST_RUN_FOLDER',
    '/run/homeport-host',
    'Linux host: folder of its sockets; the control plane connects to `host.sock` in it',
    path,
  ),
  hostGroup: setting(
    'HOMEPORT_HOST_GROUP',
    'homeport',
    'Linux host: group of the control plane; only its members and root may use the socket',
    anyText,
  ),
  hostListen: optional(
    'HOMEPORT_HOST_LISTEN',
    'none: only the socket',
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
    'from its memory and disk',
    'Linux host: maximum number of installs',
    wholeNumber(1, 100_000),
  ),
  installDiskGb: setting(
    'HOMEPORT_INSTALL_DISK_GB',
    '50',
    'maximum size of the files of an install in GiB, including holes of sparse files; backups of larger installs fail. On a Linux host, also the maximum size of a file and of the database; 0: no limit',
    wholeNumber(0, 1_000_000),
  ),
  installFiles: setting(
    'HOMEPORT_INSTALL_FILES',
    '500000',
    'maximum number of files and folders of an install; backups of larger installs fail; 0: no limit',
    wholeNumber(0, 1_000_000_000),
  ),
  installMemoryMb: setting(
    'HOMEPORT_INSTALL_MEMORY_MB',
    '512',
    'Linux host: memory for PHP of an install, in MiB',
    wholeNumber(64, 1_048_576),
  ),
  installCpuPercent: setting(
    'HOMEPORT_INSTALL_CPU_PERCENT',
    '100',
    'Linux host: processor time of an install; 100 is one processor',
    wholeNumber(5, 100_000),
  ),
  installProcesses: setting(
    'HOMEPORT_INSTALL_PROCESSES',
    '64',
    'Linux host: processes and threads of an install',
    wholeNumber(8, 100_000),
  ),
  installLogMb: setting(
    'HOMEPORT_INSTALL_LOG_MB',
    '1024',
    'Linux host: maximum size of the logs of an install, in MiB; never more than a tenth of `HOMEPORT_INSTALL_DISK_GB`. The oldest entries go first',
    wholeNumber(64, 1_048_576),
  ),
  logDays: setting(
    'HOMEPORT_LOG_DAYS',
    '14',
    'Linux host: days that the logs of installs are kept, today included',
    wholeNumber(1, 400),
  ),
  logAddressHours: setting(
    'HOMEPORT_LOG_ADDRESS_HOURS',
    '24',
    'Linux host: hours that access logs keep the whole addresses of visitors, which are then shortened to `/24` and `/48`; 0: shortened at once; `always`: never shortened',
    hoursOrAlways,
  ),
  installTargets: list(
    'HOMEPORT_INSTALL_TARGETS',
    'Linux host: private address ranges, comma-separated, that websites may connect to',
    addressRanges,
  ),
  wordpressSource: optional(
    'HOMEPORT_WORDPRESS_SOURCE',
    'the official download, or Debian’s package if that fails',
    'Linux host: source of WordPress: a folder, an archive (`.zip`, `.tar.gz`), `official` or `debian`',
    anyText,
  ),
  wordpressUrl: setting(
    'HOMEPORT_WORDPRESS_URL',
    'https://wordpress.org',
    'Linux host: server of the official download',
    baseUrl,
  ),
  wordpressReleasesUrl: setting(
    'HOMEPORT_WORDPRESS_RELEASES_URL',
    'https://api.wordpress.org/core/version-check/1.7',
    'Linux host: list of the releases of WordPress, in the format of api.wordpress.org',
    baseUrl,
  ),
  wordpressFetch: setting(
    'HOMEPORT_WORDPRESS_FETCH',
    'true',
    '`true`: Linux hosts fetch new releases of WordPress once a day; `false`: only by `homeport host wordpress`',
    trueOrFalse,
  ),
  wpCliSource: setting(
    'HOMEPORT_WP_CLI_SOURCE',
    'official',
    'Linux host: source of WP-CLI: the path of its phar, `official`, or `none`',
    anyText,
  ),
  wpCliUrl: setting(
    'HOMEPORT_WP_CLI_URL',
    'https://raw.githubusercontent.com/wp-cli/builds/gh-pages/phar/wp-cli.phar',
    'Linux host: address of the official phar of WP-CLI, with its checksum at the same address and `.sha512` or `.sha256`',
    baseUrl,
  ),
};
