import { list, optional, setting } from './setting.ts';
import {
  domainSuffix,
  ipAddresses,
  type ListenAddress,
  listenAddress,
  type ValueParser,
} from './setting-values.ts';

/** Port for the edges of other hosts. */
export const EDGE_FORWARD_PORT = 8471;

const addressOrNone: ValueParser<ListenAddress | 'none'> = (text, variable) =>
  text === 'none' ? text : listenAddress(text, variable);

/** Addresses at which visitors and owners reach the websites. */
export const EDGE_SETTINGS = {
  edgeHttp: setting('HOMEPORT_EDGE_HTTP', '127.0.0.1:8080', 'the hosted sites, HTTP', listenAddress),
  edgeHttps: setting('HOMEPORT_EDGE_HTTPS', '127.0.0.1:8444', 'the hosted sites, HTTPS', listenAddress),
  edgeForward: optional(
    'HOMEPORT_EDGE_FORWARD',
    `port ${EDGE_FORWARD_PORT} at the address of \`HOMEPORT_EDGE_HTTPS\``,
    'Linux host: where the edges of other hosts forward requests, by mutual TLS; nothing listens while there is one host. A single address also says where others reach this one. `none`: the host takes no part',
    addressOrNone,
  ),
  sshListen: setting('HOMEPORT_SSH_LISTEN', '127.0.0.1:2222', 'SFTP gateway', listenAddress),
  siteDomain: setting(
    'HOMEPORT_SITE_DOMAIN',
    'localhost',
    'installs answer as `<name>.<site domain>`',
    domainSuffix,
  ),
  edgeAddresses: list(
    'HOMEPORT_EDGE_ADDRESSES',
    'public addresses of the edge for A and AAAA records, comma-separated; if empty: the address that it listens on, or the public ones of this machine. Hosts can have other addresses (`homeport host change`)',
    ipAddresses,
  ),
};
