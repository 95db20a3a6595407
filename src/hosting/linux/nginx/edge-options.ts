import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { CAMPAIGN_PARAMETERS, CAMPAIGN_PREFIX } from '../../policy/campaign-parameters.ts';
import { NEXT_ATTEMPT } from '../../policy/login-limits.ts';
import { PERSONAL_PARAMETER, PERSONAL_SEGMENTS } from '../../policy/personal-pages.ts';
import { bodyMb } from '../../policy/php-limits.ts';
import { MOST_PASSWORD_ROUNDS, PASSWORD_ROUNDS } from '../../policy/visitor-password.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { bodyLimits } from './body-limits.ts';
import type { ForwardingOptions } from './forwarded-requests.ts';
import type { LuaFiles, LuaSettings } from './lua-files.ts';
import { type MachineOptions, runFiles } from './machine-options.ts';

const MEGABYTE = 1024 * 1024;

/** Sizes of what nginx keeps in memory. */
export interface EdgeSizes {
  /** Shared dictionaries, as nginx writes sizes. */
  state: string;
  keys: string;
  /** States of pages, and purged paths. */
  pages: string;
  purges: string;
  /** Purged paths of one install that are remembered. A further purge empties the whole page cache of the install. */
  purgedPaths: number;
  /** Parsed rows and certificates, of all workers together. */
  rows: number;
  certificates: number;
  /** Names without a website, of each worker. */
  unknownNames: number;
  /** Requests that wait while another visitor makes their page: for one page, at an install, and from an address block there. */
  waiters: { page: number; install: number; address: number };
  /** Requests with a query that PHP answers for one address block at one install in ten seconds. */
  queries: number;
  /** Bytes of the log of requests, while the host process does not take it. */
  usageLog: number;
}

/** For 10,000 host names with certificates, of this host and of others. nginx takes the memory of keys as it needs it. */
export const EDGE_SIZES: EdgeSizes = {
  state: '16m',
  keys: '96m',
  pages: '32m',
  purges: '32m',
  purgedPaths: 2_000,
  rows: 5_000,
  certificates: 500,
  unknownNames: 1_000,
  waiters: { page: 500, install: 1_000, address: 125 },
  // A large office behind one address stays far below.
  queries: 300,
  // About 250,000 requests.
  usageLog: 80 * 1024 * 1024,
};

/** Files of the edge's table. */
export interface TablePaths {
  folder: string;
  /** A row of each install. */
  installs: string;
  /** A link from each host name to a row. */
  names: string;
  /** Certificates with keys, readable by root only. */
  certificates: string;
  /** Edges of other hosts, a row of each. */
  edges: string;
  /** A route of each install that another host serves. */
  routes: string;
  /** A link from each of their host names to its route. */
  routedNames: string;
  /** This host's certificate for other edges with its key, readable by root only, and the authority of all edges. */
  identity: string;
  authority: string;
  /** Other edges that this one has reached. */
  reached: string;
  /** Modules in Lua. */
  lua: string;
}

export function tablePaths({ nginx }: Pick<LinuxLayout, 'nginx'>): TablePaths {
  const folder = join(nginx, 'edge');
  return {
    folder,
    installs: join(folder, 'installs'),
    names: join(folder, 'names'),
    certificates: join(folder, 'certificates'),
    edges: join(folder, 'edges'),
    routes: join(folder, 'routes'),
    routedNames: join(folder, 'routed-names'),
    identity: join(folder, 'identity.pem'),
    authority: join(folder, 'authority.pem'),
    reached: join(folder, 'reached.json'),
    lua: join(nginx, 'lua'),
  };
}

/** Options of the edge's configuration, which names no website. */
export interface EdgeOptions extends MachineOptions {
  /** Changes with nginx's own certificate, so that a new one makes a new configuration. */
  ownFingerprint: string;
  run: ReturnType<typeof runFiles>;
  lua: LuaFiles;
  sizes: EdgeSizes;
  /** Whether nginx has the module for Brotli. */
  brotli: boolean;
  /** The listener for other edges; null if this host is the only one. */
  forwarding: ForwardingOptions | null;
}

const BROTLI = '/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so';

/** Whether this machine's nginx can compress with Brotli. */
export async function hasBrotli(): Promise<boolean> {
  return (await ifThere(access(BROTLI).then(() => true))) ?? false;
}

/** Without what changes with time. */
export function edgeOptions(
  machine: MachineOptions,
  more: Pick<EdgeOptions, 'lua' | 'sizes' | 'brotli'>,
): Omit<EdgeOptions, 'ownFingerprint' | 'forwarding'> {
  return { ...machine, ...more, run: runFiles(machine.layout) };
}

export function luaSettings(
  paths: TablePaths,
  {
    ownCertificate,
    sizes,
    brotli,
    uploadMb,
    usageLog,
  }: Pick<EdgeOptions, 'ownCertificate' | 'sizes' | 'brotli' | 'uploadMb' | 'usageLog'>,
): LuaSettings {
  return {
    names: `${paths.names}/`,
    certificates: `${paths.certificates}/`,
    edges: `${paths.edges}/`,
    routes: `${paths.routedNames}/`,
    ownCertificate,
    mostRows: sizes.rows,
    mostCertificates: sizes.certificates,
    mostUnknownNames: sizes.unknownNames,
    campaignParameters: CAMPAIGN_PARAMETERS,
    campaignPrefix: CAMPAIGN_PREFIX,
    personalSegments: PERSONAL_SEGMENTS,
    personalParameter: PERSONAL_PARAMETER,
    passwordRounds: PASSWORD_ROUNDS,
    mostPasswordRounds: MOST_PASSWORD_ROUNDS,
    brotli,
    bodyBytes: bodyMb(uploadMb.standard) * MEGABYTE,
    bodyLimits: bodyLimits(uploadMb).map(({ location, megabytes }) => ({
      location,
      bytes: megabytes * MEGABYTE,
    })),
    mostWaiters: sizes.waiters,
    mostQueries: sizes.queries,
    mostPurgedPaths: sizes.purgedPaths,
    usageLog,
    mostUsageBytes: sizes.usageLog,
    nextAttempt: NEXT_ATTEMPT,
  };
}
