import { list, optional, setting } from './setting.ts';
import {
  addressRanges,
  anyText,
  baseUrl,
  listenAddress,
  numberRange,
  oneOf,
  path,
  wholeNumber,
} from './setting-values.ts';

/** What runs the websites, and what a Linux host gives to each. */
export const HOST_SETTINGS = {
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
    anyText,
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
  installDiskGb: setting(
    'HOMEPORT_INSTALL_DISK_GB',
    '50',
    'GiB that the files of one install may have in all, holes of sparse files included; backups of more fail. On a Linux host no single file can be larger; 0: no limit',
    wholeNumber(0, 1_000_000),
  ),
  installFiles: setting(
    'HOMEPORT_INSTALL_FILES',
    '500000',
    'files and folders that one install may have; backups of more fail; 0: no limit',
    wholeNumber(0, 1_000_000_000),
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
    anyText,
  ),
  wordpressUrl: setting(
    'HOMEPORT_WORDPRESS_URL',
    'https://wordpress.org',
    'Linux host: where the official download is',
    baseUrl,
  ),
};
